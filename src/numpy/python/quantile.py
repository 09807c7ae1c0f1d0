"""Medians, percentiles and quantiles."""
import numpy as np


def _over_axes(a, function, axis, out, keepdims):
    """Calls function(a, axis, out), which reduces one axis or all, for any choice of axes.

    Several axes become one at the end. `keepdims` restores the reduced axes with size 1.
    """
    a = np.asanyarray(a)
    ndim = a.ndim
    if axis is None:
        reduced = tuple(range(ndim))
        single = None
        whole = a
    else:
        axes = np._axis_tuple(axis, ndim)
        reduced = axes
        if len(axes) == 1:
            single, whole = axes[0], a
        else:
            kept = sorted(set(range(ndim)) - set(axes))
            whole = a
            for i, d in enumerate(kept):
                whole = whole.swapaxes(i, d)
            whole = whole.reshape(whole.shape[:len(kept)] + (-1,))
            single = -1
    if keepdims and out is not None:
        place = tuple([0 if d in reduced else slice(None) for d in range(ndim)])
        function(whole, single, out[(Ellipsis,) + place])
        return out
    result = function(whole, single, out)
    if not keepdims:
        return result
    result = np.asanyarray(result)
    place = tuple([np.newaxis if d in reduced else slice(None) for d in range(ndim)])
    return result[(Ellipsis,) + place]


def _median_of(a, axis, out):
    """Reduces one axis, or all if None, to the mean of the middle element or elements."""
    count = a.size if axis is None else a.shape[axis]
    kth = [count // 2 - 1, count // 2] if count % 2 == 0 else [(count - 1) // 2]
    inexact = a.dtype.kind in "fc"
    if inexact:
        kth.append(-1)
    part = a.flatten() if axis is None else a.copy(order="K")
    part.partition(kth, axis=0 if axis is None else axis)
    axis = 0 if axis is None else axis
    middle = part.shape[axis] // 2
    first = middle if part.shape[axis] % 2 == 1 else middle - 1
    result = part[np._along(part.ndim, axis, slice(first, middle + 1))].mean(axis=axis, out=out)
    if not inexact or count == 0:
        return result
    largest = part.take(-1, axis=axis)
    missing = np.isnan(largest)
    if not missing.any():
        return result
    if isinstance(result, np.generic):
        return largest
    np.copyto(result, largest, where=missing)
    return result


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """Returns the median over `axis`; NaN if there is one."""
    return _over_axes(a, _median_of, axis, out, keepdims)


def _position(n, q, alpha, beta):
    """Returns the fractional index of quantile `q` for the plotting positions of `alpha` and `beta`."""
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def _rounded(position, stays):
    """Returns position's floor if `stays(fraction, position)` holds, else the next integer, never below 0."""
    below = np.floor(position)
    stay = stays(position - below, position)
    result = np.where(stay, below, below + 1).astype(np.intp)
    return np.where(result < 0, 0, result)


def _half_if_whole(fraction, position):
    return np.where(fraction == 0, 0.5, 1.0)


def _half_unless_whole(fraction, position):
    return np.where(position % 1 == 0, 0.0, 0.5)


def _as_is(fraction, position):
    return fraction


# For each method: its index into the sorted elements, and its weight of the element after the index (None: exact).
_METHODS = {
    "inverted_cdf": (lambda n, q: _rounded(n * q - 1, lambda fraction, _: fraction == 0), None),
    "averaged_inverted_cdf": (lambda n, q: n * q - 1, _half_if_whole),
    "closest_observation": (
        lambda n, q: _rounded(
            n * q - 1 - 0.5, lambda fraction, position: (fraction == 0) & (np.floor(position) % 2 == 1)
        ),
        None,
    ),
    "interpolated_inverted_cdf": (lambda n, q: _position(n, q, 0, 1), _as_is),
    "hazen": (lambda n, q: _position(n, q, 0.5, 0.5), _as_is),
    "weibull": (lambda n, q: _position(n, q, 0, 0), _as_is),
    "linear": (lambda n, q: (n - 1) * q, _as_is),
    "median_unbiased": (lambda n, q: _position(n, q, 1 / 3.0, 1 / 3.0), _as_is),
    "normal_unbiased": (lambda n, q: _position(n, q, 3 / 8.0, 3 / 8.0), _as_is),
    "lower": (lambda n, q: np.floor((n - 1) * q).astype(np.intp), None),
    "higher": (lambda n, q: np.ceil((n - 1) * q).astype(np.intp), None),
    "midpoint": (
        lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)), _half_unless_whole
    ),
    "nearest": (lambda n, q: np.rint((n - 1) * q).astype(np.intp), None),
}


