"""Writes figures.txt: what PyTorch 2.7.0, numpy and exact fractions say of the numbers that `hist`, `spark` and `heat` draw.
`python figures.py > figures.txt`. It must not know of tensorsh.

A line is a tensor; the number of finite elements, of NaN, inf and -inf; least, greatest, mean and five quantiles of the
finite ones; the counts of eight bins; the heights of a spark and the shades of a heat, row by row, of means of elements.
"""

import contextlib
import math
import sys
from fractions import Fraction

import numpy
import torch

QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]
BINS, ROWS = 8, 16
HEIGHTS, SHADES = (120, "▁▂▃▄▅▆▇█"), (64, "·░▒▓█")
TENSORS = """
torch.arange(100)
torch.arange(-5, 20).view(5, 5)
torch.tensor([3, 3, 3, 9, 200, 255], dtype=torch.uint8)
torch.tensor([2**63 - 1, -2**63, 0, 1, -1])
torch.tensor([2**53, 2**53 + 18, 2**53 + 60])
torch.tensor([True, False, True, True])
torch.ones(5, dtype=torch.bool)
torch.tensor([[True, False], [False, False], [True, True]])
torch.arange(50, dtype=torch.float16) / 7
torch.tensor([65504., -65504., 6e-8, 0.5, float('inf')], dtype=torch.float16)
torch.arange(300, dtype=torch.bfloat16) * 1.5
torch.tensor([float('inf'), -float('inf'), float('nan')], dtype=torch.float64)
torch.tensor([1., float('nan'), 3., float('inf'), 2., -float('inf'), 2.5], dtype=torch.float64)
torch.tensor([5e-324, 1e-323, 1.5e-323, 2e-322], dtype=torch.float64)
torch.tensor([2.2250738585072014e-308, 5e-324, -5e-324, 0., 1e-310], dtype=torch.float64)
torch.tensor([1e308, -1e308, 3e307, 0.], dtype=torch.float64)
torch.tensor([1.7976931348623157e308, -1.7976931348623157e308, 1.5e308, 1.6e308], dtype=torch.float64)
torch.tensor([1e308, 1.23e308, 1.4e308, 1.12e308], dtype=torch.float64)
torch.tensor([1., 1. + 2**-46, 1. + 2**-45 + 2**-50], dtype=torch.float64)
torch.tensor([-0., 0., 1.])
torch.tensor(2.5)
torch.tensor([7])
torch.tensor([float('nan')])
torch.full((40,), -3.25)
torch.full((3, 4), 1e300, dtype=torch.float64)
torch.arange(1000000) % 1013
torch.arange(1000000, dtype=torch.float64).view(1000, 1000).t()
((torch.arange(1000000, dtype=torch.float64) * 7919) % 10007 / 97).view(1000, 1000)[::3, 5::7]
torch.arange(24.).view(2, 3, 4).permute(2, 0, 1)
torch.arange(6).as_strided((4, 3), (1, 1))
torch.arange(5).expand(3, 5)
torch.arange(2400, dtype=torch.int16).view(40, 60)[1:38, 3:58:7]
torch.tensor([3 + 4j, -1j, 0j, 6 - 8j])
torch.tensor([[0.1, 0.2, 0.3], [float('nan'), 0.2, 0.1], [0.3, float('inf'), -float('inf')]])
""".split("\n")[1:-1]


def exact(values):
    return [Fraction(value) for value in values]


def between(numbers, part):
    place = Fraction(part) * (len(numbers) - 1)
    below = int(place)
    return float(numbers[below] + (numbers[below + 1] - numbers[below]) * (place - below))


def histogram(finite):
    least, most = min(finite), max(finite)
    if least == most:
        return [len(finite)]
    counts = [0] * BINS
    for value in finite:
        counts[min(int((value - least) * BINS / (most - least)), BINS - 1)] += 1
    return counts


def levels(rows, columns, signs):
    down, across = len(rows), len(rows[0])
    high, wide = min(down, ROWS), min(across, columns)
    cells = [[[] for _ in range(wide)] for _ in range(high)]
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            cells[i * high // down][j * wide // across].append(value)

    def fault(cell):
        kinds = [("n", math.isnan), ("+", lambda v: v == math.inf), ("-", lambda v: v == -math.inf)]
        return next((sign for sign, kind in kinds if any(map(kind, cell))), None)

    means = [[None if fault(cell) else sum(exact(cell)) / len(cell) for cell in row] for row in cells]
    drawn = [mean for row in means for mean in row if mean is not None]
    low, top = min(drawn, default=None), max(drawn, default=None)

    def sign(cell, mean):
        if mean is None:
            return fault(cell)
        part = 0.5 if low == top else float((mean - low) / (top - low))
        return signs[min(int(part * len(signs)), len(signs) - 1)]

    return "|".join("".join(map(sign, *pair)) for pair in zip(cells, means))


for text in TENSORS:
    tensor = eval(text)
    plain = tensor.abs() if tensor.is_complex() else tensor
    # Figures are drawn of floats: the largest whole numbers are rounded to them.
    values = plain.reshape(-1).to(torch.float64)
    finite = values[values.isfinite()]
    numbers = exact(finite.tolist())
    kinds = [len(numbers), int(values.isnan().sum()), int((values == math.inf).sum()), int((values == -math.inf).sum())]
    facts, bins = [], []
    if numbers:
        quantiles = torch.quantile(finite, torch.tensor(QUANTILES, dtype=torch.float64)).tolist()
        # Where PyTorch's difference of two neighbours is infinite, the same without a limit.
        quantiles = [q if math.isfinite(q) else between(sorted(numbers), part) for q, part in zip(quantiles, QUANTILES)]
        facts = [float(min(numbers)), float(max(numbers)), float(sum(numbers) / len(numbers)), *quantiles]
        bins = histogram(numbers)
        # Of ranges that are too wide or too narrow for it, numpy makes no bins.
        with contextlib.suppress(ValueError):
            theirs = numpy.histogram(finite.numpy(), bins=BINS)[0].tolist()
            if len(bins) > 1 and theirs != bins:
                print(f"numpy has {theirs}, exactly it is {bins}: {text}", file=sys.stderr)
    rows = values.reshape(-1, plain.shape[-1] if plain.dim() else 1).tolist()
    drawings = [levels(rows, *kind) for kind in (HEIGHTS, SHADES)]
    parts = [text, *(" ".join(map(repr, part)) for part in (kinds, facts, bins)), *drawings]
    print("; ".join(parts))
