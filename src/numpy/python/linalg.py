"""np.linalg: checks, dtypes and layouts of results, on top of native kernels.

A kernel takes float64 or complex128 arrays whose leading dimensions are equal, with any strides, and returns new C-ordered arrays.
It fails with LinAlgError and the text in brackets if one of the matrices does.

    np._linalg.det(a)                (..., m, m) -> (...)
    np._linalg.slogdet(a)            (..., m, m) -> sign (...), logarithm of the absolute value (...) as float64
    np._linalg.inv(a)                (..., m, m) -> (..., m, m)                            [Singular matrix]
    np._linalg.solve(a, b)           (..., m, m), (..., m, n) -> (..., m, n)               [Singular matrix]
    np._linalg.solve1(a, b)          (..., m, m), (..., m) -> (..., m)                     [Singular matrix]
    np._linalg.cholesky(a, upper)    (..., m, m) -> (..., m, m), the other triangle is zero [Matrix is not positive definite]
    np._linalg.eigh(a, uplo, vectors)  uplo "L" or "U" -> w (..., m) float64 and v (..., m, m), or only w
                                                                                           [Eigenvalues did not converge]
    np._linalg.eig(a, vectors)       -> w (..., m) and v (..., m, m), or only w; complex128 always
                                                                                           [Eigenvalues did not converge]
    np._linalg.svd(a, mode)          (..., m, n) -> u, s, vh with mode "full" or "reduced"; only s with mode "values"
                                                                                           [SVD did not converge]
    np._linalg.qr(a)                 (..., m, n) -> h (..., m, n) as LAPACK's geqrf leaves it, and tau (..., min(m, n))
    np._linalg.qr_q(h, tau, k)       -> the first k columns of Q (..., m, k), as LAPACK's orgqr or ungqr computes them
    np._linalg.lstsq(a, b, rcond)    (m, n), (m, k) -> x (n, k), residuals (k,) as float64, rank (np.int32), s (min(m, n),)
                                     by LAPACK's gelsd                    [SVD did not converge in Linear Least Squares]
"""
import numpy as np

EigResult = np._named_result("EigResult", ["eigenvalues", "eigenvectors"])
EighResult = np._named_result("EighResult", ["eigenvalues", "eigenvectors"])
QRResult = np._named_result("QRResult", ["Q", "R"])
SlogdetResult = np._named_result("SlogdetResult", ["sign", "logabsdet"])
SVDResult = np._named_result("SVDResult", ["U", "S", "Vh"])


def _fail(text):
    raise np.linalg.LinAlgError(text)


def _require_matrices(a):
    """Fails unless `a` has two dimensions or more."""
    if a.ndim < 2:
        _fail(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def _require_square(a):
    """Fails unless the last two dimensions are equal."""
    _require_matrices(a)
    if a.shape[-2] != a.shape[-1]:
        _fail("Last 2 dimensions of the array must be square")


def _require_2d(*arrays):
    """Fails unless all arrays are matrices."""
    for a in arrays:
        if a.ndim != 2:
            _fail(f"{a.ndim}-dimensional array given. Array must be two-dimensional")


def _result_dtypes(*arrays):
    """Returns the dtypes to compute in, of results, and of results that are real for complex input."""
    complex_input, single = False, True
    for a in arrays:
        kind, size = a.dtype.kind, a.dtype.itemsize
        if kind == "c":
            complex_input = True
            single = single and size == 8
        elif kind == "f":
            if size not in (4, 8):
                raise TypeError(f"array type {a.dtype.name} is unsupported in linalg")
            single = single and size == 4
        elif kind in "iub":
            single = False
        else:
            raise TypeError(f"array type {a.dtype.name} is unsupported in linalg")
    real = np.dtype(np.float32 if single else np.float64)
    if not complex_input:
        return np.dtype(np.float64), real, real
    return np.dtype(np.complex128), np.dtype(np.complex64 if single else np.complex128), real


def _prepared(a, check):
    """Converts to an array, checks it, and returns it in the compute dtype with the dtypes of results."""
    a = np.asarray(a)
    check(a)
    compute, result, real = _result_dtypes(a)
    return a.astype(compute, copy=False), result, real


def _joined(a, b, core):
    """Broadcasts the leading dimensions of (..., m, m) and (..., m) or (..., m, n), of which `core` stay."""
    stacks = [a.shape[:-2], b.shape[:b.ndim - core]]
    width = max(len(stacks[0]), len(stacks[1]))
    padded = [(1,) * (width - len(stack)) + stack for stack in stacks]
    joined = []
    for m, n in zip(padded[0], padded[1]):
        if m != n and m != 1 and n != 1:
            words = [_remapping(x.shape, stack, core) for x, stack in zip((a, b), stacks)]
            raise ValueError(
                "operands could not be broadcast together with remapped shapes [original->remapped]: "
                f"{words[0]} {words[1]}  and requested shape {_shape_text(b.shape[-core:])}"
            )
        joined.append(n if m == 1 else m)
    joined = tuple(joined)
    return np.broadcast_to(a, joined + a.shape[-2:]), np.broadcast_to(b, joined + b.shape[b.ndim - core:])


def _shape_text(sizes):
    return "(" + ",".join([str(size) for size in sizes]) + ("," if len(sizes) == 1 else "") + ")"


def _remapping(shape, stack, core):
    """Words one operand of a failed broadcast; the dimensions of the result that it lacks are named newaxis."""
    return f"{_shape_text(shape)}->{_shape_text(list(stack) + ['newaxis'] * core)}"


def solve(a, b):
    """Returns x with a @ x = b, for `a` (..., m, m) and `b` (m,) or (..., m, n)."""
    a = np.asarray(a)
    _require_square(a)
    b = np.asarray(b)
    compute, result, _ = _result_dtypes(a, b)
    name, core, signature = "solve", 2, "(m,m),(m,n)->(m,n)"
    if b.ndim == 1:
        name, core, signature = "solve1", 1, "(m,m),(m)->(m)"
    if b.ndim < core:
        raise ValueError(
            f"{name}: Input operand 1 does not have enough dimensions "
            f"(has {b.ndim}, gufunc core with signature {signature} requires {core})"
        )
    if b.shape[-core] != a.shape[-1]:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"{signature} (size {b.shape[-core]} is different from {a.shape[-1]})"
        )
    a, b = _joined(a.astype(compute, copy=False), b.astype(compute, copy=False), core)
    kernel = np._linalg.solve1 if core == 1 else np._linalg.solve
    return kernel(a, b).astype(result, copy=False)


