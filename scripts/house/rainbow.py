#!/usr/bin/env python3
"""Times `origin` beside rainbow-tensor 1.8.0, on the operations that its own list names (rainbow_tensor.capabilities()).

usage: rainbow.py TENSORSH [SIZE]   (with the Python that has rainbow-tensor and NumPy)

Both draw the origin of one element of the result, as text or SVG, for tensors of 2 x 3 and of SIZE x SIZE elements. Prints
a row for each operation in Markdown: milliseconds for each program and size, the least of three.
"""
import subprocess
import sys
import time

import numpy as np
import rainbow_tensor as rt

# The operation, a call of rainbow-tensor on arrays x, y and p, and the expression here on tensors of the same names.
ROWS = [
    ("index", lambda x, y, p: rt.index(x, ([1, 0, 1], slice(None)), focus=(0, 0)), "x[[1, 0, 1]]"),
    ("reshape", lambda x, y, p: rt.reshape(x, (x.shape[1], x.shape[0]), focus=(0, 0)), "x.reshape(x.shape[1], x.shape[0])"),
    ("transpose", lambda x, y, p: rt.transpose(x, focus=(0, 0)), "x.t()"),
    ("swapaxes", lambda x, y, p: rt.swapaxes(x, 0, 1, focus=(0, 0)), "x.swapaxes(0, 1)"),
    ("moveaxis", lambda x, y, p: rt.moveaxis(x, 0, 1, focus=(0, 0)), "x.moveaxis(0, 1)"),
    ("squeeze", lambda x, y, p: rt.squeeze(x[:1], focus=(0,)), "x[:1].squeeze()"),
    ("expand_dims", lambda x, y, p: rt.expand_dims(x, 0, focus=(0, 0, 0)), "x.unsqueeze(0)"),
    ("matmul", lambda x, y, p: rt.matmul(x, p, focus=(0, 0)), "x @ p"),
    ("add", lambda x, y, p: rt.add(x, y, focus=(0, 0)), "x + y"),
    ("subtract", lambda x, y, p: rt.subtract(x, y, focus=(0, 0)), "x - y"),
    ("multiply", lambda x, y, p: rt.multiply(x, y, focus=(0, 0)), "x * y"),
    ("divide", lambda x, y, p: rt.divide(x, y, focus=(0, 0)), "x / y"),
    ("greater", lambda x, y, p: rt.greater(x, y, focus=(0, 0)), "x > y"),
    ("greater_equal", lambda x, y, p: rt.greater_equal(x, y, focus=(0, 0)), "x >= y"),
    ("less", lambda x, y, p: rt.less(x, y, focus=(0, 0)), "x < y"),
    ("less_equal", lambda x, y, p: rt.less_equal(x, y, focus=(0, 0)), "x <= y"),
    ("equal", lambda x, y, p: rt.equal(x, y, focus=(0, 0)), "x == y"),
    ("not_equal", lambda x, y, p: rt.not_equal(x, y, focus=(0, 0)), "x != y"),
    ("where", lambda x, y, p: rt.where(x > 3, x, y, focus=(0, 0)), "torch.where(x > 3, x, y)"),
    ("min", lambda x, y, p: rt.min(x, axis=1, focus=(0,)), "x.amin(1)"),
    ("max", lambda x, y, p: rt.max(x, axis=1, focus=(0,)), "x.amax(1)"),
    ("argmin", lambda x, y, p: rt.argmin(x, axis=1, focus=(0,)), "x.argmin(1)"),
    ("argmax", lambda x, y, p: rt.argmax(x, axis=1, focus=(0,)), "x.argmax(1)"),
    ("sum", lambda x, y, p: rt.sum(x, axis=1, focus=(0,)), "x.sum(1)"),
    ("mean", lambda x, y, p: rt.mean(x, axis=1, focus=(0,)), "x.mean(1)"),
    ("concatenate", lambda x, y, p: rt.concatenate([x, y], axis=0, focus=(0, 0)), "torch.cat([x, y])"),
    ("stack", lambda x, y, p: rt.stack([x, y], axis=0, focus=(0, 0, 0)), "torch.stack([x, y])"),
    ("take", lambda x, y, p: rt.take(x, [1, 0], axis=1, focus=(0, 0)), "x.index_select(1, torch.tensor([1, 0]))"),
    ("repeat", lambda x, y, p: rt.repeat(x, 2, axis=0, focus=(0, 0)), "x.repeat_interleave(2, 0)"),
    ("broadcast", lambda x, y, p: rt.broadcast(x[0], x.shape, focus=(0, 0)), "x[0].expand(x.shape)"),
    ("einsum", lambda x, y, p: rt.einsum("ij,jk->ik", x, p, focus=(0, 0)), "torch.einsum('ij,jk->ik', x, p)"),
]


def theirs(run, arrays):
    """The least of three times in milliseconds, or the class of the error."""
    least = None
    for _ in range(3):
        begin = time.perf_counter()
        try:
            picture = run(*arrays)
            getattr(picture, "_repr_svg_", getattr(picture, "_repr_html_", lambda: str(picture)))()
        except Exception as error:
            return type(error).__name__
        taken = (time.perf_counter() - begin) * 1000
        least = taken if least is None else min(least, taken)
        if least > 5000:
            break
    return f"{least:.1f}"


def ours(program, rows, columns):
    lines = [
        "import time, torch",
        f"x = torch.arange(1, {rows * columns + 1}, dtype=torch.float64).reshape({rows}, {columns})",
        "y = x + 1",
        "p = x.t().contiguous()",
    ]
    for name, _, expression in ROWS:
        lines += [
            "least = 1e9",
            "for i in range(3):",
            "    begin = time.perf_counter()",
            f"    text = str(origin({expression}))",
            "    least = min(least, (time.perf_counter() - begin) * 1000)",
            f"print('{name}', f'{{least:.1f}}')",
        ]
    run = subprocess.run([program, "-"], input="\n".join(lines) + "\n", capture_output=True, text=True)
    found = dict(line.split() for line in run.stdout.splitlines() if line.count(" ") == 1)
    if run.returncode:
        print(run.stderr, file=sys.stderr)
    return found


def main():
    program, size = sys.argv[1], int((sys.argv[2:] or [1000])[0])
    sizes = [(2, 3), (size, size)]
    print("| operation | rainbow-tensor 2 x 3 | tensorsh | rainbow-tensor 10^6 | tensorsh |")
    print("| --- | --- | --- | --- | --- |")
    arrays = []
    for rows, columns in sizes:
        x = np.arange(1.0, rows * columns + 1).reshape(rows, columns)
        arrays.append((x, x + 1, np.ascontiguousarray(x.T)))
    here = [ours(program, *size) for size in sizes]
    for name, run, _ in ROWS:
        cells = [part for given, own in zip(arrays, here) for part in (theirs(run, given), own.get(name, "failed"))]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


main()
