"""Which rows a coded embedding keeps as they are: the N most frequent, and those that the codes serve badly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats
from lexicode.learners.learner import CommonSettings
from lexicode.learners.team import ALONE, Team
from lexicode.learners.weights import Weights, heaviest
from lexicode.vectors import Vectors


def with_exact_rows(
    coded: CodedEmbedding,
    vectors: Vectors,
    settings: CommonSettings,
    *,
    weights: Weights | None = None,
    team: Team = ALONE,
) -> CodedEmbedding:
    """`coded` with the rows of `vectors` that the settings ask to keep; in a team: of this process's rows."""
    rows = frequent_rows(settings, weights, len(vectors), team)
    if settings.max_error is not None:
        rows = np.union1d(rows, _rows_beyond(vectors, coded, settings.max_error))
    if not len(rows):
        return coded
    return CodedEmbedding(
        scheme=coded.scheme,
        packed=coded.packed,
        codebooks=coded.codebooks,
        dim=coded.dim,
        offsets=coded.offsets,
        words=coded.words,
        norms=coded.norms,
        norm_levels=coded.norm_levels,
        exact_ids=rows.astype(np.uint32),
        exact_rows=_smallest_dtype(vectors.take(rows)),
        origin=coded.origin,
    )


def frequent_rows(settings: CommonSettings, weights: Weights | None, rows: int, team: Team) -> npt.NDArray[np.int64]:
    """Those of this process's rows that are among the `settings.exact` most frequent of all, ascending"""
    if settings.exact == 0:
        return np.empty(0, dtype=np.int64)
    first, total = team.first_row(rows), int(team.total(rows)[0])
    own = heaviest(weights, total, min(settings.exact, total)) - first
    return own[(own >= 0) & (own < rows)]


def _rows_beyond(vectors: Vectors, coded: CodedEmbedding, limit: float) -> npt.NDArray[np.int64]:
    """The rows that lie further than `limit` from their originals"""
    found = []
    for (start, original), (_, approximate) in zip(vectors.blocks(8192), coded.blocks(8192), strict=True):
        distances = np.linalg.norm(original.astype(np.float64) - approximate, axis=1)
        found.append(start + np.flatnonzero(distances > limit))
    return np.concatenate(found)


def _smallest_dtype(rows: Floats) -> npt.NDArray[np.floating]:
    """rows (E, dim) as float16 where that loses nothing"""
    with np.errstate(over="ignore"):
        halves = rows.astype(np.float16)
    return halves if np.array_equal(halves.astype(np.float32), rows) else rows
