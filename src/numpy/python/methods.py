"""Methods of arrays that are composed of others. The receiver comes first; all arguments are passed by position."""
import numpy as np


def _count(a, axis, where):
    """Returns the number of elements that each element of a reduction is made of."""
    if where is not True:
        return np.add.reduce(np.broadcast_to(where, a.shape), axis=axis, dtype=np.intp)
    if axis is None:
        return a.size
    count = 1
    for one in axis if type(axis) is tuple else (axis,):
        if a.ndim or one not in (0, -1):
            count *= a.shape[np._axis_index(one, a.ndim)]
    return count


def _warn(message):
    """Reports what NumPy reports by a RuntimeWarning."""
    np._warn("RuntimeWarning", message)


def _quotient(total, count, out):
    """Divides sums by counts in the dtype of the sums."""
    if isinstance(total, np.ndarray):
        return np.true_divide(total, count, out=total, casting="unsafe")
    return total.dtype.type(total / count)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    a = np.asanyarray(a)
    is_half = False
    count = _count(a, axis, where)
    if np.any(np.equal(count, 0)):
        _warn("Mean of empty slice.")
    if dtype is None:
        if a.dtype.kind in "biu":
            dtype = np.dtype("f8")
        elif a.dtype.type is np.float16:
            dtype, is_half = np.dtype("f4"), True
    total = np.add.reduce(a, axis, dtype, out, keepdims, where=where)
    if isinstance(total, np.ndarray):
        result = np.true_divide(total, count, out=total, casting="unsafe")
        if is_half and out is None:
            result = a.dtype.type(result) if result.ndim == 0 else result.astype(a.dtype)
        return result
    if is_half:
        return a.dtype.type(total / count)
    return total.dtype.type(total / count)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True, mean=None):
    a = np.asanyarray(a)
    count = _count(a, axis, where)
    if np.any(np.less_equal(count - ddof, 0)):
        _warn("Degrees of freedom <= 0 for slice")
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.dtype("f8")
    if mean is not None:
        middle = mean
    else:
        middle = np.add.reduce(a, axis, dtype, None, True, where=where)
        divisor = count
        if isinstance(count, np.ndarray) and count.ndim:
            divisor = count.reshape(middle.shape)
        if isinstance(middle, np.ndarray):
            middle = np.true_divide(middle, divisor, out=middle, casting="unsafe")
        else:
            middle = middle.dtype.type(middle / divisor)
    x = np.asanyarray(a - middle)
    if a.dtype.kind in "biuf":
        x = np.multiply(x, x, out=x if x.ndim else None)
    else:
        re, im = x.real, x.imag
        x = np.add(np.multiply(re, re), np.multiply(im, im))
    total = np.add.reduce(np.asanyarray(x), axis, dtype, out, keepdims, where=where)
    rest = np.maximum(count - ddof, 0)
    if isinstance(total, np.ndarray):
        return np.true_divide(total, rest, out=total, casting="unsafe")
    return total.dtype.type(total / rest)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True, mean=None):
    spread = var(a, axis, dtype, out, ddof, keepdims, where, mean)
    if isinstance(spread, np.ndarray):
        return np.sqrt(spread, out=spread)
    return spread.dtype.type(np.sqrt(spread))


def clip(a, min=None, max=None, out=None):
    a = np.asanyarray(a)
    if min is None and max is None:
        return np.positive(a, out=out) if out is not None else np.positive(a) if a.dtype.kind != "b" else a.copy()[()]
    if min is None:
        return np.minimum(a, max, out=out)
    if max is None:
        return np.maximum(a, min, out=out)
    return np._clip(a, min, max, out=out)


def round(a, decimals=0, out=None):
    a = np.asanyarray(a)
    if isinstance(decimals, str):
        raise TypeError("'str' object cannot be interpreted as an integer")
    digits = decimals.__index__() if hasattr(decimals, "__index__") else int(decimals)
    if a.dtype.kind == "c":
        result = np.empty_like(a) if out is None else out
        result.real = round(a.real, digits)
        result.imag = round(a.imag, digits)
        return result[()]
    if a.dtype.kind in "iu":
        if digits >= 0:
            if out is not None:
                out[...] = a
                return out
            return a.copy()[()]
    if digits == 0:
        return np.rint(a, out=out) if out is not None else np.rint(a)
    inner, outer = (np.multiply, np.true_divide) if digits > 0 else (np.true_divide, np.multiply)
    factor = 10.0 ** abs(digits)
    if a.dtype.kind in "iu":
        scaled = np.rint(inner(a, factor))
        return outer(scaled, factor).astype(a.dtype)[()] if out is None else outer(scaled, factor, out=out, casting="unsafe")
    result = np.empty_like(a) if out is None else out
    inner(a, factor, out=result)
    np.rint(result, out=result)
    outer(result, factor, out=result)
    return result if out is not None else result[()]


def dot(a, b, out=None):
    a, b = np.asanyarray(a), np.asanyarray(b)
    if a.ndim == 0 or b.ndim == 0:
        result = np.multiply(a, b)
    elif a.ndim <= 2 and b.ndim <= 2:
        inner = b.shape[0]
        if a.shape[-1] != inner:
            raise ValueError(
                f"shapes {_show(a.shape)} and {_show(b.shape)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != {inner} (dim 0)"
            )
        result = np.matmul(a, b)
    else:
        where = max(b.ndim - 2, 0)
        if a.shape[-1] != b.shape[where]:
            raise ValueError(
                f"shapes {_show(a.shape)} and {_show(b.shape)} not aligned: "
                f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[where]} (dim {where})"
            )
        columns = np.moveaxis(b, where, 0)
        rest = columns.shape[1:]
        flat = np.matmul(a.reshape(-1, a.shape[-1]), columns.reshape(columns.shape[0], -1))
        result = flat.reshape(a.shape[:-1] + rest)
    if out is not None:
        if not isinstance(out, np.ndarray) or out.dtype != result.dtype or out.shape != result.shape or not out.flags.c_contiguous:
            raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)")
        out[...] = result
        return out
    return result


