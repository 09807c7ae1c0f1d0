"""Values as bytes, in the layouts of C."""

from _struct import _bits, _value


class error(Exception):
    pass


error.__module__ = "struct"

_ORDERS = {"@": "little", "=": "little", "<": "little", ">": "big", "!": "big"}
_INTEGERS = dict(b=1, B=1, h=2, H=2, i=4, I=4, l=4, L=4, q=8, Q=8)
_NATIVE = dict(l=8, L=8, n=8, N=8, P=8)
_FLOATS = dict(e=2, f=4, d=8)
_NAMES = dict(
    b="byte format requires -128 <= number <= 127",
    B="ubyte format requires 0 <= number <= 255",
    h="short format requires -32768 <= number <= 32767",
    H="ushort format requires 0 <= number <= 65535",
)


class Struct:
    """A compiled format."""

    def __init__(self, format):
        if isinstance(format, (bytes, bytearray)):
            format = format.decode("ascii")
        if not isinstance(format, str):
            raise TypeError(f"Struct() argument 1 must be a str or bytes object, not {type(format).__name__}")
        self.format = format
        order = format[:1] if format[:1] in _ORDERS else "@"
        self._order = _ORDERS[order]
        self._is_native = native = order == "@"
        sizes = _INTEGERS | (_NATIVE if native else {})
        self._fields = []
        at, digits = 0, ""
        for code in format[1:] if format[:1] in _ORDERS else format:
            if code.isspace():
                continue
            if code.isdigit():
                digits += code
                continue
            count = int(digits) if digits else 1
            digits = ""
            if code in "sp":
                self._fields.append((code, at, count))
                at += count
                continue
            if code in "xc?":
                size = 1
            elif code in sizes:
                size = sizes[code]
            elif code in _FLOATS:
                size = _FLOATS[code]
            else:
                raise error("bad char in struct format")
            if native:
                at += -at % size
            for _ in range(count):
                if code != "x":
                    self._fields.append((code, at, size))
                at += size
        if digits:
            raise error("repeat count given without format specifier")
        self.size = at

    def _packed(self, code, size, value):
        if code == "c":
            if not isinstance(value, bytes) or len(value) != 1:
                raise error("char format requires a bytes object of length 1")
            return value
        if code in "sp":
            if not isinstance(value, (bytes, bytearray)):
                raise error(f"argument for '{code}' must be a bytes object")
            if code == "s":
                return bytes(value[:size]).ljust(size, b"\0")
            value = bytes(value[: max(0, min(size - 1, 255))])
            return (bytes([len(value)]) + value).ljust(size, b"\0") if size else b""
        if code == "?":
            return b"\1" if value else b"\0"
        if code in _FLOATS:
            if not isinstance(value, (int, float)) and not hasattr(value, "__float__") and not hasattr(value, "__index__"):
                raise error("required argument is not a float")
            try:
                bits = _bits(value, size)
            except OverflowError:
                if not (self._is_native and code == "f"):
                    raise
                bits = 0x7F800000 if value > 0 else 0xFF800000
            return bits.to_bytes(size, self._order)
        if not isinstance(value, int):
            if not hasattr(value, "__index__"):
                raise error("required argument is not an integer")
            value = value.__index__()
        signed = code.islower()
        try:
            return value.to_bytes(size, self._order, signed=signed)
        except OverflowError:
            pass
        if code == "P":
            raise error("int too large to convert")
        # CPython reads a C long first, or an unsigned one.
        fits = 0 <= value < 1 << 64 if code in "ILQN" else -(1 << 63) <= value < 1 << 63
        if not fits or size == 8:
            raise error("argument out of range")
        if code in _NAMES:
            raise error(_NAMES[code])
        least, most = (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if signed else (0, (1 << 8 * size) - 1)
        raise error(f"'{code}' format requires {least} <= number <= {most}")

    def pack(self, *values):
        if len(values) != len(self._fields):
            raise error(f"pack expected {len(self._fields)} items for packing (got {len(values)})")
        made = bytearray(self.size)
        for (code, at, size), value in zip(self._fields, values):
            made[at : at + size] = self._packed(code, size, value)
        return bytes(made)

    def pack_into(self, buffer, offset, *values):
        if len(values) != len(self._fields):
            raise error(f"pack_into expected {len(self._fields)} items for packing (got {len(values)})")
        view = memoryview(buffer)
        if offset < 0:
            offset += len(view)
        if len(view) - offset < self.size:
            raise error(
                f"pack_into requires a buffer of at least {self.size + offset} bytes for packing {self.size} bytes at "
                f"offset {offset} (actual buffer size is {len(view)})"
            )
        view[offset : offset + self.size] = self.pack(*values)

    def _unpacked(self, data):
        for code, at, size in self._fields:
            part = data[at : at + size]
            if code in "cs":
                yield part
            elif code == "p":
                yield part[1 : 1 + part[0]] if size else b""
            elif code == "?":
                yield part != b"\0"
            else:
                number = int.from_bytes(part, self._order, signed=code.islower() and code not in _FLOATS)
                yield _value(number, size) if code in _FLOATS else number

    def unpack(self, buffer):
        data = bytes(buffer)
        if len(data) != self.size:
            raise error(f"unpack requires a buffer of {self.size} bytes")
        return tuple(self._unpacked(data))

    def unpack_from(self, buffer, offset=0):
        data = bytes(buffer)
        if offset < 0:
            if offset + len(data) < 0:
                raise error(f"offset {offset} out of range for {len(data)}-byte buffer")
            offset += len(data)
        if len(data) - offset < self.size:
            raise error(
                f"unpack_from requires a buffer of at least {self.size + offset} bytes for unpacking {self.size} bytes at "
                f"offset {offset} (actual buffer size is {len(data)})"
            )
        return tuple(self._unpacked(data[offset : offset + self.size]))

    def iter_unpack(self, buffer):
        data = bytes(buffer)
        if not self.size:
            raise error("cannot iteratively unpack with a struct of length 0")
        if len(data) % self.size:
            raise error(f"iterative unpacking requires a buffer of a multiple of {self.size} bytes")
        return (tuple(self._unpacked(data[at : at + self.size])) for at in range(0, len(data), self.size))


_known = {}


def _compiled(format):
    known = _known.get(format)
    if known is None:
        known = _known[format] = Struct(format)
    return known


def calcsize(format):
    return _compiled(format).size


def pack(format, *values):
    return _compiled(format).pack(*values)


def pack_into(format, buffer, offset, *values):
    return _compiled(format).pack_into(buffer, offset, *values)


def unpack(format, buffer):
    return _compiled(format).unpack(buffer)


def unpack_from(format, buffer, offset=0):
    return _compiled(format).unpack_from(buffer, offset)


def iter_unpack(format, buffer):
    return _compiled(format).iter_unpack(buffer)


def _clearcache():
    _known.clear()
