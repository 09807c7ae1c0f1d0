"""Pages and notebooks that other programs have written: tensorsh reads and updates them, and they stay valid.

    python3 scripts/house/documentation.py TENSORSH [FOLDER]

Needs torch, sphinx, myst-parser, nbformat, nbclient, ipykernel and jupyterlab. Sphinx builds a manual in reStructuredText
and MyST to HTML and runs its doctests. nbclient runs a notebook, and JupyterLab saves it. Then outputs are damaged, and
`tensorsh test --update` has to restore all of them, byte for byte. Prints what it did; fails at the first difference.

At last 300 pages with 10,200 examples are tested, by tensorsh and by doctest with PyTorch.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

import nbclient
import nbformat

MANUAL = """\
======
Manual
======

.. toctree::

   myst

A session:

>>> import torch
>>> x = torch.arange(6.).view(2, 3)
>>> x
tensor([[0., 1., 2.],
        [3., 4., 5.]])
>>> x.view(4)
Traceback (most recent call last):
  ...
RuntimeError: shape '[4]' is invalid for input of size 6

.. testsetup:: *

   import torch
   base = 3

.. testcode::

   y = torch.full((2,), base)
   print(y)
   print(y < 4)

.. testoutput::

   tensor([3, 3])
   tensor([True, True])

.. doctest:: named

   >>> torch.ones(2, dtype=torch.int64) * base
   tensor([3, 3])
   >>> {'a': "<b> & 'c'"}
   {'a': "<b> & 'c'"}

.. testcleanup:: *

   del base
"""

MYST = """\
# MyST

```{doctest}
>>> import torch
>>> torch.eye(2)
tensor([[1., 0.],
        [0., 1.]])
```

```{testcode}
print(torch.tensor([True]))
```

```{testoutput}
tensor([True])
```

```python
>>> torch.zeros(3).stride()
(1,)
```
"""

CONF = "extensions = ['sphinx.ext.doctest', 'myst_parser']\nmaster_doc = 'index'\nhtml_theme = 'basic'\n"

CELLS = [
    "import torch\nx = torch.arange(6).view(2, 3)\nx",
    "print(x.sum())\nx + 1\nx.t()",
    "for row in x:\n    print(row)",
    "x.view(4)",
    "[x[0], x[1]], {'shape': x.shape}",
    "w = torch.ones(2, requires_grad=True) * 2\nw.grad\nx.float().mean()",
    "y = x.clone();\ny.add_(1);",
    "class Named:\n    def __repr__(self):\n        return 'é “quoted” \\\\ <b>'\nNamed()",
    "%time z = 3",
    "print('a', end='')\nprint('b')\n5",
]


def run(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def damaged(text, suffix):
    """Changes the recorded outputs of the manual. On a built page, only those below a prompt: `testoutput` is a block of
    its own there."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if suffix != ".html" or 'class="go"' in line:
            line = re.sub(r"(tensor\(\[+)(\d)", lambda found: found[1] + "7", line)
            lines[at] = line.replace("invalid for input of size 6", "invalid for input of size 7")
    return "\n".join(lines)


def sphinx(tensorsh, folder):
    source, built = folder / "source", folder / "built"
    source.mkdir(parents=True)
    for name, text in [("conf.py", CONF), ("index.rst", MANUAL), ("myst.md", MYST)]:
        (source / name).write_text(text)
    python = sys.executable
    run(python, "-m", "sphinx", "-q", "-b", "doctest", source, built / "doctest")
    run(python, "-m", "sphinx", "-q", "-b", "html", source, built / "html")
    pages = [source / "index.rst", source / "myst.md", built / "html/index.html", built / "html/myst.html"]
    # Sphinx leaves set-ups out of the pages that it builds.
    setup = folder / "setup.py"
    setup.write_text("base = 3\n")
    options = ["--session", "page", "--setup", setup]
    print(run(tensorsh, "test", *options, *pages), end="")
    for page in pages:
        old = page.read_text()
        page.write_text(damaged(old, page.suffix))
        run(tensorsh, "test", *options, page, status=1)
        run(tensorsh, "test", *options, "--update", page)
        assert page.read_text() == old, f"{page} differs after the update"
    run(python, "-m", "sphinx", "-q", "-b", "doctest", source, built / "again")
    print("Sphinx and MyST: read, updated, and still pass Sphinx's own doctests")


def notebooks(tensorsh, folder):
    folder.mkdir()
    path = folder / "notebook.ipynb"
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [nbformat.v4.new_markdown_cell("# A notebook"), *map(nbformat.v4.new_code_cell, CELLS)]
    nbclient.NotebookClient(notebook, allow_errors=True).execute()
    nbformat.write(notebook, path)
    check_notebook(tensorsh, path)
    saved_by_lab(path)
    check_notebook(tensorsh, path)
    print("notebooks of nbformat and JupyterLab: read, updated, and still valid")


