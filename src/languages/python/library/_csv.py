"""Rows of texts, separated by commas or by other characters."""

QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE, QUOTE_STRINGS, QUOTE_NOTNULL = 0, 1, 2, 3, 4, 5
__version__ = "1.0"


class Error(Exception):
    pass


_dialects = {}
_limit = 131072


def _character(value, name):
    """Checks an option that is one character, or none where that is possible."""
    if value is None and name != "delimiter":
        return None
    if not isinstance(value, str):
        raise TypeError(f'"{name}" must be string{"" if name == "delimiter" else " or None"}, not {type(value).__name__}')
    if len(value) != 1:
        raise TypeError(f'"{name}" must be a 1-character string')
    return value


class Dialect:
    """How rows are written."""

    def __init__(self, dialect=None, **options):
        if isinstance(dialect, str):
            dialect = get_dialect(dialect)
        known = dict(
            delimiter=",", doublequote=True, escapechar=None, lineterminator="\r\n", quotechar='"', quoting=QUOTE_MINIMAL,
            skipinitialspace=False, strict=False,
        )
        for name in options:
            if name not in known:
                raise TypeError(f"'{name}' is an invalid keyword argument for this function")
        for name, default in known.items():
            value = options.get(name, getattr(dialect, name, default) if dialect is not None else default)
            setattr(self, name, value)
        self.delimiter = _character(self.delimiter, "delimiter")
        self.escapechar = _character(self.escapechar, "escapechar")
        self.quotechar = _character(self.quotechar or None, "quotechar")
        if not isinstance(self.quoting, int):
            raise TypeError('"quoting" must be an integer')
        if not 0 <= self.quoting <= 3:
            raise TypeError('bad "quoting" value')
        if self.quoting != QUOTE_NONE and self.quotechar is None:
            if "quoting" in options or getattr(dialect, "quoting", None) is not None:
                raise TypeError("quotechar must be set if quoting enabled")
            self.quoting = QUOTE_NONE
        if not isinstance(self.lineterminator, str):
            raise TypeError('"lineterminator" must be a string')


def register_dialect(name, dialect=None, **options):
    if not isinstance(name, str):
        raise TypeError("dialect name must be a string")
    _dialects[name] = Dialect(dialect, **options)


def unregister_dialect(name):
    if name not in _dialects:
        raise Error("unknown dialect")
    del _dialects[name]


def get_dialect(name):
    if name not in _dialects:
        raise Error("unknown dialect")
    return _dialects[name]


def list_dialects():
    return list(_dialects)


def field_size_limit(limit=None):
    global _limit
    before = _limit
    if limit is not None:
        if not isinstance(limit, int):
            raise TypeError("limit must be an integer")
        _limit = limit
    return before


