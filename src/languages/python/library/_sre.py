"""Patterns and matches of regular expressions."""

from _sre import _cases, _program, _run, _run_all
from types import GenericAlias, MappingProxyType

MAGIC = 20221023
CODESIZE = 4
MAXREPEAT = 4294967295
MAXGROUPS = 1073741823


def getcodesize():
    return CODESIZE


def unicode_iscased(c):
    return len(_cases(c)) > 1


def unicode_tolower(c):
    return ord(chr(c).lower()[0])


def ascii_iscased(c):
    return c < 128 and chr(c).isalpha()


def ascii_tolower(c):
    return c + 32 if 65 <= c <= 90 else c


def template(pattern, parts):
    """Keeps a replacement, of which every other part is a group."""
    return parts


def _filled(match, parts):
    made = parts[0]
    for group, literal in zip(parts[1::2], parts[2::2]):
        part = match.group(group)
        if part is not None:
            made += part
        made += literal
    return made


_FLAGS = (
    (1, "re.TEMPLATE"), (2, "re.IGNORECASE"), (4, "re.LOCALE"), (8, "re.MULTILINE"), (16, "re.DOTALL"),
    (64, "re.VERBOSE"), (128, "re.DEBUG"), (256, "re.ASCII"), (32, "re.UNICODE"),
)


# Behind every text.
_END = 9223372036854775807


class Pattern:
    """A compiled regular expression."""

    def __init__(self, pattern, flags, program, groups, groupindex, names):
        self.pattern, self.flags, self.groups = pattern, flags, groups
        self.groupindex = MappingProxyType(groupindex)
        self._program, self._names = program, names
        self._is_text = not isinstance(pattern, bytes)

    def match(self, string, pos=0, endpos=_END):
        found = _run(self._program, string, pos, endpos, 0, False)
        return None if found is None else Match(self, string, found)

    def fullmatch(self, string, pos=0, endpos=_END):
        found = _run(self._program, string, pos, endpos, 1, False)
        return None if found is None else Match(self, string, found)

    def search(self, string, pos=0, endpos=_END):
        found = _run(self._program, string, pos, endpos, 2, False)
        return None if found is None else Match(self, string, found)

    def finditer(self, string, pos=0, endpos=_END):
        # What is no string is refused now, not at the first item.
        _run(self._program, string, 0, 0, 0, False)
        return self._each(string, pos, endpos)

    def _each(self, string, pos, endpos):
        start, must_advance = pos, False
        while True:
            found = _run(self._program, string, start, endpos, 2, must_advance)
            if found is None:
                return
            yield Match(self, string, found)
            start = found[2]
            must_advance = found[1] == start

    def findall(self, string, pos=0, endpos=_END):
        all = _run_all(self._program, string, pos, endpos) or ()
        if self.groups == 0:
            return [string[found[1] : found[2]] for found in all]
        empty = "" if isinstance(string, str) else b""
        if self.groups == 1:
            return [empty if found[3] < 0 else string[found[3] : found[4]] for found in all]
        places = range(3, 3 + 2 * self.groups, 2)
        return [
            tuple(empty if found[at] < 0 else string[found[at] : found[at + 1]] for at in places) for found in all
        ]

    def split(self, string, maxsplit=0):
        parts, at = [], 0
        places = range(3, 3 + 2 * self.groups, 2)
        for count, found in enumerate(_run_all(self._program, string, 0, _END)):
            if maxsplit and count >= maxsplit:
                break
            parts.append(string[at : found[1]])
            parts += [None if found[place] < 0 else string[found[place] : found[place + 1]] for place in places]
            at = found[2]
        parts.append(string[at:])
        return parts

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def subn(self, repl, string, count=0):
        if callable(repl):
            replacement = repl
        elif ("\\" if isinstance(repl, str) else b"\\") in repl:
            import re

            parts = re._compile_template(self, repl)
            replacement = None if len(parts) == 1 else lambda match: _filled(match, parts)
            repl = parts[0]
        else:
            replacement = None
        made, at, number = [], 0, 0
        for found in _run_all(self._program, string, 0, _END):
            if count and number >= count:
                break
            made.append(string[at : found[1]])
            new = repl if replacement is None else replacement(Match(self, string, found))
            if new is not None:
                made.append(new)
            at = found[2]
            number += 1
        made.append(string[at:])
        return ("" if isinstance(string, str) else b"").join(made), number

    def scanner(self, string, pos=0, endpos=_END):
        return _Scanner(self, string, pos, endpos)

    def __eq__(self, other):
        if not isinstance(other, Pattern):
            return NotImplemented
        return (self.flags, self.pattern) == (other.flags, other.pattern) and self._is_text == other._is_text

    def __hash__(self):
        return hash((self.flags, self.pattern))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        flags = self.flags
        if self._is_text and flags & (4 | 32 | 256) == 32:
            flags &= ~32
        names = [name for flag, name in _FLAGS if flags & flag]
        rest = flags & ~sum(flag for flag, _ in _FLAGS)
        if rest:
            names.append(f"{rest:#x}")
        text = repr(self.pattern)[:200]
        return f"re.compile({text}{', ' + '|'.join(names) if names else ''})"

    __class_getitem__ = classmethod(GenericAlias)


