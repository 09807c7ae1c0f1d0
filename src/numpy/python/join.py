"""Functions of `np` that add and remove elements: append, insert, delete, pad and trim_zeros."""

import numpy as np


def append(arr, values, axis=None):
    """Returns `arr` with `values` after it along `axis`; both are flattened by default."""
    arr = np.asanyarray(arr)
    if axis is None:
        arr, values, axis = arr.ravel(), np.ravel(values), 0
    return np.concatenate((arr, values), axis=axis)


def _edited(arr, axis):
    """Returns (array, axis) for an edit along `axis`, or of the flattened array if it is None."""
    arr = np.asarray(arr)
    if axis is None:
        return (arr if arr.ndim == 1 else arr.ravel()), 0
    return arr, np._axis_index(axis, arr.ndim)


def _order(arr):
    """Returns the layout of an edited copy."""
    return "F" if arr.flags.fnc else "C"


def delete(arr, obj, axis=None):
    """Returns a copy of `arr` without the slices `obj` along `axis`."""
    return np._returned(arr, _deleted(arr, obj, axis))


def _deleted(arr, obj, axis):
    """Returns the array that `delete` makes."""
    arr, axis = _edited(arr, axis)
    size = arr.shape[axis]
    keep = np.ones(size, bool)
    if isinstance(obj, slice):
        if len(range(*obj.indices(size))) == 0:
            return arr.copy(order=_order(arr))
        keep[obj] = False
        return _kept(arr, keep, axis)
    single = isinstance(obj, (int, np.integer)) and not isinstance(obj, bool)
    if not single:
        given = isinstance(obj, np.ndarray)
        obj = np.asarray(obj)
        if obj.size == 0 and not given:
            obj = obj.astype(np.intp)
        elif obj.size == 1 and obj.dtype.kind in "ui":
            obj, single = obj.item(), True
    if single:
        if not -size <= obj < size:
            raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {size}")
        keep[obj] = False
        return _kept(arr, keep, axis)
    if obj.dtype == np.bool_:
        if obj.shape != (size,):
            raise ValueError(
                "boolean array argument obj to delete must be one dimensional and match the axis length of "
                f"{size}"
            )
        keep = ~obj
    else:
        keep[(obj,)] = False
    return arr[np._along(arr.ndim, axis, keep)]


def _kept(arr, keep, axis):
    """Returns a copy of the slices where `keep` is true, in the layout of `arr`."""
    kept = arr[np._along(arr.ndim, axis, keep)]
    result = np.empty(kept.shape, arr.dtype, _order(arr))
    result[...] = kept
    return result


def insert(arr, obj, values, axis=None):
    """Returns a copy of `arr` with `values` before the indices `obj` along `axis`."""
    return np._returned(arr, _inserted(arr, obj, values, axis))


def _inserted(arr, obj, values, axis):
    """Returns the array that `insert` makes."""
    arr, axis = _edited(arr, axis)
    size = arr.shape[axis]
    if isinstance(obj, slice):
        places = np.arange(*obj.indices(size), dtype=np.intp)
    else:
        places = np.array(obj)
        if places.dtype == np.bool_:
            if obj.ndim != 1:
                raise ValueError("boolean array argument obj to insert must be one dimensional")
            places = places.nonzero()[0]
        elif places.ndim > 1:
            raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if places.size == 1:
        place = places.item()
        if not -size <= place <= size:
            raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {size}")
        values = np.array(values, copy=None, ndmin=arr.ndim, dtype=arr.dtype)
        if places.ndim == 0:
            # A number inserts one slice: its axis is the first one of `values`.
            values = np.moveaxis(values, 0, axis)
        if places.dtype.kind == "f":
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        first = place + size if place < 0 else place
        places = slice(first, first + values.shape[axis])
        count = values.shape[axis]
    else:
        if places.size == 0 and not isinstance(obj, np.ndarray):
            places = places.astype(np.intp)
        places[places < 0] += size
        # Each insertion moves the later ones by one.
        order = places.argsort(kind="stable")
        count = len(places)
        places[order] += np.arange(count)
    shape = list(arr.shape)
    shape[axis] += count
    keep = np.ones(shape[axis], bool)
    keep[places] = False
    result = np.empty(shape, arr.dtype, _order(arr))
    result[np._along(arr.ndim, axis, places)] = values
    result[np._along(arr.ndim, axis, keep)] = arr
    return result


