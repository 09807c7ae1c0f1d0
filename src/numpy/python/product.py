"""Products of `np` that are written with others: outer, kron, inner, tensordot, cross."""

import numpy as np


def outer(a, b, out=None):
    """Returns the products of all pairs of elements, shape (a.size, b.size)."""
    return np.multiply(np.asanyarray(a).ravel()[:, None], np.asanyarray(b).ravel()[None, :], out=out)


def inner(a, b, /):
    """Returns the sums of products over the last axes of both."""
    a, b = np.asanyarray(a), np.asanyarray(b)
    return np.dot(a, b.swapaxes(-1, -2) if b.ndim > 1 and a.ndim else b)


def vdot(a, b, /):
    """Returns the sum of products of the flattened arrays; the first one is conjugated."""
    a = np.asanyarray(a).reshape(-1)
    b = np.asanyarray(b).reshape(a.size)
    dtype = np.promote_types(a.dtype, b.dtype)
    return np.vecdot(a.astype(dtype, copy=False), b.astype(dtype, copy=False))


def kron(a, b):
    """Returns the blocks `a[i] * b` for each place i, joined into one array."""
    b = np.asanyarray(b)
    a = np.array(a, copy=None, subok=True, ndmin=b.ndim)
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    shape_b = (1,) * (a.ndim - b.ndim) + b.shape
    pairs_a, pairs_b, sizes = [], [], []
    for size_a, size_b in zip(a.shape, shape_b):
        pairs_a += [size_a, 1]
        pairs_b += [1, size_b]
        sizes.append(size_a * size_b)
    return np.multiply(a.reshape(pairs_a), b.reshape(pairs_b)).reshape(sizes)


def tensordot(a, b, axes=2):
    """Returns the sums of products over pairs of axes; a number means the last ones of `a` and the first of `b`."""
    try:
        iter(axes)
    except TypeError:
        axes = list(range(-axes, 0)), list(range(axes))
    axes_a, axes_b = [list(item) if hasattr(item, "__len__") else [item] for item in axes]
    a, b = np.asarray(a), np.asarray(b)
    fits = len(axes_a) == len(axes_b)
    for number in range(len(axes_a) if fits else 0):
        if a.shape[axes_a[number]] != b.shape[axes_b[number]]:
            fits = False
            break
        axes_a[number] %= a.ndim
        axes_b[number] %= b.ndim
    if not fits:
        raise ValueError("shape-mismatch for sum")
    kept_a = [axis for axis in range(a.ndim) if axis not in axes_a]
    kept_b = [axis for axis in range(b.ndim) if axis not in axes_b]
    summed = 1
    for axis in axes_a:
        summed *= a.shape[axis]
    rows, columns = [a.shape[axis] for axis in kept_a], [b.shape[axis] for axis in kept_b]
    left = a.transpose(kept_a + axes_a).reshape(_product(rows), summed)
    right = b.transpose(axes_b + kept_b).reshape(summed, _product(columns))
    return np.dot(left, right).reshape(rows + columns)


def _product(sizes):
    """Returns the number of elements of a shape."""
    count = 1
    for size in sizes:
        count *= size
    return count


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Returns the vector products of the vectors along an axis; vectors of length 2 have a third element 0."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    axisa = np._axis_index(axisa, a.ndim, "axisa")
    axisb = np._axis_index(axisb, b.ndim, "axisb")
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    shape = np.broadcast(a[..., 0], b[..., 0]).shape
    flat = a.shape[-1] == 2 and b.shape[-1] == 2
    if not flat:
        shape += (3,)
        axisc = np._axis_index(axisc, len(shape), "axisc")
    dtype = np.promote_types(a.dtype, b.dtype)
    result = np.empty(shape, dtype)
    a, b = a.astype(dtype), b.astype(dtype)

    def difference(target, first, second):
        """Writes a[first] * b[second] - a[second] * b[first]; None stands for the missing third element."""
        plus = minus = None
        if first < a.shape[-1] and second < b.shape[-1]:
            plus = a[..., first] * b[..., second]
        if second < a.shape[-1] and first < b.shape[-1]:
            minus = a[..., second] * b[..., first]
        if plus is None:
            target[...] = np.negative(minus)
        else:
            target[...] = plus if minus is None else plus - minus

    if flat:
        difference(result, 0, 1)
        return result
    for place, (first, second) in enumerate([(1, 2), (2, 0), (0, 1)]):
        difference(result[..., place], first, second)
    return np.moveaxis(result, -1, axisc)
