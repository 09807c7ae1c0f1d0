"""Reads a checkpoint and writes a report of it: main.py CHECKPOINT REPORT. Without a checkpoint, makes one first."""

import argparse
import logging
import sys
from pathlib import Path

import torch

from summary import Report, summarise
from summary.text import table

log = logging.getLogger("report")


def arguments(given):
    parser = argparse.ArgumentParser(prog="main.py", description="Writes a report of a checkpoint.")
    parser.add_argument("checkpoint", type=Path, help="the file of torch.save")
    parser.add_argument("report", type=Path, nargs="?", default=Path("report.json"), help="(default: %(default)s)")
    parser.add_argument("-v", "--verbose", action="store_true", help="log every tensor")
    parser.add_argument("--sort", choices=["name", "bytes"], default="name")
    return parser.parse_args(given)


def main(given):
    args = arguments(given)
    logging.basicConfig(
        stream=sys.stdout,
        level=logging.DEBUG if args.verbose else logging.INFO,
        format="%(levelname)s %(name)s %(funcName)s:%(lineno)d: %(message)s",
        force=True,
    )
    if not args.checkpoint.exists():
        torch.manual_seed(0)
        weight = torch.randn(4, 3)
        state = {"fc.weight": weight, "fc.tied": weight.t(), "fc.bias": torch.zeros(4), "step": torch.tensor(7)}
        torch.save(state, args.checkpoint)
        log.info("made %s of %d tensors", args.checkpoint.name, len(state))
    report = summarise(torch.load(args.checkpoint), args.checkpoint.name)
    args.report.write_text(report.to_json())
    read = Report.from_json(args.report.read_text())
    log.info("wrote %s, which is %s", args.report, "the same" if read == report else "another")
    print(table(report, key=args.sort))
    return report


if __name__ == "__main__":
    report = main(sys.argv[1:] or ["model.pt", "-v", "--sort", "bytes"])
    print(report.tensors[0])
    try:
        main(["--sort", "size", "model.pt"])
    except SystemExit as stopped:
        print("stopped with", stopped.code)
    try:
        main(["-h"])
    except SystemExit as stopped:
        print("stopped with", stopped.code)