Pattern.__module__ = "re"


class _Scanner:
    """Matches one behind the other."""

    def __init__(self, pattern, string, pos, endpos):
        self.pattern = pattern
        self._string, self._pos, self._endpos, self._must_advance = string, pos, endpos, False

    def _next(self, mode):
        if self._pos is None:
            return None
        found = _run(self.pattern._program, self._string, self._pos, self._endpos, mode, self._must_advance)
        if found is None:
            self._pos = None
            return None
        self._pos = found[2]
        self._must_advance = found[1] == found[2]
        return Match(self.pattern, self._string, found)

    def match(self):
        return self._next(0)

    def search(self):
        return self._next(2)


class Match:
    """Where a pattern was found."""

    def __init__(self, re, string, found):
        self.re, self.string, self._found = re, string, found

    @property
    def pos(self):
        return self._found[-2]

    @property
    def endpos(self):
        return self._found[-1]

    @property
    def lastindex(self):
        return None if self._found[0] < 0 else self._found[0]

    @property
    def lastgroup(self):
        return None if self._found[0] < 0 else self.re._names[self._found[0]]

    @property
    def regs(self):
        return tuple(self.span(group) for group in range(self.re.groups + 1))

    def _number(self, group):
        if isinstance(group, str) or isinstance(group, bytes):
            number = self.re.groupindex.get(group)
        elif hasattr(group, "__index__"):
            number = group.__index__()
        else:
            number = None
        if number is None or not 0 <= number <= self.re.groups:
            raise IndexError("no such group")
        return number

    def _part(self, number, default=None):
        start = self._found[2 * number + 1]
        end = self._found[2 * number + 2]
        if start < 0 or end < 0:
            return default
        part = self.string[start:end]
        return part if isinstance(part, str) else bytes(part)

    def group(self, *groups):
        if not groups:
            return self._part(0)
        if len(groups) == 1:
            return self._part(self._number(groups[0]))
        return tuple(self._part(self._number(group)) for group in groups)

    def __getitem__(self, group):
        return self._part(self._number(group))

    def groups(self, default=None):
        return tuple(self._part(number, default) for number in range(1, self.re.groups + 1))

    def groupdict(self, default=None):
        return {name: self._part(number, default) for name, number in self.re.groupindex.items()}

    def span(self, group=0):
        number = self._number(group)
        start, end = self._found[2 * number + 1], self._found[2 * number + 2]
        return (-1, -1) if end < 0 else (start, end)

    def start(self, group=0):
        return self.span(group)[0]

    def end(self, group=0):
        return self.span(group)[1]

    def expand(self, template):
        import re

        return _filled(self, re._compile_template(self.re, template))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<re.Match object; span={self.span()!r}, match={repr(self.group())[:50]}>"

    __class_getitem__ = classmethod(GenericAlias)


Match.__module__ = "re"
