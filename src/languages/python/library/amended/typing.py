# Both classes, without enumerations and the parser of patterns, for which importing this module would wait.
#- import re as stdlib_re
#+ import _sre as stdlib_re


@_SpecialForm
def Never(self, parameters):
    raise TypeError(f"{self} is not subscriptable")


@_SpecialForm
def Self(self, parameters):
    raise TypeError(f"{self} is not subscriptable")


@_SpecialForm
def LiteralString(self, parameters):
    raise TypeError(f"{self} is not subscriptable")


@_SpecialForm
def Required(self, parameters):
    item = _type_check(parameters, f"{self._name} accepts only a single type.")
    return _GenericAlias(self, (item,))


@_SpecialForm
def NotRequired(self, parameters):
    item = _type_check(parameters, f"{self._name} accepts only a single type.")
    return _GenericAlias(self, (item,))


def assert_never(arg, /):
    value = repr(arg)
    if len(value) > 100:
        value = value[:100] + "..."
    raise AssertionError(f"Expected code to be unreachable, but got: {value}")


def assert_type(val, typ, /):
    return val


def reveal_type(obj, /):
    print(f"Runtime type is {type(obj).__name__!r}", file=sys.stderr)
    return obj


def dataclass_transform(
    *, eq_default=True, order_default=False, kw_only_default=False, field_specifiers=(), **kwargs
):
    def decorator(cls_or_fn):
        cls_or_fn.__dataclass_transform__ = {
            "eq_default": eq_default,
            "order_default": order_default,
            "kw_only_default": kw_only_default,
            "field_specifiers": field_specifiers,
            "kwargs": kwargs,
        }
        return cls_or_fn

    return decorator


_overloads = {}
_first_overload = overload


def overload(func):
    """Registers one of the signatures of a function, which is written last."""
    function = getattr(func, "__func__", func)
    try:
        _overloads.setdefault((function.__module__, function.__qualname__), []).append(func)
    except AttributeError:
        pass
    return _first_overload(func)


def get_overloads(func):
    function = getattr(func, "__func__", func)
    return list(_overloads.get((function.__module__, function.__qualname__), ()))


def clear_overloads():
    _overloads.clear()


__all__ += [
    "LiteralString", "Never", "NotRequired", "Required", "Self", "assert_never", "assert_type", "clear_overloads",
    "dataclass_transform", "get_overloads", "reveal_type",
]
