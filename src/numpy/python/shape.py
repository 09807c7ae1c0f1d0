"""Functions of `np` that rearrange axes and elements. Most results are views."""

import math

import numpy as np


def _shape(shape):
    """Returns a shape as a tuple of ints, for an int or a sequence of ints."""
    if isinstance(shape, (tuple, list)):
        return tuple([np._index(size) for size in shape])
    try:
        return (np._index(shape),)
    except TypeError:
        return tuple([np._index(size) for size in shape])


def _sequence(arrays):
    """Fails for iterators and numbers, which cannot be read twice."""
    if not isinstance(arrays, np.ndarray) and not hasattr(arrays, "__getitem__"):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return arrays


# Joining


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Joins arrays of one shape along a new axis."""
    arrays = [np.asanyarray(array) for array in _sequence(arrays)]
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len(set([array.shape for array in arrays])) > 1:
        raise ValueError("all input arrays must have the same shape")
    ndim = arrays[0].ndim + 1
    axis = np._axis_index(axis, ndim)
    lifted = [array[np._along(ndim, axis, None)] for array in arrays]
    return np.concatenate(lifted, axis=axis, out=out, dtype=dtype, casting=casting)


def _raised(arrays, raise_to):
    """Returns the list of `raise_to(array)`, for a sequence of arrays."""
    return [raise_to(array) for array in _sequence(arrays)]


def vstack(tup, *, dtype=None, casting="same_kind"):
    """Joins arrays along their first axis; vectors become rows."""
    return np.concatenate(_raised(tup, atleast_2d), 0, dtype=dtype, casting=casting)


def row_stack(tup, *, dtype=None, casting="same_kind"):
    """Same as `vstack`, its newer name."""
    return vstack(tup, dtype=dtype, casting=casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    """Joins arrays along their second axis; vectors along their only one."""
    arrays = _raised(tup, atleast_1d)
    axis = 0 if arrays and arrays[0].ndim == 1 else 1
    return np.concatenate(arrays, axis, dtype=dtype, casting=casting)


def dstack(tup):
    """Joins arrays along their third axis."""
    return np.concatenate(_raised(tup, atleast_3d), 2)


def column_stack(tup):
    """Joins arrays along their second axis; vectors become columns."""

    def column(array):
        array = np.asanyarray(array)
        return array.reshape(1, -1).T if array.ndim < 2 else array

    return np.concatenate(_raised(tup, column), 1)


def _block_depth(arrays, place):
    """Returns (depth, place of the first leaf, ndim of the largest leaf) of nested lists."""
    if isinstance(arrays, tuple):
        text = "arrays" + "".join([f"[{item}]" for item in place])
        raise TypeError(
            f"{text} is a tuple. Only lists can be used to arrange blocks, and np.block does not allow "
            "implicit conversion from tuple to ndarray."
        )
    if not isinstance(arrays, list):
        return len(place), place, np.ndim(arrays)
    if not arrays:
        return len(place) + 1, place + (None,), 0
    known = None
    for number, item in enumerate(arrays):
        found = _block_depth(item, place + (number,))
        if known is None:
            known = found
            continue
        if found[0] != known[0]:
            text = "arrays" + "".join([f"[{item}]" for item in found[1] if item is not None])
            raise ValueError(
                f"List depths are mismatched. First element was at depth {known[0]}, but there is an element at "
                f"depth {found[0]} ({text})"
            )
        # An empty list anywhere is the fault to report.
        first = found[1] if found[1][-1] is None else known[1]
        known = (known[0], first, max(known[2], found[2]))
    return known


def block(arrays):
    """Assembles an array from nested lists of blocks; the innermost lists join along the last axis."""
    depth, place, widest = _block_depth(arrays, ())
    if place and place[-1] is None:
        text = "arrays" + "".join([f"[{item}]" for item in place[:-1]])
        raise ValueError(f"List at {text} cannot be empty")
    ndim = max(depth, widest)

    def joined(item, level):
        if level == depth:
            array = np.asanyarray(item)
            return array.reshape((1,) * (ndim - array.ndim) + array.shape)
        return np.concatenate([joined(part, level + 1) for part in item], axis=ndim - depth + level)

    return joined(arrays, 0) if depth else joined(arrays, 0).copy()


# Splitting


def array_split(ary, indices_or_sections, axis=0):
    """Returns a list of views; the first parts are one longer if the division leaves a rest."""
    total = ary.shape[axis] if hasattr(ary, "shape") else len(ary)
    try:
        cuts = [0] + list(indices_or_sections) + [total]
    except TypeError:
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0.") from None
        small, longer = divmod(total, count)
        cuts = [number * small + min(number, longer) for number in range(count + 1)]
    front = np.swapaxes(ary, axis, 0)
    return [np.swapaxes(front[start:end], axis, 0) for start, end in zip(cuts, cuts[1:])]


def split(ary, indices_or_sections, axis=0):
    """Returns a list of views of equal length, or cut before the given indices."""
    try:
        len(indices_or_sections)
    except TypeError:
        if ary.shape[axis] % indices_or_sections:
            raise ValueError("array split does not result in an equal division") from None
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    """Splits along the second axis; a vector along its only one."""
    ndim = np.ndim(ary)
    if ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """Splits along the first axis."""
    if np.ndim(ary) < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Splits along the third axis."""
    if np.ndim(ary) < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def unstack(x, /, *, axis=0):
    """Returns the tuple of the slices along `axis`, as views."""
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(x, axis, 0))


