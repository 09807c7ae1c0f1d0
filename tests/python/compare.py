"""Runs random programs (see programs.py) with CPython, in this process, and with tensorsh, and says where they differ.

    python3 compare.py BINARY [--seed S] [--count N] [--show K] [--only TAG]

What counts is what a program prints and the last line of its traceback. A program in which BINARY refuses something by
name (`… not supported at this prompt`) is neither the same nor different. A difference is booked under the template
whose lines made it. The K smallest programs that differ, each of another template, are shown, without the lines that
do not matter. The exit status is 1 if any differ.
"""

import argparse
import ast
import collections
import concurrent.futures
import contextlib
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

import programs
from programs import Program, Result

SECONDS = 10
REFUSAL = "not supported at this prompt"
PLACE = re.compile(r"p\.py(?::(\d+):\d+)?: ")
TRIES = 500  # runs that shrinking one program may take

Difference = collections.namedtuple("Difference", "program wanted got")


def answer(binary, program, folder):
    """What BINARY prints for a program, and the line it says an error is in."""
    name, source = ("p.txt", transcript(program)) if program.session else ("p.py", program.source)
    (folder / name).write_text(source)
    command = [binary, "--color", "never", "--no-config", *(["replay"] if program.session else []), name]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Result("", f"no answer within {SECONDS} seconds", []), 0
    stdout, stderr = run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")
    if run.returncode not in (0, 1):
        return Result(stdout, f"exit status {run.returncode}: {stderr}", []), 0
    place = PLACE.match(stderr)
    error = stderr[place.end() :] if place else stderr or None
    return Result(stdout, error, []), int(place[1] or 0) if place else 0


def transcript(program):
    return "".join(">>> " + "\n... ".join(lines) + "\n" for _, lines in program.statements())


def differs(wanted, got):
    """Whether two answers differ; below an error BINARY shows where it happened."""
    if wanted.stdout != got.stdout or (wanted.error is None) != (got.error is None):
        return True
    return wanted.error is not None and not f"{got.error}\n".startswith(f"{wanted.error}\n")


def refuses(got):
    return REFUSAL in got.stdout or REFUSAL in (got.error or "")


def first_difference(wanted, got):
    """The first line that differs: its number and both lines."""
    ours, theirs = shown(wanted).splitlines(), shown(got).splitlines()
    count = next((i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]), min(len(ours), len(theirs)))
    return count, *("".join(lines[count : count + 1]) for lines in (ours, theirs))


def shown(result):
    return result.stdout + (result.error or "")


def blamed(program, wanted, got, line):
    """The template that made the first difference."""
    count, _, _ = first_difference(wanted, got)
    if line and wanted.stdout.startswith(got.stdout):
        return program.tag_of(line)
    places = wanted.places[count : count + 1] or [len(program.tagged)]
    return program.tag_of(places[0])


