"""The containers of `collections` that CPython has in C."""

from collections import OrderedDict
from types import GenericAlias


class defaultdict(dict):
    """A dictionary that makes the values of missing keys: `defaultdict(list)`."""

    def __init__(self, default_factory=None, /, *args, **kwargs):
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable or None")
        self.default_factory = default_factory
        super().__init__(*args, **kwargs)

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self.default_factory()
        return value

    def __repr__(self):
        return f"{type(self).__name__}({self.default_factory!r}, {dict.__repr__(self)})"

    def copy(self):
        return type(self)(self.default_factory, self)

    __copy__ = copy

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        new = self.copy()
        new.update(other)
        return new

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        new = type(self)(self.default_factory, other)
        new.update(self)
        return new

    def __reduce__(self):
        args = () if self.default_factory is None else (self.default_factory,)
        return type(self), args, None, None, iter(self.items())


defaultdict.__module__ = "collections"


class deque:
    """A sequence with two ends, of at most `maxlen` items."""

    __hash__ = None

    def __init__(self, iterable=(), maxlen=None):
        if maxlen is not None:
            if not isinstance(maxlen, int):
                raise TypeError("an integer is required")
            if maxlen < 0:
                raise ValueError("maxlen must be non-negative")
        self._items = []
        self._maxlen = maxlen
        self.extend(iterable)

    @property
    def maxlen(self):
        return self._maxlen

    def append(self, item):
        self._items.append(item)
        if self._maxlen is not None and len(self._items) > self._maxlen:
            del self._items[0]

    def appendleft(self, item):
        self._items.insert(0, item)
        if self._maxlen is not None and len(self._items) > self._maxlen:
            del self._items[-1]

    def extend(self, iterable):
        if iterable is self:
            iterable = list(self)
        for item in iterable:
            self.append(item)

    def extendleft(self, iterable):
        if iterable is self:
            iterable = list(self)
        for item in iterable:
            self.appendleft(item)

    def pop(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop()

    def popleft(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop(0)

    def clear(self):
        self._items.clear()

    def copy(self):
        return type(self)(self._items, self._maxlen)

    __copy__ = copy

    def count(self, value):
        return self._items.count(value)

    def index(self, value, start=0, stop=None):
        stop = len(self._items) if stop is None else stop
        try:
            return self._items.index(value, start, stop)
        except ValueError:
            raise ValueError(f"{value!r} is not in deque") from None

    def insert(self, index, value):
        if self._maxlen is not None and len(self._items) >= self._maxlen:
            raise IndexError("deque already at its maximum size")
        self._items.insert(index, value)

    def remove(self, value):
        try:
            self._items.remove(value)
        except ValueError:
            raise ValueError("deque.remove(x): x not in deque") from None

    def reverse(self):
        self._items.reverse()

    def rotate(self, n=1):
        if self._items:
            n %= len(self._items)
            self._items[:] = self._items[-n:] + self._items[:-n] if n else self._items

    def __len__(self):
        return len(self._items)

    def __bool__(self):
        return bool(self._items)

    def __iter__(self):
        length = len(self._items)
        for item in self._items:
            yield item
            if len(self._items) != length:
                raise RuntimeError("deque mutated during iteration")

    def __reversed__(self):
        return reversed(list(self._items))

    def __contains__(self, value):
        return value in self._items

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        try:
            return self._items[index]
        except IndexError:
            raise IndexError("deque index out of range") from None

    def __setitem__(self, index, value):
        try:
            self._items[index] = value
        except IndexError:
            raise IndexError("deque index out of range") from None

    def __delitem__(self, index):
        try:
            del self._items[index]
        except IndexError:
            raise IndexError("deque index out of range") from None

    def __repr__(self):
        end = ")" if self._maxlen is None else f", maxlen={self._maxlen})"
        return f"{type(self).__name__}({self._items!r}{end}"

    def __add__(self, other):
        if not isinstance(other, deque):
            raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
        new = self.copy()
        new.extend(other)
        return new

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, times):
        return type(self)(self._items * times, self._maxlen)

    __rmul__ = __mul__

    def __imul__(self, times):
        self._items[:] = type(self)(self._items * times, self._maxlen)._items
        return self

    def __eq__(self, other):
        return self._items == other._items if isinstance(other, deque) else NotImplemented

    def __lt__(self, other):
        return self._items < other._items if isinstance(other, deque) else NotImplemented

    def __le__(self, other):
        return self._items <= other._items if isinstance(other, deque) else NotImplemented

    def __gt__(self, other):
        return self._items > other._items if isinstance(other, deque) else NotImplemented

    def __ge__(self, other):
        return self._items >= other._items if isinstance(other, deque) else NotImplemented

    def __reduce__(self):
        args = ((), self._maxlen) if self._maxlen is not None else ()
        return type(self), args, None, iter(self)

    __class_getitem__ = classmethod(GenericAlias)


deque.__module__ = "collections"


class _tuplegetter(property):
    """The field of a named tuple."""

    def __init__(self, index, doc):
        super().__init__(lambda self: self[index], doc=doc)
        self._index = index

    def __set__(self, instance, value):
        raise AttributeError("can't set attribute")

    def __delete__(self, instance):
        raise AttributeError("can't delete attribute")

    def __reduce__(self):
        return type(self), (self._index, self.__doc__)


def _count_elements(mapping, iterable):
    """Counts the items of an iterable."""
    get = mapping.get
    for item in iterable:
        mapping[item] = get(item, 0) + 1
