"""PyTorch's side: answers each line of standard input with one of numbers, as serve.rs does for tensorsh."""

import sys
import time

import torch

names = {"torch": torch}


def resident(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


for question in sys.stdin:
    what, _, line = question.rstrip("\n").partition(" ")
    answer = ()
    if what == "run":
        exec(line, names)
    elif what in ("time", "call"):
        count, _, line = line.partition(" ")
        exec(f"def row():\n for _ in range({count}): {line}", names)
        row = names["row"]
        cpu, start = time.process_time(), time.perf_counter()
        row()
        answer = (time.perf_counter() - start, time.process_time() - cpu)
    elif what == "peak":
        row = compile(line, "row", "eval")
        # The highest mark falls to what is resident now.
        with open("/proc/self/clear_refs", "w") as marks:
            marks.write("5")
        before = resident("VmRSS")
        eval(row, names)
        answer = (resident("VmHWM") - before,)
    else:
        raise ValueError(question)
    print(*answer, flush=True)
