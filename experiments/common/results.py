"""Rows of figures in a JSON file. Each is written when it is known, and none is computed twice."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.common.claims import claimed
from lexicode import InputError

ROOT = Path(__file__).parent.parent.parent
CODE = ("src", "experiments")

Row = dict[str, Any]


class Results:
    """A file `{"rows": [{"name": ..., "seed": ..., "commit": ..., figures}, ...]}`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Results(Path(folder) / "results.json")
    ...     results.add({"name": "baseline", "seed": 1, "accuracy": 0.87})
    ...     results.has("baseline", 1), results.has("baseline", 2), len(results.rows)
    (True, False, 1)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        # Of the code as it was loaded: the repository may go on while a row is made.
        self._commit = commit()

    @property
    def rows(self) -> list[Row]:
        """All rows, in the order in which they were finished; read anew, for another process may have added some."""
        if not self.path.exists():
            return []
        try:
            rows: list[Row] = json.loads(self.path.read_text(encoding="utf-8"))["rows"]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"{self.path}: not a file of results ({error!r}); move it away to start anew") from None
        return rows

    def has(self, name: str, seed: int) -> bool:
        return any(row["name"] == name and row["seed"] == seed for row in self.rows)

    def find(self, name: str, seed: int | None = None) -> list[Row]:
        """The rows of this name, of one seed or of all."""
        return [row for row in self.rows if row["name"] == name and seed in (None, row["seed"])]

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row, with the commit that made it; the file is the old one or the new one, whatever happens.

        Of processes that add at once none loses its row, and of two that made the same row the first one's stays.
        """
        for key in ("name", "seed"):
            if key not in row:
                raise InputError(f"a row of results lacks its {key!r}: {dict(row)}")
        with claimed(self.path.with_name(f".{self.path.name}.claim"), wait=True):
            if not self.has(row["name"], row["seed"]):
                whole = {"rows": [*self.rows, {**row, "commit": self._commit}]}
                write_whole(self.path, json.dumps(whole, indent=1) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write beside the file, then rename over it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def commit() -> str:
    """Where the figures come from; `+` where its code was changed since, empty outside a repository."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--", *CODE) else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and the sample's standard deviation (0 for one value).

    >>> mean_and_spread([1.0, 3.0])
    (2.0, 1.4142135623730951)
    """
    mean = sum(values) / len(values)
    if len(values) == 1:
        return mean, 0.0
    return mean, (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