class Comparison:
    """Of programs with what BINARY makes of them in a folder of their own."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def judge(self, program, wanted, folder):
        """How a program fares, and under which template that is to be booked."""
        got, line = answer(self.binary, program, folder)
        if not differs(wanted, got):
            return "same", None, got
        fate = "refused" if refuses(got) else "different"
        return fate, blamed(program, wanted, got, line), got

    def still_differs(self, program, sign):
        """The difference of a smaller program, if it is of the same kind."""
        self.tries -= 1
        wanted = programs.outcome_of(program)
        if wanted is None:
            return None
        fate, _, got = self.judge(program, wanted, self.folder)
        found = Difference(program, wanted, got)
        return found if fate == "different" and signature(wanted, got) == sign else None

    def shrink(self, found):
        """Leaves out lines, many at once and then single ones, and parts of lines, while the difference persists."""
        sign, size, self.tries = signature(found.wanted, found.got), len(found.program.tagged) // 2, TRIES
        while size:
            found = self.without(found, sign, lambda program: shorter(program, size))
            size //= 2
        return self.without(found, sign, simpler)

    def without(self, found, sign, smaller):
        """Takes what is smaller and still differs, from the last place on."""
        place = 0
        while self.tries and (rest := list(itertools.islice(smaller(found.program), place, place + 1))):
            if less := self.still_differs(rest[0], sign):
                found = less
            else:
                place += 1
        return found


def shorter(program, size):
    """The program without some of its lines."""
    for start in range(0, len(program.tagged), size):
        tagged = program.tagged[:start] + program.tagged[start + size :]
        yield Program(tagged, program.session)


def simpler(program):
    """The program without one of the items of anything that has several."""
    places = [
        (number, field, index)
        for number, node in enumerate(ast.walk(ast.parse(program.source)))
        for field, items in ast.iter_fields(node)
        if isinstance(items, list)
        for index in range(len(items))
    ]
    for number, field, index in places:
        tree = ast.parse(program.source)
        del getattr(list(ast.walk(tree))[number], field)[index]
        with contextlib.suppress(Exception):  # what is left may be no program
            source = ast.unparse(tree)
            ast.parse(source)
            yield Program([(line, "") for line in source.splitlines()], program.session)


def signature(wanted, got):
    """What programs have in common that fail for the same reason, presumably."""
    _, want, have = first_difference(wanted, got)
    return re.match(r"\w*Error|", want)[0], masked(have)


def report(title, counter, total=None):
    print(f"\n{title}")
    for name, count in counter.most_common():
        print(f"{count:6} {name}" + (f" of {total[name]}" if total else ""))


def show(found):
    _, wanted, got = first_difference(found.wanted, found.got)
    print("-" * 80)
    print(f"{found.program.source}# wanted: {wanted}\n# got:    {got}")


def main():
    programs.prepare()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", type=lambda name: str(pathlib.Path(name).resolve()))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--show", type=int, default=10, help="how many programs to show")
    parser.add_argument("--only", default="", help="look only at programs with a template of this name")
    options = parser.parse_args()
    fates, total, different, kinds = (collections.Counter() for _ in range(4))
    found = {}

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(4) as pool:
        comparison = Comparison(options.binary, pathlib.Path(folder))

        def judged(number, program, wanted):
            place = comparison.folder / str(number)
            place.mkdir()
            return program, wanted, *comparison.judge(program, wanted, place)

        drawn = [programs.make(options.seed, number) for number in range(options.count)]
        drawn = programs.stable([one for one in drawn if any(options.only in tag for tag in one.tags)])
        total.update(tag for program in drawn for tag in program.tags)
        runs = [(number, program, program.run()) for number, program in enumerate(drawn)]
        jobs = [pool.submit(judged, *run) for run in runs]
        for job in jobs:
            program, wanted, fate, tag, got = job.result()
            fates[fate] += 1
            if fate == "different":
                different[tag] += 1
                _, want, have = first_difference(wanted, got)
                kinds[masked(f"{want!r:.60} / {have!r:.60}")] += 1
                found.setdefault(tag, []).append(Difference(program, wanted, got))

        sessions = sum(program.session for program in drawn)
        print(f"{len(drawn)} programs, {sessions} of them sessions:", end=" ")
        print(", ".join(f"{fates[fate]} {fate}" for fate in ("same", "refused", "different")))
        report("Differences by template", different, total)
        report("First lines that differ, most frequent", collections.Counter(dict(kinds.most_common(15))))
        smallest = [min(group, key=lambda one: len(one.program.tagged)) for group in found.values()]
        smallest.sort(key=lambda one: len(one.program.tagged))
        for one in sorted(map(comparison.shrink, smallest[: options.show]), key=lambda one: len(one.program.source)):
            show(one)
    sys.exit(1 if found else 0)


def masked(text):
    """A text without the numbers and names that differ from program to program."""
    return re.sub(r"\d+", "0", text)


if __name__ == "__main__":
    main()
