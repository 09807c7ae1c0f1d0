

_read_string = scanstring


def scanstring(s, end, strict=True):
    try:
        return _read_string(s, end, strict)
    except JSONDecodeError as error:
        if not error.msg.startswith("Invalid \\escape: "):
            raise
        raise JSONDecodeError("Invalid \\escape", s, error.pos - 1) from None