# Axes


def expand_dims(a, axis):
    """Returns a view with axes of size 1 at the places `axis` of the result."""
    a = np.asanyarray(a)
    if not isinstance(axis, (tuple, list)):
        axis = (axis,)
    ndim = len(axis) + a.ndim
    places = np._axis_tuple(axis, ndim)
    sizes = iter(a.shape)
    return a.reshape([1 if place in places else next(sizes) for place in range(ndim)])


def _method(a, name, *args, **keywords):
    """Returns the result of a method of `a`, which may be a tensor, or else of the array that `a` converts to."""
    if isinstance(a, np.ndarray):
        return getattr(a, name)(*args, **keywords)
    own = None if isinstance(a, (list, tuple)) else getattr(a, name, None)
    if own is not None:
        try:
            return own(*args, **keywords)
        except TypeError:
            # The method has other parameters than NumPy's.
            pass
    return _returned(a, getattr(np.asarray(a), name)(*args, **keywords))


def _returned(a, result):
    """Returns `result` as a tensor if `a` is one."""
    if isinstance(a, (np.ndarray, np.generic)) or not hasattr(a, "__array_wrap__"):
        return result
    return a.__array_wrap__(np.asarray(result))


def squeeze(a, axis=None):
    """Returns a view without axes of size 1."""
    return _method(a, "squeeze") if axis is None else _method(a, "squeeze", axis=axis)


def swapaxes(a, axis1, axis2):
    """Returns a view with two axes exchanged."""
    return _method(a, "swapaxes", axis1, axis2)


def transpose(a, axes=None):
    """Returns a view with the axes in the given order, reversed by default."""
    return _method(a, "transpose", axes)


permute_dims = transpose


def matrix_transpose(x, /):
    """Returns a view with the last two axes exchanged."""
    x = np.asanyarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.swapaxes(-1, -2)


def moveaxis(a, source, destination):
    """Returns a view with the axes `source` at the places `destination`; the others keep their order."""
    if not hasattr(a, "transpose"):
        a = np.asarray(a)
    source = np._axis_tuple(source, a.ndim, "source")
    destination = np._axis_tuple(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    others = iter([axis for axis in range(a.ndim) if axis not in source])
    moved = dict(zip(destination, source))
    return a.transpose([moved[place] if place in moved else next(others) for place in range(a.ndim)])


def rollaxis(a, axis, start=0):
    """Returns a view with `axis` moved before the axis `start`."""
    ndim = a.ndim
    axis = np._axis_index(axis, ndim)
    place = start + ndim if start < 0 else start
    if not 0 <= place <= ndim:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-ndim} <= start < {ndim + 1}, but {place} was passed in"
        )
    if axis < place:
        place -= 1
    if axis == place:
        return a[...]
    order = [item for item in range(ndim) if item != axis]
    order.insert(place, axis)
    return a.transpose(order)


def flip(m, axis=None):
    """Returns a view with the elements reversed along `axis`, all axes by default."""
    m = m if hasattr(m, "ndim") else np.asarray(m)
    places = range(m.ndim) if axis is None else np._axis_tuple(axis, m.ndim)
    back = slice(None, None, -1)
    return m[tuple([back if place in places else slice(None) for place in range(m.ndim)])]


def fliplr(m):
    """Returns a view with the columns in reverse order."""
    m = np.asanyarray(m)
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return m[:, ::-1]


def flipud(m):
    """Returns a view with the rows in reverse order."""
    m = np.asanyarray(m)
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return m[::-1]


