#!/usr/bin/env python3
"""Writes the codebooks of GGUF's block types to src/files/gguf/grids.bin, from the package gguf.

    PYTHON scripts/house/gguf_grids.py          writes the file and prints its size and SHA-256
    PYTHON scripts/house/gguf_grids.py check    compares the file with the package

PYTHON is an interpreter with numpy and gguf 0.19. Each row of a codebook takes two bytes, little-endian: eight codes of
2 bits or four codes of 4 bits, the first in the lowest bits. Which number a code stands for says
src/files/gguf/codebooks.rs.

SHA-256 of the file: 80d94af44fec24eeaafce97ea97ac55b9bb19515ab6ce9b087d8dc6a08106f60
"""

import hashlib
import pathlib
import sys

import numpy
from gguf import quants

FILE = pathlib.Path(__file__).resolve().parents[2] / "src" / "files" / "gguf" / "grids.bin"

# The order of the codebooks in the file.
NAMES = ["IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"]


def rows(name):
    """The rows of a codebook, as numbers of 16 bits."""
    kind = getattr(quants, name)
    kind.init_grid()
    numbers = kind.grid.reshape(kind.grid_shape)
    codes = numpy.searchsorted(numpy.array(kind.grid_map, dtype=numpy.float32), numbers).astype(numpy.uint16)
    width = 16 // kind.grid_shape[1]
    return (codes << (width * numpy.arange(kind.grid_shape[1], dtype=numpy.uint16))).sum(axis=1).astype("<u2")


if __name__ == "__main__":
    data = b"".join(rows(name).tobytes() for name in NAMES)
    match sys.argv[1:]:
        case []:
            FILE.write_bytes(data)
            print(f"{FILE.name}: {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}, sum {sum(data)}")
        case ["check"]:
            sys.exit(FILE.read_bytes() != data)
        case _:
            sys.exit(__doc__)
