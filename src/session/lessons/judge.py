# The names that the expressions of an exercise may use, beside the names that it gives. They belong to the judge's own
# session, so that no answer can change them.

import numpy as np
import torch


class Names:
    """Values by name: `given.t`, `fresh.t`."""


class ForeignObject:
    """Stands for a value that is no value of Python, PyTorch or NumPy."""


def number(x):
    """Returns the integer that `x` is, or that an integer tensor without dimensions holds, else None."""
    if type(x) is int:
        return x
    if type(x) is torch.Tensor and x.dim() == 0 and not (x.is_floating_point() or x.is_complex() or x.dtype == torch.bool):
        return x.item()
    return int(x) if isinstance(x, np.integer) else None


def same(a, b):
    """Returns whether `a` is a tensor with the dtype, the size and the elements of the tensor `b`."""
    return type(a) is torch.Tensor and a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b)


def span(x):
    """Returns the addresses of the first byte of `x` and of the one behind its last."""
    if type(x) is np.ndarray:
        steps = [(size - 1) * stride for size, stride in zip(x.shape, x.strides)]
        first = x.__array_interface__["data"][0]
        return first + sum(s for s in steps if s < 0), first + sum(s for s in steps if s > 0) + x.itemsize
    steps = [(size - 1) * stride for size, stride in zip(x.shape, x.stride())]
    return x.data_ptr(), x.data_ptr() + (sum(steps) + 1) * x.element_size()


def shares(a, b):
    """Returns whether all elements of the tensor or array `a` are in the memory of the tensor `b`."""
    if type(a) not in (torch.Tensor, np.ndarray):
        raise TypeError("only tensors and arrays share memory")
    if b is None or 0 in a.shape:
        return False
    (first, end), start = span(a), b.untyped_storage().data_ptr()
    return start <= first and end <= start + b.untyped_storage().nbytes()
