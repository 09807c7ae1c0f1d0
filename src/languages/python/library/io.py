"""Files in memory, and the classes of files. `open` and `BytesIO` are builtin."""

import abc
import builtins
from io import BytesIO, UnsupportedOperation

DEFAULT_BUFFER_SIZE = 8192
SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
BlockingIOError = builtins.BlockingIOError


@staticmethod
def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    if isinstance(file, int):
        import posix

        file = posix._file(file).name
    elif opener is not None:
        import posix

        number = opener(file, posix.O_RDWR)
        file = posix._file(number).name
        posix.close(number)
    return builtins.open(file, mode, buffering, encoding, errors, newline)


def open_code(path):
    return builtins.open(path, "rb")


def text_encoding(encoding, stacklevel=2):
    return "locale" if encoding is None else encoding


class IOBase(metaclass=abc.ABCMeta):
    """What all files do."""

    _closed = False

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        self._check()
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def _check(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")

    @property
    def closed(self):
        return self._closed

    def close(self):
        self._closed = True

    def flush(self):
        self._check()

    def isatty(self):
        self._check()
        return False

    def readable(self):
        return False

    def writable(self):
        return False

    def seekable(self):
        return False

    def fileno(self):
        raise UnsupportedOperation("fileno")

    def seek(self, offset, whence=0):
        raise UnsupportedOperation("seek")

    def tell(self):
        return self.seek(0, 1)

    def truncate(self, size=None):
        raise UnsupportedOperation("truncate")

    def readline(self, size=-1):
        line = type(self.read(0))()
        while size < 0 or len(line) < size:
            c = self.read(1)
            line += c
            if not c or c in ("\n", b"\n"):
                break
        return line

    def readlines(self, hint=-1):
        lines, size = [], 0
        for line in self:
            lines.append(line)
            size += len(line)
            if hint is not None and 0 < hint <= size:
                break
        return lines

    def writelines(self, lines):
        for line in lines:
            self.write(line)


class RawIOBase(IOBase):
    pass


class BufferedIOBase(IOBase):
    pass


class TextIOBase(IOBase):
    encoding = errors = newlines = None


class StringIO(TextIOBase):
    """A file of text in memory."""

    def __init__(self, initial_value="", newline="\n"):
        if not isinstance(initial_value, (str, type(None))):
            raise TypeError(f"initial_value must be str or None, not {type(initial_value).__name__}")
        self._newline = newline
        self._text = self._read_form(initial_value or "")
        self._at = 0

    def _check(self):
        if self._closed:
            raise ValueError("I/O operation on closed file")

    def _read_form(self, text):
        if self._newline is None:
            return text.replace("\r\n", "\n").replace("\r", "\n")
        return text if self._newline in ("", "\n") else text.replace("\n", self._newline)

    def getvalue(self):
        self._check()
        return self._text

    def readable(self):
        self._check()
        return True

    writable = seekable = readable

    def read(self, size=-1):
        self._check()
        start = self._at
        if size is None or size < 0:
            end = len(self._text)
        else:
            end = start + size
        made = self._text[start:end]
        self._at = max(start, min(end, len(self._text)))
        return made

    def readline(self, size=-1):
        self._check()
        start = self._at
        end = self._text.find("\n", start)
        end = len(self._text) if end < 0 else end + 1
        if size is not None and size >= 0:
            end = min(end, start + size)
        self._at = max(start, end)
        return self._text[start:end]

    def write(self, s):
        self._check()
        if not isinstance(s, str):
            raise TypeError(f"string argument expected, got '{type(s).__name__}'")
        length = len(s)
        s = self._read_form(s)
        before = self._text
        if self._at == len(before):
            self._text = before + s
        else:
            self._text = before[: self._at].ljust(self._at, "\0") + s + before[self._at + len(s) :]
        self._at += len(s)
        return length

    def seek(self, cookie, whence=0):
        self._check()
        if whence == 0:
            if cookie < 0:
                raise ValueError(f"Negative seek position {cookie}")
            self._at = cookie
        elif cookie:
            raise OSError("Can't do nonzero cur-relative seeks")
        elif whence == 2:
            self._at = len(self._text)
        return self._at

    def tell(self):
        self._check()
        return self._at

    def truncate(self, size=None):
        self._check()
        size = self._at if size is None else size
        if size < 0:
            raise ValueError(f"Negative size value {size}")
        self._text = self._text[:size]
        return size

    def __repr__(self):
        return f"<_io.StringIO object at {id(self):#x}>"


StringIO.__module__ = "_io"


class TextIOWrapper(TextIOBase):
    """A file of text over one of bytes."""

    def __init__(self, buffer, encoding=None, errors=None, newline=None, line_buffering=False, write_through=False):
        self.buffer = buffer
        self.encoding = encoding or "utf-8"
        self.errors = errors or "strict"
        self._newline = newline
        self._text, self._at = None, 0

    def readable(self):
        return self.buffer.readable()

    def writable(self):
        return self.buffer.writable()

    def seekable(self):
        return self.buffer.seekable()

    @property
    def closed(self):
        return self.buffer.closed

    @property
    def name(self):
        return self.buffer.name

    def _all(self):
        if self._text is None:
            text = self.buffer.read().decode(self.encoding, self.errors)
            if self._newline is None:
                text = text.replace("\r\n", "\n").replace("\r", "\n")
            self._text, self._at = text, 0
        return self._text

    def read(self, size=-1):
        self._check()
        text, start = self._all(), self._at
        self._at = len(text) if size is None or size < 0 else min(len(text), start + size)
        return text[start : self._at]

    def readline(self, size=-1):
        self._check()
        text, start = self._all(), self._at
        end = text.find("\n", start)
        end = len(text) if end < 0 else end + 1
        self._at = end if size is None or size < 0 else min(end, start + size)
        return text[start : self._at]

    def write(self, s):
        self._check()
        if not isinstance(s, str):
            raise TypeError(f"write() argument must be str, not {type(s).__name__}")
        self._text = None
        line_end = self._newline if self._newline not in (None, "") else "\n"
        self.buffer.write(s.replace("\n", line_end).encode(self.encoding, self.errors))
        return len(s)

    def seek(self, cookie, whence=0):
        self._text = None
        return self.buffer.seek(cookie, whence)

    def tell(self):
        return self.buffer.tell()

    def truncate(self, size=None):
        return self.buffer.truncate(size)

    def flush(self):
        self.buffer.flush()

    def detach(self):
        buffer, self.buffer = self.buffer, None
        return buffer

    def close(self):
        if self.buffer is not None and not self.buffer.closed:
            self.buffer.close()

    def __repr__(self):
        return f"<_io.TextIOWrapper encoding={self.encoding!r}>"


TextIOWrapper.__module__ = "_io"
BufferedIOBase.register(type(BytesIO()))
FileIO = BufferedReader = BufferedWriter = BufferedRandom = BufferedRWPair = BufferedIOBase
