"""Helpers that several of the NumPy sources share; each is reached as `np._name`."""
import numpy as np


class _NoValueType:
    """The class of `np._NoValue`, the default of parameters for which None has a meaning."""

    def __repr__(self):
        return "<no value>"


_NoValue = _NoValueType()


def _given(**keywords):
    """Returns the keywords that the caller has set, as a dict."""
    return {name: value for name, value in keywords.items() if value is not _NoValue}


def _index(value):
    """Returns an integer-like value as an int; fails with TypeError for floats, strings and the rest."""
    kind = type(value)
    if kind is int or kind is bool:
        return int(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        if value.ndim == 0 and value.dtype.kind in "iu":
            return int(value)
        raise TypeError("only integer scalar arrays can be converted to a scalar index")
    if hasattr(value, "__index__"):
        return value.__index__()
    raise TypeError(f"'{_type_name(value)}' object cannot be interpreted as an integer")


def _type_name(value):
    """Returns the name of a value's class as CPython prints it, which has the module for NumPy's scalars."""
    name = type(value).__name__
    return "numpy." + name if isinstance(value, (np.generic, np.ndarray)) else name


def _axis_index(axis, ndim, prefix=None):
    """Returns `axis` counted from the front; fails with AxisError if it is outside [-ndim, ndim)."""
    if isinstance(axis, float):
        raise TypeError("integer argument expected, got float")
    number = _index(axis)
    if number < -ndim or number >= ndim:
        start = "" if prefix is None else f"{prefix}: "
        raise np.exceptions.AxisError(f"{start}axis {number} is out of bounds for array of dimension {ndim}")
    return number + ndim if number < 0 else number


def _axis_tuple(axis, ndim, argument=None, repeats=False):
    """Returns one axis or a sequence of axes as a tuple of axes counted from the front."""
    if type(axis) is not tuple and type(axis) is not list:
        try:
            axis = [_index(axis)]
        except TypeError:
            pass
    axes = tuple([_axis_index(one, ndim, argument) for one in axis])
    if not repeats and len(set(axes)) != len(axes):
        if argument:
            raise ValueError(f"repeated axis in `{argument}` argument")
        raise ValueError("repeated axis")
    return axes


def _axis_last(a, axis):
    """Returns a view of `a` whose last dimension is `axis`, which counts from the front."""
    if axis == a.ndim - 1:
        return a
    return a.transpose([d for d in range(a.ndim) if d != axis] + [axis])


def _axis_first(a, axis):
    """Returns a view of `a` whose first dimension is `axis`, which counts from the front."""
    if axis == 0:
        return a
    return a.transpose([axis] + [d for d in range(a.ndim) if d != axis])


def _along(ndim, axis, key):
    """Returns an index that applies `key` to one axis and keeps the others whole."""
    key_of_all = [slice(None)] * ndim
    key_of_all[axis] = key
    return tuple(key_of_all)


def _named_result(name, fields):
    """Returns a class of tuples whose items have names: what several functions return."""

    class Result(tuple):
        def __new__(cls, *values):
            return tuple.__new__(cls, values)

        def __repr__(self):
            return f"{name}({', '.join(f'{field}={value!r}' for field, value in zip(fields, self))})"

        def _asdict(self):
            return dict(zip(fields, self))

    for at, field in enumerate(fields):
        setattr(Result, field, property(lambda self, at=at: self[at]))
    Result._fields = tuple(fields)
    Result.__name__ = Result.__qualname__ = name
    return Result
