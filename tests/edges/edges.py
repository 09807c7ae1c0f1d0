"""Writes edges.txt: what PyTorch 2.7.0 gives for every function of one or two numbers that docs/reference.md lists, at the
edges of their types. `OMP_NUM_THREADS=1 MKL_CBWR=COMPATIBLE ATEN_CPU_CAPABILITY=avx2 python edges.py > edges.txt`.

The first lines name the numbers. Each line after them is a function, the name of the numbers it is given (of all of them in
pairs where it takes two), and the results, of which the same ones in a row are counted. It must not know of tensorsh.
"""

import os
import pathlib
import re
import signal
import sys
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)

NUMBERS = {
    "singles": "torch.tensor([0., -0., float('inf'), -float('inf'), float('nan'), 3.4028234663852886e38, "
    "-3.4028234663852886e38, 1.1754943508222875e-38, 1e-45, -1e-45, 1., -1., .5, -.5, 2.5, -2.5, 100., -100.])",
    "doubles": "torch.tensor([0., -0., float('inf'), -float('inf'), float('nan'), 1.7976931348623157e308, "
    "-1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, -5e-324, 1., -1., .5, -.5, 2.5, -2.5, 100., -100.], "
    "dtype=torch.float64)",
    "halves": "torch.tensor([0., -0., float('inf'), -float('inf'), float('nan'), 65504., -65504., 6e-8, -6e-8, 1., -1., "
    ".5, -2.5, 100.], dtype=torch.float16)",
    "brains": "torch.tensor([0., -0., float('inf'), -float('inf'), float('nan'), 3.3895e38, -3.3895e38, 9.2e-41, 1., -1., "
    ".5, -2.5, 100.], dtype=torch.bfloat16)",
    "longs": "torch.tensor([0, 1, -1, 2, -7, 2**63 - 1, -2**63])",
    "octets": "torch.tensor([0, 1, 7, 254, 255], dtype=torch.uint8)",
    "pairs": "torch.tensor([0., -0., float('inf'), -float('inf'), float('nan'), 3.4028234663852886e38, 1e-45, 1., -1., .5, "
    "-2.5, 20.])",
}
ENVIRONMENT = {"torch": torch}
for name, text in NUMBERS.items():
    print(name, "=", text)
    ENVIRONMENT[name] = eval(text, ENVIRONMENT)

# Functions of other things, of random numbers, or of memory; and those whose results PyTorch leaves undefined.
LEFT_OUT = re.compile(
    r"empty|rand|normal|^t$|resolve|bernoulli|poisson|dropout|normalize|sort|unique|clone|detach|ravel|view|flatten|cum|soft(max|min)"
    r"|fft|sparse|quant|transpose|squeeze|diag|tri[lu]|flip|roll|rot90|nonzero|msort|adjoint|alias|as_tensor|asarray|tensor$|backward"
    r"|conj|real$|imag|atleast|pixel|chunk|split|gather|scatter|take|index|cross|outer|inner|dot|mv|^(addm|b|s|s_|h)?mm$|matmul|ger$|vdot|kron|cat$"
    r"|stack|meshgrid|broadcast|einsum|isin|searchsorted|bucketize|equal$|allclose|dist$|similarity|renorm|full|ones|zeros|fill|resize"
    r"|copy"
)
rows = set(re.findall(r"^\| `(torch(?:\.special|\.nn\.functional)?\.[a-z0-9_]+)` \| `[^`]*\((?:Tensor|Operand|Either)", (pathlib.Path(__file__).parents[2] / "docs/reference.md").read_text(), re.M))


def show(value):
    if isinstance(value, bool) or isinstance(value, int):
        return str(value)
    return f"{value:.6g}"


def line(function, name, arguments, numel):
    try:
        result = eval(function, ENVIRONMENT)(*arguments)
    except Exception:
        return
    if not isinstance(result, torch.Tensor) or result.numel() != numel or result.dtype.is_complex:
        return
    out, last, count = [], None, 0
    for value in [*result.flatten().tolist(), None]:
        text = None if value is None else show(value)
        if text == last:
            count += 1
            continue
        if last is not None:
            out.append(last if count == 1 else f"{last}*{count}")
        last, count = text, 1
    print(function, name, *out, flush=True)


for function in sorted(rows):
    name = function.rsplit(".", 1)[1]
    if name.endswith("_") or LEFT_OUT.search(name):
        continue
    # Some divisions end the process.
    sys.stdout.flush()
    if process := os.fork():
        os.waitpid(process, 0)
        continue
    signal.alarm(5)
    for name in NUMBERS:
        numbers = ENVIRONMENT[name]
        if name != "pairs":
            line(function, name, [numbers], numbers.numel())
        if name in ("pairs", "longs", "octets"):
            count = numbers.numel()
            pairs = numbers.repeat_interleave(count), numbers.repeat(count)
            line(function, name, pairs, count * count)
    sys.stdout.flush()
    os._exit(0)
