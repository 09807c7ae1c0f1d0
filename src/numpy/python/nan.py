"""Reductions that ignore NaN: they replace it by a neutral element, or leave it out slice by slice."""
import numpy as np


def _without_nan(a, value):
    """Returns a copy with NaN replaced by `value` and the mask of NaN; or `a` itself and None without NaN's dtype."""
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        return a, None
    missing = np.isnan(a)
    a = np.array(a, copy=True)
    np.copyto(a, value, where=missing)
    return a, missing


def _filled(a, value, mask):
    """Writes `value` where `mask` is true: into an array in place, or as a new scalar."""
    if isinstance(a, np.ndarray):
        np.copyto(a, value, where=mask, casting="unsafe")
        return a
    return a.dtype.type(value)


def _quotient(a, count, out=None):
    """Divides by counts without warnings, into `a` or `out`; scalars keep their dtype."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if isinstance(a, np.ndarray):
            return np.divide(a, count, out=a if out is None else out, casting="unsafe")
        if out is None:
            return a.dtype.type(a / count)
        return np.divide(a, count, out=out, casting="unsafe")


def _extreme(a, ufunc, method, limit, axis, out, keywords):
    """Reduces by fmin or fmax, which prefer numbers to NaN."""
    if type(a) is np.ndarray:
        return ufunc.reduce(a, axis=axis, out=out, **keywords)
    a, missing = _without_nan(a, limit)
    result = getattr(a, method)(axis=axis, out=out, **keywords)
    if missing is None:
        return result
    keywords.pop("initial", None)
    missing = missing.all(axis=axis, **keywords)
    return _filled(result, np.nan, missing) if np.asanyarray(missing).any() else result


def nanmin(a, axis=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
    """Returns the smallest number over `axis`; NaN only if there is nothing else."""
    keywords = np._given(keepdims=keepdims, initial=initial, where=where)
    return _extreme(a, np.fmin, "min", np.inf, axis, out, keywords)


def nanmax(a, axis=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
    """Returns the largest number over `axis`; NaN only if there is nothing else."""
    keywords = np._given(keepdims=keepdims, initial=initial, where=where)
    return _extreme(a, np.fmax, "max", -np.inf, axis, out, keywords)


def _arg_extreme(a, method, limit, axis, out, keepdims):
    a, missing = _without_nan(a, limit)
    if missing is not None and missing.size and np.asanyarray(missing.all(axis=axis)).any():
        raise ValueError("All-NaN slice encountered")
    return getattr(a, method)(axis=axis, out=out, **np._given(keepdims=keepdims))


def nanargmin(a, axis=None, out=None, *, keepdims=np._NoValue):
    """Returns the index of the first smallest number over `axis`; fails if a slice has only NaN."""
    return _arg_extreme(a, "argmin", np.inf, axis, out, keepdims)


def nanargmax(a, axis=None, out=None, *, keepdims=np._NoValue):
    """Returns the index of the first largest number over `axis`; fails if a slice has only NaN."""
    return _arg_extreme(a, "argmax", -np.inf, axis, out, keepdims)


def nansum(
    a, axis=None, dtype=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue,
):
    """Returns the sum over `axis`, with 0 for NaN."""
    keywords = np._given(keepdims=keepdims, initial=initial, where=where)
    return _without_nan(a, 0)[0].sum(axis=axis, dtype=dtype, out=out, **keywords)


def nanprod(
    a, axis=None, dtype=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue,
):
    """Returns the product over `axis`, with 1 for NaN."""
    keywords = np._given(keepdims=keepdims, initial=initial, where=where)
    return _without_nan(a, 1)[0].prod(axis=axis, dtype=dtype, out=out, **keywords)


def nancumsum(a, axis=None, dtype=None, out=None):
    """Returns the partial sums along `axis`, with 0 for NaN."""
    return _without_nan(a, 0)[0].cumsum(axis=axis, dtype=dtype, out=out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Returns the partial products along `axis`, with 1 for NaN."""
    return _without_nan(a, 1)[0].cumprod(axis=axis, dtype=dtype, out=out)


def _require_inexact(dtype, out):
    """Fails with TypeError if the dtype or the output of an inexact reduction is exact."""
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
    if out is not None and out.dtype.kind not in "fc":
        raise TypeError("If a is inexact, then out must be inexact")


