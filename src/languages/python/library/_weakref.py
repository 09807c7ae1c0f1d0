"""References that do not keep their objects."""

from _weakref import _pointer, _watch


class ReferenceType:
    """A weak reference: called, it returns its object, or None once the object is gone."""

    def __new__(cls, ob, callback=None, /, *args, **kwargs):
        self = object.__new__(cls)
        self._pointer = _pointer(ob)
        self._hash = None
        self.__callback__ = callback
        if callback is not None:
            own = _pointer(self)

            def gone():
                reference = own()
                if reference is not None:
                    reference.__callback__ = None
                    callback(reference)

            _watch(ob, gone)
        return self

    def __init__(self, ob, callback=None, /):
        pass

    def __call__(self):
        return self._pointer()

    def __eq__(self, other):
        if not isinstance(other, ReferenceType):
            return NotImplemented
        mine, others = self(), other()
        if mine is None or others is None:
            return self is other
        return mine == others

    def __hash__(self):
        if self._hash is None:
            ob = self()
            if ob is None:
                raise TypeError("weak object has gone away")
            self._hash = hash(ob)
        return self._hash

    def __repr__(self):
        ob = self()
        if ob is None:
            return f"<weakref at {id(self):#x}; dead>"
        return f"<weakref at {id(self):#x}; to '{type(ob).__name__}' at {id(ob):#x}>"


ReferenceType.__module__ = "weakref"
ref = ReferenceType


def _through(name):
    def method(self, *args):
        return getattr(self._object(), name)(*args)

    return method


class ProxyType:
    """Stands for an object that it does not keep."""

    __hash__ = None

    def __init__(self, ob, callback=None):
        object.__setattr__(self, "_reference", ReferenceType(ob, None if callback is None else lambda _: callback(self)))

    def _object(self):
        ob = object.__getattribute__(self, "_reference")()
        if ob is None:
            raise ReferenceError("weakly-referenced object no longer exists")
        return ob

    def __getattribute__(self, name):
        if name == "_object":
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "_object")(), name)

    def __setattr__(self, name, value):
        setattr(self._object(), name, value)

    def __delattr__(self, name):
        delattr(self._object(), name)

    def __str__(self):
        return str(self._object())

    def __bool__(self):
        return bool(self._object())

    def __repr__(self):
        ob = self._object()
        return f"<weakproxy at {id(self):#x} to {type(ob).__name__} at {id(ob):#x}>"


for _name in (
    "len getitem setitem delitem contains iter next eq ne lt le gt ge add radd sub rsub mul rmul truediv rtruediv "
    "floordiv rfloordiv mod rmod pow rpow matmul and or xor lshift rshift neg pos abs invert int float index"
).split():
    setattr(ProxyType, f"__{_name}__", _through(f"__{_name}__"))


class CallableProxyType(ProxyType):
    def __call__(self, *args, **kwargs):
        return self._object()(*args, **kwargs)


def proxy(ob, callback=None, /):
    return (CallableProxyType if callable(ob) else ProxyType)(ob, callback)


def getweakrefcount(ob):
    raise NotImplementedError("weakref.getweakrefcount is not supported at this prompt")


def getweakrefs(ob):
    raise NotImplementedError("weakref.getweakrefs is not supported at this prompt")


def _remove_dead_weakref(mapping, key):
    reference = mapping.get(key)
    if reference is not None and reference() is None:
        del mapping[key]
