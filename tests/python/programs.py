"""Random Python programs and what CPython prints for them: the material of compare.py and of the recorded cases.

    python3 programs.py [--seed S] [--count N]      prints programs with what they print
    python3 programs.py --record [--seed S]         writes cases/ anew
    python3 programs.py --counts [--count N]        prints how often each template comes up

A program is put together from the templates in templates/. Its files hold pieces of some lines, each under a heading
`=== name`; behind the name may stand a number, how many times as often the piece is drawn, and `bare`, if it is not to be
wrapped in one of wrappers.txt; `absent` marks what tensorsh refuses by name, which is not recorded. A piece of endings.txt
may come last. The holes of a piece are filled at random:

    $int        by a rule of that name in expressions.txt, or by a variable of the program
    $int1       by the same text wherever it stands in the piece
    $Known      by any variable of the program
    $(a||b)     by one of these alternatives
    $how(a||b)  by one of these alternatives, which `$how` repeats

The same seed gives the same programs on every machine. Nothing a program prints may depend on addresses or on how texts
are hashed; --record makes sure of the latter.
"""

import argparse
import ast
import collections
import contextlib
import importlib
import io
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
TEMPLATES = HERE / "templates"
CASES = HERE / "cases"
FILE = "<program>"

SESSIONS = 0.2  # the share of programs that are sessions
ECHOED = 0.6  # the share of a session's prints that become expressions
ENDINGS = 0.3  # the share of programs that get a piece of endings.txt as their last
WRAPPED = 0.3  # the share of pieces that are wrapped
UNCAUGHT = 0.15  # the share of failing pieces that end their program
MISTAKEN = 0.025  # the share of holes filled with a value of any type
FAILING = 0.3  # the share of holes that take the first value there is, failing or not
KNOWN = 0.3  # the share of holes filled with a variable, where there is one
BARE = 0.3  # the share of operations left without parentheses
LINES = (10, 60)
SECONDS, MEMORY, LONGEST_OUTPUT = 2, 1 << 30, 3000  # what a program may need
USELESS = (" at 0x", "MemoryError")  # what tells of the machine
CANDIDATES, RECORDED, RECORDED_BYTES = 6000, 400, 396_000

warnings.simplefilter("ignore")  # such as "is" with a literal

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
EDGES = [2**31 - 1, 2**31, -(2**31), 2**32, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**20]
EDGES += [-(10**25)]
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


Piece = collections.namedtuple("Piece", "tag lines weight bare absent")
# What a run prints, the last line of its traceback if it fails, and the line of the program that printed each line.
Result = collections.namedtuple("Result", "stdout error places")


def read_pieces(path):
    pieces = []
    for block in re.split(r"^=== ", path.read_text(), flags=re.M)[1:]:
        heading, *lines = block.strip("\n").split("\n")
        name, *marks = heading.split()
        weight = next((int(mark) for mark in marks if mark.isdigit()), 1)
        pieces.append(Piece(f"{path.stem}/{name}", lines, weight, "bare" in marks, "absent" in marks))
    return pieces


def read_rules(path):
    rules = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        if line.startswith(" "):
            weight, rule = re.fullmatch(r" +(?:(\d+)x )?(.+)", line).groups()
            rules[name] += [rule] * int(weight or 1)
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
FILES = {path.stem: path for path in sorted(TEMPLATES.glob("*.txt")) if path.stem != "expressions"}
WRAPPERS, END_PIECES = (read_pieces(FILES.pop(name)) for name in ("wrappers", "endings"))
PIECES = [piece for path in FILES.values() for piece in read_pieces(path)]


