"""Times functions of arrays, in tensorsh and in NumPy alike: `tensorsh benches/arrays.py` and `python3 benches/arrays.py`.

Prints one line a row: the row and the shortest time in microseconds. `scripts/house/arrays` sets both programs side by side.
"""
import time
import numpy as np

MANY = 1 << 24
many = (np.arange(MANY) % 1009 * 0.37 - 180.0)
single = many.astype(np.float32)
table = many.reshape(4096, 4096)
shuffled = np.arange(MANY, dtype=np.int64) * 2654435761 % 1000003
few = np.array([1.0, 2.0, 3.0])

rows = {
    "add float64": lambda: many + many,
    "add float32": lambda: single + single,
    "exp float64": lambda: np.exp(many),
    "exp float32": lambda: np.exp(single),
    "sum float64": lambda: many.sum(),
    "sum float32": lambda: single.sum(),
    "copy of a transposed array": lambda: table.T.copy(),
    "sort float64": lambda: np.sort(many),
    "sort int64": lambda: np.sort(shuffled),
    "a < b": lambda: many < single,
    "sum along rows": lambda: table.sum(1),
    "sum along columns": lambda: table.sum(0),
    "a[mask]": lambda: many[many > 0],
    "astype": lambda: many.astype(np.float32),
}

def shortest(call, times):
    best = None
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken = time.perf_counter() - start
        best = taken if best is None or taken < best else best
    return best


def loop(call):
    """Calls 1000 times."""
    for _ in range(1000):
        call()


calls = {
    "a.sum()": lambda: few.sum(),
    "a + 1": lambda: few + 1,
    "a + a": lambda: few + few,
    "a[1:3]": lambda: few[1:3],
    "a[0]": lambda: few[0],
    "np.exp(a)": lambda: np.exp(few),
    "a.reshape(3, 1)": lambda: few.reshape(3, 1),
    "np.zeros(3)": lambda: np.zeros(3),
    "a > 1": lambda: few > 1,
    "nothing": lambda: few,
}

for name, call in calls.items():
    print(f"{name}: {shortest(lambda: loop(call), 20) * 1000:.3f}")
for name, call in rows.items():
    print(f"{name}: {shortest(call, 3) * 1e6:.0f}")
