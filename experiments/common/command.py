"""What the recipes' command lines have in common."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

from experiments.common.results import ROOT


def log(line: str) -> None:
    print(f"{time.strftime('%m-%d %H:%M:%S')} {line}", flush=True)


def recipe_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every recipe has; `name` is the recipe's folder."""
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("LEXICODE_DATA"), help="the folder of the texts")
    parser.add_argument("--work", type=Path, help=f"learned codes and unfinished rows; build/{name}")
    parser.add_argument(
        "--results", type=Path, help=f"the folder to write to; results, with --quick build/{name}-quick"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a row of every kind, hardly trained: does it all run?")
    parser.add_argument("--report-only", action="store_true", help="make the Markdown and its plots anew, and stop")
    return parser


def checked(parser: argparse.ArgumentParser, name: str, words: Sequence[str] | None) -> argparse.Namespace:
    found = parser.parse_args(words)
    # What has hardly been trained never stands among real rows, nor do real rows build on it.
    build = ROOT / "build" / (f"{name}-quick" if found.quick else name)
    found.work = found.work or build
    found.results = found.results or (build if found.quick else ROOT / "results")
    if found.data is None and not found.report_only:
        parser.error("--data DIR (or LEXICODE_DATA) is needed: the folder of the texts")
    if found.threads < 1:
        parser.error(f"--threads {found.threads} is less than 1")
    return found
