"""Reductions as functions of the module: they forward to the methods of arrays and of foreign objects.

This source shadows the builtins sum, min, max, any, all and round, and so must not use them.
"""
import numpy as np


def _reduced(a, ufunc, method, axis, dtype, out, keywords):
    """Reduces `a` by its own method if it is not an array, else by the ufunc."""
    if type(a) is not np.ndarray:
        own = getattr(a, method, None)
        if own is not None:
            if dtype is not None:
                return own(axis=axis, dtype=dtype, out=out, **keywords)
            return own(axis=axis, out=out, **keywords)
    return ufunc.reduce(a, axis, dtype, out, **keywords)


def _truth(a, ufunc, method, axis, out, keywords):
    """Reduces truth values: the result of the ufunc is boolean for every dtype."""
    if type(a) is not np.ndarray:
        own = getattr(a, method, None)
        if own is not None:
            return own(axis=axis, out=out, **keywords)
    return ufunc.reduce(a, axis, bool, out, **keywords)


def _by_array_method(a, method, args, keywords):
    """Calls a method of the array made of `a`; foreign objects such as tensors wrap the result."""
    result = getattr(np.asarray(a), method)(*args, **keywords)
    wrap = getattr(a, "__array_wrap__", None)
    if wrap is None or isinstance(a, (np.ndarray, np.generic)):
        return result
    return wrap(np.asarray(result))


def _by_method(a, method, *args, **keywords):
    """Calls a method of `a`, or of the array made of `a` if it lacks the method or the method rejects the call."""
    own = getattr(a, method, None)
    if own is None:
        return _by_array_method(a, method, args, keywords)
    if isinstance(a, (np.ndarray, np.generic)):
        return own(*args, **keywords)
    try:
        return own(*args, **keywords)
    except TypeError:
        return _by_array_method(a, method, args, keywords)