def _between(low, high, t, out):
    """Interpolates linearly, from the nearer end: so t = 0 and t = 1 are exact and the result is monotonic."""
    difference = high - low
    result = np.asanyarray(np.add(low, difference * t, out=out))
    np.subtract(
        high, difference * (1 - t), out=result, where=t >= 0.5, casting="unsafe", dtype=result.dtype,
    )
    return result[()] if result.ndim == 0 and out is None else result


def _neighbours(position, n):
    """Returns the indices of the elements around fractional indices, limited to the first and the last."""
    before = np.asanyarray(np.floor(position))
    after = np.asanyarray(before + 1)
    above = position >= n - 1
    below = position < 0
    before = np.where(below, 0, np.where(above, -1, before))
    after = np.where(below, 0, np.where(above, -1, after))
    return before.astype(np.intp), after.astype(np.intp)


def _quantiles(a, q, axis, method, out, weak):
    """Partitions a copy of `a` and picks or interpolates its quantiles; their dimensions come first."""
    if axis is None:
        a, axis = a.flatten(), 0
    else:
        a = a.copy()
    n = a.shape[axis]
    a = np._axis_first(a, axis % a.ndim if a.ndim else 0)
    inexact = a.dtype.kind in "fc"
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {_METHODS.keys()}")
    position, weight = _METHODS[method]
    positions = np.asanyarray(position(n, q))
    if weight is None or (method == "linear" and positions.dtype.kind in "iu"):
        kth = positions.ravel()
        a.partition(np.concatenate((kth, [-1])) if inexact else kth, axis=0)
        missing = np.isnan(a[-1, ...]) if inexact else np.array(False)
        result = a.take(positions, axis=0, out=out)
    else:
        before, after = _neighbours(positions, n)
        kth = sorted(set([0, -1] + before.ravel().tolist() + after.ravel().tolist()))
        a.partition(np.array(kth, dtype=np.intp), axis=0)
        missing = np.isnan(a[-1, ...]) if inexact else np.array(False)
        low, high = a[before], a[after]
        t = np.asanyarray(positions - before)
        t = np.asanyarray(weight(t, positions), dtype=positions.dtype)
        t = float(t) if weak else t.reshape(positions.shape + (1,) * (a.ndim - 1))
        result = _between(low, high, t, out)
    if missing.any():
        if result.ndim == 0 and out is None:
            return a[-1]
        np.copyto(result, a[-1, ...], where=missing)
    return result


