"""np.fft: arguments, scales and layouts of discrete Fourier transforms, on top of native kernels.

A kernel transforms the last axis of a C-ordered array, computes in the array's own precision, multiplies by `scale` and returns a new
C-ordered array:

    np._fft.c2c(a, forward, scale)   complex64 or complex128 (..., n) -> the same dtype (..., n)
    np._fft.r2c(a, scale)            float32 or float64 (..., n) -> complex (..., n // 2 + 1)
    np._fft.c2r(a, n, scale)         complex (..., n // 2 + 1) -> float (..., n); ignores the imaginary parts of the first element,
                                     and of the last one if n is even
"""
import numpy as np


class UFuncTypeError(TypeError):
    """Has the name that NumPy prints for an output that does not take the results."""


_OPPOSITE = {"backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward"}


def _swapped(norm):
    """Returns the norm that an inverse transform uses if it is computed by the opposite one."""
    if norm not in _OPPOSITE:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return _OPPOSITE[norm]


def _scale(norm, n, dtype):
    """Returns the factor of a forward transform of `n` points."""
    if norm is None or norm == "backward":
        return 1
    if norm == "ortho":
        return np.reciprocal(np.sqrt(n, dtype=dtype))
    if norm == "forward":
        return np.reciprocal(n, dtype=dtype)
    raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')


def _points(a, axis, n, dtype):
    """Moves `axis` to the end and cuts it to `n` points or pads it with zeros; returns a C-ordered copy."""
    a = np._axis_last(a, axis)
    points = np.zeros(a.shape[:-1] + (n,), dtype)
    kept = min(n, a.shape[-1])
    points[..., :kept] = a[..., :kept]
    return points


