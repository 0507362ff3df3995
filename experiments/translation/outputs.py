"""Whole translations of the test set, a file a row in a folder beside the results, for whoever counts otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.common.results import Row, write_whole

REFERENCE = "reference"


class Outputs:
    """results/translation.json -> the folder results/translation"""

    def __init__(self, results: Path) -> None:
        self.folder = results.with_suffix("")

    def write(self, label: str, lines: Sequence[str]) -> None:
        """label: a row's name and seed, or `reference`"""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / f"{label}.txt", "".join(f"{line}\n" for line in lines))

    def read(self, label: str) -> list[str] | None:
        """The lines, None if there is no such file"""
        path = self.folder / f"{label}.txt"
        if not path.exists():
            return None
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def label_of(row: Row) -> str:
    return f"{row['name']}-{row['seed']}"