def sum(a, axis=None, dtype=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
    """Returns the sum over `axis`."""
    if type(a).__name__ == "generator":
        raise TypeError(
            "Calling np.sum(generator) is deprecated."
            "Use np.sum(np.fromiter(generator)) or the python sum builtin instead."
        )
    return _reduced(a, np.add, "sum", axis, dtype, out, np._given(keepdims=keepdims, initial=initial, where=where))


def prod(a, axis=None, dtype=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
    """Returns the product over `axis`."""
    keywords = np._given(keepdims=keepdims, initial=initial, where=where)
    return _reduced(a, np.multiply, "prod", axis, dtype, out, keywords)


def max(a, axis=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
    """Returns the largest element over `axis`; NaN if there is one."""
    keywords = np._given(keepdims=keepdims, initial=initial, where=where)
    return _reduced(a, np.maximum, "max", axis, None, out, keywords)


def min(a, axis=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
    """Returns the smallest element over `axis`; NaN if there is one."""
    keywords = np._given(keepdims=keepdims, initial=initial, where=where)
    return _reduced(a, np.minimum, "min", axis, None, out, keywords)


def amax(a, axis=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
    """Same as max()."""
    keywords = np._given(keepdims=keepdims, initial=initial, where=where)
    return _reduced(a, np.maximum, "max", axis, None, out, keywords)


def amin(a, axis=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
    """Same as min()."""
    keywords = np._given(keepdims=keepdims, initial=initial, where=where)
    return _reduced(a, np.minimum, "min", axis, None, out, keywords)


def any(a, axis=None, out=None, keepdims=np._NoValue, *, where=np._NoValue):
    """Returns whether an element over `axis` is true."""
    return _truth(a, np.logical_or, "any", axis, out, np._given(keepdims=keepdims, where=where))


def all(a, axis=None, out=None, keepdims=np._NoValue, *, where=np._NoValue):
    """Returns whether every element over `axis` is true."""
    return _truth(a, np.logical_and, "all", axis, out, np._given(keepdims=keepdims, where=where))


def argmax(a, axis=None, out=None, *, keepdims=np._NoValue):
    """Returns the index of the first largest element over `axis`."""
    return _by_method(a, "argmax", axis=axis, out=out, **np._given(keepdims=keepdims))


def argmin(a, axis=None, out=None, *, keepdims=np._NoValue):
    """Returns the index of the first smallest element over `axis`."""
    return _by_method(a, "argmin", axis=axis, out=out, **np._given(keepdims=keepdims))


def cumsum(a, axis=None, dtype=None, out=None):
    """Returns the partial sums along `axis`, or of the flattened array."""
    return _by_method(a, "cumsum", axis=axis, dtype=dtype, out=out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Returns the partial products along `axis`, or of the flattened array."""
    return _by_method(a, "cumprod", axis=axis, dtype=dtype, out=out)


def _cumulated(x, ufunc, axis, dtype, out, include_initial):
    """Accumulates along `axis`; the identity comes first if `include_initial` is true."""
    x = np.asanyarray(x)
    x = x.reshape(1) if x.ndim == 0 else x
    if axis is None:
        if x.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    if out is not None and include_initial:
        partial = out[np._along(x.ndim, axis, slice(1, None))]
        ufunc.accumulate(x, axis, dtype, partial)
        out[np._along(x.ndim, axis, slice(0, 1))] = ufunc.identity
        return out
    result = ufunc.accumulate(x, axis, dtype, out)
    if not include_initial:
        return result
    shape = list(x.shape)
    shape[axis] = 1
    first = np.full_like(result, ufunc.identity, shape=tuple(shape))
    return np.concatenate((first, result), axis=axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Returns the partial sums along `axis`, after a 0 if `include_initial` is true."""
    return _cumulated(x, np.add, axis, dtype, out, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Returns the partial products along `axis`, after a 1 if `include_initial` is true."""
    return _cumulated(x, np.multiply, axis, dtype, out, include_initial)


def _moment(a, method, axis, keywords):
    """Computes a mean, variance or deviation by the object's own method, or by that of the array made of it."""
    if type(a) is not np.ndarray:
        own = getattr(a, method, None)
        if own is not None:
            return own(axis=axis, **keywords)
        a = np.asanyarray(a)
    return getattr(a, method)(axis=axis, **keywords)


def mean(a, axis=None, dtype=None, out=None, keepdims=np._NoValue, *, where=np._NoValue):
    """Returns the arithmetic mean over `axis`."""
    return _moment(a, "mean", axis, np._given(dtype=dtype, out=out, keepdims=keepdims, where=where))


def _spread(a, method, axis, dtype, out, ddof, correction, keywords):
    """Computes a variance or deviation; `correction` is another name of `ddof`."""
    if correction is not np._NoValue:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    return _moment(a, method, axis, {"dtype": dtype, "out": out, "ddof": ddof, **keywords})


def var(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=np._NoValue, *,
    where=np._NoValue, mean=np._NoValue, correction=np._NoValue,
):
    """Returns the variance over `axis`, whose divisor is the count less `ddof`."""
    keywords = np._given(keepdims=keepdims, where=where, mean=mean)
    return _spread(a, "var", axis, dtype, out, ddof, correction, keywords)


def std(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=np._NoValue, *,
    where=np._NoValue, mean=np._NoValue, correction=np._NoValue,
):
    """Returns the square root of the variance over `axis`."""
    keywords = np._given(keepdims=keepdims, where=where, mean=mean)
    return _spread(a, "std", axis, dtype, out, ddof, correction, keywords)


def ptp(a, axis=None, out=None, keepdims=np._NoValue):
    """Returns the largest element over `axis` minus the smallest."""
    if type(a) is not np.ndarray:
        own = getattr(a, "ptp", None)
        if own is not None:
            return own(axis=axis, out=out, **np._given(keepdims=keepdims))
    keep = False if keepdims is np._NoValue else keepdims
    largest = np.maximum.reduce(a, axis, None, out, keep)
    smallest = np.minimum.reduce(a, axis, None, None, keep)
    return np.subtract(largest, smallest, out)


def count_nonzero(a, axis=None, *, keepdims=False):
    """Returns the number of nonzero elements over `axis` as int64."""
    return np.asanyarray(a).astype(bool).sum(axis=axis, dtype=np.intp, keepdims=keepdims)


def round(a, decimals=0, out=None):
    """Returns the elements rounded to `decimals` places, halves to even."""
    return _by_method(a, "round", decimals=decimals, out=out)


def around(a, decimals=0, out=None):
    """Same as round()."""
    return _by_method(a, "round", decimals=decimals, out=out)


def fix(x, out=None):
    """Returns the elements rounded towards zero."""
    return np.trunc(x, out=out)


def clip(
    a, a_min=np._NoValue, a_max=np._NoValue, out=None, *, min=np._NoValue, max=np._NoValue, **kwargs,
):
    """Returns the elements limited to [a_min, a_max]; None leaves a side open."""
    if a_min is np._NoValue and a_max is np._NoValue:
        a_min = None if min is np._NoValue else min
        a_max = None if max is np._NoValue else max
    elif a_min is np._NoValue:
        raise TypeError("clip() missing 1 required positional argument: 'a_min'")
    elif a_max is np._NoValue:
        raise TypeError("clip() missing 1 required positional argument: 'a_max'")
    elif min is not np._NoValue or max is not np._NoValue:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
        )
    return _by_method(a, "clip", a_min, a_max, out=out, **kwargs)
