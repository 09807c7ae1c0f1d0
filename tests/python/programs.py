"""Random Python programs and what CPython prints for them: the material of compare.py and of the recorded cases.

    python3 programs.py [--seed S] [--count N]      prints programs with what they print
    python3 programs.py --record [--seed S]         writes cases/ anew
    python3 programs.py --counts [--count N]        prints how often each template comes up

A program is put together from the templates in templates/: each file but two holds pieces of some lines, under a heading
`=== name`. The holes of a piece are filled at random: `$int` by a rule of that name in expressions.txt, or by a variable
of the program; `$int1` by the same text wherever it stands in the piece; `$(a||b)` by one of these alternatives, and
`$how(a||b)` so that `$how` repeats the choice. wrappers.txt holds what a piece may be wrapped in. Behind a heading's name
may stand a number, how many times as often the piece is drawn, and `bare`, if it is not to be wrapped.

The same seed gives the same programs on every machine. Nothing a program prints may depend on addresses or on how texts
are hashed; --record makes sure of the latter.
"""

import argparse
import ast
import collections
import contextlib
import io
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
TEMPLATES = HERE / "templates"
CASES = HERE / "cases"
FILE = "<program>"

SESSIONS = 0.2  # the share of programs that are sessions
ENDINGS = 0.3  # … that get a piece of endings.txt as their last
ECHOED = 0.6  # the share of their prints that become expressions
WRAPPED = 0.3  # the share of pieces that are wrapped
UNCAUGHT = 0.15  # the share of failing pieces that end their program
MISTAKEN = 0.025  # the share of holes filled with a value of any type
KNOWN = 0.3  # … with a variable, where there is one
BARE = 0.3  # … of operations left without parentheses
LINES = (10, 60)
SECONDS = 2
LONGEST_OUTPUT = 3000

HOLE = re.compile(r"\$(?:([a-z]*)\(|([A-Za-z]+\d?))")
VARIABLES = {
    "int": ["n", "m"],
    "float": ["x", "y"],
    "str": ["s", "t"],
    "list": ["xs", "ys"],
    "ints": ["zs"],
    "dict": ["d"],
    "tuple": ["p"],
    "set": ["q"],
    "bytes": ["b"],
}
VALUES = [*VARIABLES, "bool", "complex", "None"]
MODULES = ["math", "functools", "itertools", "collections", "copy", "operator"]

LETTERS = "abcxyz ABC019_-.,é"
WORDS = ["spam", "eggs", "Ham and Eggs", "hello world", "a,b,,c", "  pad ", "12", "-7", "3.5", "tab\tstop", "x=1;y=2"]
WORDS += ["UPPER", "miXed Case", "ünï", "naïve", "ß", "line\nbreak\n", "abcabc", "αβγ", "日本", "0042", "a-b_c", ""]
EDGES = [2**31 - 1, 2**31, -(2**31), 2**32, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**20, -(10**25)]
FLOATS = "0.0 -0.0 0.5 1.0 2.5 -1.5 3.14159 0.1 1e10 1e16 1e22 -2.75 1e-5 1.5e-7 100.0 7.0 1e300 123456.789".split()
FLOATS += ["float('inf')", "float('nan')", "-float('inf')"]


def integer(chance):
    kind = chance.random()
    if kind < 0.65:
        return str(chance.randint(-9, 12))
    return str(chance.randint(-1000, 5000) if kind < 0.85 else chance.choice(EDGES))


def text(chance):
    if chance.random() < 0.6:
        return repr(chance.choice(WORDS))
    return repr("".join(chance.choice(LETTERS) for _ in range(chance.randint(0, 6))))


def format_spec(chance):
    fill = chance.choice(["", "", "*", "0", "-"])
    align = chance.choice("<>^=") if fill else chance.choice(["", "", "<", ">", "^", "="])
    sign, zero = chance.choice(["", "", "+", " "]), chance.choice(["", "", "", "0"])
    width, group = chance.choice(["", "3", "8", "12"]), chance.choice(["", "", ",", "_"])
    precision, kind = chance.choice(["", "", ".0", ".2", ".4"]), chance.choice([*"dxXobeEfFgGns%c", "", ""])
    return f"{fill}{align}{sign}{chance.choice(['', '', '#'])}{zero}{width}{group}{precision}{kind}"