def _weighted_quantiles(a, q, axis, weights, out):
    """Returns the smallest elements whose cumulated share of the weights reaches `q`."""
    if axis is None:
        a, weights, axis = a.flatten(), weights.flatten(), 0
    a = np._axis_first(a, axis % a.ndim)
    weights = np._axis_first(weights, axis % weights.ndim)
    order = a.argsort(axis=0, kind="stable")
    a = np.take_along_axis(a, order, axis=0)
    missing = np.isnan(a[-1, ...]) if a.dtype.kind in "fc" else np.array(False)
    if weights.shape == a.shape:
        weights = np.take_along_axis(weights, order, axis=0)
    else:
        weights = weights.reshape(-1)[order]
    shares = weights.cumsum(axis=0, dtype=np.float64)
    shares /= shares[-1, ...]
    if np.isnan(shares[-1]).any():
        raise ValueError("Weights included NaN, inf or were all zero.")
    # Shares and quantiles of different precision would not be found equal.
    if q.dtype.kind == "f":
        shares = shares.astype(q.dtype)
    # Elements of weight 0 before the first positive one are never a quantile, not even for q = 0.
    if np.equal(shares[0, ...], 0).any():
        shares[shares == 0] = -1
    n = a.shape[0]
    columns = int(np.prod(a.shape[1:]))
    flat, flat_shares = a.reshape(n, columns), shares.reshape(n, columns)
    if out is None:
        out = np.empty(q.shape + a.shape[1:], dtype=a.dtype)
    picked = np.empty(q.shape + (columns,), dtype=a.dtype)
    for column in range(columns):
        at = flat_shares[:, column].searchsorted(q, side="left")
        picked[..., column] = flat[np.minimum(at, n - 1), column]
    out[...] = picked.reshape(q.shape + a.shape[1:])
    if missing.any():
        if out.ndim == 0:
            return a[-1]
        np.copyto(out, a[-1, ...], where=missing)
    return out


def _in_range(q):
    """Returns whether all quantiles lie in [0, 1]; NaN does not."""
    if q.ndim == 1 and q.size < 10:
        return bool(((q >= 0) & (q <= 1)).all())
    return bool(q.min() >= 0 and q.max() <= 1)


def _quantile_unchecked(a, q, axis, out, method, keepdims, weights, weak):
    """Computes quantiles after the checks of quantile(); `weak` marks a Python number, which keeps the dtype."""

    def over(a, axis, out):
        if q.ndim > 2:
            raise ValueError("q must be a scalar or 1d")
        if weights is not None:
            return _weighted_quantiles(a, q, axis, together[0], out)
        return _quantiles(a, q, axis, method, out, weak)

    together = []

    def remember(weights, axis, out):
        together.append(weights)
        return weights

    # Weights follow their elements if several axes become one.
    if weights is not None:
        _over_axes(np.broadcast_to(weights, a.shape), remember, axis, None, False)
    return _over_axes(a, over, axis, out, keepdims)


def _quantile_weights(a, axis, method, weights):
    """Checks the method, the axes and the weights of quantile(); returns the axes and the weights."""
    if weights is None:
        return axis, None
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if axis is not None:
        axis = np._axis_tuple(axis, a.ndim, "axis")
    weights = np._weights_for(a, weights, axis)
    if np.less(weights, 0).any():
        raise ValueError("Weights must be non-negative.")
    return axis, weights


def _quantile_arguments(a, q, percent):
    """Checks the array and the quantiles; returns both as arrays, and whether `q` was a Python number."""
    a = np.asanyarray(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    weak = type(q) in (int, float)
    q = np.asanyarray(np.true_divide(q, 100) if percent else q)
    if not _in_range(q):
        name, top = ("Percentiles", 100) if percent else ("Quantiles", 1)
        raise ValueError(f"{name} must be in the range [0, {top}]")
    return a, q, weak


def percentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None,
):
    """Returns the percentiles `q` in [0, 100] over `axis`; the dimensions of `q` come first."""
    a, q, weak = _quantile_arguments(a, q, True)
    axis, weights = _quantile_weights(a, axis, method, weights)
    return _quantile_unchecked(a, q, axis, out, method, keepdims, weights, weak)


def quantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None,
):
    """Returns the quantiles `q` in [0, 1] over `axis`; the dimensions of `q` come first."""
    a, q, weak = _quantile_arguments(a, q, False)
    axis, weights = _quantile_weights(a, axis, method, weights)
    return _quantile_unchecked(a, q, axis, out, method, keepdims, weights, weak)