def _show(shape):
    return "(" + ",".join(str(size) for size in shape) + (",)" if len(shape) == 1 else ")")


def _axis(axis, ndim):
    return np._axis_index(axis, ndim)


def _positions(indices, count, mode, axis):
    """Returns positions within `count` elements, by one of the modes for those beyond."""
    indices = np.asarray(indices)
    if indices.dtype.kind not in "iub":
        if indices.size == 0:
            indices = indices.astype(np.intp)
        else:
            raise TypeError(
                f"Cannot cast array data from dtype('{indices.dtype}') to dtype('int64') according to the rule 'safe'"
            )
    indices = indices.astype(np.intp)
    if mode == "wrap":
        if count == 0:
            return indices
        return np.remainder(indices, count)
    if mode == "clip":
        return np._clip(indices, 0, max(count - 1, 0))
    if mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    bad = (indices < -count) | (indices >= count)
    if bad.any():
        first = indices[bad].item(0) if indices.ndim else indices.item()
        place = f"axis {axis} with size {count}" if axis is not None else f"axis 0 with size {count}"
        raise IndexError(f"index {first} is out of bounds for {place}")
    return indices


def take(a, indices, axis=None, out=None, mode="raise"):
    a = np.asanyarray(a)
    if axis is None:
        flat, axis = a.reshape(-1), 0
    else:
        flat, axis = a, _axis(axis, a.ndim)
    if flat.shape[axis] == 0 and np.asarray(indices).size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    positions = _positions(indices, flat.shape[axis], mode, axis)
    key = (slice(None),) * axis + (positions,)
    result = flat[key]
    if isinstance(result, np.ndarray) and not result.flags.c_contiguous:
        result = result.copy()
    if out is not None:
        out[...] = result
        return out
    return result


def put(a, indices, values, mode="raise"):
    if not a.flags.writeable:
        raise ValueError("put: output array is read-only")
    if a.size == 0 and np.asarray(indices).size:
        raise IndexError("cannot replace elements of an empty array")
    values = np.asarray(values).astype(a.dtype).reshape(-1)
    positions = _positions(indices, a.size, mode, None).reshape(-1)
    if values.size == 0 or positions.size == 0:
        return None
    count = positions.size
    repeated = np.resize(values, (count,))
    a.flat[positions] = repeated


def repeat(a, repeats, axis=None):
    a = np.asanyarray(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    else:
        axis = _axis(axis, a.ndim)
    repeats = np.asarray(repeats)
    if repeats.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from dtype('{repeats.dtype}') to dtype('int64') according to the rule 'safe'")
    size = a.shape[axis]
    if repeats.ndim > 1:
        raise ValueError("object too deep for desired array")
    if (repeats < 0).any():
        raise ValueError("repeats may not contain negative values." if repeats.ndim else "negative dimensions are not allowed")
    counts = repeats.reshape(-1)
    if counts.size == 1:
        counts = np.full(size, counts[0])
    elif counts.size != size:
        raise ValueError(f"operands could not be broadcast together with shape ({size},) ({counts.size},)")
    ends = np.add.accumulate(counts.astype(np.intp)) if size else counts.astype(np.intp)
    total = int(ends[-1]) if size else 0
    positions = ends.searchsorted(np.arange(total), side="right")
    result = a[(slice(None),) * axis + (positions,)]
    return result if result.flags.c_contiguous else result.copy()


def compress(a, condition, axis=None, out=None):
    a = np.asanyarray(a)
    condition = np.asarray(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, condition.nonzero()[0], axis, out)


def choose(a, choices, out=None, mode="raise"):
    a = np.asanyarray(a)
    arrays = [np.asarray(choice) for choice in choices]
    if not arrays:
        raise ValueError("0-length sequence.")
    shape = np.broadcast_shapes(a.shape, *[array.shape for array in arrays])
    which = np.broadcast_to(a, shape)
    if which.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from dtype('{which.dtype}') to dtype('int64') according to the rule 'safe'")
    which = which.astype(np.intp)
    count = len(arrays)
    if mode == "wrap":
        which = np.remainder(which, count)
    elif mode == "clip":
        which = np._clip(which, 0, count - 1)
    elif ((which < 0) | (which >= count)).any():
        raise ValueError("invalid entry in choice array")
    result = np.empty(shape, np.result_type(*[array.dtype for array in arrays]))
    for number, array in enumerate(arrays):
        np.copyto(result, np.broadcast_to(array, shape), where=which == number)
    if out is not None:
        out[...] = result
        return out
    return result[()] if result.ndim == 0 else result


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return np.asanyarray(a).diagonal(offset, axis1, axis2).sum(-1, dtype, out)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    if not a.size:
        return None
    axis = _axis(axis, a.ndim)
    for one in np.asarray(kth).reshape(-1).tolist():
        place = one + a.shape[axis] if one < 0 else one
        if place < 0 or place >= a.shape[axis]:
            raise ValueError(f"kth(={one}) out of bounds ({a.shape[axis]})")
    a.sort(axis)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    a = np.asanyarray(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    if not a.size:
        return a.argsort(axis, kind="stable")
    axis = _axis(axis, a.ndim)
    for one in np.asarray(kth).reshape(-1).tolist():
        place = one + a.shape[axis] if one < 0 else one
        if place < 0 or place >= a.shape[axis]:
            raise ValueError(f"kth(={one}) out of bounds ({a.shape[axis]})")
    return a.argsort(axis, kind="stable")