def tensorsolve(a, b, axes=None):
    """Returns x with tensordot(a, x, x.ndim) = b."""
    a, b = np.asarray(a), np.asarray(b)
    ndim = a.ndim
    if axes is not None:
        order = list(range(ndim))
        for axis in axes:
            order.remove(axis)
            order.insert(ndim, axis)
        a = a.transpose(order)
    shape = a.shape[-(ndim - b.ndim):]
    size = _product(shape)
    if a.size != size ** 2:
        _fail(
            "Input arrays must satisfy the requirement "
            "            prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    x = solve(a.reshape(size, size), b.ravel())
    x.shape = shape
    return x


def _product(sizes):
    """Returns the product of sizes, 1 for none."""
    product = 1
    for size in sizes:
        product *= size
    return product


def inv(a):
    """Returns the inverses of (..., m, m)."""
    a, result, _ = _prepared(a, _require_square)
    return np._linalg.inv(a).astype(result, copy=False)


def tensorinv(a, ind=2):
    """Returns the inverse of `a` as a map from its last dimensions to its first `ind`."""
    a = np.asarray(a)
    if not ind > 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape[ind:] + a.shape[:ind]
    return inv(a.reshape(_product(a.shape[ind:]), -1)).reshape(*shape)


def matrix_power(a, n):
    """Returns `a` (..., m, m) to the integer power `n` by repeated squaring."""
    a = np.asanyarray(a)
    _require_square(a)
    try:
        n = np._index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if n == 0:
        result = np.empty_like(a)
        result[...] = np.eye(a.shape[-2], dtype=a.dtype)
        return result
    if n < 0:
        a = inv(a)
        n = -n
    if n == 3:
        return np.matmul(np.matmul(a, a), a)
    result, power = None, a
    while True:
        n, odd = divmod(n, 2)
        if odd:
            result = power if result is None else np.matmul(result, power)
        if n == 0:
            return result
        power = np.matmul(power, power)


def cholesky(a, /, *, upper=False):
    """Returns the lower (or upper) triangular factors of positive definite matrices (..., m, m)."""
    a, result, _ = _prepared(a, _require_square)
    return np._linalg.cholesky(a, bool(upper)).astype(result, copy=False)


def _upper_triangle(a):
    """Returns a copy with zeros below the diagonal."""
    rows, columns = a.shape[-2:]
    above = np.arange(rows)[:, None] <= np.arange(columns)
    return np.where(above, a, np.zeros(1, a.dtype))


def qr(a, mode="reduced"):
    """Returns Q (..., m, k) and R (..., k, n) with Q @ R = a; only R with mode 'r', and h and tau with mode 'raw'."""
    if mode not in ("reduced", "complete", "r", "raw"):
        if mode in ("f", "full"):
            mode = "reduced"
        elif mode in ("e", "economic"):
            mode = "economic"
        else:
            raise ValueError(f"Unrecognized mode '{mode}'")
    a, result, _ = _prepared(a, _require_matrices)
    rows, columns = a.shape[-2:]
    least = min(rows, columns)
    factored, tau = np._linalg.qr(a)
    # R keeps the memory order of the input.
    h = np.empty_like(a)
    h[...] = factored
    if mode == "r":
        return _upper_triangle(h[..., :least, :]).astype(result, copy=False)
    if mode == "raw":
        h = h.transpose(list(range(h.ndim - 2)) + [h.ndim - 1, h.ndim - 2])
        return h.astype(result, copy=False), tau.astype(result, copy=False)
    if mode == "economic":
        return h.astype(result, copy=False)
    width = rows if mode == "complete" and rows > columns else least
    q = np._linalg.qr_q(factored, tau, width)
    r = _upper_triangle(h[..., :width, :])
    return QRResult(q.astype(result, copy=False), r.astype(result, copy=False))


def _require_finite_square(a):
    _require_square(a)
    if not np.isfinite(a).all():
        _fail("Array must not contain infs or NaNs")


def eigvals(a):
    """Returns the eigenvalues of (..., m, m): real ones if all imaginary parts are zero."""
    a, result, real = _prepared(a, _require_finite_square)
    w = np._linalg.eig(a, False)
    if result.kind != "c":
        if (w.imag == 0).all():
            w, result = w.real, real
        else:
            result = np.result_type(result, np.complex64)
    return w.astype(result, copy=False)


def eig(a):
    """Returns the eigenvalues (..., m) and eigenvectors (..., m, m), one in each column."""
    a, result, real = _prepared(a, _require_finite_square)
    w, v = np._linalg.eig(a, True)
    if result.kind != "c":
        if (w.imag == 0.0).all():
            w, v, result = w.real, v.real, real
        else:
            result = np.result_type(result, np.complex64)
    return EigResult(w.astype(result, copy=False), v.astype(result, copy=False))


def _triangle(UPLO):
    UPLO = UPLO.upper()
    if UPLO not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO


def eigvalsh(a, UPLO="L"):
    """Returns the eigenvalues of Hermitian matrices, ascending; reads only one triangle."""
    UPLO = _triangle(UPLO)
    a, _, real = _prepared(a, _require_square)
    return np._linalg.eigh(a, UPLO, False).astype(real, copy=False)


def eigh(a, UPLO="L"):
    """Returns the eigenvalues, ascending, and eigenvectors of Hermitian matrices; reads only one triangle."""
    UPLO = _triangle(UPLO)
    a, result, real = _prepared(a, _require_square)
    w, v = np._linalg.eigh(a, UPLO, True)
    return EighResult(w.astype(real, copy=False), v.astype(result, copy=False))


def _transposed(a):
    """Returns a view with the last two dimensions exchanged."""
    return a.swapaxes(-1, -2)


def _svd_of_hermitian(a, compute_uv):
    """Derives singular values from eigenvalues: their absolute values, in descending order."""
    if not compute_uv:
        s = np.absolute(eigvalsh(a))
        s.sort()
        return s[..., ::-1]
    s, u = eigh(a)
    sign = np.where(s < 0, -1, 1).astype(s.dtype)
    s = np.absolute(s)
    order = s.argsort()[..., ::-1]
    sign = np.take_along_axis(sign, order, axis=-1)
    s = np.take_along_axis(s, order, axis=-1)
    u = np.take_along_axis(u, order[..., None, :], axis=-1)
    return SVDResult(u, s, _transposed(u * sign[..., None, :]).conjugate())


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Returns U, the singular values in descending order, and Vh; only the values if not `compute_uv`."""
    a = np.asarray(a)
    if hermitian:
        return _svd_of_hermitian(a, compute_uv)
    a, result, real = _prepared(a, _require_matrices)
    if not compute_uv:
        return np._linalg.svd(a, "values").astype(real, copy=False)
    u, s, vh = np._linalg.svd(a, "full" if full_matrices else "reduced")
    return SVDResult(u.astype(result, copy=False), s.astype(real, copy=False), vh.astype(result, copy=False))


def svdvals(x, /):
    """Returns the singular values in descending order."""
    return svd(x, compute_uv=False, hermitian=False)


def _is_empty(a):
    return a.size == 0 and _product(a.shape[-2:]) == 0


def _inverse_or_nan(a):
    """Returns the inverses of a stack, with NaN for its singular matrices."""
    try:
        return np._linalg.inv(a)
    except np.linalg.LinAlgError:
        if a.ndim == 2:
            return np.full(a.shape, np.nan, dtype=a.dtype)
        result = np.empty(a.shape, dtype=a.dtype)
        for i in range(a.shape[0]):
            result[i] = _inverse_or_nan(a[i])
        return result


def cond(x, p=None):
    """Returns the condition numbers: the norm of order `p` times that of the inverse; 2 uses singular values."""
    x = np.asarray(x)
    if _is_empty(x):
        _fail("cond is not defined on empty arrays")
    # NumPy looks orders up in a set, so unhashable ones fail here.
    hash(p)
    if p is None or p == 2 or p == -2:
        s = svd(x, compute_uv=False)
        with np.errstate(all="ignore"):
            r = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        _require_square(x)
        compute, _, real = _result_dtypes(x)
        inverse = _inverse_or_nan(x.astype(compute, copy=False))
        with np.errstate(all="ignore"):
            r = np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(inverse, p, axis=(-2, -1))
        r = r.astype(real, copy=False)
    # NaN that does not stem from NaN in x means a singular matrix.
    r = np.asarray(r)
    missing = np.isnan(r)
    if missing.any():
        missing &= ~np.isnan(x).any(axis=(-2, -1))
        r[missing] = np.inf
    return r[()] if r.ndim == 0 else r


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """Returns the number of singular values above `tol`, or above `rtol` times the largest."""
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    A = np.asarray(A)
    if A.ndim < 2:
        return int(not (A == 0).all())
    s = svd(A, compute_uv=False, hermitian=hermitian)
    if tol is None:
        if rtol is None:
            rtol = max(A.shape[-2:]) * np.finfo(s.dtype).eps
        else:
            rtol = np.asarray(rtol)[..., np.newaxis]
        tol = s.max(axis=-1, keepdims=True, initial=0) * rtol
    else:
        tol = np.asarray(tol)[..., np.newaxis]
    return (s > tol).sum(axis=-1, dtype=np.intp)


def pinv(a, rcond=None, hermitian=False, *, rtol=np._NoValue):
    """Returns the pseudo-inverses; singular values below `rcond` times the largest count as zero."""
    a = np.asarray(a)
    if rcond is None:
        if rtol is np._NoValue:
            rcond = 1e-15
        elif rtol is None:
            rcond = max(a.shape[-2:]) * np.finfo(a.dtype).eps
        else:
            rcond = rtol
    elif rtol is not np._NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    rcond = np.asarray(rcond)
    if _is_empty(a):
        m, n = a.shape[-2:]
        return np.empty(a.shape[:-2] + (n, m), dtype=a.dtype)
    u, s, vh = svd(a.conjugate(), full_matrices=False, hermitian=hermitian)
    large = s > rcond[..., np.newaxis] * s.max(axis=-1, keepdims=True)
    s = np.divide(1, s, where=large, out=s)
    s[~large] = 0
    return np.matmul(_transposed(vh), np.multiply(s[..., np.newaxis], _transposed(u)))


def slogdet(a):
    """Returns the sign of the determinants and the logarithm of their absolute values."""
    a, result, real = _prepared(a, _require_square)
    sign, logarithm = np._linalg.slogdet(a)
    return SlogdetResult(sign.astype(result, copy=False), logarithm.astype(real, copy=False))


def det(a):
    """Returns the determinants of (..., m, m)."""
    a, result, _ = _prepared(a, _require_square)
    # A singular matrix has the determinant 0.0, whatever the sign of its permutation.
    return (np._linalg.det(a) + 0.0).astype(result, copy=False)


def lstsq(a, b, rcond=None):
    """Returns x that minimises |a @ x - b|, the squared residuals, the rank of `a` and its singular values."""
    a, b = np.asarray(a), np.asarray(b)
    vector = b.ndim == 1
    if vector:
        b = b[:, np.newaxis]
    _require_2d(a, b)
    m, n = a.shape
    if m != b.shape[0]:
        _fail("Incompatible dimensions")
    compute, result, real = _result_dtypes(a, b)
    if rcond is None:
        rcond = np.finfo(compute).eps * max(n, m)
    count = b.shape[1]
    if count == 0:
        # LAPACK needs a right-hand side.
        b = np.zeros((m, 1), dtype=b.dtype)
    a, b = a.astype(compute, copy=False), b.astype(compute, copy=False)
    x, residuals, rank, s = np._linalg.lstsq(a, b, float(rcond))
    if m == 0:
        x[...] = 0
    if count == 0:
        x, residuals = x[..., :0], residuals[..., :0]
    if vector:
        x = x.squeeze(axis=-1)
    if rank != n or m <= n:
        residuals = np.array([], real)
    return x.astype(result, copy=True), residuals.astype(real, copy=False), rank, s.astype(real, copy=False)
