"""Summaries of checkpoints."""

from __future__ import annotations

import json
import logging
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Optional

log = logging.getLogger("report.summary")


@dataclass(order=True)
class Entry:
    name: str
    shape: list[int]
    dtype: str
    nbytes: int
    shares: Optional[str] = None


@dataclass
class Report:
    file: str
    tensors: list[Entry] = field(default_factory=list)
    dtypes: dict[str, int] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        return sum(entry.nbytes for entry in self.tensors if entry.shares is None)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Report:
        given = json.loads(text)
        return cls(given["file"], [Entry(**entry) for entry in given["tensors"]], given["dtypes"])


def summarise(state, file) -> Report:
    report, owners = Report(file), {}
    for name, tensor in state.items():
        owner = owners.setdefault(tensor.untyped_storage().data_ptr(), name)
        entry = Entry(
            name=name,
            shape=list(tensor.shape),
            dtype=str(tensor.dtype).removeprefix("torch."),
            nbytes=tensor.nbytes,
            shares=None if owner == name else owner,
        )
        log.debug("%s: %r", name, entry)
        report.tensors.append(entry)
    report.tensors.sort()
    report.dtypes = dict(Counter(entry.dtype for entry in report.tensors).most_common())
    return report
