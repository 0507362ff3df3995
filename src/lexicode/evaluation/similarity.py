"""Does a table's cosine agree with people? Spearman's correlation on benchmarks such as WordSim-353 and SimLex-999.

A benchmark is a text file with a pair a line: word, word, people's score, separated by tabs or spaces. Empty lines
are skipped, and so is a first line whose third field is no number: a heading.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.errors import InputError
from lexicode.vectors import Vectors
from lexicode.words import Words


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """name; pairs of words; people's score of each pair, (n,) float64"""

    name: str
    pairs: tuple[tuple[str, str], ...]
    scores: npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """pairs: how many the benchmark has; known: how many the table has both words of; spearman: the correlation of
    cosine and score over the known ones, None where they are too few or all alike."""

    name: str
    pairs: int
    known: int
    spearman: float | None


def similarity(table: Vectors | CodedEmbedding, benchmark: Benchmark | str | os.PathLike[str]) -> Similarity:
    """Judge a table of words by a benchmark, or by the file of one. A word that is unknown as it is spelled is looked
    for in lower case; pairs with an unknown word are left out."""
    if not isinstance(benchmark, Benchmark):
        benchmark = read_benchmark(benchmark)
    if table.words is None:
        raise InputError(f"a table without words cannot be judged by {benchmark.name}")
    rows = _rows_of(table.words, benchmark.pairs)
    known = (rows >= 0).all(axis=1)
    cosines = _cosines(table, rows[known])
    return Similarity(
        name=benchmark.name,
        pairs=len(benchmark.pairs),
        known=int(known.sum()),
        spearman=spearman(cosines, benchmark.scores[known]),
    )


def read_benchmark(path: str | os.PathLike[str]) -> Benchmark:
    """Read a file of word pairs; its name without the ending is the benchmark's."""
    name, pairs, scores = os.fspath(path), [], []
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 at byte {error.start}; word pairs are a text file") from None
    for number, line in enumerate(lines, start=1):
        fields = [field.strip() for field in line.split("\t")] if "\t" in line else line.split()
        if not any(fields):
            continue
        if len(fields) != 3:
            raise InputError(f"{name}: line {number}: expected word, word, score; found {len(fields)} fields")
        score = _number(fields[2])
        if score is None and number == 1:
            continue
        if score is None:
            raise InputError(f"{name}: line {number}: the score {fields[2]!r} is not a finite number")
        pairs.append((fields[0], fields[1]))
        scores.append(score)
    if not pairs:
        raise InputError(f"{name}: no pairs of words; expected lines of word, word, score")
    return Benchmark(name=Path(path).stem, pairs=tuple(pairs), scores=np.array(scores))


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    """The correlation of the ranks of x (n,) and y (n,), or None where one of them has no order

    >>> spearman([1, 2, 3, 4], [10, 20, 40, 30])
    0.8
    """
    ranks = [rank(values) for values in (x, y)]
    centered = [values - values.mean() if len(values) else values for values in ranks]
    spread = math.sqrt(math.prod(float(values @ values) for values in centered))
    return float(centered[0] @ centered[1]) / spread if spread > 0 else None


def rank(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """values (n,) -> their places from 1 to n, (n,) float64; equal values share the mean of their places

    >>> rank([7, 5, 7, 9]).tolist()
    [2.5, 1.0, 2.5, 4.0]
    """
    _, places, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    means = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(means[places], dtype=np.float64)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _rows_of(words: Words, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.int64]:
    """The rows of each pair's words, (n, 2) int64; -1 for a word that the table lacks"""
    index = words.index_of_all()
    found = [[index.get(word, index.get(word.lower(), -1)) for word in pair] for pair in pairs]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _cosines(table: Vectors | CodedEmbedding, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """rows (n, 2) -> the cosine of each pair, (n,) float64; 0 where a row is zero"""
    look_up = table.take if isinstance(table, Vectors) else table.lookup
    left, right = (look_up(rows[:, side]).astype(np.float64) for side in (0, 1))
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = np.einsum("nd,nd->n", left, right)
    return np.asarray(np.divide(products, lengths, out=np.zeros(len(rows)), where=lengths > 0))
