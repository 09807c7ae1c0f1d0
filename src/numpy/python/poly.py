"""Polynomials as vectors of coefficients, the highest power first."""
import numpy as np


def _as_poly(p):
    """Converts to an array; a poly1d gives its coefficients."""
    return np.asarray(p.coeffs if isinstance(p, poly1d) else p)


def _wrapped(value, *sources):
    """Returns a poly1d if one of the sources is a poly1d."""
    for source in sources:
        if isinstance(source, poly1d):
            return poly1d(value)
    return value


def _at_least_vector(p):
    p = np.asanyarray(_as_poly(p))
    return p.reshape(1) if p.ndim == 0 else p


def _aligned(a1, a2):
    """Pads the shorter polynomial with leading zeros."""
    b1, b2 = _at_least_vector(a1), _at_least_vector(a2)
    missing = len(b2) - len(b1)
    if missing > 0:
        b1 = np.concatenate((np.zeros(missing, b1.dtype), b1))
    elif missing < 0:
        b2 = np.concatenate((np.zeros(-missing, b2.dtype), b2))
    return b1, b2


def polyadd(a1, a2):
    """Returns the sum of two polynomials."""
    b1, b2 = _aligned(a1, a2)
    return _wrapped(b1 + b2, a1, a2)


def polysub(a1, a2):
    """Returns the difference of two polynomials."""
    b1, b2 = _aligned(a1, a2)
    return _wrapped(b1 - b2, a1, a2)


def polymul(a1, a2):
    """Returns the product of two polynomials."""
    return _wrapped(np.convolve(poly1d(a1).coeffs, poly1d(a2).coeffs), a1, a2)


def polydiv(u, v):
    """Returns the quotient and the remainder of two polynomials."""
    dividend, divisor = _at_least_vector(u) + 0.0, _at_least_vector(v) + 0.0
    dtype = (dividend[0] + divisor[0]).dtype
    m, n = len(dividend) - 1, len(divisor) - 1
    scale = 1.0 / divisor[0]
    quotient = np.zeros((max(m - n + 1, 1),), dtype)
    rest = dividend.astype(dtype)
    for k in range(0, m - n + 1):
        factor = scale * rest[k]
        quotient[k] = factor
        rest[k:k + n + 1] -= factor * divisor
    while np.allclose(rest[0], 0, rtol=1e-14) and rest.shape[-1] > 1:
        rest = rest[1:]
    return _wrapped(quotient, u, v), _wrapped(rest, u, v)


def polyval(p, x):
    """Returns the values at `x` by Horner's rule; `x` may be a polynomial itself."""
    p = _as_poly(p)
    if isinstance(x, poly1d):
        y = 0
    else:
        x = np.asanyarray(x)
        y = np.zeros_like(x)
    for coefficient in p:
        y = y * x + coefficient
    return y


def polyder(p, m=1):
    """Returns the `m`-th derivative."""
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    q = following = _as_poly(p)
    # NumPy computes one derivative more than it returns, so shapes that do not fit fail for m = 0 too.
    for _ in range(m + 1):
        q, degree = following, len(following) - 1
        following = q[:-1] * np.arange(degree, 0, -1)
    return p if m == 0 and isinstance(p, np.ndarray) else _wrapped(q, p)


def polyint(p, m=1, k=None):
    """Returns the `m`-th antiderivative with the integration constants `k`."""
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    k = np.zeros(m, float) if k is None else _at_least_vector(k)
    if len(k) == 1 and m > 1:
        k = k[0] * np.ones(m, float)
    if len(k) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    q = _as_poly(p)
    for i in range(m):
        q = np.concatenate((q / np.arange(len(q), 0, -1), [k[i]]))
    return _wrapped(q, p)


def _require_iterable(p):
    """Fails like NumPy's dispatcher, which looks for arrays among the coefficients."""
    if not isinstance(p, (poly1d, str, bytes, dict)) and np.asanyarray(p).ndim == 0:
        raise TypeError("dispatcher for __array_function__ did not return an iterable")


