#!/usr/bin/env python3
"""What a call on sixteen elements takes, from Rhai and from Python.

    benches/calls.py times PROGRAM PYTHON    microseconds, beside PyTorch's and NumPy's: PYTHON is a Python that has both
    benches/calls.py count PROGRAM           instructions, compared with benches/calls.txt: fails where one takes 5 % more
    benches/calls.py count PROGRAM --write   the same, and writes them down
    benches/calls.py stages PROGRAM CALL     instructions by stage; PROGRAM has symbols (docs/architecture.md says how)

Instructions are counted by valgrind: unlike times, they do not depend on what else the machine does.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

RECORDED = pathlib.Path(__file__).with_name("calls.txt")
MORE = 1.05

# Rhai, Python with PyTorch, NumPy.
CALLS = [
    ("t + t", "t + t", "a + a"),
    ("t < t", "t < t", "a < a"),
    ("t + 1", "t + 1", "a + 1"),
    ("u @ u", "u @ u", "m @ m"),
    ("t.add_(0)", "t.add_(0)", "a.__iadd__(0)"),
    ("torch.where(c, t, t)", "torch.where(c, t, t)", "numpy.where(b, a, a)"),
    ("t.sum()", "t.sum()", "a.sum()"),
    ("t.max()", "t.max()", "a.max()"),
    ("t.exp()", "t.exp()", "numpy.exp(a)"),
    ("torch.zeros(4)", "torch.zeros(4)", "numpy.zeros(4, 'f4')"),
    ("t.view(2, 8)", "t.view(2, 8)", "a.reshape(2, 8)"),
    ("u.t()", "u.t()", "m.T"),
    ("t[3]", "t[3]", "a[3]"),
    ("t[1:3]", "t[1:3]", "a[1:3]"),
    ("t[3] = 1.5", "t[3] = 1.5", "a[3] = 1.5"),
    ("t.storage_offset()", "t.storage_offset()", None),
    ("t.untyped_storage()", "t.untyped_storage()", None),
]
SETUP = "t = torch.arange(16.0)\nu = torch.ones(4, 4)\nc = t > 3\n"
NUMPY = "import numpy\na = numpy.arange(16, dtype='f4')\nm = numpy.ones((4, 4), 'f4')\nb = a > 3\n"
RHAI = "let t = torch.arange(16.0); let u = torch.ones(4, 4); let c = t > 3;\n"


def script(language: str, call: str, times: int) -> str:
    """A loop around a call. An engine may skip a loop with nothing in it, so that one has a number."""
    if language == "rhai":
        return f"{RHAI}for i in 0..{times} {{ {call}; }}\n"
    return f"import torch\n{SETUP}for i in range({times}):\n    {call}\n"


def run(program: list[str], folder: str, language: str, text: str) -> subprocess.CompletedProcess:
    path = pathlib.Path(folder, f"loop.{'rhai' if language == 'rhai' else 'py'}")
    path.write_text(text)
    done = subprocess.run([*program, str(path)], capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        sys.exit(f"{text}\n{done.stdout}{done.stderr}")
    return done


def instructions(program: str, folder: str, language: str, text: str) -> int:
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", program]
    found = re.search(r"refs:\s+([\d,]+)", run(valgrind, folder, language, text).stderr)
    if not found:
        sys.exit("valgrind did not say how many instructions were executed")
    return int(found[1].replace(",", ""))


def count(program: str, write: bool) -> None:
    times, found = 2000, []
    with tempfile.TemporaryDirectory() as folder:
        for language in ("rhai", "python"):
            before = instructions(program, folder, language, script(language, "1", 0))
            loop = instructions(program, folder, language, script(language, "1", times)) - before
            for ours, python, _ in CALLS:
                call = ours if language == "rhai" else python
                taken = instructions(program, folder, language, script(language, call, times)) - before - loop
                found.append((language, call, round(taken / times)))
    recorded = {}
    if RECORDED.exists():
        lines = (line.split("|") for line in RECORDED.read_text().splitlines() if not line.startswith("#"))
        recorded = {(language.strip(), call.strip()): int(taken) for language, call, taken in lines}
    more = 0
    for language, call, taken in found:
        known = recorded.get((language, call))
        is_more = known is None or taken > known * MORE
        more += is_more
        note = "" if known is None else f"{taken / known - 1:+7.1%}"
        print(f"{language:8} {call:24} {taken:8} {known or '-':>8} {note}{'  MORE' if is_more else ''}")
    if write:
        head = "# Instructions of a call, from a script. Written by `benches/calls.py count PROGRAM --write`.\n"
        RECORDED.write_text(head + "".join(f"{language} | {call} | {taken}\n" for language, call, taken in found))
    elif more:
        sys.exit(f"{more} of {len(found)} calls take more instructions than recorded in {RECORDED}")


def seconds(program: str, folder: str, language: str, call: str, times: int) -> float:
    """The time of a loop, taken by the program itself."""
    if language == "rhai":
        text = f"{RHAI}let at = timestamp(); for i in 0..{times} {{ {call}; }} print(at.elapsed);\n"
    else:
        setup = NUMPY if language == "numpy" else f"import torch\n{SETUP}"
        text = f"import time\n{setup}at = time.perf_counter()\nfor i in range({times}):\n    {call}\n"
        text += "print(time.perf_counter() - at)\n"
    return float(run([program], folder, language, text).stdout.split()[-1])


def times(program: str, python: str) -> None:
    many, rounds = 100_000, 5
    print(f"| call | Rhai | Python | PyTorch | NumPy |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for calls in [("1", "1", "1"), *CALLS]:
            taken = {"rhai": [], "python": [], "torch": [], "numpy": []}
            for _ in range(rounds):
                for language in taken:
                    call = calls[{"rhai": 0, "numpy": 2}.get(language, 1)]
                    if call is not None:
                        which = program if language in ("rhai", "python") else python
                        taken[language].append(seconds(which, folder, language, call, many) / many * 1e6)
            row = [f"{statistics.median(times):.2f}" if times else "–" for times in taken.values()]
            name = "the loop alone" if calls[0] == "1" else f"`{calls[0]}`"
            print(f"| {name} | {' | '.join(row)} |", flush=True)


# Which functions belong to a stage, by the beginning of what is behind `tensorsh_`; the first that fits counts.
STAGES = [
    ("the language: steps, variables", ["languages::python::", "objects::iterate", "value::Range", "rhai", "languages::script"]),
    ("look-up of the function", ["objects::operators", "call::registry", "objects::subscript", "objects::indexing"]),
    ("binding", ["call::plain", "call::bind", "call::signature", "call::call"]),
    ("dispatch: modes, names, autograd, writes", ["call::dispatch", "call::state", "autograd"]),
    ("the row", ["torch::"]),
    ("memory of the result", ["tensor::storage", "tensor::spare", "tensor::memory", "tensor::limits"]),
    ("layout and checks", ["tensor::view", "tensor::layout", "tensor::ops::promote", "tensor::ops::pointwise::quick", "tensor::ops::pointwise", "tensor::index"]),
    ("the loop and its kernel", ["tensor::parallel", "tensor::ops", "tensor::interrupt"]),
    ("the result's handle", ["tensor::tensor", "value"]),
]

OTHERS = ["the allocator", "copying and comparing bytes", "the rest: drops, closures"]


def stages(program: str, call: str) -> None:
    times = 20_000
    print(f"| stage of `{call}` | Rhai | Python |\n| --- | --- | --- |")
    totals = {}
    with tempfile.TemporaryDirectory() as folder:
        for language in ("rhai", "python"):
            taken = []
            for number in (0, times):
                instructions(program, folder, language, script(language, call, number))
                told = subprocess.run(
                    ["callgrind_annotate", "--threshold=100", f"{folder}/out"], capture_output=True, text=True, check=True
                )
                by_stage = {}
                for line in told.stdout.splitlines():
                    found = re.match(r"\s*([\d,]+) \(.*?\)\s+(\S+?):(.*)", line)
                    if found:
                        by_stage[stage_of(found[2], found[3])] = by_stage.get(stage_of(found[2], found[3]), 0) + int(
                            found[1].replace(",", "")
                        )
                taken.append(by_stage)
            for stage, sum_ in taken[1].items():
                totals.setdefault(stage, {})[language] = round((sum_ - taken[0].get(stage, 0)) / times)
    for stage in [*(stage for stage, _ in STAGES), *OTHERS]:
        of = totals.get(stage, {})
        print(f"| {stage} | {of.get('rhai', 0)} | {of.get('python', 0)} |")


def stage_of(file: str, function: str) -> str:
    if "malloc" in file or "alloc" in function and "rustc" in function:
        return OTHERS[0]
    if "string" in file:
        return OTHERS[1]
    name = function.removeprefix("<")
    name = re.sub(r"^.*?tensorsh_", "", name) if "tensorsh_" in name else name
    for stage, beginnings in STAGES:
        if any(name.startswith(beginning) for beginning in beginnings):
            return stage
    return OTHERS[2]


def absolute(program: str) -> str:
    """The programs run in a folder of their own. A name without a folder is looked up as a shell does."""
    return str(pathlib.Path(program).absolute()) if "/" in program else program


match sys.argv[1:]:
    case ["times", program, python]:
        times(absolute(program), absolute(python))
    case ["count", program, *write]:
        count(absolute(program), "--write" in write)
    case ["stages", program, call]:
        stages(absolute(program), call)
    case _:
        sys.exit(__doc__)
