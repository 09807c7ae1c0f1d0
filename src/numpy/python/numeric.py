"""Differences, interpolation, convolution and tests of closeness."""
import numpy as np


def _as_vector(a, dtype):
    """Converts to a 1-D array of a dtype by safe casting, and words its errors like NumPy's C functions."""
    nested = not isinstance(a, np.ndarray)
    given, a = a, np.asarray(a)
    if a.ndim > 1 and nested:
        raise ValueError(
            "setting an array element with a sequence. "
            "The requested array would exceed the maximum number of dimension of 1."
        )
    if a.ndim > 1:
        raise ValueError("object too deep for desired array")
    if a.ndim == 0:
        raise ValueError("object of too small depth for desired array")
    return _safely(given, dtype)


def _safely(a, dtype):
    """Converts to an array of a dtype; fails with TypeError if an array's own dtype does not cast safely."""
    wanted = np.dtype(dtype)
    if not isinstance(a, np.ndarray):
        return np.asarray(a, dtype=wanted)
    if not np.can_cast(a.dtype, wanted):
        kind = "array data" if a.ndim else "scalar"
        raise TypeError(
            f"Cannot cast {kind} from {a.dtype!r} to {wanted!r} according to the rule 'safe'"
        )
    return a.astype(wanted, copy=False)


def real(val):
    """Returns the real parts: a view of a complex array, and a real array itself."""
    return val.real if hasattr(val, "real") else np.asanyarray(val).real


def imag(val):
    """Returns the imaginary parts: a view of a complex array, and zeros for a real one."""
    return val.imag if hasattr(val, "imag") else np.asanyarray(val).imag


def angle(z, deg=False):
    """Returns the angles of complex numbers in radians, or in degrees if `deg` is true."""
    z = np.asanyarray(z)
    if z.dtype.kind == "c":
        result = np.arctan2(z.imag, z.real)
    else:
        result = np.arctan2(0, z)
    if deg:
        result *= 180 / np.pi
    return result


def real_if_close(a, tol=100):
    """Returns the real parts if all imaginary parts are below `tol` epsilons, else the array itself."""
    a = np.asanyarray(a)
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = np.finfo(a.dtype).eps * tol
    if (np.absolute(a.imag) < tol).all():
        return a.real
    return a


def isreal(x):
    """Returns whether each imaginary part is zero."""
    return np.imag(x) == 0


def iscomplex(x):
    """Returns whether each imaginary part differs from zero."""
    x = np.asanyarray(x)
    if x.dtype.kind == "c":
        return x.imag != 0
    return np.zeros(x.shape, bool)[()]


def iscomplexobj(x):
    """Returns whether the dtype is complex, whatever the values."""
    dtype = getattr(x, "dtype", None)
    if dtype is None or not isinstance(dtype, np.dtype):
        dtype = np.asarray(x).dtype
    return dtype.kind == "c"


def isrealobj(x):
    """Returns whether the dtype is not complex, whatever the values."""
    return not np.iscomplexobj(x)


def _infinity_of_sign(x, negative, out):
    """Marks the infinities of one sign; complex numbers have none."""
    infinite = np.isinf(x)
    try:
        sign = np.signbit(x)
    except TypeError:
        dtype = np.asanyarray(x).dtype
        raise TypeError(
            f"This operation is not supported for {dtype} values because it would be ambiguous."
        ) from None
    return np.logical_and(infinite, sign if negative else ~sign, out)


def isposinf(x, out=None):
    """Returns whether each element is positive infinity."""
    return _infinity_of_sign(x, False, out)


def isneginf(x, out=None):
    """Returns whether each element is negative infinity."""
    return _infinity_of_sign(x, True, out)


def _operand(value):
    """Returns Python numbers unchanged, since they must not widen the dtype, and the rest as arrays."""
    return value if isinstance(value, (int, float, complex)) else np.asanyarray(value)


def isclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    """Returns whether |a - b| <= atol + rtol * |b| for each pair; equal infinities are close."""
    x, y, atol, rtol = _operand(a), _operand(b), _operand(atol), _operand(rtol)
    # Integers overflow in x - y and in abs(y), so y becomes inexact first.
    if isinstance(y, int):
        y = float(y)
    elif not isinstance(y, (float, complex)) and y.dtype.kind != "m":
        y = np.asanyarray(y, dtype=np.result_type(y, 1.0))
    with np.errstate(invalid="ignore"):
        near = np.less_equal(abs(x - y), atol + rtol * abs(y)) & np.isfinite(y)
        result = near | (x == y)
        if equal_nan:
            result |= np.isnan(x) & np.isnan(y)
    return result[()]


def allclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    """Returns True if isclose() holds for every pair."""
    return bool(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan).all())


