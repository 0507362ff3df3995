"""The error of every single row: what a mean hides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats
from lexicode.evaluation.reconstruction import paired_blocks, row_cosines
from lexicode.vectors import Vectors

BINS = 40
# Rows of word vectors mostly stand in order of frequency, so a band of rows is a band of frequency.
FIRST_BAND = 100


@dataclass(frozen=True, kw_only=True)
class RowErrors:
    """squared (V,) float32: each row's squared distance; cosines (V,) float32; lengths (V,) float32: of the original"""

    squared: Floats
    cosines: Floats
    lengths: Floats


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """edges: one more than counts, ascending; counts: how many values lie from an edge to the next"""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    mean: float
    median: float


@dataclass(frozen=True, kw_only=True)
class Band:
    """Rows `first` to `last`, both counted from 0 and in the band. relative_error: the squared distances' sum as a
    share of the squared lengths' sum; exact: how many of the rows are kept as they are."""

    first: int
    last: int
    loss: float
    relative_error: float
    mean_cosine: float
    exact: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def row_errors(vectors: Vectors, coded: CodedEmbedding) -> RowErrors:
    """Compare row by row, as `reconstruction` does, and keep every row's numbers."""
    squared, cosines, lengths = np.empty((3, len(vectors)), dtype=np.float32)
    start = 0
    for original, approximate in paired_blocks(vectors, coded):
        x, y = original.astype(np.float64), approximate.astype(np.float64)
        part = slice(start, start + len(x))
        squared[part] = np.square(x - y).sum(axis=1)
        cosines[part] = row_cosines(x, y)
        lengths[part] = np.linalg.norm(x, axis=1)
        start += len(x)
    return RowErrors(squared=squared, cosines=cosines, lengths=lengths)


def histogram(values: Floats, bins: int = BINS) -> Histogram:
    """values (n,) -> their histogram. The lowest 0.01 %, which would flatten it, is counted into the first bin."""
    low, high = float(np.quantile(values, 1e-4)), float(values.max())
    if not high > low:
        low, high = low - 0.005, high + 0.005
    counts, edges = np.histogram(np.clip(values, low, high), bins=bins, range=(low, high))
    return Histogram(
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
        mean=float(values.mean(dtype=np.float64)),
        median=float(np.median(values)),
    )


def worst_and_best(
    errors: RowErrors, n: int, exact_ids: Sequence[int] | npt.NDArray[np.integer[Any]] = ()
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The n rows of the lowest cosine, the lowest first, and the n others of the highest, the highest first; rows that
    are kept exactly are left aside"""
    # A row of zeros has no direction to keep.
    counted = errors.lengths > 0
    counted[np.asarray(exact_ids, dtype=np.int64)] = False
    rows = np.flatnonzero(counted)
    # Of equal cosines the earlier row, the more frequent word, comes first.
    worst = rows[np.argsort(errors.cosines[rows], kind="stable")][:n]
    backwards = rows[np.argsort(-errors.cosines[rows], kind="stable")]
    return worst, backwards[: min(n, len(rows) - len(worst))]


def bands(errors: RowErrors, exact_ids: Sequence[int] | npt.NDArray[np.integer[Any]] = ()) -> tuple[Band, ...]:
    """The error of rows 0 to 99, 100 to 999, 1,000 to 9,999 and so on: of frequent words against rare ones

    A table of few rows is one band.
    """
    rows, bounds, edge = len(errors.squared), [0], FIRST_BAND
    while edge < rows:
        bounds.append(edge)
        edge *= 10
    kept = np.asarray(exact_ids, dtype=np.int64)
    made = []
    for first, stop in zip(bounds, [*bounds[1:], rows], strict=True):
        squared = errors.squared[first:stop].astype(np.float64)
        energy = float(np.square(errors.lengths[first:stop], dtype=np.float64).sum())
        made.append(
            Band(
                first=first,
                last=stop - 1,
                loss=float(squared.mean()),
                relative_error=float(squared.sum() / energy) if energy > 0 else 0.0,
                mean_cosine=float(errors.cosines[first:stop].mean(dtype=np.float64)),
                exact=int(((kept >= first) & (kept < stop)).sum()),
            )
        )
    return tuple(made)
