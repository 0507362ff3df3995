"""Where a figure comes from: the commit, and the command."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def commit() -> str:
    """`+` where the tree was not clean, results aside."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--", ":(top)", ":(top,exclude)results")
    return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")


def told_command() -> str:
    """The command as another would type it: files by their names alone."""

    def plain(argument: str) -> str:
        name, separator, path = argument.rpartition("=")
        return f"{name}{separator}{Path(path).name}" if "/" in path else argument

    return shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *map(plain, sys.argv[1:])])