def _beside(a, value, axis):
    """Converts what comes before or after `a`; a scalar is repeated over a slice of width 1."""
    value = np.asanyarray(value)
    if value.ndim > 0:
        return value
    shape = list(a.shape)
    shape[axis] = 1
    return np.broadcast_to(value, tuple(shape))


def diff(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    """Returns the `n`-th differences along `axis`; truth values are compared instead of subtracted."""
    if n == 0:
        return a
    if n < 0:
        raise ValueError("order must be non-negative but got " + repr(n))
    a = np.asanyarray(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = np._axis_index(axis, a.ndim)
    parts = [a]
    if prepend is not np._NoValue:
        parts.insert(0, _beside(a, prepend, axis))
    if append is not np._NoValue:
        parts.append(_beside(a, append, axis))
    if len(parts) > 1:
        a = np.concatenate(parts, axis)
    after = np._along(a.ndim, axis, slice(1, None))
    before = np._along(a.ndim, axis, slice(None, -1))
    step = np.not_equal if a.dtype.kind == "b" else np.subtract
    for _ in range(n):
        a = step(a[after], a[before])
    return a


def _spacings(f, axes, given):
    """Returns for each axis its spacing: a number, or the distances between neighbours if they differ."""
    if len(given) == 0:
        return [1.0] * len(axes)
    if len(given) == 1 and np.asanyarray(given[0]).ndim == 0:
        return list(given) * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    spacings = []
    for axis, spacing in zip(axes, given):
        positions = np.asanyarray(spacing)
        if positions.ndim == 0:
            # A Python number must not widen the dtype of f.
            spacings.append(spacing)
            continue
        if positions.ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        if len(positions) != f.shape[axis]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        if positions.dtype.kind in "iu":
            positions = positions.astype(np.float64)
        steps = np.diff(positions)
        spacings.append(steps[0] if (steps == steps[0]).all() else steps)
    return spacings


def _inner_weights(h, ndim, axis):
    """Returns the weights of the left, middle and right neighbour for uneven distances `h`."""
    left, right = h[:-1], h[1:]
    shape = [1] * ndim
    shape[axis] = -1
    weights = (
        -(right) / (left * (left + right)),
        (right - left) / (left * right),
        left / (right * (left + right)),
    )
    return [w.reshape(shape) for w in weights]


def _first_weights(h):
    """Returns the weights of the first three elements for a parabola's slope at the first."""
    if np.asanyarray(h).ndim == 0:
        return -1.5 / h, 2.0 / h, -0.5 / h
    d1, d2 = h[0], h[1]
    return -(2.0 * d1 + d2) / (d1 * (d1 + d2)), (d1 + d2) / (d1 * d2), -d1 / (d2 * (d1 + d2))


def _last_weights(h):
    """Returns the weights of the last three elements for a parabola's slope at the last."""
    if np.asanyarray(h).ndim == 0:
        return 0.5 / h, -2.0 / h, 1.5 / h
    d1, d2 = h[-2], h[-1]
    return (d2) / (d1 * (d1 + d2)), -(d2 + d1) / (d1 * d2), (2.0 * d2 + d1) / (d2 * (d1 + d2))


def _gradient_along(f, axis, h, edge_order, dtype):
    """Computes central differences along one axis, and one-sided ones of `edge_order` at its ends."""
    result = np.empty_like(f, dtype=dtype)

    def at(start, stop=None):
        return np._along(f.ndim, axis, slice(start, stop) if start is None or stop is not None else start)

    left, middle, right = at(None, -2), at(1, -1), np._along(f.ndim, axis, slice(2, None))
    uniform = np.asanyarray(h).ndim == 0
    if uniform:
        result[middle] = (f[right] - f[left]) / (2.0 * h)
    else:
        a, b, c = _inner_weights(h, f.ndim, axis)
        result[middle] = a * f[left] + b * f[middle] + c * f[right]
    if edge_order == 1:
        result[at(0)] = (f[at(1)] - f[at(0)]) / (h if uniform else h[0])
        result[at(-1)] = (f[at(-1)] - f[at(-2)]) / (h if uniform else h[-1])
    else:
        a, b, c = _first_weights(h)
        result[at(0)] = a * f[at(0)] + b * f[at(1)] + c * f[at(2)]
        a, b, c = _last_weights(h)
        result[at(-1)] = a * f[at(-3)] + b * f[at(-2)] + c * f[at(-1)]
    return result


def gradient(f, *varargs, axis=None, edge_order=1):
    """Returns the gradient along each axis: an array for one axis, else a tuple of arrays."""
    f = np.asanyarray(f)
    axes = tuple(range(f.ndim)) if axis is None else np._axis_tuple(axis, f.ndim)
    spacings = _spacings(f, axes, varargs)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    dtype = f.dtype
    if dtype.kind not in "fc":
        dtype = np.float64
        if f.dtype.kind in "iu":
            f = f.astype(np.float64)
    results = []
    for one, h in zip(axes, spacings):
        if f.shape[one] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, "
                "at least (edge_order + 1) elements are required."
            )
        results.append(_gradient_along(f, one, h, edge_order, dtype))
    return results[0] if len(axes) == 1 else tuple(results)


def _as_double(value):
    """Converts an argument of interp() to a float."""
    if isinstance(value, (complex, str)):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return float(value)


def _interpolated(x, xp, fp, left, right, complex_values=False):
    """Interpolates float64 values at `x`, whose NaNs stay; parts of complex values multiply by the inverse step."""
    last = len(xp) - 1
    # Index of the sample at or before each x; -1 lies left of all samples.
    j = xp.searchsorted(x, side="right") - 1
    inner = j.clip(0, max(last - 1, 0))
    low, high = xp[inner], xp[(inner + 1).clip(0, last)]
    f_low, f_high = fp[inner], fp[(inner + 1).clip(0, last)]
    with np.errstate(all="ignore"):
        rise, run = f_high - f_low, high - low
        slope = rise * (1.0 / run) if complex_values else rise / run
        result = slope * (x - low) + f_low
        # Infinite samples give NaN from one side; the other side may be finite.
        fallback = slope * (x - high) + f_high
        result = np.where(np.isnan(result), fallback, result)
        result = np.where(np.isnan(result) & (f_low == f_high), f_low, result)
    result = np.where(x == low, f_low, result)
    result = np.where(x == xp[last], fp[last], result)
    result = np.where(x < xp[0], left, result)
    result = np.where(x > xp[last], right, result)
    # A single sample is compared only, and NaN is neither left nor right of it.
    if len(xp) > 1:
        result = np.where(np.isnan(x), x, result)
    else:
        result = np.where(np.isnan(x), fp[0], result)
    return result[()] if result.ndim == 0 else result


def interp(x, xp, fp, left=None, right=None, period=None):
    """Returns the piecewise linear interpolation of the samples (xp, fp) at `x`."""
    fp = np.asarray(fp)
    complex_values = np.iscomplexobj(fp)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period = abs(period)
        left, right = None, None
        x = np.asarray(x, dtype=np.float64)
        xp = np.asarray(xp, dtype=np.float64)
        fp = np.asarray(fp, dtype=np.complex128 if complex_values else np.float64)
        if xp.ndim != 1 or fp.ndim != 1:
            raise ValueError("Data points must be 1-D sequences")
        if xp.shape[0] != fp.shape[0]:
            raise ValueError("fp and xp are not of the same length")
        x = x % period
        xp = xp % period
        order = xp.argsort()
        xp, fp = xp[order], fp[order]
        xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
        fp = np.concatenate((fp[-1:], fp, fp[:1]))
    fp = _as_vector(fp, np.complex128 if complex_values else np.float64)
    xp = _as_vector(xp, np.float64)
    x = _safely(x, np.float64)
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    left = fp[0] if left is None else left
    right = fp[-1] if right is None else right
    if not complex_values:
        return _interpolated(x, xp, fp, _as_double(left), _as_double(right))
    left, right = complex(left), complex(right)
    result = np.empty(x.shape, np.complex128)
    result.real = _interpolated(x, xp, fp.real, left.real, right.real, True)
    result.imag = _interpolated(x, xp, fp.imag, left.imag, right.imag, True)
    if len(xp) > 1:
        result.imag[np.isnan(x)] = 0.0
    return result[()] if result.ndim == 0 else result


def _direction(bins):
    """Returns 1 for rising or constant values, -1 for falling ones and 0 for neither."""
    changes = (bins[1:] != bins[:1]).nonzero()[0]
    if len(changes) == 0:
        return 1
    start = changes[0]
    if bins[start] < bins[start + 1]:
        return 0 if (bins[start + 1:-1] > bins[start + 2:]).any() else 1
    return 0 if (bins[start + 1:-1] < bins[start + 2:]).any() else -1


def digitize(x, bins, right=False):
    """Returns the index of the bin that each element falls into; `right` closes bins on the right."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    bins = np.asarray(bins)
    direction = _direction(_as_vector(bins, np.float64))
    if direction == 0:
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if direction < 0:
        return len(bins) - bins[::-1].searchsorted(x, side=side)
    return bins.searchsorted(x, side=side)


_MODES = {"valid": 0, "same": 1, "full": 2}


def _mode_number(mode):
    """Returns 0, 1 or 2 for 'valid', 'same' and 'full'."""
    if isinstance(mode, str):
        if mode in _MODES:
            return _MODES[mode]
        if mode[:1].lower() in ("v", "s", "f"):
            raise ValueError("Use one of 'valid', 'same', or 'full' for convolve/correlate mode")
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    if not isinstance(mode, (int, np.integer)):
        raise TypeError("convolve/correlate mode not understood")
    number = int(mode)
    if number not in (0, 1, 2):
        raise ValueError("integer convolve/correlate mode must be 0, 1, or 2")
    return number


# Kernels of at most this many elements are summed in their order, longer ones by dot().
_SHORT_KERNEL = 11


def _window_dot(x, y):
    """Returns the dot product. NumPy's dot() multiplies single elements, which may give -0.0; correlate() adds to zero."""
    if len(x) > 1:
        return np.dot(x, y)
    if x.dtype.kind != "c":
        return (x * y)[0] + x.dtype.type(0)
    zero = np.zeros(1, x.dtype)
    return np.dot(np.concatenate((x, zero)), np.concatenate((y, zero)))


def _sliding_dots(a, v, mode):
    """Returns the dot products of `v` with the windows of `a`, which must be at least as long."""
    n = len(v)
    padding = n - 1
    before = {0: 0, 1: padding // 2 if n % 2 else n // 2, 2: padding}[mode]
    after = {0: 0, 1: n - before - 1, 2: padding}[mode]
    inner = len(a) - n + 1
    result = np.empty(before + inner + after, a.dtype)
    for i in range(before):
        count = n - before + i
        result[i] = _window_dot(a[:count], v[n - count:])
    middle = result[before:before + inner]
    if n <= _SHORT_KERNEL and a.dtype.kind in "fd" and a.dtype.itemsize >= 4:
        middle[...] = 0
        for k in range(n):
            middle += a[k:k + inner] * v[k]
    else:
        for i in range(inner):
            middle[i] = _window_dot(a[i:i + n], v)
    for i in range(after):
        count = n - 1 - i
        result[before + inner + i] = _window_dot(a[len(a) - count:], v[:count])
    return result


def _correlated(a, v, mode, conjugate):
    """Correlates two vectors, and reverses the result if `v` is the longer one."""
    dtype = np.result_type(np.asarray(a), np.asarray(v))
    a = np.ascontiguousarray(_as_vector(a, dtype))
    v = np.ascontiguousarray(_as_vector(v, dtype))
    if conjugate and dtype.kind == "c":
        v = v.conj()
    if len(a) == 0:
        raise ValueError("first array argument cannot be empty")
    if len(v) == 0:
        raise ValueError("second array argument cannot be empty")
    if len(a) >= len(v):
        return _sliding_dots(a, v, mode)
    return _sliding_dots(v, a, mode)[::-1]


def correlate(a, v, mode="valid"):
    """Returns the cross-correlation of two vectors; `v` is conjugated."""
    number = _mode_number(mode)
    return np.array(_correlated(a, v, number, True))


def convolve(a, v, mode="full"):
    """Returns the convolution of two vectors."""
    a, v = np.array(a, copy=None, ndmin=1), np.array(v, copy=None, ndmin=1)
    if len(a) == 0:
        raise ValueError("a cannot be empty")
    if len(v) == 0:
        raise ValueError("v cannot be empty")
    if len(v) > len(a):
        a, v = v, a
    return _correlated(a, v[::-1], _mode_number(mode), False)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Returns the integral along `axis` by the trapezoidal rule; `x` holds the positions of the samples."""
    y = np.asanyarray(y)
    if x is None:
        d = dx
    else:
        x = np.asanyarray(x)
        if x.ndim == 1:
            d = np.diff(x)
            shape = [1] * y.ndim
            shape[axis] = d.shape[0]
            d = d.reshape(shape)
        else:
            d = np.diff(x, axis=axis)
    after = np._along(y.ndim, axis, slice(1, None))
    before = np._along(y.ndim, axis, slice(None, -1))
    return (d * (y[after] + y[before]) / 2.0).sum(axis)


def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    """Returns phases whose jumps above `discont` are replaced by their complement to `period`."""
    p = np.asarray(p)
    steps = np.diff(p, axis=axis)
    if discont is None:
        discont = period / 2
    dtype = np.result_type(steps, period)
    if dtype.kind in "iu":
        high, odd = divmod(period, 2)
        ambiguous = odd == 0
    else:
        high, ambiguous = period / 2, True
    low = -high
    wrapped = np.mod(steps - low, period) + low
    if ambiguous:
        np.copyto(wrapped, high, where=(wrapped == low) & (steps > 0))
    correction = wrapped - steps
    np.copyto(correction, 0, where=np.absolute(steps) < discont)
    result = np.array(p, copy=True, dtype=dtype)
    after = np._along(p.ndim, axis, slice(1, None))
    result[after] = p[after] + correction.cumsum(axis)
    return result
