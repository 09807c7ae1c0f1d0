"""The generator beneath `random`."""

import _posix
from _random import _twister


class Random:
    """A Mersenne Twister."""

    def __new__(cls, *args, **kwargs):
        self = object.__new__(cls)
        self._twister = _twister()
        Random.seed(self, *args[:1] if args and isinstance(args[0], int) else ())
        return self

    def seed(self, n=None):
        if n is None:
            n = _posix.entropy() << 62 | _posix.entropy()
        elif not isinstance(n, int):
            n = hash(n) & 0xFFFFFFFFFFFFFFFF
        self._twister.seed(int(n))

    def random(self):
        return self._twister.random()

    def getrandbits(self, k):
        return self._twister.getrandbits(int(k))

    def getstate(self):
        return self._twister.state()

    def setstate(self, state):
        if not isinstance(state, tuple):
            raise TypeError("state vector must be a tuple")
        self._twister.set_state(state)
