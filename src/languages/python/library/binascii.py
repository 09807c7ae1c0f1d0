"""Bytes as text: base 64 and hexadecimal."""


class Error(ValueError):
    pass


class Incomplete(Exception):
    pass


_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES = {letter: value for value, letter in enumerate(_LETTERS)}


def _bytes(data):
    if isinstance(data, str):
        if not data.isascii():
            raise ValueError("string argument should contain only ASCII characters")
        return data.encode()
    try:
        return bytes(memoryview(data))
    except TypeError:
        kind = type(data).__name__
        raise TypeError(f"argument should be bytes, buffer or ASCII string, not '{kind}'") from None


def b2a_base64(data, *, newline=True):
    if isinstance(data, str):
        raise TypeError("a bytes-like object is required, not 'str'")
    data = bytes(data)
    made = bytearray()
    for at in range(0, len(data), 3):
        part = data[at : at + 3]
        number = int.from_bytes(part.ljust(3, b"\0"), "big")
        letters = [_LETTERS[number >> shift & 63] for shift in (18, 12, 6, 0)]
        made += bytes(letters[: len(part) + 1]) + b"=" * (3 - len(part))
    return bytes(made) + (b"\n" if newline else b"")


def a2b_base64(data, *, strict_mode=False):
    data = _bytes(data)
    made, number, count, pads = bytearray(), 0, 0, 0
    if strict_mode and data[:1] == b"=":
        raise Error("Leading padding not allowed")
    for at, letter in enumerate(data):
        if letter == 61:
            pads += 1
            if count >= 2 and count + pads >= 4:
                if strict_mode and at + 1 < len(data):
                    raise Error("Excess data after padding")
                break
            continue
        value = _VALUES.get(letter)
        if value is None:
            if strict_mode:
                raise Error("Only base64 data is allowed")
            continue
        if strict_mode and pads:
            raise Error("Discontinuous padding not allowed")
        pads = 0
        number = number << 6 | value
        count += 1
        if count == 4:
            made += number.to_bytes(3, "big")
            number = count = 0
    else:
        if count == 1:
            total = len(made) // 3 * 4 + 1
            raise Error(
                f"Invalid base64-encoded string: number of data characters ({total}) cannot be 1 more than a multiple of 4"
            )
        if count:
            raise Error("Incorrect padding")
        return bytes(made)
    made += (number << 6 * (4 - count)).to_bytes(3, "big")[: count - 1]
    return bytes(made)


def hexlify(data, sep=None, bytes_per_sep=1):
    text = bytes(data).hex() if sep is None else bytes(data).hex(sep, bytes_per_sep)
    return text.encode()


b2a_hex = hexlify


def unhexlify(hexstr):
    data = _bytes(hexstr)
    if len(data) % 2:
        raise Error("Odd-length string")
    try:
        values = [int(chr(c), 16) for c in data]
    except ValueError:
        raise Error("Non-hexadecimal digit found") from None
    return bytes(high << 4 | low for high, low in zip(values[::2], values[1::2]))


a2b_hex = unhexlify
_table = []


def crc32(data, value=0):
    if not _table:
        for entry in range(256):
            for _ in range(8):
                entry = entry >> 1 ^ (0xEDB88320 if entry & 1 else 0)
            _table.append(entry)
    value ^= 0xFFFFFFFF
    for byte in bytes(data):
        value = _table[(value ^ byte) & 255] ^ value >> 8
    return value ^ 0xFFFFFFFF
