"""Functions of `np` that select, search, sort and number elements."""

import itertools
import math

import numpy as np


# Selecting


def take(a, indices, axis=None, out=None, mode="raise"):
    """Returns the elements, or the slices along `axis`, at `indices`."""
    return np._method(a, "take", indices, axis=axis, out=out, mode=mode)


def put(a, ind, v, mode="raise"):
    """Writes `v` to the flat indices `ind` of `a`."""
    if not hasattr(a, "put"):
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(a)}")
    return a.put(ind, v, mode=mode)


def _beside(shape, indices, axis):
    """Returns the index that selects `indices` along `axis`, and each place's own index along the others."""
    if not np.issubdtype(indices.dtype, np.integer):
        raise IndexError("`indices` must be an integer array")
    if len(shape) != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    index = []
    for place, size in enumerate(shape):
        if place == axis:
            index.append(indices)
        else:
            index.append(np.arange(size).reshape((1,) * place + (size,) + (1,) * (len(shape) - place - 1)))
    return tuple(index)


def take_along_axis(arr, indices, axis=-1):
    """Returns `arr[..., indices[..., j, ...], ...]` for each vector along `axis`."""
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = np.array(arr.flat), 0
    else:
        axis = np._axis_index(axis, arr.ndim)
    return arr[_beside(arr.shape, indices, axis)]


def put_along_axis(arr, indices, values, axis):
    """Writes `values` to the places that `take_along_axis` reads."""
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        if not np.issubdtype(indices.dtype, np.integer):
            raise IndexError("`indices` must be an integer array")
        if not arr.flags.c_contiguous:
            # NumPy writes to a read-only copy here.
            raise ValueError("assignment destination is read-only")
        arr.reshape(-1)[indices] = values
        return
    axis = np._axis_index(axis, arr.ndim)
    arr[_beside(arr.shape, indices, axis)] = values


def choose(a, choices, out=None, mode="raise"):
    """Returns an element of `choices[a[i]]` for each place i."""
    return np._method(a, "choose", choices, out=out, mode=mode)


def compress(condition, a, axis=None, out=None):
    """Returns the slices along `axis` where `condition` is true."""
    return np._method(a, "compress", condition, axis=axis, out=out)


