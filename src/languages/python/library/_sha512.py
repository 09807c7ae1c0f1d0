"""SHA-512, with which `random` makes numbers of texts."""


def _primes(count):
    found, candidate = [], 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def _root(number, degree):
    """Returns the first 64 bits behind the point of a root."""
    scaled = number << 64 * degree
    low, high = 0, 1 << 72
    while low < high:
        middle = (low + high + 1) // 2
        if middle**degree <= scaled:
            low = middle
        else:
            high = middle - 1
    return low & _MASK


_MASK = (1 << 64) - 1
_ROUNDS = [_root(prime, 3) for prime in _primes(80)]
_START = [_root(prime, 2) for prime in _primes(8)]


class _Sha512:
    name, digest_size, block_size = "sha512", 64, 128

    def __init__(self, data=b""):
        self._data = bytes(data)

    def update(self, data):
        self._data += bytes(data)

    def copy(self):
        return _Sha512(self._data)

    def digest(self):
        data = self._data
        padded = data + b"\x80" + b"\0" * (-(len(data) + 17) % 128) + (8 * len(data)).to_bytes(16, "big")
        state = list(_START)

        def turned(x, n):
            return (x >> n | x << 64 - n) & _MASK

        for start in range(0, len(padded), 128):
            words = [int.from_bytes(padded[at : at + 8], "big") for at in range(start, start + 128, 8)]
            for t in range(16, 80):
                a, b = words[t - 15], words[t - 2]
                words.append(
                    words[t - 16]
                    + (turned(a, 1) ^ turned(a, 8) ^ a >> 7)
                    + words[t - 7]
                    + (turned(b, 19) ^ turned(b, 61) ^ b >> 6)
                    & _MASK
                )
            a, b, c, d, e, f, g, h = state
            for t in range(80):
                first = h + (turned(e, 14) ^ turned(e, 18) ^ turned(e, 41)) + (e & f ^ ~e & _MASK & g) + _ROUNDS[t] + words[t]
                second = (turned(a, 28) ^ turned(a, 34) ^ turned(a, 39)) + (a & b ^ a & c ^ b & c)
                a, b, c, d, e, f, g, h = first + second & _MASK, a, b, c, d + first & _MASK, e, f, g
            state = [x + y & _MASK for x, y in zip(state, (a, b, c, d, e, f, g, h))]
        return b"".join(word.to_bytes(8, "big") for word in state)

    def hexdigest(self):
        return self.digest().hex()


def sha512(data=b"", *, usedforsecurity=True):
    return _Sha512(data)
