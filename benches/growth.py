#!/usr/bin/env python3
"""How the languages' own work grows with its size: containers, text, calls, printing, and the prompt's commands.

    benches/growth.py PROGRAM [WORD...]      times each row on 100 to 10,000,000 items, or only rows with one of the words

Prints the table that docs/growth.md holds. A row ends where one more step would take longer than LONGEST seconds or more
items than it can have. The last column is the largest step up from one size to the next, for sizes that take a
millisecond or more. Ten times as many items are ten times the work; n log n allows 13 times. Fails where a step is larger
than ALLOWED, which leaves room for the ends of caches.
"""

import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time

SIZES = [10**power for power in range(2, 8)]
LONGEST = 20.0
ALLOWED = 20.0

# The name of a row, what is prepared, what is timed, and the most items there can be. `n` is the number of items.
PYTHON = [
    ("`xs.append(i)`", "xs = []", "for i in range(n):\n    xs.append(i)"),
    ("`xs.pop()`", "xs = list(range(n))", "for i in range(n):\n    xs.pop()"),
    ("`[i + 1 for i in xs]`", "xs = list(range(n))", "[i + 1 for i in xs]"),
    ("`sorted(xs)`", "xs = [i * 7919 % n for i in range(n)]", "sorted(xs)"),
    ("`xs == ys`", "xs = list(range(n))\nys = list(range(n))", "xs == ys"),
    ("`xs[i] = xs[-i]`", "xs = list(range(n))", "for i in range(n):\n    xs[i] = xs[-i]"),
    ("`d[i] = i`", "d = {}", "for i in range(n):\n    d[i] = i"),
    ("`d[str(i)]`", "d = {str(i): i for i in range(n)}", "for i in range(n):\n    d[str(i)]"),
    ("`del d[i]`, from the first", "d = dict.fromkeys(range(n))", "for i in range(n):\n    del d[i]"),
    ("`del d[next(iter(d))]`", "d = dict.fromkeys(range(n))", "for i in range(n):\n    del d[next(iter(d))]"),
    ("`d[i << 24] = i`", "d = {}", "for i in range(n):\n    d[i << 24] = i"),
    ("`d.pop(i)`, from the last", "d = dict.fromkeys(range(n))", "for i in range(n):\n    d.pop(n - 1 - i)"),
    ("`for k, v in d.items()`", "d = dict.fromkeys(range(n))", "for k, v in d.items():\n    pass"),
    ("`s.add(i)`, `s.remove(i)`", "s = set()", "for i in range(n):\n    s.add(i)\nfor i in range(n):\n    s.remove(i)"),
    ("`a & b`", "a = set(range(n))\nb = set(range(1, n, 2))", "a & b"),
    ("`s += 'x'`", "s = ''", "for i in range(n):\n    s += 'x'"),
    ("`','.join(xs)`", "xs = [str(i) for i in range(n)]", "','.join(xs)"),
    ("`s.split(',')`", "s = ','.join(str(i) for i in range(n))", "s.split(',')"),
    ("`s.replace('1', 'one')`", "s = ','.join(str(i) for i in range(n))", "s.replace('1', 'one')"),
    ("`s[i]`", "s = 'x' * n", "for i in range(n):\n    s[i]"),
    ("`s[i]` of `'é' * n`", "s = 'é' * n", "for i in range(n):\n    s[i]"),
    ("`for c in s`", "s = 'é' * n", "for c in s:\n    pass"),
    ("`s.find(',', at)`", "s = ','.join(str(i) for i in range(n))\nat = 0", "while (at := s.find(',', at) + 1):\n    pass"),
    ("`s[1:]` until it is empty", "s = 'x' * 1000", "for i in range(n):\n    s = s[1:] or 'x' * 1000"),
    ("`format(i, '5d')`", "", "for i in range(n):\n    format(i, '5d')"),
    ("recursion, 500 deep", "def f(k):\n    return f(k - 1) + 1 if k else 0", "for i in range(n // 500 + 1):\n    f(500)"),
    ("a generator", "def g(n):\n    for i in range(n):\n        yield i", "sum(g(n))"),
    ("generators of generators, 50 deep", "def g(k, n):\n    yield from (range(n) if k == 0 else g(k - 1, n))", "for i in g(50, n // 50):\n    pass"),
    ("`try` and `raise`", "", "for i in range(n):\n    try:\n        raise ValueError(i)\n    except ValueError:\n        pass"),
    ("objects of a class", "class A:\n    def __init__(self, i):\n        self.i = i", "xs = [A(i) for i in range(n)]\nsum(x.i for x in xs)"),
    ("`str(xs)`", "xs = list(range(n))", "str(xs)"),
    ("`str(d)`", "d = dict.fromkeys(range(n))", "str(d)"),
    ("a list in a list, n deep, dropped", "xs = []", "for i in range(n):\n    xs = [xs]\nxs = None"),
    ("`torch.tensor(xs)`", "xs = list(range(n))", "torch.tensor(xs)"),
    ("`t.tolist()`", "t = torch.arange(n)", "t.tolist()"),
    ("`str(t)`, whole", "t = torch.arange(n) / 7\ntorch.set_printoptions(threshold=10**9)", "str(t)", 10**6),
    ("`str(t.storage())`", "t = torch.arange(n)\ns = t.untyped_storage()", "str(s)"),
    ("`torch.cat` of n tensors", "xs = [torch.ones(2) for i in range(n)]", "torch.cat(xs)", 10**6),
    ("`t.split(1)`", "t = torch.arange(n)", "t.split(1)", 10**6),
    ("a view of a view, n times", "t = torch.arange(8)", "for i in range(n):\n    t = t[:]"),
    ("n steps and `backward()`", "x = torch.ones(2, requires_grad=True)", "y = x\nfor i in range(n):\n    y = y + x\ny.sum().backward()", 10**6),
    ("`a.sort()` of NumPy", "a = np.arange(n) * 7919 % n", "a.sort()"),
    ("`a.tolist()` of NumPy", "a = np.arange(n)", "a.tolist()"),
]

