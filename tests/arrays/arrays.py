"""Records tests/arrays/arrays.txt with NumPy 2.4.6: how arrays and scalars are printed.

    NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR" python tests/arrays/arrays.py [COUNT [SEED]] > tests/arrays/arrays.txt

One case a line, with tabs between: how it is printed, the dtype, the text after `dtype=`, the sizes, the options, separator,
prefix, suffix, the bits of the elements in hexadecimal (repeated until the array is full), and the text or the error.

src/explain/format/arrays/tests.rs reads the table, or the one in the file that TENSORSH_ARRAYS names.
"""
import random
import sys

import numpy as np

COUNT, SEED = (int(argument) for argument in (sys.argv[1:] + ["600", "45"][len(sys.argv) - 1 :]))
rng = random.Random(SEED)

BITS = {"float16": 16, "float32": 32, "float64": 64, "complex64": 32, "complex128": 64}
FLOATS = list(BITS)
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
MANTISSA = {16: 10, 32: 23, 64: 52}
SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 0.0001, 9.999e-5, 1e-5, 999.5, 1000.0, 1001.0, 999999.94, 1e6, 99999999.0, 1e8, 1e15, 1e16,
    1.5e-9, 5e-9, 6e-10, 2.5, 0.125, 0.375, 1e-310, 1e300, 1e22, 1e23, 65504.0, 3.4028235e38, 1e-45, 5e-324, 123456.789,
    float("nan"), float("inf"), -float("inf"),
]


def bits_of(number, width):
    return int(np.array(number, f"f{width // 8}").view(f"u{width // 8}"))


def float_bits(width, kind):
    """The bits of one float of a kind: `kind` stays the same for most elements of an array."""
    mantissa = MANTISSA[width]
    if rng.random() < 0.07:
        kind = rng.choice(["special", "bits", "tiny", "power"])
    if kind == "bits":
        return rng.getrandbits(width)
    if kind == "tiny":
        return rng.getrandbits(1) << (width - 1) | rng.getrandbits(mantissa) >> rng.randrange(mantissa)
    if kind == "power":
        return rng.getrandbits(1) << (width - 1) | rng.randrange(1 << (width - 1 - mantissa)) << mantissa
    if kind == "whole":
        number = rng.randint(-(10 ** rng.randint(1, 9)), 10 ** rng.randint(1, 9))
    elif kind == "small":
        number = rng.randint(-9, 99)
    elif kind == "decimal":
        number = round(rng.uniform(-10, 10), rng.randint(0, 9))
    elif kind == "dyadic":
        number = rng.randint(-4000, 4000) / 2 ** rng.randint(0, 14)
    elif kind == "unit":
        number = rng.gauss(0, 1)
    elif kind == "scaled":
        number = rng.gauss(0, 1) * 10.0 ** rng.randint(-12, 12)
    elif kind == "positive":
        number = rng.random() * 10.0 ** rng.randint(-3, 3)
    else:
        number = rng.choice(SPECIAL)
    return bits_of(number, width)


KINDS = ["bits", "tiny", "power", "whole", "small", "decimal", "dyadic", "unit", "unit", "scaled", "positive", "positive", "special"]


def integer_bits(name, kind):
    width = int(name.lstrip("uint"))
    if kind == "limits" or rng.random() < 0.05:
        return rng.choice([0, 1, 1 << (width - 1), (1 << (width - 1)) - 1, (1 << width) - 1, 7])
    number = rng.getrandbits(width) >> rng.randrange(width) if kind == "bits" else rng.randint(0 if kind == "natural" else -9, 120)
    return number % (1 << width)


def shape():
    if rng.random() < 0.08:
        return ()
    if rng.random() < 0.07:
        return tuple(rng.choice([0, 0, 1, 2, 3]) for _ in range(rng.randint(1, 3)))
    if rng.random() < 0.02:
        return rng.choice([(999,), (1000,), (1001,), (2000,), (40, 30), (3, 1, 400)])
    return rng.choice([
        (1,), (2,), (3,), (rng.randint(1, 40),), (rng.randint(1, 40),), (rng.randint(1, 9), rng.randint(1, 9)),
        (rng.randint(1, 9), rng.randint(1, 9)), (1, rng.randint(1, 30)), (rng.randint(1, 9), 1), (2, 2, rng.randint(1, 5)),
        tuple(rng.randint(1, 4) for _ in range(4)), (2, 1, 2, 1, 3),
    ])


