"""How many of a word's true nearest neighbours are still its nearest when the table is coded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats
from lexicode.errors import InputError
from lexicode.lengths import normalized
from lexicode.vectors import Vectors

QUERIES = 1000
SCORES_AT_ONCE = 1 << 23
# A fixed sample: two runs, and two learners, are asked about the same words.
QUERY_SEED = 20180217


def neighbours_kept(vectors: Vectors, coded: CodedEmbedding, n: int = 10) -> float:
    """The mean overlap, from 0 to 1, of each sampled row's n nearest rows by cosine in both tables."""
    n = min(n, len(vectors) - 1)
    if n == 0:
        return 1.0
    rng = np.random.default_rng(QUERY_SEED)
    rows = np.sort(rng.choice(len(vectors), size=min(QUERIES, len(vectors)), replace=False))
    true = nearest_rows(vectors.blocks(), normalized(vectors.take(rows)), rows, n)
    found = nearest_rows(coded.blocks(), normalized(coded.lookup(rows)), rows, n)
    kept = [len(np.intersect1d(a, b)) for a, b in zip(true, found, strict=True)]
    return float(np.mean(kept) / n)


@dataclass(frozen=True, kw_only=True)
class Nearest:
    """rows (q, n) int64 and cosines (q, n) float32 of each query's nearest rows, the nearest first"""

    rows: npt.NDArray[np.int64]
    cosines: Floats


def nearest_rows(
    blocks: Iterable[tuple[int, Floats]], queries: Floats, rows: npt.NDArray[np.int64], n: int
) -> npt.NDArray[np.int64]:
    """blocks of a table, unit queries (q, dim) that are its rows (q,) -> the n nearest other rows of each, (q, n)"""
    return nearest(blocks, queries, rows, n).rows


def nearest(blocks: Iterable[tuple[int, Floats]], queries: Floats, rows: npt.NDArray[np.int64], n: int) -> Nearest:
    """As `nearest_rows`, with the cosines; n is below the number of the table's rows."""
    best = np.full((len(queries), n), -np.inf, dtype=np.float32)
    ids = np.full((len(queries), n), -1, dtype=np.int64)
    if n == 0:
        return Nearest(rows=ids, cosines=best)
    for start, block in _small(blocks, max(256, SCORES_AT_ONCE // max(len(queries), 1))):
        scores = queries @ normalized(block).T
        inside = np.flatnonzero((rows >= start) & (rows < start + len(block)))
        scores[inside, rows[inside] - start] = -np.inf
        query, column = _candidates(scores, best.min(axis=1), n)
        counts = np.bincount(query, minlength=len(queries))
        place = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
        merged = np.concatenate([best, np.full((len(queries), counts.max()), -np.inf, dtype=np.float32)], axis=1)
        merged_ids = np.concatenate([ids, np.full((len(queries), counts.max()), -1)], axis=1)
        merged[query, n + place] = scores[query, column]
        merged_ids[query, n + place] = start + column
        keep = np.argpartition(merged, -n, axis=1)[:, -n:]
        best = np.take_along_axis(merged, keep, axis=1)
        ids = np.take_along_axis(merged_ids, keep, axis=1)
    # Of equal cosines the earlier row comes first.
    order = np.lexsort((ids, -best), axis=1)
    return Nearest(rows=np.take_along_axis(ids, order, axis=1), cosines=np.take_along_axis(best, order, axis=1))


def _candidates(scores: Floats, floor: Floats, n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """scores (q, columns) -> the (query, column) of those worth sorting in, query by query; floor (q,) is the worst of
    the best so far"""
    if np.isneginf(floor).any() and scores.shape[1] > n:
        top = np.argpartition(scores, -n, axis=1)[:, -n:]
        return np.repeat(np.arange(len(scores)), n), top.ravel()
    # After the first block few scores beat the floor.
    query, column = np.nonzero(scores > floor[:, None])
    return query, column


def _small(blocks: Iterable[tuple[int, Floats]], rows: int) -> Iterator[tuple[int, Floats]]:
    """Cut blocks down, so that the scores of all queries against one stay a few dozen megabytes."""
    for start, block in blocks:
        for at in range(0, len(block), rows):
            yield start + at, block[at : at + rows]


def nearest_words(vectors: Vectors, word: str, n: int) -> list[str]:
    """The n words nearest to `word` in the original table, the nearest first."""
    if vectors.words is None:
        raise InputError("a table without words has no nearest words")
    row = np.array([vectors.words.id_of(word)])
    query = normalized(vectors.take(row))
    found = nearest_rows(vectors.blocks(), query, row, min(n, len(vectors) - 1))[0]
    return [vectors.words[int(each)] for each in found]
