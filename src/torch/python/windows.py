"""The windows of `torch.signal.windows`. Each step is computed in the dtype of the window, so rounding errors agree
with PyTorch's. Functions take the arguments of their rows by position; `options` are those that all windows share.
"""

import math
import torch


def checked(name, M, dtype, layout, device, *_):
    """Returns the keywords for creating tensors, after the checks that all windows share."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout not in (None, torch.strided):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype is None:
        dtype = torch.get_default_dtype()
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return {"dtype": dtype, "device": device}


def cosines(name, M, weights, sym, *options):
    """Computes a sum of cosines with these weights and alternating signs."""
    factory = checked(name, M, *options)
    if M < 2:
        return torch.ones(M, **factory)
    step = 2 * math.pi / (M - 1 if sym else M)
    angle = torch.linspace(0, (M - 1) * step, M, **factory)
    signed = torch.tensor([(-1) ** i * w for i, w in enumerate(weights)], **factory)
    return sum(torch.cos(angle * i) * weight for i, weight in enumerate(signed))


def middle(M, sym):
    return (M if not sym and M > 1 else M - 1) / 2


def hann(M, sym, *options):
    return cosines("general_cosine", M, [0.5, 0.5], sym, *options)


def hamming(M, sym, *options):
    return cosines("general_cosine", M, [0.54, 0.46], sym, *options)


def blackman(M, sym, *options):
    return cosines("blackman", M, [0.42, 0.5, 0.08], sym, *options)


def nuttall(M, sym, *options):
    return cosines("general_cosine", M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], sym, *options)


def general_hamming(M, alpha, sym, *options):
    return cosines("general_cosine", M, [alpha, 1 - alpha], sym, *options)


def general_cosine(M, a, sym, *options):
    try:
        weights = list(a)
    except TypeError:
        raise TypeError("Coefficients must be a list/tuple") from None
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    return cosines("general_cosine", M, weights, sym, *options)


def cosine(M, sym, *options):
    factory = checked("cosine", M, *options)
    step = math.pi / (M + 1 if not sym and M > 1 else max(M, 1))
    return torch.sin(torch.linspace(0.5 * step, (M - 0.5) * step, M, **factory))


def bartlett(M, sym, *options):
    factory = checked("bartlett", M, *options)
    if M < 2:
        return torch.ones(M, **factory)
    return 1 - torch.linspace(-1, (M - 1) * 2 / (M - 1 if sym else M) - 1, M, **factory).abs()


def exponential(M, center, tau, sym, *options):
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    factory = checked("exponential", M, *options)
    start = -middle(M, sym) if center is None else -center
    return torch.exp(-torch.linspace(start / tau, (start + M - 1) / tau, M, **factory).abs())


def gaussian(M, std, sym, *options):
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    factory = checked("gaussian", M, *options)
    start, scale = -middle(M, sym), 1 / (std * math.sqrt(2))
    k = torch.linspace(start * scale, (start + M - 1) * scale, M, **factory)
    return torch.exp(-(k * k))


def kaiser(M, beta, sym, *options):
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    factory = checked("kaiser", M, *options)
    if M < 2:
        return torch.ones(M, **factory)
    # The ends are also rounded to the dtype.
    beta = torch.tensor(beta, dtype=factory["dtype"], device="cpu")
    step = 2 * beta / (M - 1 if sym else M)
    end = torch.minimum(beta, (M - 1) * step - beta)
    k = torch.linspace(-beta.item(), end.item(), M, **factory)
    return torch.i0(torch.sqrt(beta * beta - k * k)) / torch.i0(beta)
