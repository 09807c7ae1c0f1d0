"""Histograms in one or more dimensions, and the estimators of their bins."""
import numpy as np


def _values_and_weights(a, weights):
    """Returns the values and the weights flattened; truth values count as 0 and 1."""
    a = np.asarray(a)
    if a.dtype == np.bool_:
        a = a.astype(np.uint8)
    if weights is not None:
        weights = np.asarray(weights)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights.ravel()
    return a.ravel(), weights


def _outer_edges(a, range):
    """Returns the lowest and highest edge: the range, or the extremes of `a`, widened if they are equal."""
    if range is not None:
        low, high = range
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        origin = "supplied"
    elif a.size == 0:
        return 0, 1
    else:
        low, high = a.min(), a.max()
        origin = "autodetected"
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"{origin} range of [{low}, {high}] is not finite")
    if low == high:
        low = low - 0.5
        high = high + 0.5
    return low, high


def _unsigned_difference(a, b):
    """Returns a - b; the difference of signed integers is unsigned, so that it cannot overflow."""
    dtype = np.result_type(a, b)
    if dtype.kind != "i":
        return np.subtract(a, b, dtype=dtype)
    unsigned = np.dtype("u" + str(dtype.itemsize))
    return np.subtract(np.asarray(a, dtype=dtype), np.asarray(b, dtype=dtype), casting="unsafe", dtype=unsigned)


def _extent(x):
    return _unsigned_difference(x.max(), x.min())


def _width_sqrt(x, range):
    return _extent(x) / np.sqrt(x.size)


def _width_sturges(x, range):
    return _extent(x) / (np.log2(x.size) + 1.0)


def _width_rice(x, range):
    return _extent(x) / (2.0 * x.size ** (1.0 / 3))


def _width_scott(x, range):
    return (24.0 * np.pi ** 0.5 / x.size) ** (1.0 / 3.0) * x.std()


def _width_stone(x, range):
    """Minimises the estimated squared error over the number of bins."""
    n = x.size
    extent = _extent(x)
    if n <= 1 or extent == 0:
        return 0

    def loss(bins):
        width = extent / bins
        shares = np.histogram(x, bins=bins, range=range)[0] / n
        return (2 - (n + 1) * shares.dot(shares)) / width

    best, least = 1, None
    for bins in _counting(max(100, int(np.sqrt(n)))):
        value = loss(bins)
        if least is None or value < least:
            best, least = bins, value
    return extent / best


def _counting(last):
    """Yields 1, 2 … last; the builtin range() is shadowed by parameters here."""
    number = 0
    while number < last:
        number += 1
        yield number


def _width_doane(x, range):
    """Adds bins to Sturges' rule for skewed values."""
    if x.size <= 2:
        return 0.0
    skewness_deviation = np.sqrt(6.0 * (x.size - 2) / ((x.size + 1.0) * (x.size + 3)))
    deviation = x.std()
    if not deviation > 0.0:
        return 0.0
    z = x - x.mean()
    np.true_divide(z, deviation, z)
    np.power(z, 3, z)
    skewness = z.mean()
    bins = 1.0 + np.log2(x.size) + np.log2(1.0 + np.absolute(skewness) / skewness_deviation)
    return _extent(x) / bins


def _width_fd(x, range):
    """Follows Freedman and Diaconis: twice the interquartile range over the cube root of the count."""
    quartiles = np.percentile(x, [75, 25])
    return 2.0 * np.subtract(quartiles[0], quartiles[1]) * x.size ** (-1.0 / 3.0)


def _width_auto(x, range):
    """Returns the smaller width of 'fd' and 'sturges', but no less than half of that of 'sqrt' for 'fd'."""
    fd = max(_width_fd(x, range), _width_sqrt(x, range) / 2)
    return min(fd, _width_sturges(x, range))


_ESTIMATORS = {
    "stone": _width_stone,
    "auto": _width_auto,
    "doane": _width_doane,
    "fd": _width_fd,
    "rice": _width_rice,
    "scott": _width_scott,
    "sqrt": _width_sqrt,
    "sturges": _width_sturges,
}