class _Reader:
    """The rows of lines."""

    def __init__(self, lines, dialect):
        self._lines, self.dialect, self.line_num = iter(lines), dialect, 0

    def __iter__(self):
        return self

    def __next__(self):
        dialect = self.dialect
        row, field, state, is_number = [], "", "start", False

        def end():
            nonlocal field, is_number
            row.append(float(field) if is_number else field)
            field, is_number = "", False

        while True:
            try:
                line = next(self._lines)
            except StopIteration:
                if field or state in ("quoted", "escaped", "escaped in quotes"):
                    if dialect.strict:
                        raise Error("unexpected end of data") from None
                    if state != "start" or field:
                        end()
                        return row
                raise
            if not isinstance(line, str):
                raise Error(
                    f"iterator should return strings, not {type(line).__name__} (the file should be opened in text mode)"
                )
            self.line_num += 1
            at = 0
            while at <= len(line):
                c = line[at] if at < len(line) else None
                at += 1
                is_end = c is None or c in "\r\n"
                if state == "start":
                    if c is None:
                        break
                    if is_end:
                        state = "ended"
                        continue
                    state = "field start"
                if state == "ended":
                    if c is None or c in "\r\n":
                        continue
                    raise Error("new-line character seen in unquoted field - do you need to open the file with newline=''?")
                if state == "field start":
                    if is_end:
                        end()
                        state = "ended" if c is not None else "start"
                        if c is None:
                            break
                    elif c == dialect.quotechar and dialect.quoting != QUOTE_NONE:
                        state = "quoted"
                    elif c == dialect.escapechar:
                        state = "escaped"
                    elif c == " " and dialect.skipinitialspace:
                        pass
                    elif c == dialect.delimiter:
                        end()
                    else:
                        is_number = dialect.quoting == QUOTE_NONNUMERIC
                        field += c
                        state = "in field"
                elif state == "escaped":
                    if c is None:
                        break
                    field += c
                    state = "in field"
                elif state == "in field":
                    if is_end:
                        end()
                        state = "ended" if c is not None else "start"
                        if c is None:
                            break
                    elif c == dialect.escapechar:
                        state = "escaped"
                    elif c == dialect.delimiter:
                        end()
                        state = "field start"
                    else:
                        field += c
                elif state == "quoted":
                    if c is None:
                        break
                    if c == dialect.escapechar:
                        state = "escaped in quotes"
                    elif c == dialect.quotechar and dialect.quoting != QUOTE_NONE:
                        state = "quote in quotes" if dialect.doublequote else "in field"
                    else:
                        field += c
                elif state == "escaped in quotes":
                    if c is None:
                        break
                    field += c
                    state = "quoted"
                elif state == "quote in quotes":
                    if c == dialect.quotechar and c is not None:
                        field += c
                        state = "quoted"
                    elif c == dialect.delimiter:
                        end()
                        state = "field start"
                    elif is_end:
                        end()
                        state = "ended" if c is not None else "start"
                        if c is None:
                            break
                    elif dialect.strict:
                        raise Error(f"'{dialect.delimiter}' expected after '{dialect.quotechar}'")
                    else:
                        field += c
                        state = "in field"
                if len(field) > _limit:
                    raise Error(f"field larger than field limit ({_limit})")
            if state in ("start", "ended"):
                return row
            if state == "field start":
                end()
                return row


def reader(lines, dialect=None, **options):
    return _Reader(lines, Dialect(dialect, **options))


class _Writer:
    """Writes rows to a file."""

    def __init__(self, file, dialect):
        if not hasattr(file, "write"):
            raise TypeError('argument 1 must have a "write" method')
        self._write, self.dialect = file.write, dialect

    def _field(self, value, alone):
        dialect = self.dialect
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        text = "" if value is None else value if isinstance(value, str) else repr(value) if isinstance(value, float) else str(value)
        quote = dialect.quoting == QUOTE_ALL or dialect.quoting == QUOTE_NONNUMERIC and not is_number
        special = {dialect.delimiter, dialect.escapechar, dialect.quotechar, "\n", "\r", *dialect.lineterminator} - {None}
        made = ""
        for c in text:
            if c in special:
                if dialect.quoting == QUOTE_NONE:
                    wants_escape = True
                elif c == dialect.quotechar:
                    wants_escape = not dialect.doublequote
                    if not wants_escape:
                        made += c
                        quote = True
                else:
                    wants_escape = c == dialect.escapechar
                    quote = quote or not wants_escape
                if wants_escape:
                    if dialect.escapechar is None:
                        raise Error("need to escape, but no escapechar set")
                    made += dialect.escapechar
            made += c
        if alone and not made:
            if dialect.quoting == QUOTE_NONE:
                raise Error("single empty field record must be quoted")
            quote = True
        return f"{dialect.quotechar}{made}{dialect.quotechar}" if quote else made

    def writerow(self, row):
        try:
            row = list(row)
        except TypeError:
            raise Error(f"iterable expected, not {type(row).__name__}") from None
        fields = [self._field(value, len(row) == 1) for value in row]
        return self._write(self.dialect.delimiter.join(fields) + self.dialect.lineterminator)

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)


def writer(file, dialect=None, **options):
    return _Writer(file, Dialect(dialect, **options))