LITERALS = {
    "Int": integer,
    "Float": lambda chance: chance.choice(FLOATS),
    "Str": text,
    "Bytes": lambda chance: repr(bytes(chance.choice(b"abcXYZ01 \x00\xff,") for _ in range(chance.randint(0, 5)))),
    "Spec": format_spec,
    "small": lambda chance: str(chance.randint(0, 4)),
    "digit": lambda chance: str(chance.randint(0, 7)),
    "positive": lambda chance: str(chance.choice([1, 2, 3, 5, 7, 10, 16, 97])),
    "index": lambda chance: str(chance.randint(-4, 4)),
    "word": lambda chance: chance.choice(["apple", "pear", "fig", "plum", "kiwi"]),
    "letter": lambda chance: chance.choice("abcde"),
}


Piece = collections.namedtuple("Piece", "tag lines weight bare")
# What a run prints, the last line of its traceback if it fails, and the line of the program that printed each line.
Result = collections.namedtuple("Result", "stdout error places")


def read_pieces(path):
    pieces = []
    for block in re.split(r"^=== ", path.read_text(), flags=re.M)[1:]:
        heading, *lines = block.strip("\n").split("\n")
        name, *marks = heading.split()
        weight = next((int(mark) for mark in marks if mark.isdigit()), 1)
        pieces.append(Piece(f"{path.stem}/{name}", lines, weight, "bare" in marks))
    return pieces


def read_rules(path):
    rules = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        if line.startswith(" "):
            rules[name].append(line.strip())
        elif line and not line.startswith("#"):
            name = line.rstrip(":")
    return rules


def depths(rules):
    """How many rules deep each rule must go at least."""
    least = dict.fromkeys(LITERALS, 0)
    for _ in rules:
        for name, texts in rules.items():
            known = [deepest(text, least) for text in texts]
            if known:
                least[name] = min(known)
    return least


def deepest(text, least):
    holes = [hole[2].rstrip("0123456789") for hole in HOLE.finditer(text) if hole[2]]
    return 1 + max((least.get(hole, 99) for hole in holes), default=0)


RULES = read_rules(TEMPLATES / "expressions.txt")
LEAST = depths(RULES)
ASIDE = ("expressions", "wrappers", "endings")
PIECES = [piece for path in sorted(TEMPLATES.glob("*.txt")) if path.stem not in ASIDE for piece in read_pieces(path)]
WRAPPERS = read_pieces(TEMPLATES / "wrappers.txt")
END_PIECES = read_pieces(TEMPLATES / "endings.txt")


class Filler:
    """Fills the holes of one piece."""

    def __init__(self, chance, variables):
        self.chance, self.variables, self.bound = chance, variables, {}

    def fill(self, text, depth):
        filled, end = "", 0
        while hole := HOLE.search(text, end):
            filled += text[end : hole.start()]
            if name := hole[2] or (hole[1] in self.bound and hole[1]):
                end = hole.end() - (not hole[2])
                filled += self.hole(name, depth, filled, text[end:])
            else:
                choices, end = alternatives(text, hole.end())
                chosen = self.fill(self.chance.choice(choices), depth)
                if hole[1]:
                    self.bound[hole[1]] = chosen
                filled += chosen
        return filled + text[end:]

    def hole(self, name, depth, before, after):
        if name in self.bound:
            return self.bound[name]
        value = self.value(name.rstrip("0123456789"), depth)
        if not stands_alone(value, before, after) and self.chance.random() > BARE:
            value = f"({value})"
        if name[-1].isdigit():
            self.bound[name] = value
        return value

    def value(self, name, depth):
        if name in VALUES and self.chance.random() < MISTAKEN:
            name = self.chance.choice(VALUES)
        if name in LITERALS:
            return LITERALS[name](self.chance)
        if self.variables.get(name) and self.chance.random() < KNOWN:
            return self.chance.choice(self.variables[name])
        rules = RULES[name]
        if depth <= 0:
            rules = [rule for rule in rules if deepest(rule, LEAST) == LEAST[name]]
        if not rules:
            raise KeyError(f"expressions.txt has no rule {name}")
        return self.fill(self.chance.choice(rules), depth - 1)


