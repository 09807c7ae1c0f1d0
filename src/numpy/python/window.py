"""Window functions, and the special functions that they need."""
import numpy as np

# Chebyshev coefficients of exp(-x) I0(x) on [0, 8], and of exp(-x) sqrt(x) I0(x) on [8, inf] (Cephes, i0.c).
_I0_NEAR = (
    -4.4153416464793395e-18, 3.3307945188222384e-17, -2.431279846547955e-16, 1.715391285555133e-15,
    -1.1685332877993451e-14, 7.676185498604936e-14, -4.856446783111929e-13, 2.95505266312964e-12,
    -1.726826291441556e-11, 9.675809035373237e-11, -5.189795601635263e-10, 2.6598237246823866e-09,
    -1.300025009986248e-08, 6.046995022541919e-08, -2.670793853940612e-07, 1.1173875391201037e-06,
    -4.4167383584587505e-06, 1.6448448070728896e-05, -5.754195010082104e-05, 0.00018850288509584165,
    -0.0005763755745385824, 0.0016394756169413357, -0.004324309995050576, 0.010546460394594998,
    -0.02373741480589947, 0.04930528423967071, -0.09490109704804764, 0.17162090152220877,
    -0.3046826723431984, 0.6767952744094761,
)
_I0_FAR = (
    -7.233180487874754e-18, -4.830504485944182e-18, 4.46562142029676e-17, 3.461222867697461e-17,
    -2.8276239805165836e-16, -3.425485619677219e-16, 1.7725601330565263e-15, 3.8116806693526224e-15,
    -9.554846698828307e-15, -4.150569347287222e-14, 1.54008621752141e-14, 3.8527783827421426e-13,
    7.180124451383666e-13, -1.7941785315068062e-12, -1.3215811840447713e-11, -3.1499165279632416e-11,
    1.1889147107846439e-11, 4.94060238822497e-10, 3.3962320257083865e-09, 2.266668990498178e-08,
    2.0489185894690638e-07, 2.8913705208347567e-06, 6.889758346916825e-05, 0.0033691164782556943,
    0.8044904110141088,
)


def _chebyshev(x, coefficients):
    """Evaluates a Chebyshev series by Clenshaw's recurrence."""
    b0, b1, b2 = coefficients[0], 0.0, 0.0
    for coefficient in coefficients[1:]:
        b0, b1, b2 = x * b0 - b1 + coefficient, b0, b1
    return 0.5 * (b0 - b2)


def i0(x):
    """Returns the modified Bessel function of the first kind and order 0."""
    x = np.asanyarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    x = np.absolute(x)
    x = np.asanyarray(x)
    result = np.zeros_like(x)
    near = x <= 8.0
    z = x[near]
    result[near] = np.exp(z) * _chebyshev(z / 2.0 - 2, _I0_NEAR)
    z = x[~near]
    result[~near] = np.exp(z) * _chebyshev(32.0 / z - 2.0, _I0_FAR) / np.sqrt(z)
    return result


def sinc(x):
    """Returns sin(pi x) / (pi x), which is 1 at 0."""
    x = np.pi * np.asanyarray(x)
    tiny = np.finfo(x.dtype).eps if x.dtype.kind == "f" else 1e-20
    y = np.where(x, x, tiny)
    return np.sin(y) / y


def _window(M, shape):
    """Evaluates a window of `M` points; `shape` receives the odd steps from 1-M to M-1, and M-1."""
    values = np.array([0.0, M])
    M = values[1]
    if M < 1:
        return np.array([], dtype=values.dtype)
    if M == 1:
        return np.ones(1, dtype=values.dtype)
    return shape(np.arange(1 - M, M, 2), M - 1)


def blackman(M):
    """Returns the Blackman window of `M` points."""
    return _window(
        M, lambda n, d: 0.42 + 0.5 * np.cos(np.pi * n / d) + 0.08 * np.cos(2.0 * np.pi * n / d)
    )


def hamming(M):
    """Returns the Hamming window of `M` points."""
    return _window(M, lambda n, d: 0.54 + 0.46 * np.cos(np.pi * n / d))


def hanning(M):
    """Returns the Hann window of `M` points."""
    return _window(M, lambda n, d: 0.5 + 0.5 * np.cos(np.pi * n / d))


def bartlett(M):
    """Returns the triangular window of `M` points, whose ends are zero."""
    return _window(M, lambda n, d: np.where(np.less_equal(n, 0), 1 + n / d, 1 - n / d))


def kaiser(M, beta):
    """Returns the Kaiser window of `M` points with shape parameter `beta`."""
    values = np.array([0.0, M, beta])
    M, beta = values[1], values[2]
    if M == 1:
        return np.ones(1, dtype=values.dtype)
    n = np.arange(0, M)
    alpha = (M - 1) / 2.0
    return np.i0(beta * np.sqrt(1 - ((n - alpha) / alpha) ** 2.0)) / np.i0(beta)