def _estimated_count(a, name, low, high, range):
    """Returns the number of bins that an estimator chooses."""
    if range is not None:
        inside = (a >= low) & (a <= high)
        if not inside.all():
            a = a[inside]
    if a.size == 0:
        return 1
    width = _ESTIMATORS[name](a, (low, high))
    if not width:
        return 1
    if a.dtype.kind in "iu" and width < 1:
        width = 1
    return int(np.ceil(_unsigned_difference(high, low) / width))


def _edges(a, bins, range, weights):
    """Returns the edges, and (low, high, count) if the bins are equally wide, else None."""
    if isinstance(bins, str):
        if bins not in _ESTIMATORS:
            raise ValueError(f"{bins!r} is not a valid estimator for `bins`")
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        low, high = _outer_edges(a, range)
        count = _estimated_count(a, bins, low, high, range)
    else:
        as_array = np.asarray(bins)
        if as_array.ndim > 1:
            raise ValueError("`bins` must be 1d, when an array")
        if as_array.ndim == 1:
            if (as_array[:-1] > as_array[1:]).any():
                raise ValueError("`bins` must increase monotonically, when an array")
            return as_array, None
        try:
            count = np._index(bins)
        except TypeError as error:
            raise TypeError("`bins` must be an integer, a string, or an array") from error
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        low, high = _outer_edges(a, range)
    dtype = np.result_type(low, high, a)
    if dtype.kind in "iu":
        dtype = np.result_type(dtype, float)
    edges = np.linspace(low, high, count + 1, endpoint=True, dtype=dtype)
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
    return edges, (low, high, count)


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """Returns the edges that histogram() uses, one more than bins."""
    a, weights = _values_and_weights(a, weights)
    return _edges(a, bins, range, weights)[0]


# Number of values that are put into bins at a time; fixes the order in which weights are added.
_BLOCK = 65536


def _blocks(size):
    start = 0
    while start < size:
        yield slice(start, start + _BLOCK)
        start += _BLOCK


def _counts_uniform(a, weights, edges, low, high, count, dtype):
    """Computes the bin of each value from its distance to the lowest edge, and corrects rounding by the edges."""
    extent = _unsigned_difference(high, low)
    counts = np.zeros(count, dtype)
    for block in _blocks(len(a)):
        values = a[block]
        w = None if weights is None else weights[block]
        inside = (values >= low) & (values <= high)
        if not inside.all():
            values = values[inside]
            w = None if w is None else w[inside]
        values = values.astype(edges.dtype, copy=False)
        index = ((_unsigned_difference(values, low) / extent) * count).astype(np.intp)
        index[index == count] -= 1
        index[values < edges[index]] -= 1
        index[(values >= edges[index + 1]) & (index != count - 1)] += 1
        if dtype.kind == "c":
            counts.real += np.bincount(index, weights=w.real, minlength=count)
            counts.imag += np.bincount(index, weights=w.imag, minlength=count)
        else:
            counts += np.bincount(index, weights=w, minlength=count).astype(dtype)
    return counts


def _cut(values, edges):
    """Returns for each edge how many sorted values lie below it; the last edge is inclusive."""
    below = values.searchsorted(edges[:-1], "left")
    return np.concatenate((below, values.searchsorted(edges[-1:], "right")))


def _counts_uneven(a, weights, edges, dtype):
    """Sorts the values and cuts them at the edges."""
    totals = np.zeros(edges.shape, dtype)
    for block in _blocks(len(a)):
        if weights is None:
            values = a[block].copy()
            values.sort()
            totals += _cut(values, edges)
            continue
        order = a[block].argsort()
        partial = np.concatenate((np.zeros(1, dtype), weights[block][order].cumsum()))
        totals += partial[_cut(a[block][order], edges)]
    return np.diff(totals)