def options():
    chosen = {}
    if rng.random() < 0.4:
        return chosen
    if rng.random() < 0.5:
        chosen["precision"] = rng.choice([0, 1, 2, 3, 4, 6, 10, 16, 17, 20, 30])
        if rng.random() < 0.02:
            chosen["precision"] = rng.choice([-1, 2**31])
    if rng.random() < 0.4:
        chosen["threshold"] = rng.choice([0, 1, 3, 5, 6, 10, 20, 2**40])
    if rng.random() < 0.3:
        chosen["edgeitems"] = rng.choice([0, 1, 2, 4, 5])
    if rng.random() < 0.4:
        chosen["linewidth"] = rng.choice([0, 1, 7, 10, 20, 30, 40, 60, 76, 100, 2**40])
    if rng.random() < 0.4:
        chosen["suppress"] = True
    if rng.random() < 0.1:
        chosen["nanstr"] = rng.choice(["NaN", "NA", "-", "missing", "", "∅", "not a number"])
    if rng.random() < 0.1:
        chosen["infstr"] = rng.choice(["Inf", "∞", "infinity", "", "oo"])
    if rng.random() < 0.3:
        chosen["sign"] = rng.choice(["+", " "])
    if rng.random() < 0.5:
        chosen["floatmode"] = rng.choice(["fixed", "unique", "maxprec_equal"])
    return chosen


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def case():
    name = rng.choice(FLOATS * 3 + INTEGERS + ["bool"])
    style = rng.choice(["repr"] * 4 + ["str"] * 3 + ["text"] * 2 + ["number", "scalar"])
    sizes = () if style in ("number", "scalar") else shape()
    count = min(int(np.prod(sizes)), rng.choice([1, 3, 10, 40]))
    if name in BITS:
        width, kind, other = BITS[name], rng.choice(KINDS), rng.choice(KINDS)
        draw = lambda i: float_bits(width, kind if i % 2 else other)
        if name.startswith("float"):
            draw = lambda i: float_bits(width, kind)
        else:
            count *= 2
    elif name == "bool":
        width, draw = 8, lambda i: rng.getrandbits(1)
    else:
        width, kind = int(name.lstrip("uint")), rng.choice(["limits", "bits", "bits", "natural", "mixed"])
        draw = lambda i: integer_bits(name, kind)
    bits = [draw(i) for i in range(count)]
    array = np.resize(np.array(bits, f"u{width // 8}"), int(np.prod(sizes)) * (2 if name.startswith("complex") else 1))
    array = array.view(name).reshape(sizes)
    swapped = np.dtype(name).newbyteorder(">")
    if rng.random() < 0.05 and style not in ("number", "scalar"):
        array = array.astype(swapped)
    note = np._core.arrayprint.dtype_short_repr(array.dtype)
    separator, prefix, suffix = "", "", ""
    chosen = options()
    if style == "text":
        separator = rng.choice([" ", ", ", ",", "", " | ", "  ", ",\n", "; ", " — "])
        prefix, suffix = rng.choice(["", "", "x = ", "é→"]), rng.choice(["", "", ")", "; end"])
    printers = {
        "repr": lambda: repr(array),
        "str": lambda: str(array),
        "number": lambda: repr(array[()]),
        "scalar": lambda: str(array[()]),
        "text": lambda: np.array2string(array, separator=separator, prefix=prefix, suffix=suffix),
    }
    with np.printoptions(**chosen):
        try:
            text = printers[style]()
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
    sizes = ",".join(map(str, sizes))
    chosen = ";".join(f"{key}={value}" for key, value in chosen.items())
    bits = " ".join(f"{bit:0{width // 4}x}" for bit in bits)
    fields = [style, name, note, sizes, chosen, escaped(separator), prefix, suffix, bits, escaped(text)]
    print("\t".join(fields))


with np.errstate(all="ignore"):
    sys.stdout.reconfigure(encoding="utf-8")
    for _ in range(COUNT):
        case()
