"""The calls of the system that `os` makes on Windows: those of `posix`, with an environment of text."""

from posix import *
from posix import _exit, _have_functions
import posix

environ = {name.decode(): value.decode() for name, value in posix.environ.items()}
del posix