class Filler:
    """Fills the holes of one piece."""

    def __init__(self, chance, variables, names):
        self.chance, self.variables, self.names, self.bound = chance, variables, names, {}

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
        kind = name.rstrip("0123456789")
        value = self.value(kind, depth)
        while kind in VALUES and self.chance.random() > FAILING and self.fails(value):
            value = self.value(kind, depth)
        tight = after.lstrip()[:2] == "**" or after[:1] in (".", "[", "(")
        if not stands_alone(value, before, after) and (tight or self.chance.random() > BARE):
            value = f"({value})"
        if value.isdigit() and after[:1] == ".":
            value = f"({value})"
        if name[-1].isdigit():
            self.bound[name] = value
        return value

    def fails(self, value):
        try:
            eval(value, {**self.names})
        except Exception:
            return True
        return False

    def value(self, name, depth):
        if name in VALUES and self.chance.random() < MISTAKEN:
            name = self.chance.choice(VALUES)
        if name in LITERALS:
            return LITERALS[name](self.chance)
        if name == "Known":
            return self.chance.choice([known for names in self.variables.values() for known in names] or ["None"])
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
        """The statements outside of all others: number of the first line, and the lines that are not empty."""
        lines = self.source.splitlines()
        for node in ast.parse(self.source).body:
            first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
            yield first, [line for line in lines[first - 1 : node.end_lineno] if line]

    def run(self):
        return run_session(self) if self.session else run_script(self.source)


class Stopped(BaseException):
    """A program ran for too long, or a session printed what does not end its line."""


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

    before, memory = signal.signal(signal.SIGALRM, stop), resource.getrlimit(resource.RLIMIT_AS)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, memory[1]))
    show, sys.displayhook = sys.displayhook, lambda value: None if value is None else print(repr(value))
    try:
        with contextlib.redirect_stdout(printed):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, memory)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.displayhook = show


def run_script(source):
    printed, error, names = Printed(), None, {"__name__": "__main__"}
    with guarded(printed):
        code = compile(source, FILE, "exec")
        try:
            exec(code, names)
        except Exception as raised:
            error = last_line(raised)
    return Result(printed.getvalue(), error, printed.places)


def run_session(program):
    """The whole transcript is what a session prints; it has the first line of an error's message."""
    shown, places, names = "", [], {"__name__": "__main__"}
    for first, lines in program.statements():
        printed = Printed()
        shown += ">>> " + "\n... ".join(lines) + "\n"
        with guarded(printed):
            try:
                exec(compile("\n".join(lines) + "\n", FILE, "single"), names)
            except Exception as error:
                if not f"\n{printed.getvalue()}".endswith("\n"):
                    raise Stopped from error
                print(f"Traceback (most recent call last):\n  ...\n{last_line(error).splitlines()[0]}")
        answer = printed.getvalue()
        if answer and not answer.endswith("\n"):
            raise Stopped
        shown += answer
        places += [first] * (shown.count("\n") - len(places))
    return Result(shown, None, places)


def indented(lines, by):
    """The lines further in by the spaces `by`."""
    return [by + line if line else line for line in lines]


class Maker:
    """Puts one program together, running it again after each piece."""

    def __init__(self, name):
        self.chance = random.Random(name)
        self.variables = {}
        self.names = {name: importlib.import_module(name) for name in MODULES}
        self.tagged = []

    def make(self, longest):
        session = self.chance.random() < SESSIONS
        self.declare()
        wanted = self.chance.randint(LINES[0], longest)
        for piece in self.chance.choices(PIECES, [piece.weight for piece in PIECES], k=30):
            if len(self.tagged) >= wanted:
                break
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
                exec(lines[0], self.names)

    def filled(self, lines, depth):
        return Filler(self.chance, self.variables, self.names).fill("\n".join(lines), depth).split("\n")

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
    usable = all(c.isprintable() or c in "\n\t" for c in shown) and not any(word in shown for word in USELESS)
    return result if usable and len(shown) < LONGEST_OUTPUT else None


def make(seed, number, longest=LINES[1] - 22):
    """A program, to which no more is added as soon as it has `longest` lines."""
    return Maker(f"{seed}/{number}").make(longest)


