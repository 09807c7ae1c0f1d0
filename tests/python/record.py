"""Runs the programs of Markdown files and writes what they print behind them: tests/python/record.py FILE...

Each section has a block of Python and a block of text. It is to run in CPython 3.11 with PyTorch 2.7; what the text says
then is what tests/library.rs asks of tensorsh.
"""
import os
import re
import subprocess
import sys
import tempfile

SECTION = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)


def printed(program):
    """Returns what a program prints, run in a folder of its own."""
    environment = os.environ | {"TZ": "UTC", "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "main_program.py")
        with open(path, "w") as file:
            file.write(program)
        done = subprocess.run([sys.executable, path], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise SystemExit(f"{program}\n{done.stderr}")
    return done.stdout


def recorded(match):
    program = match[1]
    return f"```python\n{program}```\n\n```text\n{printed(program)}```\n"


for path in sys.argv[1:]:
    with open(path) as file:
        text = file.read()
    text = SECTION.sub(recorded, text)
    with open(path, "w") as file:
        file.write(text)