def nanmean(a, axis=None, dtype=None, out=None, keepdims=np._NoValue, *, where=np._NoValue):
    """Returns the mean of the numbers over `axis`."""
    a, missing = _without_nan(a, 0)
    keywords = np._given(keepdims=keepdims, where=where)
    if missing is None:
        return a.mean(axis=axis, dtype=dtype, out=out, **keywords)
    _require_inexact(dtype, out)
    count = (~missing).sum(axis=axis, dtype=np.intp, **keywords)
    total = a.sum(axis=axis, dtype=dtype, out=out, **keywords)
    return _quotient(total, count, out=out)


def nanvar(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=np._NoValue, *,
    where=np._NoValue, mean=np._NoValue, correction=np._NoValue,
):
    """Returns the variance of the numbers over `axis`; NaN if there are `ddof` of them or fewer."""
    a, missing = _without_nan(a, 0)
    if missing is None:
        return np.var(
            a, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, where=where, mean=mean,
            correction=correction,
        )
    _require_inexact(dtype, out)
    if correction is not np._NoValue:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    masked = np._given(where=where)
    count = (~missing).sum(axis=axis, dtype=np.intp, keepdims=True, **masked)
    if mean is np._NoValue:
        mean = _quotient(a.sum(axis=axis, dtype=dtype, keepdims=True, **masked), count)
    np.subtract(a, mean, out=a, casting="unsafe", **masked)
    np.copyto(a, 0, where=missing, casting="unsafe")
    if a.dtype.kind == "c":
        squares = np.multiply(a, a.conj(), out=a, **masked).real
    else:
        squares = np.multiply(a, a, out=a, **masked)
    total = squares.sum(axis=axis, dtype=dtype, out=out, **np._given(keepdims=keepdims, where=where))
    if total.ndim < count.ndim:
        count = count.squeeze(axis)
    freedom = count - ddof
    result = _quotient(total, freedom)
    lacking = freedom <= 0
    return _filled(result, np.nan, lacking) if np.asanyarray(lacking).any() else result


def nanstd(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=np._NoValue, *,
    where=np._NoValue, mean=np._NoValue, correction=np._NoValue,
):
    """Returns the standard deviation of the numbers over `axis`."""
    result = np.nanvar(
        a, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, where=where, mean=mean,
        correction=correction,
    )
    if isinstance(result, np.ndarray):
        return np.sqrt(result, out=result)
    return result.dtype.type(np.sqrt(result))


def _numbers(a):
    """Returns the elements of a vector that are not NaN."""
    return a[~np.isnan(a)] if a.dtype.kind in "fc" else a


def _median_of_numbers(a):
    """Returns the median of a vector without its NaNs; NaN if there are only such."""
    numbers = _numbers(a)
    return a[-1] if numbers.size == 0 else np.median(numbers)


def _median_along(a, axis, out):
    """Computes medians for _over_axes(): of one axis, or of all if None."""
    if axis is None or a.ndim == 1:
        result = _median_of_numbers(a.ravel())
        if out is None:
            return result
        out[...] = result
        return out
    if a.dtype.kind not in "fc":
        result = np.median(a, axis)[...]
    elif a.shape[axis] < 600:
        result = _medians_sorted(a, axis)
    else:
        result = np.apply_along_axis(_median_of_numbers, axis, a)
    if out is None:
        return result
    out[...] = result
    return out


