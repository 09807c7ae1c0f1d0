"""Records PyTorch's documented examples as sessions: what PyTorch prints for them, now and here.

    PYTHON scripts/house/oracle.py DIR

For every public name of the modules in CATEGORIES, the `>>>` lines of its docstring become DIR/CATEGORY/NAME.txt. Each
session runs in a process of its own, from `import torch` and a seed, twice: an example is kept if both runs print the
same (not so for addresses, times and memory nobody wrote to) and left out if it fails for want of something its page
only assumes (a name, a module, a file) or the machine lacks (a GPU). scripts/house/oracle replays the sessions.
"""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import json
import os
import pathlib
import resource
import select
import signal
import sys
import tempfile
import warnings

import torch

CATEGORIES = [
    "torch",
    "torch.Tensor",
    "torch.autograd",
    "torch.autograd.forward_ad",
    "torch.autograd.function",
    "torch.autograd.functional",
    "torch.autograd.graph",
    "torch.fft",
    "torch.func",
    "torch.linalg",
    "torch.masked",
    "torch.nested",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.random",
    "torch.serialization",
    "torch.sparse",
    "torch.special",
    "torch.storage",
    "torch.testing",
    "torch.utils.dlpack",
]
PREAMBLE = ["import torch", "_ = torch.manual_seed(0)"]
# What the page assumes and does not show, and what the machine lacks.
ASSUMED = (NameError, SyntaxError, ImportError, FileNotFoundError)
LACKING = ("CUDA", "NVIDIA")
SECONDS = 20
ADDRESS_SPACE = 20 << 30
LONGEST_OUTPUT = 20_000


def pages():
    """(category, name, docstring) of everything public, aliases once."""
    seen = set()
    for category in CATEGORIES:
        try:
            owner = importlib.import_module(category)
        except ImportError:
            owner = torch.Tensor if category == "torch.Tensor" else None
        if owner is None:
            continue
        for name in sorted(n for n in dir(owner) if not n.startswith("_")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                member = getattr(owner, name, None)
            if member is None or inspect.ismodule(member):
                continue
            for part, text in docstrings(member):
                if text and text not in seen and ">>>" in text:
                    seen.add(text)
                    yield category, f"{category}.{name}{part}", text


def docstrings(member):
    """The docstring of a member and, for a class, those of its methods."""
    yield "", inspect.getdoc(member)
    if inspect.isclass(member) and member is not torch.Tensor:
        for name, method in sorted(vars(member).items()):
            if not name.startswith("_") and callable(method):
                yield f".{name}", inspect.getdoc(method)


def inputs(text):
    """The source of each example of a docstring."""
    try:
        return [e.source.rstrip("\n") for e in doctest.DocTestParser().get_examples(text)]
    except ValueError:
        return loose_inputs(text)


def loose_inputs(text):
    """As inputs(), for a docstring whose lines doctest finds badly aligned."""
    found = []
    for line in map(str.strip, text.split("\n")):
        if line.startswith(">>> "):
            found.append(line[4:])
        elif line.startswith("... ") and found:
            found[-1] += "\n" + line[4:]
    return found


def run(sources):
    """[output] as a prompt shows it, None for an example to be left out. An error is shown by its last line."""
    namespace, outputs = {"__name__": "__main__"}, []
    for source in sources:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for statement in ast.parse(source).body:
                    single = ast.Interactive([statement])
                    exec(compile(single, "<example>", "single", dont_inherit=True), namespace)
            except ASSUMED:
                outputs.append(None)
                continue
            except Exception as error:
                if any(word in str(error) for word in LACKING):
                    outputs.append(None)
                    continue
                first = str(error).split("\n")[0].rstrip()
                line = f"{type(error).__name__}: {first}" if first else type(error).__name__
                shown.write(f"Traceback (most recent call last):\n  ...\n{line}\n")
        outputs.append(shown.getvalue())
    return outputs


def apart(sources):
    """run() in a process of its own, in an empty folder; [] if it dies or takes too long."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with tempfile.TemporaryDirectory() as folder, open(os.devnull, "r+b") as null:
            os.chdir(folder)
            for stream in (0, 1, 2):
                os.dup2(null.fileno(), stream)
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            outputs = run(sources)
        with os.fdopen(writer, "w") as pipe:
            json.dump(outputs, pipe)
        os._exit(0)
    os.close(writer)
    received = b""
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], SECONDS)[0]:
            part = pipe.read(1 << 16)
            if not part:
                break
            received += part
        else:
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        return json.loads(received)
    except ValueError:
        return []


def session(sources):
    """The text of a session, or None if nothing of it can be kept."""
    first, second = apart(PREAMBLE + sources), apart(PREAMBLE + sources)
    lines, kept = [], 0
    for source, output, again in zip(PREAMBLE + sources, first, second):
        if output is None or output != again or len(output) > LONGEST_OUTPUT:
            continue
        head, *rest = source.split("\n")
        lines += [f">>> {head}", *(f"... {line}" for line in rest)]
        lines += [output.rstrip("\n")] if output.rstrip("\n") else []
        kept += 1
    return "\n".join(lines) + "\n" if kept > len(PREAMBLE) else None


def main():
    directory = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    recorded = 0
    for category, name, text in pages():
        sources = inputs(text)
        written = session(sources) if sources else None
        if written:
            folder = directory / category
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.txt").write_text(written)
            recorded += 1
    print(f"PyTorch {torch.__version__}: {recorded} sessions recorded")


if __name__ == "__main__":
    main()
