"""What the recipes' command lines have in common."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


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
    parser.add_argument("--work", type=Path, default=ROOT / "build" / name, help="learned codes and unfinished rows")
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="the folder to write to")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a row of every kind, hardly trained: does it all run?")
    parser.add_argument("--report-only", action="store_true", help="make the Markdown and its plots anew, and stop")
    return parser


def checked(parser: argparse.ArgumentParser, words: Sequence[str] | None) -> argparse.Namespace:
    found = parser.parse_args(words)
    if found.data is None and not found.report_only:
        parser.error("--data DIR (or LEXICODE_DATA) is needed: the folder of the texts")
    if found.threads < 1:
        parser.error(f"--threads {found.threads} is less than 1")
    return found