def histogram(a, bins=10, range=None, density=None, weights=None):
    """Returns the number of values (or the sum of weights) in each bin, and the edges of the bins.

    Bins are half-open, except for the last one, which includes its right edge.
    """
    a, weights = _values_and_weights(a, weights)
    edges, uniform = _edges(a, bins, range, weights)
    dtype = np.dtype(np.intp) if weights is None else weights.dtype
    simple = weights is None or np.can_cast(dtype, np.float64) or np.can_cast(dtype, np.complex128)
    if uniform is not None and simple:
        counts = _counts_uniform(a, weights, edges, *uniform, dtype)
    else:
        counts = _counts_uneven(a, weights, edges, dtype)
    if density:
        widths = np.array(np.diff(edges), float)
        return counts / widths / counts.sum(), edges
    return counts, edges


def _edges_of_axis(values, bins, range, axis):
    """Returns the edges of one axis of histogramdd()."""
    as_array = np.asarray(bins)
    if as_array.ndim == 0:
        if bins < 1:
            raise ValueError(f"`bins[{axis}]` must be positive, when an integer")
        low, high = _outer_edges(values, range)
        try:
            count = np._index(bins)
        except TypeError as error:
            raise TypeError(f"`bins[{axis}]` must be an integer, when a scalar") from error
        return np.linspace(low, high, count + 1)
    if as_array.ndim > 1:
        raise ValueError(f"`bins[{axis}]` must be a scalar or 1d array")
    if (as_array[:-1] > as_array[1:]).any():
        raise ValueError(f"`bins[{axis}]` must be monotonically increasing, when an array")
    return as_array


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """Returns the counts of `sample` (N, D) in D dimensions, and a list of the edges of each."""
    if hasattr(sample, "shape") and len(sample.shape) == 2:
        count, dims = sample.shape
    else:
        if not hasattr(sample, "shape"):
            # NumPy's dispatcher looks for arrays in the sample, so it must be iterable.
            iter(sample)
        sample = np.atleast_2d(sample).T
        count, dims = sample.shape
    weights = None if weights is None else np.asarray(weights)
    if hasattr(bins, "__len__") and not (hasattr(bins, "ndim") and bins.ndim == 0):
        if len(bins) != dims:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    else:
        bins = [bins] * dims
    if range is None:
        range = (None,) * dims
    elif len(range) != dims:
        raise ValueError("range argument must have one entry per dimension")
    edges, shape, flat = [], [], np.zeros(count, np.intp)
    for axis in _counting(dims):
        axis -= 1
        values = sample[:, axis]
        edges.append(_edges_of_axis(values, bins[axis], range[axis], axis))
        shape.append(len(edges[axis]) + 1)
    for axis in _counting(dims):
        axis -= 1
        values = sample[:, axis]
        # Bins 0 and shape - 1 hold the values outside.
        index = edges[axis].searchsorted(values, side="right")
        index[values == edges[axis][-1]] -= 1
        flat = flat * shape[axis] + index
    if dims == 0:
        raise ValueError("object of too small depth for desired array")
    size = 1
    for one in shape:
        size *= one
    if size >= 2 ** 63:
        raise ValueError("invalid dims: array size defined by dims is larger than the maximum possible size.")
    counts = np.bincount(flat, weights, minlength=size).reshape(shape)
    counts = counts.astype(float, casting="safe")[(slice(1, -1),) * dims]
    if density:
        total = counts.sum()
        for axis in _counting(dims):
            axis -= 1
            widths_shape = [1] * dims
            widths_shape[axis] = shape[axis] - 2
            counts = counts / np.diff(edges[axis]).reshape(widths_shape)
        counts /= total
    return counts, edges


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Returns the counts of the points (x, y), the edges in x and the edges in y."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    count = len(bins) if hasattr(bins, "__len__") and not (hasattr(bins, "ndim") and bins.ndim == 0) else 1
    if count != 1 and count != 2:
        both = np.asarray(bins)
        bins = [both, both]
    counts, edges = np.histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
