"""Makes the programs of `_sre` of parsed regular expressions."""

import _sre
from . import _casefix, _parser
from ._constants import *

_SINGLE = (LITERAL, NOT_LITERAL, ANY, IN)
_CATEGORIES = {
    CATEGORY_DIGIT: 0,
    CATEGORY_NOT_DIGIT: 1,
    CATEGORY_SPACE: 2,
    CATEGORY_NOT_SPACE: 3,
    CATEGORY_WORD: 4,
    CATEGORY_NOT_WORD: 5,
}
_TYPE_FLAGS = SRE_FLAG_ASCII | SRE_FLAG_LOCALE | SRE_FLAG_UNICODE
_CHAR, _ANY, _ANY_ALL, _SET, _SPLIT, _JUMP, _SAVE, _AT = 0, 1, 2, 3, 4, 5, 6, 7
_GROUP, _ASSERT, _DONE, _ATOMIC, _IF_GROUP, _REPEAT_ONE, _BEGIN_LOOP, _LOOP, _FAIL = 9, 10, 11, 12, 13, 14, 15, 16, 18


def isstring(obj):
    return isinstance(obj, (str, bytes))


class _Builder:
    """The program as far as it is written."""

    def __init__(self):
        self.code = []
        self.counters = 0

    def emit(self, *op):
        self.code.append(op)
        return len(self.code) - 1

    def pattern(self, pattern, flags):
        for op, av in pattern:
            if op in _SINGLE:
                self.single(op, av, flags)
            elif op is SUBPATTERN:
                group, add_flags, del_flags, p = av
                if group:
                    self.emit(_SAVE, 2 * (group - 1))
                self.pattern(p, _combined(flags, add_flags, del_flags))
                if group:
                    self.emit(_SAVE, 2 * (group - 1) + 1)
            elif op in (MAX_REPEAT, MIN_REPEAT, POSSESSIVE_REPEAT):
                self.repeat(op, av, flags)
            elif op is BRANCH:
                ends = []
                for p in av[1][:-1]:
                    split = self.emit()
                    self.pattern(p, flags)
                    ends.append(self.emit())
                    self.code[split] = (_SPLIT, split + 1, len(self.code))
                self.pattern(av[1][-1], flags)
                for end in ends:
                    self.code[end] = (_JUMP, len(self.code))
            elif op in (ASSERT, ASSERT_NOT):
                direction, p = av
                back = 0
                if direction < 0:
                    back, most = p.getwidth()
                    if back != most:
                        raise error("look-behind requires fixed-width pattern")
                start = self.emit()
                self.pattern(p, flags)
                self.emit(_DONE)
                self.code[start] = (_ASSERT, op is ASSERT_NOT, back, len(self.code))
            elif op is ATOMIC_GROUP:
                self.atomic(lambda: self.pattern(av, flags))
            elif op is AT:
                self.emit(_AT, _at(av, flags))
            elif op is GROUPREF:
                self.emit(_GROUP, av - 1, bool(flags & SRE_FLAG_IGNORECASE))
            elif op is GROUPREF_EXISTS:
                group, yes, no = av
                start = self.emit()
                self.pattern(yes, flags)
                end = self.emit() if no else None
                self.code[start] = (_IF_GROUP, group - 1, len(self.code))
                if no:
                    self.pattern(no, flags)
                    self.code[end] = (_JUMP, len(self.code))
            elif op is FAILURE:
                self.emit(_FAIL)
            elif op is not SUCCESS:
                raise error(f"internal: unsupported operand type {op!r}")

    def atomic(self, body):
        start = self.emit()
        body()
        self.emit(_DONE)
        self.code[start] = (_ATOMIC, len(self.code))

    def repeat(self, op, av, flags):
        least, most, p = av
        inner = p
        while len(inner) == 1 and inner[0][0] is SUBPATTERN and inner[0][1][0] is None and not any(inner[0][1][1:3]):
            inner = inner[0][1][3]
        if len(inner) == 1 and inner[0][0] in _SINGLE:
            self.emit(_REPEAT_ONE, least, most, (MAX_REPEAT, MIN_REPEAT, POSSESSIVE_REPEAT).index(op))
            self.single(*inner[0], flags)
        elif op is POSSESSIVE_REPEAT:
            self.atomic(lambda: self.loop(least, most, p, True, flags))
        else:
            self.loop(least, most, p, op is MAX_REPEAT, flags)

    def loop(self, least, most, p, is_greedy, flags):
        counter = self.counters
        self.counters += 1
        self.emit(_BEGIN_LOOP, counter)
        head = self.emit()
        self.pattern(p, flags)
        self.emit(_JUMP, head)
        self.code[head] = (_LOOP, counter, least, most, is_greedy, len(self.code))

    def single(self, op, av, flags):
        """Writes what matches one character."""
        if op is ANY:
            self.emit(_ANY_ALL if flags & SRE_FLAG_DOTALL else _ANY)
            return
        if op is IN:
            negated, ranges, categories = False, [], []
            for kind, value in av:
                if kind is NEGATE:
                    negated = True
                elif kind is LITERAL:
                    ranges += _cased(value, flags)
                elif kind is RANGE:
                    ranges += _cased_range(*value, flags)
                else:
                    categories.append(_CATEGORIES[value] + (8 if flags & SRE_FLAG_UNICODE else 0))
            ignores_case = bool(flags & SRE_FLAG_IGNORECASE and flags & SRE_FLAG_UNICODE)
            self.emit(_SET, negated, ignores_case, tuple(ranges), tuple(categories))
            return
        ignores_case = bool(flags & SRE_FLAG_IGNORECASE and flags & SRE_FLAG_UNICODE)
        cases = _cased(av, flags)
        if op is LITERAL and len(cases) == 1:
            self.emit(_CHAR, av)
        else:
            self.emit(_SET, op is NOT_LITERAL, ignores_case, tuple(cases), ())