def run_again(found, hash_seed):
    """The results of programs in a process that hashes texts in another way."""
    command, setting = [sys.executable, __file__, "--again"], {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    given = json.dumps([(program.tagged, program.session) for program in found])
    answer = subprocess.run(command, input=given, env=setting, stdout=subprocess.PIPE, text=True, check=True)
    return [Result(*result) for result in json.loads(answer.stdout)]


SET_OF_TEXTS = re.compile(r"""\{[^{}:]*,[^{}:]*['"][^{}:]*\}|\{[^{}:]*['"][^{}:]*,[^{}:]*\}""")


def stable(found):
    """Those programs that print the same however texts are hashed; that is not left to chance where sets are shown."""
    found = [program for program in found if not SET_OF_TEXTS.search(program.run().stdout)]
    runs = zip(found, *(run_again(found, seed) for seed in range(1, 6)))
    return [program for program, *again in runs if all(result[:2] == program.run()[:2] for result in again)]


def prepare():
    """Starts this process anew if it would hash texts in a way of its own."""
    if sys.version_info[:2] != (3, 11):
        sys.exit("the programs are those of Python 3.11")
    if os.environ.get("PYTHONHASHSEED") is None:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})


def chosen(candidates, share):
    """Small programs that show every template about equally often."""
    shown, kept, left = collections.Counter(), [], share * RECORDED_BYTES
    sizes = {program: len(case(program).encode()) for program in candidates}
    while sizes and len(kept) < share * RECORDED and left > 0:
        best = max(sizes, key=lambda one: sum(0.5 ** shown[tag] for tag in one.tags) / (1500 + sizes[one]))
        left -= sizes.pop(best)
        shown.update(best.tags)
        kept.append(best)
    return kept


def case(program):
    """A program as it is recorded, with what it prints."""
    result = program.run()
    parts = [f"## {', '.join(tag for tag in program.tags if tag != 'start')}"]
    if program.session:
        parts.append(f"```pycon\n{result.stdout}```")
    else:
        parts.append(f"```python\n{program.source}```")
        parts.append(f"```text\n{result.stdout}```")
        if result.error:
            parts.append(f"```error\n{result.error}\n```")
    return "\n\n".join(parts) + "\n"


def record(seed):
    """Writes cases/ anew: a file for each file of templates, and one of sessions."""
    candidates = [make(seed, number, LINES[0] + 4) for number in range(CANDIDATES)]
    absent = {piece.tag for piece in PIECES if piece.absent}
    recordable = [program for program in candidates if ends_in_line(program) and not absent.intersection(program.tags)]
    candidates = stable(recordable)
    scripts, sessions = ([one for one in candidates if one.session == session] for session in (False, True))
    files = collections.defaultdict(list, sessions=chosen(sessions, SESSIONS))
    for program in chosen(scripts, 1 - SESSIONS):
        rooms = collections.Counter(tag.split("/")[0] for _, tag in program.tagged if "/" in tag)
        del rooms["endings"]
        files[max(rooms, key=rooms.get, default="values")].append(program)
    CASES.mkdir(exist_ok=True)
    for old in CASES.glob("*.md"):
        old.unlink()
    for name, found in sorted(files.items()):
        title = f"# {name.capitalize()}\n\nMade by `programs.py --record`; what is printed, CPython printed.\n"
        (CASES / f"{name}.md").write_text("\n".join([title, *map(case, found)]))
        print(f"{len(found):4} cases in {name}.md")


def ends_in_line(program):
    """Whether the text in the record says all of what is printed."""
    result = program.run()
    return not result.stdout or result.stdout.endswith("\n")


def main():
    prepare()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="write cases/ anew")
    parser.add_argument("--counts", action="store_true", help="print how often each template comes up")
    parser.add_argument("--again", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.again:
        found = [Program([tuple(line) for line in tagged], session) for tagged, session in json.load(sys.stdin)]
        print(json.dumps([program.run() for program in found]))
    elif options.record:
        record(options.seed)
    elif options.counts:
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