def trim_zeros(filt, trim="fb", axis=None):
    """Returns a view without the zeros at the front ("f") and back ("b") of `axis`."""
    array = np.asarray(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = tuple(range(array.ndim)) if axis is None else np._axis_tuple(axis, array.ndim, "axis")
    if not axes:
        return filt
    found = array.nonzero()
    index = []
    for place, where in enumerate(found):
        if place not in axes:
            index.append(slice(None))
            continue
        first, end = (where.min(), where.max() + 1) if where.size else (array.shape[place], 0)
        index.append(slice(first if "f" in trim else None, end if "b" in trim else None))
    return filt[index[0]] if len(index) == 1 else filt[tuple(index)]


# Padding


_PAD_OPTIONS = {
    "constant": ["constant_values"],
    "edge": [],
    "empty": [],
    "linear_ramp": ["end_values"],
    "maximum": ["stat_length"],
    "mean": ["stat_length"],
    "median": ["stat_length"],
    "minimum": ["stat_length"],
    "reflect": ["reflect_type"],
    "symmetric": ["reflect_type"],
    "wrap": [],
}


def _pairs(value, ndim, whole=False):
    """Returns `ndim` pairs (before, after) of a number, a pair, or a list of pairs."""
    if value is None:
        return ((None, None),) * ndim
    value = np.array(value)
    if not whole and value.ndim < 3 and (value.size == 1 or value.size == 2):
        # NumPy's scalars are kept here: Python's numbers adapt to the dtype of an array, and can be too large for it.
        first, last = value.ravel()[0], value.ravel()[-1]
        if value.shape == (2, 1) and ndim == 2:
            return (first, first), (last, last)
        if value.shape != (2, 1):
            return ((first, last),) * ndim
    if whole:
        value = np.round(value).astype(np.intp, copy=False)
        if value.size and value.min() < 0:
            raise ValueError("index can't contain negative values")
    return np.broadcast_to(value, (ndim, 2)).tolist()


def pad(array, pad_width, mode="constant", **kwargs):
    """Returns a larger copy of `array`; `mode` names the rule for the new elements."""
    array = np.asarray(array)
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * array.ndim
        for axis, width in pad_width.items():
            widths[axis] = width if isinstance(width, tuple) else (width, width)
        pad_width = widths
    pad_width = np.asarray(pad_width)
    if pad_width.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    widths = _pairs(pad_width, array.ndim, True)
    if callable(mode):
        return _padded_by(mode, array, widths, kwargs)
    if mode not in _PAD_OPTIONS:
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = set(kwargs) - set(_PAD_OPTIONS[mode])
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    if array.size == 0 and mode not in ("constant", "empty"):
        for axis, width in enumerate(widths):
            if array.shape[axis] == 0 and max(width) > 0:
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    result, inner = _enlarged(array, widths)
    if mode == "empty":
        return result
    option = kwargs.get((_PAD_OPTIONS[mode] or [None])[0])
    fill = _filler(mode, option, array)
    for axis, width in enumerate(widths):
        if array.size == 0 and mode != "constant":
            break
        # Earlier axes are complete, later ones still have only the original part.
        region = result[(slice(None),) * axis + (Ellipsis,) + inner[axis + 1 :]] if axis + 1 < array.ndim else result
        fill(region, axis, width)
    return result


def _enlarged(array, widths, fill=None):
    """Returns (array with margins that are not set, slices of the original part)."""
    shape = [before + size + after for size, (before, after) in zip(array.shape, widths)]
    result = np.empty(shape, array.dtype, "F" if array.flags.fnc else "C")
    if fill is not None:
        result.fill(fill)
    inner = tuple([slice(before, before + size) for size, (before, after) in zip(array.shape, widths)])
    result[inner] = array
    return result, inner


def _padded_by(function, array, widths, options):
    """Returns the padded copy whose vectors `function` fills in place."""
    result, _ = _enlarged(array, widths, 0)
    for axis in range(result.ndim):
        front = np.moveaxis(result, axis, -1)
        for place in np.ndindex(*front.shape[:-1]):
            function(front[place], tuple(widths[axis]), axis, options)
    return result


def _filler(mode, option, array):
    """Returns the function (region, axis, (before, after)) that fills both margins of an axis."""
    ndim = array.ndim
    if mode == "constant":
        values = _pairs(0 if option is None else option, ndim)
        return lambda region, axis, width: _set_margins(region, axis, width, values[axis])
    if mode == "linear_ramp":
        values = _pairs(0 if option is None else option, ndim)
        return lambda region, axis, width: _set_ramps(region, axis, width, values[axis])
    if mode in ("maximum", "minimum", "mean", "median"):
        lengths = _pairs(option, ndim, True)
        return lambda region, axis, width: _set_statistic(region, axis, width, lengths[axis], mode)
    odd = option == "odd"
    return lambda region, axis, width: _set_copies(region, axis, width, mode, odd)


def _cut(region, axis, start, end):
    """Returns the view of the places from `start` to `end` of `axis`."""
    return region[np._along(region.ndim, axis, slice(start, end))]


def _margins(region, axis, width):
    """Returns the views (before, after) of the two margins."""
    size = region.shape[axis]
    return _cut(region, axis, 0, width[0]), _cut(region, axis, size - width[1], size)


def _set_margins(region, axis, width, values):
    """Writes a value, or an array that broadcasts, to each margin."""
    for margin, value in zip(_margins(region, axis, width), values):
        margin[...] = value


def _set_ramps(region, axis, width, values):
    """Writes numbers from the given end to the edge of the original part to each margin."""
    size = region.shape[axis]
    edges = _cut(region, axis, width[0], width[0] + 1), _cut(region, axis, size - width[1] - 1, size - width[1])
    ramps = []
    for edge, count, end in zip(edges, width, values):
        edge = edge.squeeze(axis)
        ramps.append(np.linspace(end, edge, num=count, endpoint=False, dtype=region.dtype, axis=axis))
    back = np._along(region.ndim, axis, slice(None, None, -1))
    _set_margins(region, axis, width, (ramps[0], ramps[1][back]))


def _set_statistic(region, axis, width, lengths, mode):
    """Writes the statistic of the nearest `lengths` elements to each margin."""
    first, end = width[0], region.shape[axis] - width[1]
    most = end - first
    counts = [most if length is None or length > most else length for length in lengths]
    if 0 in counts and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    chunks = _cut(region, axis, first, first + counts[0]), _cut(region, axis, end - counts[1], end)
    values = []
    for chunk in chunks:
        if mode == "median":
            value = np.median(chunk, axis=axis, keepdims=True)
        else:
            method = {"maximum": chunk.max, "minimum": chunk.min, "mean": chunk.mean}[mode]
            value = method(axis=axis, keepdims=True)
        if region.dtype.kind in "iu" and value.dtype.kind == "f":
            value = np.rint(value)
        values.append(value)
    _set_margins(region, axis, width, values)


def _set_copies(region, axis, width, mode, odd):
    """Writes elements of the original part to each margin: edges, reflections or repetitions."""
    first, end = width[0], region.shape[axis] - width[1]
    size = end - first
    places = np.arange(-first, region.shape[axis] - first)
    if mode == "edge" or (mode != "wrap" and size == 1):
        source = np.minimum(np.maximum(places, 0), size - 1)
    elif mode == "wrap":
        source = places % size
    else:
        # A reflection with the edges repeats after twice the size, one without them after two less.
        period = 2 * size if mode == "symmetric" else 2 * size - 2
        source = places % period
        source = np.minimum(source, period - 1 - source if mode == "symmetric" else period - source)
    inner = _cut(region, axis, first, end)
    if odd and mode in ("reflect", "symmetric") and size > 1:
        _set_odd(region, axis, width, mode)
        return
    index = source + first
    before, after = _margins(region, axis, width)
    before[...] = region.take(index[:first], axis=axis)
    after[...] = region.take(index[end:], axis=axis)


def _set_odd(region, axis, width, mode):
    """Writes reflections through the edge value, one original length at a time."""
    total = region.shape[axis]
    skip = 1 if mode == "reflect" else 0
    first, end = width[0], total - width[1]
    back = np._along(region.ndim, axis, slice(None, None, -1))
    period = end - first - skip
    while first > 0 or end < total:
        start, stop = first, end
        # Only whole copies of the original part are reflected.
        length = (stop - start - skip) // period * period
        count = min(length, start)
        if count > 0:
            edge = _cut(region, axis, start, start + 1)
            chunk = _cut(region, axis, start + skip, start + skip + count)[back]
            first = start - count
            _cut(region, axis, first, start)[...] = 2 * edge - chunk
        count = min(length, total - stop)
        if count > 0:
            edge = _cut(region, axis, stop - 1, stop)
            chunk = _cut(region, axis, stop - skip - count, stop - skip)[back]
            end = stop + count
            _cut(region, axis, stop, end)[...] = 2 * edge - chunk


def concat(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Joins arrays along an existing dimension: another name of `concatenate`."""
    return np.concatenate(arrays, axis, out, dtype=dtype, casting=casting)
