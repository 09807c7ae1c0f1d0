"""Abstract base classes: which classes an abstract one counts as its own. `abc.py` makes `ABCMeta` of these functions."""

_token = 0


class _Data:
    """What an abstract class knows of others."""

    def __init__(self):
        self.registry = []
        self.positive = set()
        self.negative = set()
        self.token = _token


def get_cache_token():
    return _token


def _abc_init(cls):
    abstract = {name for name, value in list(cls.__dict__.items()) if getattr(value, "__isabstractmethod__", False)}
    for base in cls.__bases__:
        for name in getattr(base, "__abstractmethods__", ()):
            if getattr(getattr(cls, name, None), "__isabstractmethod__", False):
                abstract.add(name)
    cls.__abstractmethods__ = frozenset(abstract)
    cls._abc_impl = _Data()


def _abc_register(cls, subclass):
    global _token
    if not isinstance(subclass, type):
        raise TypeError("Can only register classes")
    if issubclass(subclass, cls):
        return subclass
    if issubclass(cls, subclass):
        raise RuntimeError("Refusing to create an inheritance cycle")
    cls._abc_impl.registry.append(subclass)
    _token += 1
    return subclass


def _abc_instancecheck(cls, instance):
    subclass = instance.__class__
    data = cls._abc_impl
    if subclass in data.positive:
        return True
    kind = type(instance)
    if kind is subclass:
        if data.token == _token and subclass in data.negative:
            return False
        return cls.__subclasscheck__(subclass)
    return any(cls.__subclasscheck__(c) for c in (subclass, kind))


def _abc_subclasscheck(cls, subclass):
    if not isinstance(subclass, type):
        raise TypeError("issubclass() arg 1 must be a class")
    data = cls._abc_impl
    if subclass in data.positive:
        return True
    if data.token < _token:
        data.negative = set()
        data.token = _token
    elif subclass in data.negative:
        return False
    answer = cls.__subclasshook__(subclass)
    if answer is NotImplemented:
        answer = (
            cls in getattr(subclass, "__mro__", ())
            or any(issubclass(subclass, other) for other in data.registry)
            or any(issubclass(subclass, other) for other in cls.__subclasses__())
        )
    (data.positive if answer else data.negative).add(subclass)
    return answer


def _get_dump(cls):
    data = cls._abc_impl
    return set(data.registry), data.positive, data.negative, data.token


def _reset_registry(cls):
    cls._abc_impl.registry.clear()


def _reset_caches(cls):
    cls._abc_impl.positive.clear()
    cls._abc_impl.negative.clear()
