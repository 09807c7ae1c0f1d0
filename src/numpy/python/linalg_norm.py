"""The rest of np.linalg: norms, chained products, and the names that repeat functions of the module np."""
import numpy as np


def _summed(x, axis, keepdims):
    return np.add.reduce(x, axis=axis, keepdims=keepdims)


def _singular_norm(x, rows, columns, method):
    """Reduces the singular values of the matrices in two axes by an array method."""
    rest = [d for d in range(x.ndim) if d != rows and d != columns]
    s = np.linalg.svd(x.transpose(rest + [rows, columns]), compute_uv=False)
    return getattr(s, method)(axis=-1, **({"initial": 0} if method == "max" else {}))


def _flat_norm(x):
    """Returns the square root of the sum of squares of all elements."""
    x = x.ravel(order="K")
    if x.dtype.kind == "c":
        real, imag = x.real, x.imag
        return np.sqrt(real.dot(real) + imag.dot(imag))
    return np.sqrt(x.dot(x))


def _vector_norms(x, ord, axis, keepdims):
    """Computes norms along one axis."""
    if ord is None or ord == 2:
        return np.sqrt(_summed((x.conj() * x).real, axis, keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == np.inf:
        return np.absolute(x).max(axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return np.absolute(x).min(axis=axis, keepdims=keepdims)
    if ord == 0:
        return (x != 0).astype(x.real.dtype).sum(axis=axis, keepdims=keepdims)
    if ord == 1:
        return _summed(np.absolute(x), axis, keepdims)
    powers = np.absolute(x)
    powers **= ord
    total = _summed(powers, axis, keepdims)
    total **= np.reciprocal(ord, dtype=total.dtype)
    return total


def _matrix_norms(x, ord, axis):
    """Computes norms of the matrices in two axes."""
    rows, columns = [np._axis_index(one, x.ndim) for one in axis]
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    if ord is None or ord == "fro" or ord == "f":
        return np.sqrt(np.add.reduce((x.conj() * x).real, axis=axis))
    if isinstance(ord, str) and ord == "nuc":
        return _singular_norm(x, rows, columns, "sum")
    if ord == 2:
        return _singular_norm(x, rows, columns, "max")
    if ord == -2:
        return _singular_norm(x, rows, columns, "min")
    if ord in (1, -1, np.inf, -np.inf):
        # Orders 1 and -1 add up columns, the infinite ones rows.
        summed, other = (rows, columns) if ord in (1, -1) else (columns, rows)
        totals = np.add.reduce(np.absolute(x), axis=summed)
        other = other - 1 if other > summed else other
        return totals.max(axis=other, initial=0) if ord > 0 else totals.min(axis=other)
    raise ValueError("Invalid norm order for matrices.")


def norm(x, ord=None, axis=None, keepdims=False):
    """Returns the norm of all elements, of the vectors along one axis, or of the matrices in two."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        x = x.astype(float)
    ndim = x.ndim
    if axis is None:
        if ord is None or (ord in ("f", "fro") and ndim == 2) or (ord == 2 and ndim == 1):
            result = _flat_norm(x)
            return result.reshape([1] * ndim) if keepdims else result
        axis = tuple(range(ndim))
    elif not isinstance(axis, tuple):
        try:
            axis = (int(axis),)
        except Exception as error:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from error
    if len(axis) == 1:
        return _vector_norms(x, ord, axis, keepdims)
    if len(axis) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    result = _matrix_norms(x, ord, axis)
    if keepdims:
        shape = list(x.shape)
        shape[axis[0]] = 1
        shape[axis[1]] = 1
        result = result.reshape(shape)
    return result


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Returns the norms of the matrices in the last two dimensions."""
    return norm(np.asanyarray(x), axis=(-2, -1), keepdims=keepdims, ord=ord)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Returns the norm of the elements over `axis` taken as one vector."""
    x = np.asanyarray(x)
    shape = list(x.shape)
    flat, along = x, axis
    if axis is None:
        flat, along = x.ravel(), 0
    elif isinstance(axis, tuple):
        axes = np._axis_tuple(axis, x.ndim)
        rest = [d for d in range(x.ndim) if d not in axes]
        flat = x.transpose(list(axes) + rest)
        size = 1
        for one in axes:
            size *= x.shape[one]
        flat, along = flat.reshape([size] + [x.shape[d] for d in rest]), 0
    result = norm(flat, axis=along, ord=ord)
    if keepdims:
        reduced = range(x.ndim) if axis is None else np._axis_tuple(axis, x.ndim)
        for one in reduced:
            shape[one] = 1
        result = result.reshape(tuple(shape))
    return result


def _chain_splits(arrays):
    """Returns for each run i..j of a chain of matrices where to split it for the fewest multiplications."""
    n = len(arrays)
    sizes = [a.shape[0] for a in arrays] + [arrays[-1].shape[1]]
    cost, split = {}, {}
    for i in range(n):
        cost[i, i] = 0
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            for k in range(i, j):
                total = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if (i, j) not in cost or total < cost[i, j]:
                    cost[i, j], split[i, j] = total, k
    return split


def _chain_product(arrays, split, i, j, out=None):
    """Multiplies the run i..j of a chain in the order of its splits."""
    if i == j:
        return arrays[i]
    k = split[i, j]
    return np.dot(_chain_product(arrays, split, i, k), _chain_product(arrays, split, k + 1, j), out)


def multi_dot(arrays, *, out=None):
    """Returns the product of two or more arrays, multiplied in the cheapest order."""
    # Fails like NumPy's dispatcher, which looks for arrays in the list.
    iter(arrays)
    count = len(arrays)
    if count < 2:
        raise ValueError("Expecting at least two arrays.")
    if count == 2:
        return np.dot(arrays[0], arrays[1], out)
    arrays = [np.asanyarray(a) for a in arrays]
    first, last = arrays[0].ndim, arrays[-1].ndim
    if first == 1:
        arrays[0] = np.atleast_2d(arrays[0])
    if last == 1:
        arrays[-1] = np.atleast_2d(arrays[-1]).T
    for a in arrays:
        if a.ndim != 2:
            raise np.linalg.LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if count == 3:
        a, b, c = arrays
        left = a.shape[0] * c.shape[0] * (a.shape[1] + c.shape[1])
        right = a.shape[1] * c.shape[1] * (a.shape[0] + c.shape[0])
        result = np.dot(np.dot(a, b), c, out) if left < right else np.dot(a, np.dot(b, c), out)
    else:
        result = _chain_product(arrays, _chain_splits(arrays), 0, count - 1, out)
    if first == 1 and last == 1:
        return result[0, 0]
    return result.ravel() if first == 1 or last == 1 else result


def cross(x1, x2, /, *, axis=-1):
    """Returns the cross products of vectors of three elements along `axis`."""
    x1, x2 = np.asanyarray(x1), np.asanyarray(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    return np.cross(x1, x2, axis=axis)


def outer(x1, x2, /):
    """Returns the products of all pairs of elements of two vectors."""
    x1, x2 = np.asanyarray(x1), np.asanyarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}."
        )
    return np.outer(x1, x2)


def tensordot(x1, x2, /, *, axes=2):
    """Same as np.tensordot()."""
    return np.tensordot(x1, x2, axes=axes)


def matmul(x1, x2, /):
    """Same as np.matmul()."""
    return np.matmul(x1, x2)


def vecdot(x1, x2, /, *, axis=-1):
    """Same as np.vecdot()."""
    if axis == -1:
        return np.vecdot(x1, x2)
    return np.vecdot(np.moveaxis(np.asanyarray(x1), axis, -1), np.moveaxis(np.asanyarray(x2), axis, -1))


def diagonal(x, /, *, offset=0):
    """Returns a view of the diagonals of the last two dimensions."""
    return np.diagonal(x, offset, axis1=-2, axis2=-1)


def trace(x, /, *, offset=0, dtype=None):
    """Returns the sums of the diagonals of the last two dimensions."""
    return np.trace(x, offset, axis1=-2, axis2=-1, dtype=dtype)


def matrix_transpose(x, /):
    """Returns a view with the last two dimensions exchanged."""
    x = np.asanyarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.swapaxes(-1, -2)