def roots(p):
    """Returns the roots: the eigenvalues of the companion matrix, then zeros for trailing zero coefficients."""
    _require_iterable(p)
    p = _at_least_vector(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    nonzero = p.nonzero()[0]
    if len(nonzero) == 0:
        return np.array([])
    zeros = len(p) - int(nonzero[-1]) - 1
    p = p[int(nonzero[0]):int(nonzero[-1]) + 1]
    if p.dtype.kind not in "fc":
        p = p.astype(float)
    found = np.array([])
    n = len(p)
    if n > 1:
        companion = np.diag(np.ones((n - 2,), p.dtype), -1)
        companion[0, :] = -p[1:] / p[0]
        found = np.linalg.eigvals(companion)
    return np.concatenate((found, np.zeros(zeros, found.dtype)))


def poly(seq_of_zeros):
    """Returns the polynomial with the given roots, or the characteristic polynomial of a square matrix."""
    _require_iterable(seq_of_zeros)
    zeros = np.asanyarray(_as_poly(seq_of_zeros))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.shape[0] != 0:
        zeros = np.linalg.eigvals(zeros)
    elif zeros.ndim == 1:
        if zeros.dtype.char not in "fdFD":
            zeros = zeros.astype(float)
    else:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if len(zeros) == 0:
        return 1.0
    dtype = zeros.dtype
    result = np.ones((1,), dtype=dtype)
    for zero in zeros:
        result = np.convolve(result, np.array([1, -zero], dtype=dtype), mode="full")
    if dtype.kind == "c":
        both = [np.array(zeros, dtype=np.complex128), zeros.astype(np.complex128).conjugate()]
        for one in both:
            one.sort()
        if (both[0] == both[1]).all():
            result = result.real.copy()
    return result


def _powers(x, count):
    """Returns the matrix (len(x), count) of the powers of `x`, the highest first."""
    result = np.empty((len(x), count), dtype=np.promote_types(x.dtype, int))
    ascending = result[:, ::-1]
    if count > 0:
        ascending[:, 0] = 1
    if count > 1:
        ascending[:, 1:] = x[:, None]
        np.multiply.accumulate(ascending[:, 1:], out=ascending[:, 1:], axis=1)
    return result


def _fit_arguments(x, y, deg, w):
    """Checks the arguments of polyfit() and returns the inexact arrays."""
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    if w is not None:
        w = np.asarray(w) + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
    return x, y, w


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Returns the coefficients of the polynomial of degree `deg` that fits the points best by least squares."""
    order = int(deg) + 1
    x, y, w = _fit_arguments(x, y, deg, w)
    if rcond is None:
        rcond = len(x) * np.finfo(x.dtype).eps
    matrix, right = _powers(x, order), y
    if w is not None:
        matrix *= w[:, np.newaxis]
        if right.ndim == 2:
            right *= w[:, np.newaxis]
        else:
            right *= w
    # Columns of equal length improve the condition.
    scale = np.sqrt((matrix * matrix).sum(axis=0))
    matrix /= scale
    c, residuals, rank, s = np.linalg.lstsq(matrix, right, rcond)
    c = (c.T / scale).T
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    base = np.linalg.inv(np.dot(matrix.T, matrix))
    base /= np.multiply.outer(scale, scale)
    if isinstance(cov, str) and cov == "unscaled":
        factor = 1
    else:
        if len(x) <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (len(x) - order)
    if y.ndim == 1:
        return c, base * factor
    return c, base[:, :, np.newaxis] * factor


def _term(coefficient, power, variable):
    """Formats one term of a polynomial, with its exponent after `**`."""
    if power == 0:
        return coefficient
    return f"{coefficient} {variable}" if power == 1 else f"{coefficient} {variable}**{power}"


def _number_text(value):
    """Formats a coefficient with four digits; a fraction of zeros is dropped."""
    text = "%.4g" % value
    return text[:-5] if text.endswith(".0000") else text


def _raised(text, width=70):
    """Moves the exponents of a line to a line above it, and breaks long lines."""
    pieces = text.split("**")
    above, below, finished = " ", "", ""
    part = pieces[0]
    for piece in pieces[1:]:
        digits = 0
        while piece[digits:digits + 1].isdigit():
            digits += 1
        power = piece[:digits]
        upper, lower = " " * (len(part) - 1) + power, part + " " * (digits - 1)
        if len(below) + len(lower) > width or len(above) + len(upper) > width:
            finished += above + "\n" + below + "\n "
            above, below = "", ""
        above += upper
        below += lower
        part = piece[digits:]
    return finished + above + "\n" + below + part


class poly1d:
    """A polynomial in one variable with arithmetic, evaluation, derivatives and integrals."""

    __hash__ = None

    def __init__(self, c_or_r, r=False, variable=None):
        if isinstance(c_or_r, poly1d):
            self._variable = c_or_r._variable if variable is None else variable
            self._coeffs = c_or_r._coeffs
            return
        if r:
            c_or_r = poly(c_or_r)
        coeffs = np.asanyarray(c_or_r)
        coeffs = coeffs.reshape(1) if coeffs.ndim == 0 else coeffs
        if coeffs.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        nonzero = coeffs.nonzero()[0]
        coeffs = coeffs[nonzero[0]:] if len(nonzero) else coeffs[:0]
        if len(coeffs) == 0:
            coeffs = np.array([0], dtype=coeffs.dtype)
        self._coeffs = coeffs
        self._variable = "x" if variable is None else variable

    @property
    def coeffs(self):
        return self._coeffs

    @property
    def coef(self):
        return self._coeffs

    @property
    def coefficients(self):
        return self._coeffs

    @property
    def c(self):
        return self._coeffs

    @property
    def variable(self):
        return self._variable

    @property
    def order(self):
        return len(self._coeffs) - 1

    @property
    def o(self):
        return len(self._coeffs) - 1

    @property
    def roots(self):
        return roots(self._coeffs)

    @property
    def r(self):
        return roots(self._coeffs)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._coeffs, dtype=dtype)

    def __repr__(self):
        values = repr(self._coeffs)
        return "poly1d(" + values[6:-1] + ")"

    def __len__(self):
        return self.order

    def __str__(self):
        text = ""
        coeffs = self._coeffs
        for i, value in enumerate(coeffs):
            power = len(coeffs) - 1 - i
            if isinstance(value, np.complexfloating):
                if value.imag == 0:
                    number = _number_text(value.real)
                elif value.real == 0:
                    number = _number_text(value.imag) + "j"
                else:
                    number = f"({_number_text(value.real)} + {_number_text(value.imag)}j)"
            else:
                number = _number_text(value)
            if number == "0":
                if power == 0 and i == 0:
                    text = "0"
                continue
            term = _term(number, power, self._variable)
            if not text:
                text = term
            elif term.startswith("-"):
                text += " - " + term[1:]
            else:
                text += " + " + term
        return _raised(text)

    def __call__(self, val):
        return polyval(self._coeffs, val)

    def __neg__(self):
        return poly1d(-self._coeffs)

    def __pos__(self):
        return self

    def __mul__(self, other):
        if np.isscalar(other):
            return poly1d(self._coeffs * other)
        return poly1d(polymul(self._coeffs, poly1d(other)._coeffs))

    def __rmul__(self, other):
        if np.isscalar(other):
            return poly1d(other * self._coeffs)
        return poly1d(polymul(poly1d(other)._coeffs, self._coeffs))

    def __add__(self, other):
        return poly1d(polyadd(self._coeffs, poly1d(other)._coeffs))

    def __radd__(self, other):
        return poly1d(polyadd(self._coeffs, poly1d(other)._coeffs))

    def __pow__(self, val):
        if not np.isscalar(val) or int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        result = [1]
        for _ in range(val):
            result = polymul(self._coeffs, result)
        return poly1d(result)

    def __sub__(self, other):
        return poly1d(polysub(self._coeffs, poly1d(other)._coeffs))

    def __rsub__(self, other):
        return poly1d(polysub(poly1d(other)._coeffs, self._coeffs))

    def __truediv__(self, other):
        if np.isscalar(other):
            return poly1d(self._coeffs / other)
        return polydiv(self, poly1d(other))

    def __rtruediv__(self, other):
        if np.isscalar(other):
            return poly1d(other / self._coeffs)
        return polydiv(poly1d(other), self)

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        if self._coeffs.shape != other._coeffs.shape:
            return False
        return (self._coeffs == other._coeffs).all()

    def __ne__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        return not self.__eq__(other)

    def __getitem__(self, val):
        place = self.order - val
        if val > self.order or val < 0:
            return self._coeffs.dtype.type(0)
        return self._coeffs[place]

    def __setitem__(self, key, val):
        place = self.order - key
        if key < 0:
            raise ValueError("Does not support negative powers.")
        if key > self.order:
            zeros = np.zeros(key - self.order, self._coeffs.dtype)
            self._coeffs = np.concatenate((zeros, self._coeffs))
            place = 0
        self._coeffs[place] = val

    def __iter__(self):
        return iter(self._coeffs)

    def integ(self, m=1, k=0):
        """Returns the `m`-th antiderivative."""
        return poly1d(polyint(self._coeffs, m=m, k=k))

    def deriv(self, m=1):
        """Returns the `m`-th derivative."""
        return poly1d(polyder(self._coeffs, m=m))