def alternatives(text, start):
    """The texts between `||` from here to the closing parenthesis, and the place behind that."""
    depth, end, parts = 1, start, [start]
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 1 and text.startswith("||", end):
            parts += [end, end + 2]
            end += 1
        end += 1
    parts.append(end - 1)
    return [text[first:last] for first, last in zip(parts[::2], parts[1::2])], end


def stands_alone(value, before, after):
    """Whether a text needs no parentheses where it is put."""
    if before.rstrip()[-1:] in tuple("([{,=:") and after.lstrip()[:1] in tuple(")]},:") + ("",):
        return True
    try:
        node = ast.parse(value, mode="eval").body
    except SyntaxError:
        return True
    operations = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr)
    return not isinstance(node, operations)


class Program:
    """The lines of a program, each with the tag of its piece."""

    def __init__(self, tagged, session):
        self.tagged, self.session = tagged, session

    @property
    def source(self):
        return "\n".join(line for line, _ in self.tagged) + "\n"

    @property
    def tags(self):
        return list(dict.fromkeys(tag for _, tag in self.tagged))

    def tag_of(self, line):
        return self.tagged[min(max(line, 1), len(self.tagged)) - 1][1]

    def statements(self):
        """The statements outside of all others: number of the first line, and lines."""
        lines = self.source.splitlines()
        for node in ast.parse(self.source).body:
            first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
            yield first, lines[first - 1 : node.end_lineno]

    def run(self):
        return run_session(self) if self.session else run_script(self.source)


class Stopped(BaseException):
    """A program ran for too long."""


class Printed(io.StringIO):
    """What a program prints, and from which line of its outermost level."""

    def __init__(self):
        super().__init__()
        self.places = []

    def write(self, text):
        frame = sys._getframe(1)
        while frame and (frame.f_code.co_filename, frame.f_code.co_name) != (FILE, "<module>"):
            frame = frame.f_back
        self.places += [frame.f_lineno if frame else 0] * text.count("\n")
        return super().write(text)


def last_line(error):
    kind, message = type(error).__qualname__, str(error)
    return f"{kind}: {message}" if message else kind


@contextlib.contextmanager
def guarded(printed):
    def stop(*_):
        raise Stopped

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    show, sys.displayhook = sys.displayhook, lambda value: None if value is None else print(repr(value))
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.displayhook = show


def run_script(source):
    printed, error, names = Printed(), None, {"__name__": "__main__"}
    with guarded(printed):
        try:
            exec(compile(source, FILE, "exec"), names)
        except Exception as raised:
            error = last_line(raised)
    return Result(printed.getvalue(), error, printed.places)


def run_session(program):
    """The whole transcript is what a session prints."""
    shown, places, names = "", [], {"__name__": "__main__"}
    for first, lines in program.statements():
        printed = Printed()
        shown += ">>> " + "\n... ".join(lines) + "\n"
        with guarded(printed):
            try:
                exec(compile("\n".join(lines) + "\n", FILE, "single"), names)
            except Exception as error:
                print(f"Traceback (most recent call last):\n  ...\n{last_line(error)}")
        answer = printed.getvalue()
        shown += answer if answer.endswith("\n") or not answer else answer + "\n"
        places += [first] * (shown.count("\n") - len(places))
    return Result(shown, None, places)


def indented(lines, by):
    return [by + line if line else line for line in lines]