RHAI = [
    ("`xs.push(i)`", "let xs = [];", "for i in 0..n { xs.push(i); }"),
    ("`xs.map(\\|x\\| x + 1)`", "let xs = []; for i in 0..n { xs.push(i); }", "xs.map(|x| x + 1);"),
    ("`xs[i] = i`", "let xs = []; for i in 0..n { xs.push(i); }", "for i in 0..n { xs[i] = i; }"),
    ("`m[i] = i`", "let m = #{};", "for i in 0..n { m[`${i}`] = i; }", 10**6),
    ("`s += \"x\"`", "let s = \"\";", "for i in 0..n { s += \"x\"; }"),
    ("a function of the script", "fn f(x) { x + 1 }", "for i in 0..n { f(i); }"),
    ("`print(xs)`", "let xs = []; for i in 0..n { xs.push(i); }", "let s = `${xs}`;"),
]

# What a script leaves, and the entries at a prompt after it, of which the last is timed.
PROMPT = [
    ("an entry, n variables", "for i in range(n):\n    globals()[f'v{i}'] = i", ["v0 = 1", "v0 = 2"], 10**5),
    ("`:vars`, n variables", "for i in range(n):\n    globals()[f'v{i}'] = i", [":vars"], 10**5),
    ("`:undo`, n variables", "for i in range(n):\n    globals()[f'v{i}'] = i", ["v0 = 1", ":undo"], 10**5),
    ("an entry, a list of n", "xs = list(range(n))", ["xs[0] = 1", "xs[0] = 2"]),
    ("`:vars`, a list of n", "xs = list(range(n))", [":vars"]),
    ("`:undo`, a list of n", "xs = list(range(n))", ["xs[0] = 1", ":undo"]),
    ("`:undo`, a tensor of n", "t = torch.ones(n)", ["t[0] = 2", ":undo"]),
    ("`:undo`, n objects", "class A:\n    pass\nxs = [A() for i in range(n)]", ["xs[0].y = 1", ":undo"], 10**6),
    ("`:undo` of n new tensors", "", ["xs = [torch.ones(2) for i in range(n)]", ":undo"], 10**6),
]


def run(program: str, folder: str, script: str) -> str:
    done = subprocess.run([program, script], capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise RuntimeError(f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def in_python(program: str, folder: str, n: int, setup: str, work: str) -> float:
    body = "\n".join(f"    {line}" for line in f"{setup}\nbegun = time.perf_counter()\n{work}\nreturn time.perf_counter() - begun".splitlines())
    pathlib.Path(folder, "row.py").write_text(f"import time, torch\nimport numpy as np\ndef row(n):\n{body}\nprint(row({n}))\n")
    return float(run(program, folder, "row.py").split()[-1])


def in_rhai(program: str, folder: str, n: int, setup: str, work: str) -> float:
    text = f"let n = {n};\n{setup}\nlet at = timestamp();\n{work}\nprint(at.elapsed);\n"
    pathlib.Path(folder, "row.rhai").write_text(text)
    return float(run(program, folder, "row.rhai").split()[-1])


def at_prompt(program: str, folder: str, n: int, setup: str, entries: list[str]) -> float:
    pathlib.Path(folder, "row.py").write_text(f"import torch\nn = {n}\n{setup}\n")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        environment = {**os.environ, "TERM": "dumb", "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder}
        os.execve(program, [program, "--python", "--color=never", "-q", "-i", "row.py"], environment)
    seen = b""

    def until_prompt() -> float:
        nonlocal seen
        seen = b""
        while not seen.endswith(b">>> "):
            if not select.select([terminal], [], [], 600)[0]:
                raise RuntimeError(f"no prompt: {seen[-500:]!r}")
            seen += os.read(terminal, 1 << 16)
        return time.perf_counter()

    begun = ended = until_prompt()
    for entry in entries:
        begun = time.perf_counter()
        os.write(terminal, f"{entry.replace('range(n)', f'range({n})')}\r".encode())
        ended = until_prompt()
        if b"Error" in seen:
            raise RuntimeError(f"{entry}: {seen[-500:]!r}")
    os.close(terminal)
    os.waitpid(child, 0)
    return ended - begun


def main() -> None:
    program, words = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    rows = [("Python", in_python, *row) for row in PYTHON] + [("Rhai", in_rhai, *row) for row in RHAI]
    rows += [("prompt", at_prompt, *row) for row in PROMPT]
    head = [f"{size:,}" for size in SIZES]
    print(f"| | {' | '.join(head)} | step |\n| --- |{' ---: |' * (len(head) + 1)}")
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for language, seconds, name, setup, work, *most in rows:
            if words and not any(word in f"{language} {name}" for word in words):
                continue
            taken: list[float] = []
            for n in SIZES:
                if n > (most or [SIZES[-1]])[0] or taken and taken[-1] * 10 > LONGEST:
                    break
                taken.append(seconds(program, folder, n, setup, work))
            steps = [after / before for before, after in zip(taken, taken[1:]) if before >= 1e-3]
            step = max(steps, default=1.0)
            if step > ALLOWED:
                failed.append(name)
            cells = [shown(seconds) for seconds in taken] + [""] * (len(SIZES) - len(taken))
            print(f"| {language}: {name} | {' | '.join(cells)} | {step:.1f} |", flush=True)
    if failed:
        sys.exit(f"worse than n log n: {', '.join(failed)}")


def shown(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


if __name__ == "__main__":
    main()