def select(condlist, choicelist, default=0):
    """Returns the elements of the first choice whose condition is true, or `default`."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    plain = (int, float, complex)
    choices = [item if type(item) in plain else np.asarray(item) for item in list(choicelist) + [default]]
    try:
        dtype = np.result_type(*choices)
    except TypeError as error:
        raise TypeError(f"Choicelist and default value do not have a common dtype: {error}") from None
    conditions = np.broadcast_arrays(*condlist)
    choices = np.broadcast_arrays(*choices)
    for number, condition in enumerate(conditions):
        if condition.dtype != np.bool_:
            raise TypeError(f"invalid entry {number} in condlist: should be boolean ndarray")
    result = np.empty(np.broadcast_shapes(conditions[0].shape, choices[0].shape), dtype)
    np.copyto(result, choices[-1], casting="unsafe")
    for condition, choice in list(zip(conditions, choices))[::-1]:
        np.copyto(result, choice, where=condition)
    return result


def piecewise(x, condlist, funclist, *args, **kw):
    """Returns the function of `funclist`, or its value, where each condition is true; the last is the default."""
    x = np.asanyarray(x)
    wanted = len(funclist)
    if np.isscalar(condlist) or (not isinstance(condlist[0], (list, np.ndarray)) and x.ndim):
        condlist = [condlist]
    conditions = np.asarray(condlist, dtype=bool)
    count = len(conditions)
    if count == wanted - 1:
        others = ~conditions.any(axis=0, keepdims=True)
        conditions = np.concatenate([conditions, others], axis=0)
    elif count != wanted:
        raise ValueError(f"with {count} condition(s), either {count} or {count + 1} functions are expected")
    result = np.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        if not callable(function):
            result[condition] = function
            continue
        values = x[condition]
        if values.size:
            result[condition] = function(values, *args, **kw)
    return result


def extract(condition, arr):
    """Returns a vector of the elements where `condition` is not zero."""
    return np.ravel(arr).take(np.ravel(condition).nonzero()[0])


def place(arr, mask, vals):
    """Writes `vals`, repeated if necessary, to the elements where `mask` is true."""
    if not isinstance(arr, np.ndarray):
        raise TypeError(f"place() argument 1 must be numpy.ndarray, not {np._type_name(arr)}")
    mask = np.array(mask, copy=None).astype(bool)
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    if isinstance(vals, (np.ndarray, np.generic)):
        vals = vals.astype(arr.dtype, casting="safe")
    vals = np.array(vals, dtype=arr.dtype).ravel()
    places = mask.ravel().nonzero()[0]
    if len(places) == 0:
        return
    if vals.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    arr.put(places, vals)


# Places of elements


def nonzero(a):
    """Returns a tuple with an array of indices for each axis: the places of the elements that are not zero."""
    return np._method(a, "nonzero")


def flatnonzero(a):
    """Returns the flat indices of the elements that are not zero."""
    return np.ravel(a).nonzero()[0]


def argwhere(a):
    """Returns the indices of the elements that are not zero, shape (count, ndim)."""
    if np.ndim(a) == 0:
        return argwhere(np.asanyarray(a).reshape(1))[:, :0]
    if not isinstance(a, np.ndarray):
        places = nonzero(a)
        return np.array(places).T if isinstance(places, tuple) else np.transpose(places)
    return np.array(a.nonzero()).T


def _whole(indices):
    """Returns an array of indices as intp; fails unless it holds integers."""
    given = isinstance(indices, np.ndarray)
    array = np.asarray(indices)
    if array.size == 0 and not given and array.dtype.kind == "f":
        raise TypeError(
            "indices must be integral: the provided empty sequence was inferred as float. Wrap it with "
            "'np.array(indices, dtype=np.intp)'"
        )
    if array.dtype.kind not in "iub":
        raise TypeError("only int indices permitted")
    return array.astype(np.intp, copy=False)


def _ordered(order):
    """Returns whether the first axis moves fastest."""
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    return order == "F"


def unravel_index(indices, shape, order="C"):
    """Returns a tuple with an array of indices for each axis, for flat indices of an array of `shape`."""
    sizes = np._shape(shape)
    fortran = _ordered(order)
    array = _whole(indices)
    total = math.prod(sizes)
    flat = array.ravel(order="K")
    wrong = flat[(flat < 0) | (flat >= total)]
    if wrong.size:
        raise ValueError(f"index {wrong[0]} is out of bounds for array with size {total}")
    if not sizes and array.ndim:
        raise ValueError("multiple indices are not supported for 0d arrays")
    result = np.empty(array.shape + (len(sizes),), np.intp)
    if array.flags.fnc:
        result = np.empty(array.shape[::-1] + (len(sizes),), np.intp)
        result = result.transpose(list(range(array.ndim))[::-1] + [array.ndim])
    for axis in range(len(sizes)) if fortran else range(len(sizes) - 1, -1, -1):
        if array.size:
            result[..., axis] = array % sizes[axis]
            array = array // sizes[axis]
    if array.ndim == 0:
        return tuple(result)
    return tuple([result[..., axis] for axis in range(len(sizes))])


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Returns the flat indices of places in an array of the shape `dims`."""
    sizes = np._shape(dims)
    modes = [mode] * len(sizes) if isinstance(mode, str) else list(mode)
    for item in modes:
        if item not in ("raise", "wrap", "clip"):
            raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{item}')")
    if len(modes) != len(sizes):
        raise ValueError(f"list of clipmodes has wrong length ({len(modes)} instead of {len(sizes)})")
    fortran = _ordered(order)
    if not hasattr(multi_index, "__iter__"):
        raise TypeError("dispatcher for __array_function__ did not return an iterable")
    if len(multi_index) != len(sizes):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(sizes)}")
    arrays = [_whole(item) for item in multi_index]
    shape = _loop_shape([array.shape for array in arrays])
    if 0 in sizes and 0 not in shape:
        raise ValueError("cannot unravel if shape has zero entries (is empty).")
    total, step = None, 1
    terms = list(zip(arrays, sizes, modes))
    for array, size, kind in terms if fortran else terms[::-1]:
        if kind == "wrap":
            array = array % size
        elif kind == "clip":
            array = np.minimum(np.maximum(array, 0), size - 1)
        elif 0 not in shape and (array.min() < 0 or array.max() >= size):
            raise ValueError("invalid entry in coordinates array")
        total = array * step if total is None else total + array * step
        step *= size
    return total