def check_notebook(tensorsh, path):
    old = path.read_text()
    print(run(tensorsh, "test", path), end="")
    notebook = json.loads(old)
    for cell in notebook["cells"]:
        # The output of a magic is not tensorsh's to write.
        for output in [] if "%" in "".join(cell["source"]) else cell.get("outputs", []):
            if output["output_type"] == "execute_result":
                output["data"]["text/plain"] = ["damaged"]
            elif output["output_type"] == "stream" and output["name"] == "stdout":
                output["text"] = ["damaged\n"]
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    run(tensorsh, "test", path, status=1)
    run(tensorsh, "test", "--update", path)
    nbformat.validate(nbformat.read(path, 4))
    new = json.loads(path.read_text())
    for before, after in zip(json.loads(old)["cells"], new["cells"], strict=True):
        texts = [["".join(part) for part in plain_texts(cell)] for cell in (before, after)]
        # IPython breaks the lines of long lists in its own way.
        texts = [[" ".join(text.split()) for text in part] for part in texts]
        assert texts[0] == texts[1], texts
        assert {**before, "outputs": 0} == {**after, "outputs": 0}
    run(tensorsh, "test", path)
    path.write_text(old)


def plain_texts(cell):
    for output in cell.get("outputs", []):
        if output["output_type"] == "execute_result":
            yield output["data"]["text/plain"]
        elif output["output_type"] == "stream" and output["name"] == "stdout":
            yield output["text"]


def saved_by_lab(path):
    """Lets the server of JupyterLab save a notebook, as its "Save" does."""
    port, token = 8899, "documentation"
    lab = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", "--allow-root"]
    options = [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={path.parent}"]
    server = subprocess.Popen([*lab, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://localhost:{port}/api/contents/{path.name}?token={token}"
    try:
        for _ in range(100):
            time.sleep(0.3)
            try:
                model = json.load(urllib.request.urlopen(address))
                break
            except OSError:
                continue
        else:
            sys.exit("JupyterLab does not answer")
        body = json.dumps({"type": "notebook", "content": model["content"]}).encode()
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method="PUT")
        assert urllib.request.urlopen(request).status == 200
    finally:
        server.terminate()
        server.wait()


EXAMPLES = """\
>>> x = torch.arange({n}.).view(-1, 2)
>>> x
>>> x.t().stride()
>>> x.sum(), x.mean(0)
>>> y = x.clone()
>>> y.add_({n})
>>> y.view({n})[:3]
>>> y.view(7)
>>> torch.stack([x, y]).shape
>>> x.dtype, y.is_contiguous(), y.t().is_contiguous()
>>> for row in x[:2]:
...     print(row.max())
>>> x.untyped_storage().nbytes()
>>> x[1:, 0].storage_offset()
>>> (x > {n} // 2).nonzero().numel()
>>> torch.tensor([{n}, 1]) * 2
>>> x @ x.t()
>>> x.numpy()[0]
"""

DOCTEST = """\
import doctest, sys, torch
results = [doctest.testfile(page, module_relative=False, globs={"torch": torch}) for page in sys.argv[1:]]
print(sum(result.attempted for result in results), "examples,", sum(result.failed for result in results), "failed")
"""


def race(tensorsh, folder):
    """Times both programs on the same pages, one after the other."""
    import contextlib
    import doctest
    import io

    import torch

    folder.mkdir()
    pages = []
    for number in range(300):
        page, names = [f"Page {number}", "=" * 8, ""], {"torch": torch}
        source = EXAMPLES.format(n=2 * (number % 20 + 4)) * 2
        for example in doctest.DocTestParser().get_examples(source):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                try:
                    exec(compile(example.source, "<page>", "single"), names)
                except RuntimeError as error:
                    print(f"Traceback (most recent call last):\n  ...\nRuntimeError: {error}")
            prompted = ">>> " + example.source.rstrip("\n").replace("\n", "\n... ")
            page += [prompted, printed.getvalue().rstrip("\n").replace("\n\n", "\n<BLANKLINE>\n"), ""]
        pages.append(folder / f"page{number}.rst")
        pages[-1].write_text("\n".join(page))
    measure("doctest, with PyTorch", sys.executable, "-c", DOCTEST, *pages)
    measure("tensorsh, 300 pages", tensorsh, "--quiet", "test", folder)
    measure("tensorsh, 30 pages", tensorsh, "--quiet", "test", *pages[:30])


def measure(name, *command):
    """Prints the seconds and megabytes that a program takes."""
    # The peak of a child counts from the memory of its parent, which has PyTorch.
    began = time.time()
    timed = ["/usr/bin/time", "--format", "%M", *command]
    done = subprocess.run(timed, capture_output=True, text=True, check=True)
    kilobytes = int(done.stderr.split()[-1])
    said = "; ".join(filter(None, done.stdout.split("\n")))
    print(f"{name}: {time.time() - began:.2f} s, {kilobytes // 1024} MB, {said}")


if __name__ == "__main__":
    tensorsh = os.path.abspath(sys.argv[1])
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(tempfile.mkdtemp())
    sphinx(tensorsh, folder / "manual")
    notebooks(tensorsh, folder / "notebooks")
    race(tensorsh, folder / "race")
