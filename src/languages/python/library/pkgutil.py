"""Objects by their paths."""

import importlib


def resolve_name(name):
    """Returns what a path means: `a.b:c.d`, or `a.b.c`, of which as much as possible is a module."""
    module, colon, rest = name.partition(":")
    if colon:
        found = importlib.import_module(module)
        parts = rest.split(".") if rest else []
    else:
        parts = name.split(".")
        path = parts.pop(0)
        found = importlib.import_module(path)
        while parts:
            try:
                found = importlib.import_module(f"{path}.{parts[0]}")
            except ImportError:
                break
            path += "." + parts.pop(0)
    for part in parts:
        found = getattr(found, part)
    return found