def _loop_shape(shapes):
    """Returns the shape that `shapes` broadcast to; fails as a ufunc does."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        texts = "".join([np._plain(shape, ",") + " " for shape in shapes])
        raise ValueError(f"operands could not be broadcast together with shapes {texts}") from None


def searchsorted(a, v, side="left", sorter=None):
    """Returns the indices at which inserting `v` keeps `a` sorted."""
    return np._method(a, "searchsorted", v, side=side, sorter=sorter)


# Sorting


def _sortable(a, axis):
    """Returns (copy to sort in place, axis): the flattened copy if `axis` is None."""
    if axis is None:
        return np.asanyarray(a).flatten(), -1
    return np.asanyarray(a).copy(order="K"), axis


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    """Returns a sorted copy; the flattened one if `axis` is None."""
    result, axis = _sortable(a, axis)
    result.sort(axis=axis, kind=kind, order=order, stable=stable)
    return result


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    """Returns the indices that sort `a` along `axis`."""
    return np._method(a, "argsort", axis=axis, kind=kind, order=order, stable=stable)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """Returns a copy whose element `kth` is at its sorted place, between the smaller and the larger ones."""
    result, axis = _sortable(a, axis)
    result.partition(kth, axis=axis, kind=kind, order=order)
    return result


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """Returns the indices that partition `a` along `axis`."""
    return np._method(a, "argpartition", kth, axis=axis, kind=kind, order=order)


def sort_complex(a):
    """Returns a sorted complex copy."""
    result = np.array(a, copy=True)
    result.sort()
    if result.dtype.kind == "c":
        return result
    return result.astype(np.complex64 if result.dtype.char in "bhBH" else np.complex128)


# Bits


def packbits(a, /, axis=None, bitorder="big"):
    """Returns bytes, each of which holds eight elements along `axis`."""
    a = np.asarray(a)
    axis = axis if axis is None else np._index(axis)
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    if a.dtype.kind not in "iub":
        raise TypeError("Expected an input array of integer or boolean data type")
    layout = "F" if a.flags.fnc and axis is not None else "C"
    if axis is None or a.ndim == 0:
        a, axis = a.ravel(), axis or 0
    axis = np._axis_index(axis, a.ndim)
    bits = (a != 0).swapaxes(axis, -1)
    size = bits.shape[-1]
    whole = np.zeros(bits.shape[:-1] + (-(-size // 8), 8), np.uint8)
    flat = whole.reshape(bits.shape[:-1] + (whole.shape[-2] * 8,))
    flat[..., :size] = bits
    places = np.arange(8, dtype=np.uint8)
    shifts = places if bitorder == "little" else places[::-1]
    packed = np.add.reduce(np.left_shift(whole, shifts), axis=-1, dtype=np.uint8)
    return np.array(packed.swapaxes(axis, -1), order=layout)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """Returns the bits of bytes as elements along `axis`; `count` of them, or without the last `-count`."""
    a = np.asarray(a)
    axis = axis if axis is None else np._index(axis)
    if bitorder[:1] not in ("b", "l"):
        raise ValueError("'order' must begin with 'l' or 'b'")
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    layout = "F" if a.flags.fnc and axis is not None else "C"
    if axis is None or a.ndim == 0:
        a, axis = a.ravel(), axis or 0
    axis = np._axis_index(axis, a.ndim)
    size = a.shape[axis] * 8
    if count is not None:
        count = np._index(count)
        if count < 0:
            if -count > size:
                raise ValueError("-count larger than number of elements")
            count += size
    places = np.arange(8, dtype=np.uint8)
    front = a.swapaxes(axis, -1)
    bits = np.right_shift(front[..., None], places if bitorder[0] == "l" else places[::-1]) & np.uint8(1)
    bits = bits.reshape(front.shape[:-1] + (size,))
    if count is not None and count != size:
        kept = np.zeros(front.shape[:-1] + (count,), np.uint8)
        least = min(count, size)
        kept[..., :least] = bits[..., :least]
        bits = kept
    return np.array(bits.swapaxes(axis, -1), order=layout)


# Comparing whole arrays


def _two(a1, a2):
    """Returns both as arrays, or (None, None) if one of them is ragged."""
    try:
        return np.asarray(a1), np.asarray(a2)
    except Exception:
        return None, None


def array_equal(a1, a2, equal_nan=False):
    """Returns whether two arrays have the same shape and equal elements."""
    first, second = _two(a1, a2)
    if first is None or first.shape != second.shape:
        return False
    if not equal_nan:
        return bool((first == second).all())
    if a1 is a2 or not (_can_hold_nan(first) or _can_hold_nan(second)):
        return True if a1 is a2 else bool((first == second).all())
    nans, others = np.isnan(first), np.isnan(second)
    if not (nans == others).all():
        return False
    return bool((first[~nans] == second[~others]).all())


def _can_hold_nan(array):
    return array.dtype.kind in "fc"


def array_equiv(a1, a2):
    """Returns whether two arrays broadcast to one shape and have equal elements."""
    first, second = _two(a1, a2)
    if first is None:
        return False
    try:
        np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        return False
    return bool((first == second).all())


# Iterating


class ndindex:
    """Iterates over the index tuples of a shape, the last axis fastest."""

    def __init__(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], tuple):
            shape = shape[0]
        sizes = np._shape(shape)
        if min(sizes, default=0) < 0:
            raise ValueError("negative dimensions are not allowed")
        self._places = itertools.product(*[range(size) for size in sizes])

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._places)


class ndenumerate:
    """Iterates over pairs of an index tuple and its element."""

    def __init__(self, arr):
        arr = np.asarray(arr)
        self.iter = arr.flat
        self._pairs = zip(ndindex(arr.shape), iter(arr.flat))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._pairs)


class broadcast:
    """Iterates over tuples of the elements of arrays that are broadcast to one shape."""

    def __init__(self, *args):
        arrays = [np.asarray(item) for item in args]
        self.shape = np._common([array.shape for array in arrays])
        self.nd = self.ndim = len(self.shape)
        self.size = math.prod(self.shape)
        self.numiter = len(arrays)
        self._arrays = [np.broadcast_to(array, self.shape) for array in arrays]
        self.iters = tuple([array.flat for array in self._arrays])
        self.reset()

    def reset(self):
        """Starts again at the first element."""
        self.index = 0
        self._flat = [iter(array.flat) for array in self._arrays]

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= self.size or not self._flat:
            raise StopIteration
        self.index += 1
        return tuple([next(flat) for flat in self._flat])
