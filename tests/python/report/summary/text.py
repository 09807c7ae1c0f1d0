"""Reports as text."""

import re
import textwrap
from string import Template

from . import Report

LINE = Template("$name  $shape  $dtype  $nbytes")


def words(name: str) -> list[str]:
    return re.findall(r"[a-z]+", name)


def table(report: Report, key: str = "name") -> str:
    entries = sorted(report.tensors, key=lambda entry: entry.nbytes if key == "bytes" else entry.name)
    lines = [
        LINE.substitute(
            name=f"{entry.name:<10}", shape=f"{entry.shape!s:>7}", dtype=f"{entry.dtype:^9}", nbytes=f"{entry.nbytes:>4}"
        )
        for entry in entries
    ]
    head = textwrap.fill(f"{report.file}: {report.nbytes} bytes in {len(entries)} tensors, {report.dtypes}", 40)
    names = sorted({word for entry in entries for word in words(entry.name)})
    return "\n".join([head, *lines, " ".join(names)])
