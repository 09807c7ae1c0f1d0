"""Averages with weights, covariance and correlation."""
import numpy as np


def _weights_for(a, weights, axis):
    """Returns weights that broadcast against `a`: they have its shape, or one size for each axis in `axis`."""
    weights = np.asanyarray(weights)
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.shape != tuple([a.shape[one] for one in axis]):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = sorted(range(len(axis)), key=lambda i: axis[i])
    weights = weights.transpose(order)
    return weights.reshape(tuple([size if d in axis else 1 for d, size in enumerate(a.shape)]))


def average(a, axis=None, weights=None, returned=False, *, keepdims=np._NoValue):
    """Returns the weighted mean over `axis`, and the sum of the weights too if `returned` is true."""
    a = np.asanyarray(a)
    if axis is not None:
        axis = np._axis_tuple(axis, a.ndim, "axis")
    keywords = np._given(keepdims=keepdims)
    if weights is None:
        mean = a.mean(axis, **keywords)
        as_array = np.asanyarray(mean)
        total = as_array.dtype.type(a.size / as_array.size)
    else:
        weights = _weights_for(a, weights, axis)
        if a.dtype.kind in "iub":
            dtype = np.result_type(a.dtype, weights.dtype, "f8")
        else:
            dtype = np.result_type(a.dtype, weights.dtype)
        total = weights.sum(axis=axis, dtype=dtype, **keywords)
        if np.equal(total, 0.0).any():
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = np.multiply(a, weights, dtype=dtype).sum(axis, **keywords) / total
        as_array = mean
    if not returned:
        return mean
    if total.shape != as_array.shape:
        total = np.broadcast_to(total, as_array.shape).copy()
    return mean, total


def _observation_weights(weights, count, name):
    """Checks one kind of weights of cov() and returns them as a float64 vector."""
    weights = np.asarray(weights, dtype=np.float64)
    if name == "fweights" and not np.equal(weights, np.rint(weights)).all():
        raise TypeError("fweights must be integer")
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != count:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if np.less(weights, 0).any():
        raise ValueError(f"{name} cannot be negative")
    return weights


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """Returns the covariance matrix of the variables in the rows of `m` (columns if not `rowvar`)."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = np.asarray(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if y is not None:
        y = np.asarray(y)
        if y.ndim > 2:
            raise ValueError("y has more than 2 dimensions")
    if dtype is None:
        dtype = np.result_type(m, np.float64) if y is None else np.result_type(m, y, np.float64)
    x = np.array(m, ndmin=2, dtype=dtype)
    if not rowvar and m.ndim != 1:
        x = x.T
    if x.shape[0] == 0:
        return np.array([]).reshape(0, 0)
    if y is not None:
        y = np.array(y, copy=None, ndmin=2, dtype=dtype)
        if not rowvar and y.shape[0] != 1:
            y = y.T
        x = np.concatenate((x, y), axis=0)
    if ddof is None:
        ddof = 1 if bias == 0 else 0
    w = None
    if fweights is not None:
        w = _observation_weights(fweights, x.shape[1], "fweights")
    if aweights is not None:
        aweights = _observation_weights(aweights, x.shape[1], "aweights")
        w = aweights if w is None else w * aweights
    mean, total = np.average(x, axis=1, weights=w, returned=True)
    total = total[0]
    if w is None:
        divisor = x.shape[1] - ddof
    elif ddof == 0:
        divisor = total
    elif aweights is None:
        divisor = total - ddof
    else:
        divisor = total - ddof * (w * aweights).sum() / total
    if divisor <= 0:
        divisor = 0.0
    x -= mean[:, None]
    transposed = x.T if w is None else (x * w).T
    c = np.dot(x, transposed.conj())
    c *= np.true_divide(1, divisor)
    return c.squeeze()


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Returns Pearson's correlation coefficients: the covariance divided by both deviations."""
    c = np.cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    if c.ndim != 2:
        raise ValueError("Input must be 1- or 2-d.")
    deviations = np.sqrt(c.diagonal().real)
    c /= deviations[:, None]
    c /= deviations[None, :]
    c.real.clip(-1, 1, out=c.real)
    if c.dtype.kind == "c":
        c.imag.clip(-1, 1, out=c.imag)
    return c
