"""The scanner of JSON."""

from _json import _scan


def make_scanner(context):
    """Returns a function that reads a value at a place in a text."""
    from json import decoder, scanner

    is_plain = (
        context.object_hook is None
        and context.object_pairs_hook is None
        and context.parse_float is float
        and context.parse_int is int
        and context.parse_constant == decoder._CONSTANTS.__getitem__
    )
    if not is_plain:
        return scanner.py_make_scanner(context)
    strict = context.strict

    def scan_once(string, idx):
        kind, value, place = _scan(string, idx, strict)
        if kind == 0:
            return value, place
        if kind == 1:
            raise decoder.JSONDecodeError(value, string, place)
        raise StopIteration(place)

    return scan_once