class Maker:
    """Puts one program together, running it again after each piece."""

    def __init__(self, name):
        self.chance = random.Random(name)
        self.variables = {}
        self.tagged = []

    def make(self):
        session = self.chance.random() < SESSIONS
        self.declare()
        wanted = self.chance.randint(LINES[0], LINES[1] - 22)
        while len(self.tagged) < wanted:
            (piece,) = self.chance.choices(PIECES, [piece.weight for piece in PIECES])
            if self.add(piece, session):
                return complete(self.tagged, session)
        if self.chance.random() < ENDINGS:
            self.add(self.chance.choice(END_PIECES), session, ends=True)
        return complete(self.tagged, session)

    def declare(self):
        for kind in self.chance.sample(list(VARIABLES), self.chance.randint(2, 4)):
            name = self.chance.choice(VARIABLES[kind])
            lines = self.filled([f"{name} = ${kind}"], 0)
            if self.accepts(lines, "start"):
                self.variables.setdefault(kind, []).append(name)

    def filled(self, lines, depth):
        return Filler(self.chance, self.variables).fill("\n".join(lines), depth).split("\n")

    def accepts(self, lines, tag, session=False, fails=False):
        """Adds lines if the program still runs as it should."""
        tagged = self.tagged + [(line, tag) for line in lines]
        result = outcome_of(complete(tagged, session))
        if len(tagged) > LINES[1] or result is None or (result.error and not fails):
            return False
        self.tagged = tagged
        return True

    def add(self, piece, session, ends=False):
        """Adds a piece; tells whether the program ends with it."""
        for _ in range(5):
            lines = self.filled(piece.lines, self.chance.choice([0, 1, 1, 2]))
            if not piece.bare and self.chance.random() < WRAPPED:
                lines = self.wrapped(lines)
            if session:
                lines = [echoed(line) if self.chance.random() < ECHOED else line for line in lines]
            if self.accepts(lines, piece.tag, session):
                return False
            if ends or self.chance.random() < UNCAUGHT:
                if self.accepts(lines, piece.tag, session, fails=True):
                    return True
            caught = ["try:", *indented(lines, "    "), "except Exception as e:", "    print(type(e).__name__, e)"]
            if self.accepts(caught, piece.tag, session):
                return False
        return False

    def wrapped(self, lines):
        (wrapper,) = self.chance.choices(WRAPPERS, [wrapper.weight for wrapper in WRAPPERS])
        wrapped = []
        for line in self.filled(wrapper.lines, 0):
            body = line.strip() == "BODY"
            wrapped += indented(lines, line[: line.index("BODY")]) if body else [line]
        return wrapped


def echoed(line):
    """A print as a bare expression, where it is one of values only."""
    inner = re.fullmatch(r"print\((.+)\)", line)
    try:
        ast.parse(inner[1], mode="eval")
    except (SyntaxError, TypeError):
        return line
    return inner[1]


def complete(tagged, session):
    """The program of these lines and of the imports they need."""
    source = "\n".join(line for line, _ in tagged)
    needed = [name for name in MODULES if re.search(rf"\b{name}\.", source)]
    return Program([(f"import {name}", "start") for name in needed] + tagged, session)


def outcome_of(program):
    """What a program prints; nothing if it prints what is of no use."""
    try:
        result = program.run()
    except (SyntaxError, Stopped, RecursionError):
        return None
    shown = result.stdout + (result.error or "")
    usable = all(c.isprintable() or c in "\n\t" for c in shown)
    return result if usable and len(shown) < LONGEST_OUTPUT and " at 0x" not in shown else None


def make(seed, number):
    return Maker(f"{seed}/{number}").make()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="write cases/ anew")
    parser.add_argument("--counts", action="store_true", help="print how often each template comes up")
    options = parser.parse_args()
    if options.counts:
        tags = collections.Counter(tag for i in range(options.count) for tag in make(options.seed, i).tags)
        for piece in PIECES + END_PIECES:
            print(f"{tags[piece.tag]:6} {piece.tag}")
    else:
        for number in range(options.count):
            program = make(options.seed, number)
            result = program.run()
            source = "" if program.session else program.source
            print(f"# {number}: {', '.join(program.tags)}\n{source}# ->\n{result.stdout}{result.error or ''}")


if __name__ == "__main__":
    main()