def _medians_sorted(a, axis):
    """Returns the medians along `axis` of all slices at once: NaN sorts to the end."""
    ordered = a.copy()
    ordered.sort(axis=axis)
    count = (~np.isnan(a)).sum(axis=axis, keepdims=True)
    high = np.where(count % 2 == 0, count // 2, (count - 1) // 2)
    low = np.where(count % 2 == 0, count // 2 - 1, high)
    low, high = low.clip(0), high.clip(0, a.shape[axis] - 1)
    pair = np.concatenate(
        (np.take_along_axis(ordered, low, axis), np.take_along_axis(ordered, high, axis)), axis
    )
    result = pair.mean(axis=axis)
    missing = (count == 0).squeeze(axis)
    if not missing.any():
        return result[...]
    np.copyto(result, np.nan, where=missing)
    return result


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=np._NoValue):
    """Returns the median of the numbers over `axis`."""
    a = np.asanyarray(a)
    if a.size == 0:
        return np.nanmean(a, axis, out=out, keepdims=keepdims)
    keep = False if keepdims is np._NoValue else keepdims
    return np._over_axes(a, _median_along, axis, out, keep)


def _quantile_of_numbers(a, q, method, weights, weak):
    """Returns the quantiles of a vector without its NaNs; NaN if there are only such."""
    if weights is not None and a.dtype.kind in "fc":
        weights = weights[~np.isnan(a)]
    numbers = _numbers(a)
    if numbers.size == 0:
        return np.full(q.shape, np.nan, dtype=a.dtype)[()]
    return np._quantile_unchecked(numbers, q, None, None, method, False, weights, weak)


def _nanquantiles(a, q, axis, out, method, keepdims, weights, weak):
    """Computes quantiles slice by slice; the dimensions of `q` come first."""
    if a.size == 0:
        return np.nanmean(a, axis, out=out, keepdims=keepdims)
    keep = False if keepdims is np._NoValue else keepdims
    aligned = []

    def remember(weights, axis, out):
        aligned.append(weights)
        return weights

    def along(a, axis, out):
        if axis is None or a.ndim == 1:
            w = None if weights is None else aligned[0].ravel()
            result = _quantile_of_numbers(a.ravel(), q, method, w, weak)
        elif weights is None:
            result = np.apply_along_axis(
                lambda vector: _quantile_of_numbers(vector, q, method, None, weak), axis, a
            )
            # The dimensions of q stand where the reduced axis was. NumPy adds to a negative axis too.
            if q.ndim:
                moved = [(axis + i) % result.ndim for i in range(q.ndim)]
                rest = [d for d in range(result.ndim) if d not in moved]
                result = result.transpose(moved + rest)
        else:
            result = _weighted_slices(a, q, axis, method, aligned[0], weak)
        if out is not None:
            out[...] = result
            return out
        return result

    if weights is not None:
        # Weights of the axes only are not repeated: NumPy fails with IndexError for them too.
        np._over_axes(weights, remember, axis, None, False)
    return np._over_axes(a, along, axis, out, keep)


def _weighted_slices(a, q, axis, method, weights, weak):
    """Computes the weighted quantiles of each slice along `axis`."""
    rows, shares = np._axis_last(a, axis % a.ndim), np._axis_last(weights, axis % a.ndim)
    shape = rows.shape[:-1]
    result = np.empty_like(rows, shape=q.shape + shape)
    for place in np.ndindex(*shape):
        result[(Ellipsis,) + place] = _quantile_of_numbers(rows[place], q, method, shares[place], weak)
    return result


def nanpercentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=np._NoValue, *,
    weights=None,
):
    """Returns the percentiles `q` in [0, 100] of the numbers over `axis`."""
    a, q, weak = np._quantile_arguments(a, q, True)
    axis, weights = np._quantile_weights(a, axis, method, weights)
    return _nanquantiles(a, q, axis, out, method, keepdims, weights, weak)


def nanquantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=np._NoValue, *,
    weights=None,
):
    """Returns the quantiles `q` in [0, 1] of the numbers over `axis`."""
    a, q, weak = np._quantile_arguments(a, q, False)
    axis, weights = np._quantile_weights(a, axis, method, weights)
    return _nanquantiles(a, q, axis, out, method, keepdims, weights, weak)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Returns the elements with NaN and infinities replaced; infinities become the dtype's limits by default."""
    x = np.array(x, copy=copy)
    scalar = x.ndim == 0
    if scalar:
        x = x[None]
    if x.dtype.kind not in "fc":
        return x[0] if scalar else x
    parts = (x.real, x.imag) if x.dtype.kind == "c" else (x,)
    limits = np.finfo(parts[0].dtype)
    posinf = limits.max if posinf is None else posinf
    neginf = limits.min if neginf is None else neginf
    for part in parts:
        missing, above, below = np.isnan(part), np.isposinf(part), np.isneginf(part)
        np.copyto(part, nan, where=missing)
        np.copyto(part, posinf, where=above)
        np.copyto(part, neginf, where=below)
    return x[0] if scalar else x
