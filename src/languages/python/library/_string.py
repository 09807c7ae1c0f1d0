"""What `string.Formatter` needs of a format string."""


def formatter_field_name_split(name):
    """Returns the first part of a field's name, and an iterator over the attributes and items behind it."""
    end = next((i for i, c in enumerate(name) if c in ".["), len(name))
    first, rest = name[:end], name[end:]

    def parts():
        at = 0
        while at < len(rest):
            if rest[at] == ".":
                end = next((i for i in range(at + 1, len(rest)) if rest[i] in ".["), len(rest))
                if end == at + 1:
                    raise ValueError("Empty attribute in format string")
                yield True, rest[at + 1 : end]
                at = end
            elif rest[at] == "[":
                end = rest.find("]", at)
                if end < 0:
                    raise ValueError("Missing ']' in format string")
                key = rest[at + 1 : end]
                if not key:
                    raise ValueError("Empty attribute in format string")
                yield False, int(key) if key.isdecimal() else key
                at = end + 1
            else:
                raise ValueError("Only '.' or '[' may follow ']' in format field specifier")

    return (int(first) if first.isdecimal() else first), parts()


def formatter_parser(text):
    """Yields the literal texts of a format string, each with the field behind it."""
    at = 0
    while at < len(text):
        start = at
        while at < len(text) and text[at] not in "{}":
            at += 1
        literal = text[start:at]
        if at == len(text):
            yield literal, None, None, None
            return
        brace = text[at]
        if text[at + 1 : at + 2] == brace:
            yield literal + brace, None, None, None
            at += 2
            continue
        if brace == "}":
            raise ValueError("Single '}' encountered in format string")
        at += 1
        if at == len(text):
            raise ValueError("Single '{' encountered in format string")
        start, depth = at, 1
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        if depth:
            raise ValueError("expected '}' before end of string")
        yield (literal, *_field(text[start : at - 1]))


def _field(field):
    """Splits a field into its name, the format and the conversion."""
    in_brackets = False
    end = len(field)
    for i, c in enumerate(field):
        if c == "[":
            in_brackets = True
        elif c == "]":
            in_brackets = False
        elif not in_brackets and c in "!:":
            end = i
            break
    name, rest, conversion = field[:end], field[end:], None
    if rest.startswith("!"):
        if len(rest) < 2:
            raise ValueError("end of string while looking for conversion specifier")
        conversion, rest = rest[1], rest[2:]
        if rest and not rest.startswith(":"):
            raise ValueError("expected ':' after conversion specifier")
    return name, rest[1:], conversion
