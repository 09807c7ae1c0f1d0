"""Functions of `torch` that are composed of others. Gradients are recorded for the parts."""

import torch


def stft(input, n_fft, hop_length, win_length, window, center, pad_mode, *options):
    """The last option is `align_to_window`."""
    if center:
        if options[-1] is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false")
        ndim, half = input.dim(), int(n_fft // 2)
        extended = input.view([1] * (3 - ndim) + list(input.shape))
        padded = torch.nn.functional.pad(extended, [half, half], pad_mode)
        # The slice `[-0:]` keeps all dimensions.
        input = padded.view(padded.shape[-ndim:])
    return torch._VF.stft(input, n_fft, hop_length, win_length, window, *options)


def combinations(input, r, with_replacement):
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return torch.empty(0, dtype=input.dtype, device=input.device)
    # Keeping only increasing (or non-decreasing) places selects each combination once.
    places = torch.meshgrid([torch.arange(input.numel(), device=input.device)] * r, indexing="ij")
    chosen = torch.ones(places[0].shape, dtype=torch.bool, device=input.device)
    for before, after in zip(places, places[1:]):
        chosen = chosen & (before <= after if with_replacement else before < after)
    grids = torch.meshgrid([input] * r, indexing="ij")
    return torch.stack([grid.masked_select(chosen) for grid in grids], 1)


def layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable):
    return torch.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]
