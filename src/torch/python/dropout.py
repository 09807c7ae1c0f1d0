"""Functions that clear random elements while a network learns. In place, they change their argument."""

from functools import partial

import torch


def check(p, kind):
    if p < 0 or p > 1:
        raise kind(f"dropout probability has to be between 0 and 1, but got {p}")


def kept(input, p, by_feature):
    """Returns random ones and zeros of the input's dtype, shaped like it or with one for each of its features."""
    if not by_feature:
        return torch.empty_like(input).bernoulli_(1 - p)
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return input.new_empty(list(input.shape[:2]) + [1] * (input.dim() - 2)).bernoulli_(1 - p)


def product(input, by, in_place):
    return input.mul_(by) if in_place else input * by


def apply(input, p, train, in_place=False, by_feature=False, alpha=False):
    """Clears random elements and scales the others. With `alpha`, elements become the limit of `selu` instead, so that
    mean and variance stay.
    """
    check(p, RuntimeError)
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        return product(input, torch.zeros([], dtype=input.dtype), in_place)
    noise = kept(input, p, by_feature)
    if not alpha:
        return product(input, noise.div_(1 - p), in_place)
    limit = 1.7580993408473766
    slope = 1 / ((limit * limit * p + 1) * (1 - p)) ** 0.5
    shift = noise.add(-1).mul_(limit * slope).add_(limit * slope * p)
    return product(input, noise.mul_(slope), in_place).add_(shift)


dropout = apply
dropout_ = partial(apply, in_place=True)
feature_dropout = partial(apply, by_feature=True)
feature_dropout_ = partial(apply, in_place=True, by_feature=True)
alpha_dropout = partial(apply, alpha=True)
alpha_dropout_ = partial(apply, in_place=True, alpha=True)
feature_alpha_dropout = partial(apply, by_feature=True, alpha=True)
feature_alpha_dropout_ = partial(apply, in_place=True, by_feature=True, alpha=True)


def functional_dropout(input, p, training, inplace):
    check(p, ValueError)
    return apply(input, p, training, inplace)


def functional_alpha_dropout(input, p, training, inplace):
    check(p, ValueError)
    return apply(input, p, training, inplace, False, True)


def functional_feature_alpha_dropout(input, p, training, inplace):
    check(p, ValueError)
    return apply(input, p, training, inplace, True, True)


def of_channels(input, p, training, inplace, is_batch):
    """Clears channels of a batch, or of a single item, which becomes a batch of one."""
    check(p, ValueError)
    if is_batch:
        return apply(input, p, training, inplace, True)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = apply(batch, p, training, inplace, True)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def functional_dropout1d(input, p, training, inplace):
    check(p, ValueError)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return of_channels(input, p, training, inplace, input.dim() == 3)


def functional_dropout2d(input, p, training, inplace):
    # A tensor of three dimensions is a batch of signals.
    return of_channels(input, p, training, inplace, True)


def functional_dropout3d(input, p, training, inplace):
    return of_channels(input, p, training, inplace, input.dim() == 5)


def native(input, p, train):
    if train is not None and not train:
        return input * 1, torch.ones_like(input, dtype=torch.bool)
    scale = 0.0 if p == 1 else 1 / (1 - p)
    mask = torch.empty_like(input, dtype=torch.bool if input.numel() else input.dtype).bernoulli_(1 - p)
    if not input.is_floating_point() and not input.is_complex():
        # Raises the error: the result of a product with a number would have another dtype.
        input.clone().mul_(scale)
    return input * mask * scale, mask
