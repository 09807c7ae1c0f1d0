"""The flags of code objects. This program's instructions are not CPython's, and are not shown."""

COMPILER_FLAG_NAMES = {
    1: "OPTIMIZED",
    2: "NEWLOCALS",
    4: "VARARGS",
    8: "VARKEYWORDS",
    16: "NESTED",
    32: "GENERATOR",
    64: "NOFREE",
    128: "COROUTINE",
    256: "ITERABLE_COROUTINE",
    512: "ASYNC_GENERATOR",
}


def _refused(*args, **kwargs):
    raise NotImplementedError("dis shows instructions of CPython, which this prompt does not have")


dis = disassemble = distb = findlinestarts = get_instructions = code_info = show_code = Bytecode = _refused