def _combined(flags, add_flags, del_flags):
    if add_flags & _TYPE_FLAGS:
        flags &= ~_TYPE_FLAGS
    return (flags | add_flags) & ~del_flags


def _at(code, flags):
    if code is AT_BEGINNING:
        return 1 if flags & SRE_FLAG_MULTILINE else 0
    if code is AT_END:
        return 3 if flags & SRE_FLAG_MULTILINE else 2
    if code in (AT_BOUNDARY, AT_NON_BOUNDARY):
        return (5 if code is AT_BOUNDARY else 6) + (2 if flags & SRE_FLAG_UNICODE else 0)
    return 0 if code is AT_BEGINNING_STRING else 4


def _cased(c, flags):
    """Returns the characters that a literal matches, as ranges."""
    if not flags & SRE_FLAG_IGNORECASE:
        return [(int(c), int(c))]
    if flags & SRE_FLAG_UNICODE:
        cases = set(_sre._cases(c))
        for case in list(cases):
            cases.update(_casefix._EXTRA_CASES.get(case, ()))
    else:
        cases = {c, c ^ 32} if 65 <= c & ~32 <= 90 and c < 128 else {c}
    return [(int(case), int(case)) for case in sorted(cases)]


def _cased_range(low, high, flags):
    ranges = [(int(low), int(high))]
    if flags & SRE_FLAG_IGNORECASE and not flags & SRE_FLAG_UNICODE:
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            if low <= last and high >= first:
                ranges.append((max(low, first) + shift, min(high, last) + shift))
    return ranges


def compile(p, flags=0):
    """Returns the Pattern of a text, or of what the parser has made of one."""
    pattern = None
    if isstring(p):
        pattern = p
        p = _parser.parse(p, flags)
    flags |= p.state.flags
    builder = _Builder()
    builder.pattern(p, flags)
    if flags & SRE_FLAG_DEBUG:
        p.dump()
    names = [None] * p.state.groups
    for name, group in p.state.groupdict.items():
        names[group] = name
    groups = p.state.groups - 1
    is_text = None if pattern is None else isinstance(pattern, str)
    program = _sre._program(builder.code, groups, builder.counters, is_text)
    return _sre.Pattern(pattern, int(flags), program, groups, p.state.groupdict, tuple(names))