def _transform(a, n, axis, norm, out, kind):
    """Transforms one axis to `n` points by the kernel `kind`: "fft", "ifft", "rfft" or "irfft"."""
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    if kind in ("ifft", "irfft"):
        norm = _swapped(norm)
    real = np.result_type(a.real.dtype, 1.0)
    scale = _scale(norm, n, real)
    axis = np._axis_index(axis, a.ndim)
    # NumPy's loops for single precision match only if both operands have it; all else is computed in double.
    own = np.float32 if kind == "rfft" else np.complex64
    single = a.dtype == own and isinstance(scale, np.float32)
    complex_dtype = np.dtype(np.complex64 if single else np.complex128)
    real_dtype = np.dtype(np.float32 if single else np.float64)
    count = n // 2 + 1 if kind == "rfft" else n
    shape = a.shape[:axis] + (count,) + a.shape[axis + 1:]
    if out is None:
        out = np.empty_like(a, shape=shape, dtype=real if kind == "irfft" else np.result_type(a.dtype, 1j))
    elif not isinstance(out, np.ndarray):
        raise TypeError("return arrays must be of ArrayType")
    elif out.shape != shape:
        raise ValueError("output array has wrong shape.")
    scale = float(scale)
    name = kind if kind != "rfft" else "rfft_n_odd" if n % 2 else "rfft_n_even"
    computed = real_dtype if kind == "irfft" else complex_dtype
    if not np.can_cast(computed, out.dtype, "same_kind"):
        raise UFuncTypeError(
            f"Cannot cast ufunc '{name}' output from {computed!r} to {out.dtype!r} with casting rule 'same_kind'"
        )
    if kind == "rfft":
        if a.dtype.kind == "c":
            raise TypeError(
                f"ufunc '{name}' not supported for the input types, and the inputs could not be safely "
                "coerced to any supported types according to the casting rule ''safe''"
            )
        result = np._fft.r2c(_points(a, axis, n, real_dtype), scale)
    elif kind == "irfft":
        result = np._fft.c2r(_points(a, axis, n // 2 + 1, complex_dtype), n, scale)
    else:
        result = np._fft.c2c(_points(a, axis, n, complex_dtype), kind == "fft", scale)
    np.copyto(np._axis_last(out, axis), result, casting="same_kind")
    return out


def fft(a, n=None, axis=-1, norm=None, out=None):
    """Returns the Fourier transform along one axis, of its `n` first points or padded with zeros."""
    a = np.asarray(a)
    return _transform(a, a.shape[axis] if n is None else n, axis, norm, out, "fft")


def ifft(a, n=None, axis=-1, norm=None, out=None):
    """Returns the inverse Fourier transform along one axis."""
    a = np.asarray(a)
    return _transform(a, a.shape[axis] if n is None else n, axis, norm, out, "ifft")


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """Returns the n // 2 + 1 non-negative frequencies of the transform of real values."""
    a = np.asarray(a)
    return _transform(a, a.shape[axis] if n is None else n, axis, norm, out, "rfft")


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """Returns the `n` real values whose transform by rfft() is `a`; 2 (m - 1) values by default."""
    a = np.asarray(a)
    return _transform(a, (a.shape[axis] - 1) * 2 if n is None else n, axis, norm, out, "irfft")


def hfft(a, n=None, axis=-1, norm=None, out=None):
    """Returns the real transform of a signal with Hermitian symmetry."""
    a = np.asarray(a)
    if n is None:
        n = (a.shape[axis] - 1) * 2
    # NumPy's hfft() does not use `out`.
    return irfft(np.conjugate(a), n, axis, norm=_swapped(norm))


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """Returns the inverse of hfft()."""
    a = np.asarray(a)
    if n is None:
        n = a.shape[axis]
    result = rfft(a, n, axis, norm=_swapped(norm), out=out)
    return np.conjugate(result, out=result)


def _taken(sizes, axes):
    """Returns the sizes of some axes; words its errors like take()."""
    for axis in axes:
        if not sizes:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        if axis < -len(sizes) or axis >= len(sizes):
            raise IndexError(f"index {axis} is out of bounds for axis 0 with size {len(sizes)}")
    return [sizes[axis] for axis in axes]


def _sizes_and_axes(a, s, axes, invreal=False):
    """Completes the sizes and axes of a transform in several dimensions."""
    given = s is not None
    if given:
        s = list(s)
    elif axes is None:
        s = list(a.shape)
    else:
        s = _taken(a.shape, axes)
    if axes is None:
        axes = list(range(-len(s), 0))
    if len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if invreal and not given:
        s[-1] = (a.shape[axes[-1]] - 1) * 2
    s = [a.shape[axis] if size == -1 or size is None else size for size, axis in zip(s, axes)]
    return s, axes


def _each_axis(a, s, axes, function, norm, out):
    """Transforms the axes one by one, the last one first."""
    a = np.asarray(a)
    s, axes = _sizes_and_axes(a, s, axes)
    for size, axis in zip(reversed(s), reversed(list(axes))):
        a = function(a, n=size, axis=axis, norm=norm, out=out)
    return a


def fftn(a, s=None, axes=None, norm=None, out=None):
    """Returns the transform over several axes, all by default."""
    return _each_axis(a, s, axes, fft, norm, out)


def ifftn(a, s=None, axes=None, norm=None, out=None):
    """Returns the inverse transform over several axes, all by default."""
    return _each_axis(a, s, axes, ifft, norm, out)


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Returns the transform over two axes."""
    return _each_axis(a, s, axes, fft, norm, out)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Returns the inverse transform over two axes."""
    return _each_axis(a, s, axes, ifft, norm, None)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    """Returns the transform of real values over several axes; the last axis keeps non-negative frequencies."""
    a = np.asarray(a)
    s, axes = _sizes_and_axes(a, s, axes)
    a = rfft(a, s[-1], axes[-1], norm, out=out)
    for i in range(len(axes) - 2, -1, -1):
        a = fft(a, s[i], axes[i], norm, out=out)
    return a


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Returns the transform of real values over two axes."""
    return rfftn(a, s, axes, norm, out=out)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    """Returns the real values whose transform by rfftn() is `a`."""
    a = np.asarray(a)
    s, axes = _sizes_and_axes(a, s, axes, invreal=True)
    for i in range(len(axes) - 1):
        a = ifft(a, s[i], axes[i], norm)
    return irfft(a, s[-1], axes[-1], norm, out=out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Returns the real values whose transform by rfft2() is `a`."""
    return irfftn(a, s, axes, norm, out=None)


def fftfreq(n, d=1.0, device=None):
    """Returns the frequencies of the elements of fft(): non-negative ones first, in cycles per unit of `d`."""
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    factor = 1.0 / (n * d)
    result = np.empty(n, int)
    count = (n - 1) // 2 + 1
    result[:count] = np.arange(0, count)
    result[count:] = np.arange(-(n // 2), 0)
    return result * factor


def rfftfreq(n, d=1.0, device=None):
    """Returns the frequencies of the elements of rfft()."""
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    factor = 1.0 / (n * d)
    return np.arange(0, n // 2 + 1, dtype=int) * factor


def _shift(x, axes, sign):
    """Rolls each axis by half of its size."""
    x = np.asarray(x)
    if axes is None:
        axes = tuple(range(x.ndim))
        shift = [sign * (size // 2) for size in x.shape]
    elif isinstance(axes, (int, np.integer)):
        shift = sign * (x.shape[axes] // 2)
    else:
        shift = [sign * (x.shape[axis] // 2) for axis in axes]
    return np.roll(x, shift, axes)


def fftshift(x, axes=None):
    """Returns the elements with frequency 0 in the middle."""
    return _shift(x, axes, 1)


def ifftshift(x, axes=None):
    """Undoes fftshift()."""
    return _shift(x, axes, -1)