def rot90(m, k=1, axes=(0, 1)):
    """Returns a view rotated `k` times by a quarter turn in the plane of two axes."""
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    m = np.asanyarray(m)
    ndim = m.ndim
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == ndim:
        raise ValueError("Axes must be different.")
    if not (-ndim <= axes[0] < ndim and -ndim <= axes[1] < ndim):
        raise ValueError(f"Axes={axes} out of range for array of ndim={ndim}.")
    k %= 4
    if k == 0:
        return m[:]
    if k == 2:
        return flip(flip(m, axes[0]), axes[1])
    for axis in axes:
        if isinstance(axis, float):
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays "
                "are valid indices"
            )
    if k == 1:
        return flip(m, axes[1]).swapaxes(axes[0], axes[1])
    return flip(m.swapaxes(axes[0], axes[1]), axes[1])


def roll(a, shift, axis=None):
    """Returns a copy with the elements moved along `axis`; those pushed out return at the other end."""
    a = np.asanyarray(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    axis = np._axis_tuple(axis, a.ndim, repeats=True)
    pairs = np.broadcast(shift, axis)
    if not axis:
        # NumPy's own loop over the axes fails like this.
        raise ValueError("not enough values to unpack (expected 2, got 0)")
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    distances = [0] * a.ndim
    for distance, place in pairs:
        distances[place] += int(distance)
    pieces = [((), ())]
    for distance, size in zip(distances, a.shape):
        distance = distance % size if size else 0
        parts = [(slice(None), slice(None))]
        if distance:
            parts = [(slice(None, -distance), slice(distance, None)), (slice(-distance, None), slice(None, distance))]
        pieces = [(old + (before,), new + (after,)) for old, new in pieces for before, after in parts]
    result = np.empty_like(a)
    for old, new in pieces:
        result[new] = a[old]
    return result


def tile(A, reps):
    """Repeats the whole array `reps` times along each axis."""
    try:
        reps = tuple(reps)
    except TypeError:
        reps = (reps,)
    if isinstance(A, np.ndarray) and all([count == 1 for count in reps]):
        return np.array(A, copy=True, subok=True, ndmin=len(reps))
    source = np.array(A, copy=None, subok=True, ndmin=len(reps))
    reps = (1,) * (source.ndim - len(reps)) + reps
    shape = tuple([size * count for size, count in zip(source.shape, reps)])
    rest = source.size
    if rest:
        # Rows of the flattened array are repeated from the outermost axis inwards.
        for size, count in zip(source.shape, reps):
            if count != 1:
                source = source.reshape(-1, rest).repeat(count, 0)
            rest //= size
    return source.reshape(shape)


def repeat(a, repeats, axis=None):
    """Repeats each element, or each slice along `axis`."""
    return _method(a, "repeat", repeats, axis=axis)


# Dimensions


def _each(arrays, view):
    """Returns `view` of one array, or the tuple of the views of several."""
    views = tuple([view(np.asanyarray(array)) for array in arrays])
    return views[0] if len(views) == 1 else views


def atleast_1d(*arys):
    """Returns views with one axis or more."""
    return _each(arys, lambda array: array if array.ndim else array.reshape(1))


def atleast_2d(*arys):
    """Returns views with two axes or more; a vector becomes a row."""

    def view(array):
        if array.ndim == 0:
            return array.reshape(1, 1)
        return array[None, :] if array.ndim == 1 else array

    return _each(arys, view)


def atleast_3d(*arys):
    """Returns views with three axes or more; shape (N,) becomes (1, N, 1), and (M, N) becomes (M, N, 1)."""

    def view(array):
        if array.ndim == 0:
            return array.reshape(1, 1, 1)
        if array.ndim == 1:
            return array[None, :, None]
        return array[:, :, None] if array.ndim == 2 else array

    return _each(arys, view)


def ndim(a):
    """Returns the number of axes."""
    return a.ndim if hasattr(a, "ndim") else np.asarray(a).ndim


def shape(a):
    """Returns the sizes of the axes."""
    return a.shape if hasattr(a, "shape") else np.asarray(a).shape


def size(a, axis=None):
    """Returns the number of elements, in all or along `axis`."""
    if axis is None:
        return a.size if hasattr(a, "size") else np.asarray(a).size
    a = a if hasattr(a, "shape") else np.asarray(a)
    count = 1
    for place in np._axis_tuple(axis, a.ndim):
        count *= a.shape[place]
    return count


def ravel(a, order="C"):
    """Returns a vector of the elements, a view if possible."""
    return np.asanyarray(a).ravel(order=order)


def reshape(a, /, shape, order="C", *, copy=None):
    """Returns the elements under another shape, a view if possible."""
    if copy is None:
        return _method(a, "reshape", shape, order=order)
    return _method(a, "reshape", shape, order=order, copy=copy)


def resize(a, new_shape):
    """Returns a copy of another shape, filled with repetitions of `a`."""
    new_shape = (new_shape,) if isinstance(new_shape, (int, np.integer)) else new_shape
    a = ravel(a)
    count = 1
    for length in new_shape:
        count *= length
        if length < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    if a.size == 0 or count == 0:
        return np.zeros_like(a, shape=new_shape)
    return np.concatenate((a,) * -(-count // a.size))[:count].reshape(new_shape)


def copy(a, order="K", subok=False):
    """Returns a copy."""
    return np.array(a, order=order, subok=subok, copy=True)


def iterable(y):
    """Returns whether `iter(y)` works."""
    try:
        iter(y)
    except TypeError:
        return False
    return True


# Broadcasting


def broadcast_shapes(*args):
    """Returns the shape that arrays of the given shapes broadcast to."""
    shapes = [_shape(item) for item in args]
    if any([size < 0 for item in shapes for size in item]):
        raise ValueError("negative dimensions are not allowed")
    return _common(shapes)


def _common(shapes):
    """Returns the shape that `shapes` broadcast to, without looking at negative sizes."""
    count = max([len(item) for item in shapes], default=0)
    result = []
    for place in range(-count, 0):
        common, first = 1, 0
        for number, item in enumerate(shapes):
            size = item[place] if len(item) >= -place else 1
            if size == 1 or size == common:
                continue
            if common != 1:
                raise ValueError(
                    "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between "
                    f"arg {first} with shape {_plain(shapes[first])} and arg {number} with shape {_plain(item)}."
                )
            common, first = size, number
        result.append(common)
    return tuple(result)


def _plain(shape, separator=", "):
    """Returns the text of a shape; NumPy's own messages have no spaces."""
    return "(" + separator.join([str(size) for size in shape]) + ("," if len(shape) == 1 else "") + ")"


def _stretched(array, shape, writeable=False):
    """Returns a view of `array` with the larger `shape`; its new axes have the stride 0."""
    lead = len(shape) - array.ndim
    strides = [0] * lead
    for old, step in zip(array.shape, array.strides):
        strides.append(0 if old == 1 else step)
    if math.prod(shape) == 0 and array.size == 0:
        strides = [0] * len(shape)
    return np._strided(array, shape, tuple(strides), writeable)


def broadcast_to(array, shape, subok=False):
    """Returns a read-only view of `array` with the given shape."""
    shape = tuple(shape) if iterable(shape) else (shape,)
    array = np.array(array, copy=None, subok=subok)
    if not shape and array.shape:
        raise ValueError("cannot broadcast a non-scalar to a scalar array")
    if any([size < 0 for size in shape]):
        raise ValueError("all elements of broadcast shape must be non-negative")
    shape = _shape(shape)
    if array.ndim > len(shape):
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    lead = len(shape) - array.ndim
    if any([old != 1 and old != new for old, new in zip(array.shape, shape[lead:])]):
        raise ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{_plain(array.shape, ',')}  and requested shape {_plain(shape, ',')}"
        )
    return _stretched(array, shape)


def broadcast_arrays(*args, subok=False):
    """Returns a tuple of views with one common shape."""
    arrays = [np.array(item, copy=None, subok=subok) for item in args]
    shape = _common([array.shape for array in arrays])
    # The views are writeable, though several elements may lie at one address.
    return tuple([array if array.shape == shape else _stretched(array, shape, True) for array in arrays])


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Returns a view whose last axes run over a window at each place of `axis`."""
    window = tuple(window_shape) if iterable(window_shape) else (window_shape,)
    x = np.array(x, copy=None, subok=subok)
    if any([size < 0 for size in window]):
        raise ValueError("`window_shape` cannot contain negative values")
    if axis is None:
        axis = tuple(range(x.ndim))
        if len(window) != len(axis):
            raise ValueError(
                f"Since axis is `None`, must provide window_shape for all dimensions of `x`; got {len(window)} "
                f"window_shape elements and `x.ndim` is {x.ndim}."
            )
    else:
        axis = np._axis_tuple(axis, x.ndim, repeats=True)
        if len(window) != len(axis):
            raise ValueError(
                f"Must provide matching length window_shape and axis; got {len(window)} window_shape elements and "
                f"{len(axis)} axes elements."
            )
    sizes = list(x.shape)
    for place, length in zip(axis, window):
        if sizes[place] < length:
            raise ValueError("window shape cannot be larger than input array shape")
        sizes[place] -= length - 1
    strides = x.strides + tuple([x.strides[place] for place in axis])
    return np.lib.stride_tricks.as_strided(x, tuple(sizes) + window, strides, writeable=writeable)
