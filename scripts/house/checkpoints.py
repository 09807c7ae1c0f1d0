#!/usr/bin/env python3
"""How long `inspect` and `diff` take on large files, and how much memory, beside `cat` and Python in one run.

    PYTHON scripts/house/checkpoints.py PROGRAM [FOLDER]

PYTHON has PyTorch and safetensors. Makes two checkpoints of 10,000 tensors and two files of 2 GB in FOLDER (or a temporary
one), which differ in one element. Every command runs three times, in turns; a row has its median time and peak memory. The
files are read once before, so that all find them in the page cache.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON_DIFF = """
import sys, torch
from safetensors.torch import load_file
a, b = (load_file(f) if f.endswith('.safetensors') else torch.load(f) for f in sys.argv[1:])
assert a.keys() == b.keys()
print([name for name in a if not torch.equal(a[name], b[name])])
"""
PYTHON_LIST = """
import sys, torch
from safetensors import safe_open
for f in sys.argv[1:]:
    if f.endswith('.safetensors'):
        with safe_open(f, 'pt') as file:
            print(sum(len(file.get_slice(name).get_shape()) for name in file.keys()))
    else:
        print(sum(t.dim() for t in torch.load(f, mmap=True).values()))
"""


# The models are made by another process: what this one holds would count as memory of the commands.
MAKE = """
import sys, safetensors.torch, torch
what, ending, *paths = sys.argv[1:]
torch.manual_seed(0)
small = {"attention.query.weight": (32, 32), "attention.query.bias": (32,), "mlp.weight": (64, 32), "norm.weight": (32,)}
if what == "many":
    model = {f"layers.{k}.{name}": torch.randn(size) for k in range(2500) for name, size in small.items()}
else:
    model = {f"layers.{k}.weight": torch.randn(4096, 4096) for k in range(32)}
name = list(model)[len(model) // 2]
save = torch.save if ending == "pt" else safetensors.torch.save_file
for path in paths:
    save(model, path)
    model[name] = model[name].clone().index_fill_(0, torch.tensor(3), 1.0)
"""


def measured(command):
    """The seconds a command takes, and its peak memory in MB."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1), command
    return time.perf_counter() - began, usage.ru_maxrss / 1000


def compare(title, commands):
    figures = {name: [] for name in commands}
    for _ in range(3):
        for name, command in commands.items():
            figures[name].append(measured(command))
    print(title)
    for name, runs in figures.items():
        seconds, memory = (statistics.median(part) for part in zip(*runs))
        print(f"    {name:32} {seconds:9.3f} s {memory:9.0f} MB")


def main(program, folder):
    python = [sys.executable, "-W", "ignore", "-c"]
    for title, what in [("10,000 tensors", "many"), ("2 GB", "large")]:
        for ending in ["pt", "safetensors"]:
            paths = [str(folder / f"{name}.{ending}") for name in "ab"]
            subprocess.run([*python, MAKE, what, ending, *paths], check=True)
            compare(f"{title}, .{ending}", {
                "cat of both": ["cat", *paths],
                "tensorsh inspect of both": [program, "inspect", *paths],
                "tensorsh inspect --summary": [program, "inspect", "--summary", *paths],
                "tensorsh diff": [program, "diff", *paths],
                "Python lists both": [*python, PYTHON_LIST, *paths],
                "Python compares": [*python, PYTHON_DIFF, *paths],
            })
            for path in paths:
                os.unlink(path)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [program]:
            with tempfile.TemporaryDirectory() as folder:
                main(program, pathlib.Path(folder))
        case [program, folder]:
            main(program, pathlib.Path(folder))
        case _:
            sys.exit(__doc__)
