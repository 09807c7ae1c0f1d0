"""Normal vectors: the part of `numpy.random` that is linear algebra."""
import numpy as np


def _normal_vectors(rng, mean, cov, size, check_valid, tol, method):
    """Draws normal vectors. `method` is None for a RandomState, which factors and multiplies in another order."""
    is_legacy = method is None
    if not is_legacy and method not in ("eigh", "svd", "cholesky"):
        raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
    mean = np.array(mean)
    cov = np.array(cov)
    if not is_legacy and (np.issubdtype(mean.dtype, np.complexfloating) or np.issubdtype(cov.dtype, np.complexfloating)):
        raise TypeError("mean and cov must not be complex")
    if size is None:
        shape = []
    elif isinstance(size, (int, np.integer)):
        shape = [size]
    else:
        shape = list(size)
    if mean.ndim != 1:
        raise ValueError("mean must be 1 dimensional")
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if mean.shape[0] != cov.shape[0]:
        raise ValueError("mean and cov must have same length")
    count = mean.shape[0]
    shape.append(count)
    x = rng.standard_normal(shape).reshape(-1, count)
    cov = cov.astype(np.double)
    if method == "cholesky":
        factor = np.linalg.cholesky(cov)
    elif method == "eigh":
        s, u = np.linalg.eigh(cov)
    else:
        u, s, vh = np.linalg.svd(cov)
    if check_valid != "ignore" and method != "cholesky":
        if check_valid not in ("warn", "raise"):
            raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
        if method == "eigh":
            is_valid = not np.any(s < -tol)
        else:
            is_valid = np.allclose(np.dot(vh.T * s, vh), cov, rtol=tol, atol=tol)
        if not is_valid:
            if check_valid == "raise":
                raise ValueError("covariance is not symmetric positive-semidefinite.")
            np._warn("RuntimeWarning", "covariance is not symmetric positive-semidefinite.")
    if is_legacy:
        x = np.dot(x, np.sqrt(s)[:, None] * vh)
    else:
        if method == "eigh":
            factor = u * np.sqrt(abs(s))
        elif method == "svd":
            factor = u * np.sqrt(s)
        x = np.dot(x, factor.T)
    x += mean
    return x.reshape(tuple(shape))
