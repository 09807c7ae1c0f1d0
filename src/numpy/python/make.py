"""Functions of `np` that make arrays: of constants, of diagonals and triangles, of evenly spaced numbers."""

import numpy as np


def _on_cpu(device):
    """Fails for every device but the CPU."""
    if device is not None and device != "cpu":
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')


# Like another array


def empty_like(prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Returns an array of arbitrary values with the shape, dtype and layout of `prototype`."""
    _on_cpu(device)
    prototype = np.asanyarray(prototype)
    dtype = prototype.dtype if dtype is None else np.dtype(dtype)
    sizes = prototype.shape if shape is None else np._shape(shape)
    flags = prototype.flags
    if order in ("K", "A", "k", "a"):
        keeps = order in ("K", "k")
        if flags.c_contiguous or (keeps and len(sizes) != prototype.ndim):
            order = "C"
        elif flags.f_contiguous:
            order = "F"
        elif not keeps:
            order = "C"
    if order not in ("K", "k"):
        return np.empty(sizes, dtype, order)
    if sizes != prototype.shape:
        axes = sorted(range(len(sizes)), key=lambda axis: -abs(prototype.strides[axis]))
        back = [axes.index(axis) for axis in range(len(sizes))]
        prototype = np.empty([sizes[axis] for axis in axes], bool).transpose(back)
    # The two conversions keep the order of the strides, and no value can fail to convert.
    return np.logical_not(prototype).astype(dtype, order="K")


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Returns zeros with the shape, dtype and layout of `a`."""
    result = empty_like(a, dtype, order, subok, shape, device=device)
    result.fill(0)
    return result


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Returns ones with the shape, dtype and layout of `a`."""
    result = empty_like(a, dtype, order, subok, shape, device=device)
    np.copyto(result, 1, casting="unsafe")
    return result


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Returns copies of `fill_value` with the shape, dtype and layout of `a`."""
    result = empty_like(a, dtype, order, subok, shape, device=device)
    np.copyto(result, fill_value, casting="unsafe")
    return result



def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    """Returns an array of copies of `fill_value`, whose dtype is the default."""
    _on_cpu(device)
    if dtype is None:
        fill_value = np.asarray(fill_value)
        dtype = fill_value.dtype
    result = np.empty(shape, dtype, order)
    np.copyto(result, fill_value, casting="unsafe")
    return result


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """Returns `function` of the arrays of indices of a grid."""
    return function(*indices(shape, dtype=dtype), **kwargs)


# Diagonals and triangles


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    """Returns a matrix of shape (N, M) with ones on the diagonal `k`."""
    _on_cpu(device)
    if M is None:
        M = N
    result = np.zeros((N, M), dtype, order)
    if k >= M:
        return result
    M, k = np._index(M), np._index(k)
    first = k if k >= 0 else -k * M
    result[: M - k].flat[first :: M + 1] = 1
    return result


def identity(n, dtype=None, *, like=None):
    """Returns a square matrix with ones on the main diagonal."""
    return eye(n, dtype=float if dtype is None else dtype)


def diag(v, k=0):
    """Returns the diagonal `k` of a matrix as a view, or a matrix with the vector `v` on it."""
    v = np.asanyarray(v)
    if v.ndim == 2:
        return v.diagonal(k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    length = v.shape[0] + abs(k)
    result = np.zeros((length, length), v.dtype)
    first = k if k >= 0 else -k * length
    result[: length - k].flat[first :: length + 1] = v
    return result


def diagflat(v, k=0):
    """Returns a matrix with the elements of `v` on the diagonal `k`."""
    v = np.asarray(v).ravel()
    length = len(v) + abs(k)
    result = np.zeros((length, length), v.dtype)
    if len(v):
        first = k if k >= 0 else -k * length
        result.reshape(-1)[first :: length + 1][: len(v)] = v
    return result


def diagonal(a, offset=0, axis1=0, axis2=1):
    """Returns a read-only view of a diagonal of two axes."""
    return np.asanyarray(a).diagonal(offset=offset, axis1=axis1, axis2=axis2)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Returns the sum of a diagonal."""
    return np.asanyarray(a).trace(offset=offset, axis1=axis1, axis2=axis2, dtype=dtype, out=out)


def tri(N, M=None, k=0, dtype=float, *, like=None):
    """Returns a matrix of shape (N, M) with ones on and below the diagonal `k`."""
    if M is None:
        M = N
    lower = np.greater_equal.outer(np.arange(N), np.arange(-k, M - k))
    return lower.astype(dtype, copy=False)


def tril(m, k=0):
    """Returns a copy with zeros above the diagonal `k` of the last two axes."""
    m = np.asanyarray(m)
    return np.where(tri(*m.shape[-2:], k=k, dtype=bool), m, np.zeros(1, m.dtype))


def triu(m, k=0):
    """Returns a copy with zeros below the diagonal `k` of the last two axes."""
    m = np.asanyarray(m)
    return np.where(tri(*m.shape[-2:], k=k - 1, dtype=bool), np.zeros(1, m.dtype), m)


def _places(mask):
    """Returns (rows, columns) of the true elements, each in an array of its own."""
    return tuple([places.copy() for places in mask.nonzero()])


def tril_indices(n, k=0, m=None):
    """Returns (rows, columns) of the lower triangle of a matrix of shape (n, m)."""
    return _places(tri(n, m, k=k, dtype=bool))


def triu_indices(n, k=0, m=None):
    """Returns (rows, columns) of the upper triangle of a matrix of shape (n, m)."""
    return _places(~tri(n, m, k=k - 1, dtype=bool))


def _matrix(arr):
    """Returns `arr`; fails unless it has two axes."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return arr


def tril_indices_from(arr, k=0):
    """Returns (rows, columns) of the lower triangle of `arr`."""
    return tril_indices(_matrix(arr).shape[-2], k=k, m=arr.shape[-1])


def triu_indices_from(arr, k=0):
    """Returns (rows, columns) of the upper triangle of `arr`."""
    return triu_indices(_matrix(arr).shape[-2], k=k, m=arr.shape[-1])


def mask_indices(n, mask_func, k=0):
    """Returns the indices that `mask_func` keeps of a matrix of shape (n, n)."""
    return (np.asanyarray(mask_func(np.ones((n, n), int), k)) != 0).nonzero()


def _equal_sides(a, least):
    """Fails unless `a` has two axes, or more of one size."""
    if a.ndim < 2:
        raise ValueError(least)
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")


def fill_diagonal(a, val, wrap=False):
    """Writes `val` to the main diagonal of `a`; `wrap` starts again below a square of a tall matrix."""
    _equal_sides(a, "array must be at least 2-d")
    step, end = 1, None
    for size in a.shape[:0:-1]:
        step = step * size + 1
    if a.ndim == 2 and not wrap:
        end = a.shape[1] * a.shape[1]
    a.flat[:end:step] = val


def diag_indices(n, ndim=2):
    """Returns the indices of the main diagonal of an array of shape (n,) * ndim."""
    return (np.arange(n),) * ndim


def diag_indices_from(arr):
    """Returns the indices of the main diagonal of `arr`."""
    _equal_sides(arr, "input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def vander(x, N=None, increasing=False):
    """Returns the matrix of powers of `x`, the highest first."""
    x = np.asanyarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    if N is None:
        N = len(x)
    result = np.empty((len(x), N), np.promote_types(x.dtype, int))
    powers = result if increasing else result[:, ::-1]
    if N > 0:
        powers[:, 0] = 1
    if N > 1:
        powers[:, 1:] = x[:, None]
        np.multiply.accumulate(powers[:, 1:], out=powers[:, 1:], axis=1)
    return result


# Evenly spaced numbers


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """Returns `num` numbers from `start` to `stop`, in equal steps along `axis`."""
    num = np._index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    _on_cpu(device)
    parts = num - 1 if endpoint else num
    given, natural = start, _inexact(start, stop)
    start, stop = np.asanyarray(start).astype(natural), np.asanyarray(stop).astype(natural)
    whole = dtype is not None and np.issubdtype(dtype, np.integer)
    width = np.subtract(stop, start)
    values = np.arange(0, num, dtype=natural).reshape((-1,) + (1,) * width.ndim)
    step = np.nan
    factor = width
    if parts > 0:
        step = width / parts
        if np.any(step == 0):
            # The steps underflow: divide before multiplying.
            values /= parts
        else:
            factor = step
    if width.ndim or parts <= 0:
        values = values * factor
    else:
        values *= factor
    values += start
    if endpoint and num > 1:
        values[-1, ...] = stop
    if axis != 0:
        values = np.moveaxis(values, 0, axis)
    if whole:
        np.floor(values, out=values)
    values = np._returned(given, values.astype(natural if dtype is None else dtype, copy=False))
    return (values, step) if retstep else values


def _inexact(*values):
    """Returns the dtype of sums of the values and a float; Python's numbers adapt to the arrays."""
    plain = (bool, int, float, complex)
    return np.result_type(*[item if type(item) in plain else np.asanyarray(item) for item in values], 0.0)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Returns `base` to the powers of `linspace(start, stop, num)`."""
    if not isinstance(base, (float, int)) and np.ndim(base):
        widest = np.broadcast(start, stop, base).ndim
        start, stop, base = [np.array(item, copy=None, ndmin=widest) for item in (start, stop, base)]
        base = np.expand_dims(base, axis)
    powers = np.power(base, linspace(start, stop, num, endpoint=endpoint, axis=axis))
    return powers if dtype is None else powers.astype(dtype, copy=False)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Returns `num` numbers from `start` to `stop` whose quotients are equal."""
    start, stop = np.asanyarray(start), np.asanyarray(stop)
    if np.any(start == 0) or np.any(stop == 0):
        raise ValueError("Geometric sequence cannot include zero")
    natural = np.result_type(start, stop, float(num), np.zeros((), dtype))
    if dtype is None:
        dtype = natural
    else:
        dtype = np.dtype(dtype)
    start, stop = start.astype(natural), stop.astype(natural)
    direction = np.sign(start)
    start, stop = start / direction, stop / direction
    values = logspace(np.log10(start), np.log10(stop), num, endpoint=endpoint, base=10.0, dtype=natural)
    # The logarithms may round: the ends are known.
    if num > 0:
        values[0] = start
        if num > 1 and endpoint:
            values[-1] = stop
    values = values * direction
    if axis != 0:
        values = np.moveaxis(values, 0, axis)
    return values.astype(dtype, copy=False)


# Grids


def indices(dimensions, dtype=int, sparse=False):
    """Returns the index along each axis at each place of a grid, stacked; or a tuple of lines if `sparse`."""
    dimensions = tuple(dimensions)
    count = len(dimensions)
    lines = []
    for axis, size in enumerate(dimensions):
        lines.append(np.arange(size, dtype=dtype).reshape((1,) * axis + (size,) + (1,) * (count - axis - 1)))
    if sparse:
        return tuple(lines)
    result = np.empty((count,) + dimensions, dtype)
    for axis, line in enumerate(lines):
        result[axis] = line
    return result


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Returns the coordinates at each place of a grid of vectors, an array for each vector."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    count = len(xi)
    lines = []
    for number, line in enumerate(xi):
        axis = 1 - number if indexing == "xy" and number < 2 and count > 1 else number
        lines.append(np.asanyarray(line).reshape((1,) * axis + (-1,) + (1,) * (count - axis - 1)))
    if not sparse:
        lines = np.broadcast_arrays(*lines, subok=True)
    return tuple([line.copy() for line in lines]) if copy else lines


def ix_(*args):
    """Returns indices that select the product of sequences; masks are converted to indices."""
    result = []
    for number, item in enumerate(args):
        if not isinstance(item, np.ndarray):
            item = np.asarray(item)
            if item.size == 0:
                item = item.astype(np.intp)
        if item.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if item.dtype == np.bool_:
            item = item.nonzero()[0]
        result.append(item.reshape((1,) * number + (item.size,) + (1,) * (len(args) - number - 1)))
    return tuple(result)


class _Grid:
    """`mgrid` and `ogrid`: subscripts with slices make grids."""

    def __init__(self, sparse):
        self.sparse = sparse

    def __getitem__(self, key):
        if not isinstance(key, tuple):
            return _line(key)
        parts = [_part(item) for item in key]
        dtype = np.result_type(int, *[value for part in parts for value in part[2]])
        shape = [part[3] for part in parts]
        grid = list(indices(shape, dtype, sparse=True)) if self.sparse else indices(shape, dtype)
        for number, (start, step, _, _) in enumerate(parts):
            grid[number] = (grid[number] * step + start).astype(dtype, copy=False)
        return tuple(grid) if self.sparse else grid


def _part(key):
    """Returns (start, step, values that decide the dtype, length) of a slice."""
    step = 1 if key.step is None else key.step
    start = 0 if key.start is None else key.start
    if isinstance(step, (complex, np.complexfloating)):
        size = abs(step)
        length = int(size)
        gap = (key.stop - start) / (length - 1) if length > 1 else key.stop - start
        return start, gap, (start, key.stop, float(size)), length
    length = max(0, int(np.ceil((key.stop - start) / step)))
    return start, step, (start, key.stop, step), length


def _line(key):
    """Returns the numbers of one slice; an imaginary step is a count."""
    if isinstance(key.step, (complex, np.complexfloating)):
        start, gap, values, length = _part(key)
        return np.arange(0, length, 1, dtype=np.result_type(*values)) * gap + start
    return np.arange(0 if key.start is None else key.start, key.stop, 1 if key.step is None else key.step)


mgrid = _Grid(False)
ogrid = _Grid(True)


class _Joiner:
    """`r_` and `c_`: subscripts join arrays, numbers and slices."""

    def __init__(self, axis, ndmin, trans1d):
        self.defaults = axis, ndmin, trans1d

    def __len__(self):
        return 0

    def __getitem__(self, key):
        axis, ndmin, trans1d = self.defaults
        parts, kinds = [], []
        for number, item in enumerate(key if isinstance(key, tuple) else (key,)):
            if isinstance(item, str):
                if number:
                    raise ValueError("special directives must be the first entry.")
                axis, ndmin, trans1d = _directive(item, axis, ndmin, trans1d)
                continue
            if isinstance(item, slice):
                part = np.array(_steps(item), copy=None, ndmin=ndmin)
                if ndmin > 1 and trans1d != -1:
                    part = part.swapaxes(-1, trans1d)
            elif isinstance(item, (bool, int, float, complex, np.generic)):
                part = np.array(item, ndmin=ndmin)
            else:
                part = np.array(item, copy=None, subok=True, ndmin=ndmin)
                lead = ndmin - np.ndim(item)
                if trans1d != -1 and lead > 0:
                    part = part.transpose(_placed(ndmin, lead, trans1d))
            parts.append(part)
            # Python's numbers take the dtype of the arrays beside them.
            kinds.append(item if isinstance(item, (bool, int, float, complex)) else part.dtype)
        if parts:
            dtype = np.result_type(*kinds)
            parts = [np.array(part, copy=None, subok=True, ndmin=ndmin, dtype=dtype) for part in parts]
        return np.concatenate(parts, axis=axis)


def _steps(key):
    """Returns the numbers of a slice of `r_`; an imaginary step is a count that includes the stop."""
    start = 0 if key.start is None else key.start
    if isinstance(key.step, (complex, np.complexfloating)):
        return linspace(start, key.stop, num=int(abs(key.step)))
    return np.arange(start, key.stop, 1 if key.step is None else key.step)


def _directive(text, axis, ndmin, trans1d):
    """Returns the settings that a string such as "0,2" or "1" asks for."""
    if text in ("r", "c"):
        raise NotImplementedError("np.matrix is not available in tensorsh; join with np.vstack or np.hstack")
    numbers = text.split(",")
    try:
        if len(numbers) == 1:
            return int(text), ndmin, trans1d
        numbers = [int(number) for number in numbers]
    except ValueError:
        numbers = None
    if numbers is None or len(numbers) > 3:
        kind = "unknown special directive" if "," not in text else f"unknown special directive {text!r}"
        raise ValueError(kind)
    return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else trans1d


def _placed(ndmin, lead, trans1d):
    """Returns the order of axes that puts the added leading axes around the place `trans1d`."""
    first = trans1d if trans1d >= 0 else trans1d + lead + 1
    order = list(range(ndmin))
    return order[:first] + order[lead:] if first >= ndmin else order[:0] + _around(order, lead, first)


def _around(order, lead, first):
    """Returns `order` with its first `lead` axes split before and after the rest."""
    return order[:first] + order[lead:] + order[first:lead]


r_ = _Joiner(0, 1, -1)
c_ = _Joiner(-1, 2, 0)


class _Subscript:
    """`s_` and `index_exp`: return the subscript itself."""

    def __init__(self, always):
        self.always = always

    def __getitem__(self, item):
        return (item,) if self.always and not isinstance(item, tuple) else item


s_ = _Subscript(False)
index_exp = _Subscript(True)
