"""Vectors -> codes for given codebooks, in numpy alone: the plain statement of the search that the learner runs fast.

The codewords are numbered j = k * M + m (codeword k of codebook m), unless tables are made by codebook. For one row x
and its present code, let

    score[j] = |c_j|^2 - 2 c_j . (x - the sum of the other codebooks' codewords)

Then moving codebook m from codeword a to codeword b changes the squared error by score[b] - score[a], and
changes the scores of every other codebook by `pull[b] - pull[a]`, where pull = 2 C C' with the products inside
a codebook set to zero. So the best move is a minimum over the scores, and only a move that is made costs more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.packing import Codes, code_dtype

# Numbers of float32 in one block's scores: 4 MB, so that a block stays in cache.
BLOCK_SCORES = 1 << 20
# Multiplier and shifts of the row's own random numbers (splitmix's constant, Marsaglia's xorshift).
GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True, kw_only=True)
class SearchTables:
    """What the search needs of codebooks (M, K, dim), computed once for all rows."""

    codebooks: int
    codewords: int
    # (dim,) float32: the sum of the codebooks' means. The search runs on vectors and codewords less their means,
    # where float32 has its digits for the differences that matter.
    shift: Floats
    # (dim, K*M) float32: -2 times the codewords, so that x @ projections + norms are a row's scores at no code
    projections: Floats
    # (K*M,) float32: |c_j|^2
    norms: Floats
    # (K*M, K*M) float32: 2 c_i . c_j across codebooks, zero within one
    pull: Floats
    # A move must win more than this, or rounding could make it turn in circles.
    tolerance: np.float32

    @classmethod
    def of(cls, codebooks: Floats, *, by_codebook: bool = False) -> SearchTables:
        """codebooks (M, K, dim) float32. by_codebook: number the codewords m * K + k, as drawing codes takes them; a
        search takes all codebooks at once, and so their codewords side by side."""
        M, K, dim = codebooks.shape
        means = codebooks.mean(axis=1)
        centered = codebooks - means[:, None]
        flat = np.ascontiguousarray(centered if by_codebook else centered.transpose(1, 0, 2)).reshape(K * M, dim)
        pull = flat @ flat.T
        norms = pull.diagonal().copy()
        pull *= 2
        same = np.arange(M)
        if by_codebook:
            pull.reshape(M, K, M, K)[same, :, same] = 0
        else:
            pull.reshape(K, M, K, M)[:, same, :, same] = 0
        return cls(
            codebooks=M,
            codewords=K,
            shift=means.sum(axis=0),
            projections=np.ascontiguousarray(flat.T) * np.float32(-2),
            norms=norms,
            pull=pull,
            tolerance=np.float32(1e-5) * norms.mean(dtype=np.float32),
        )

    def begin(self, block: Floats) -> tuple[Floats, Floats]:
        """block (n, dim) -> scores (n, K*M) and squared errors (n,) float32 of rows that have no code yet"""
        centered = block - self.shift
        scores = np.matmul(centered, self.projections, dtype=np.float32)
        scores += self.norms
        return scores, np.einsum("nd,nd->n", centered, centered)

    @property
    def block_rows(self) -> int:
        """How many rows to score at a time."""
        return max(16, BLOCK_SCORES // (self.codebooks * self.codewords))


def encode_rows(block: Floats, tables: SearchTables, *, steps: int, seed: int = 0, first_row: int = 0) -> Codes:
    """block (n, dim) float32 -> codes (n, M): start greedily, then search"""
    scores, _ = tables.begin(block)
    codes = greedy_codes(scores, tables)
    local_search(scores, codes, tables, steps=steps, states=row_states(seed, first_row + np.arange(len(block))))
    return codes


def greedy_codes(scores: Floats, tables: SearchTables) -> Codes:
    """scores (n, K*M) at no code -> codes (n, M); adds the chosen codewords' pull to the scores"""
    M, K = tables.codebooks, tables.codewords
    codes = np.empty((len(scores), M), dtype=code_dtype(K.bit_length() - 1))
    for m in range(M):
        codes[:, m] = scores[:, m::M].argmin(axis=1)
        scores += tables.pull[codes[:, m].astype(np.int64) * M + m]
    return codes


def local_search(
    scores: Floats, codes: Codes, tables: SearchTables, *, steps: int, states: npt.NDArray[np.uint64]
) -> None:
    """Better codes (n, M), in place; scores (n, K*M) hold at entry those of the codes, and are used up.

    Descend to a valley; then walk on for `steps` moves, each the best there is though it may lead uphill, while a
    codebook that has just moved rests for a few steps and so cannot lead straight back (tabu search, Glover 1989).
    The best code met on the way is the result.
    """
    M, K = tables.codebooks, tables.codewords
    rest, more_rest = resting_steps(M)
    rows = np.arange(len(scores))
    at = codes.astype(np.int64) * M + np.arange(M)
    _descend(scores, at, tables)
    # With its own codewords' scores out of the way, a row's minimum over a codebook is its best move there.
    own = scores[rows[:, None], at]
    scores[rows[:, None], at] = np.inf
    best_at, free_at = at.copy(), np.zeros_like(at)
    total, best = np.zeros((2, len(scores)), dtype=np.float32)
    for step in range(steps):
        change = scores.reshape(-1, K, M).min(axis=1) - own
        allowed = (free_at <= step) | (total[:, None] + change < (best - tables.tolerance)[:, None])
        change[~allowed] = np.inf
        moved = change.argmin(axis=1)
        active = np.flatnonzero(change[rows, moved] < np.inf)
        m = moved[active]
        old = at[active, m]
        new = scores[active].reshape(-1, K, M)[np.arange(len(active)), :, m].argmin(axis=1) * M + m
        own_new = scores[active, new]
        scores[active] += tables.pull[new] - tables.pull[old]
        own[active] += tables.pull[new[:, None], at[active]] - tables.pull[old[:, None], at[active]]
        scores[active, old], scores[active, new] = own[active, m], np.inf
        own[active, m], at[active, m] = own_new, new
        total[active] += change[active, m]
        states[active] = next_states(states[active])
        draws = (states[active] >> np.uint64(33)) % np.uint64(more_rest)
        free_at[active, m] = step + 1 + rest + draws.astype(np.int64)
        better = total < best - tables.tolerance
        best[better], best_at[better] = total[better], at[better]
    codes[:] = best_at // M


def _descend(scores: Floats, at: npt.NDArray[np.int64], tables: SearchTables) -> Floats:
    """Make each row's best single move until none helps; the change of its squared error, (n,) float32"""
    M, K = tables.codebooks, tables.codewords
    total = np.zeros(len(scores), dtype=np.float32)
    active = np.arange(len(scores))
    for _ in range(move_limit(M)):
        lowest = scores[active].reshape(-1, K, M).min(axis=1)
        change = lowest - scores[active[:, None], at[active]]
        m = change.argmin(axis=1)
        best = change[np.arange(len(active)), m]
        improves = best < -tables.tolerance
        active, m, best = active[improves], m[improves], best[improves]
        if not len(active):
            break
        new = scores[active].reshape(-1, K, M)[np.arange(len(active)), :, m].argmin(axis=1) * M + m
        old = at[active, m]
        scores[active] += tables.pull[new] - tables.pull[old]
        at[active, m] = new
        total[active] += best
    return total


def resting_steps(codebooks: int) -> tuple[int, int]:
    """How long a codebook that has moved stays put: the least number of steps, and how many lengths from there on
    are drawn from. Measured best from 2 codebooks to 64."""
    return (2 if codebooks >= 8 else 1), 4


def move_limit(codebooks: int) -> int:
    """The most moves of one descent: far more than it needs, and an end if rounding ever made it circle."""
    return 16 * codebooks + 64


def row_states(seed: int, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Each row's own random state: the same whatever block or thread the row falls to."""
    mixed = (rows + 1).astype(np.uint64) * np.uint64(GOLDEN)
    return mixed ^ np.uint64(seed & 0xFFFFFFFFFFFFFFFF)


def next_states(state: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    state = state ^ (state << np.uint64(13))
    state = state ^ (state >> np.uint64(7))
    return state ^ (state << np.uint64(17))


def nearest_codes(block: Floats, codebooks: Floats, offsets: Sequence[int]) -> Codes:
    """block (n, dim), codebooks (M, K, width) that cover separate columns -> codes (n, M): each part's nearest"""
    M, K, width = codebooks.shape
    codes = np.empty((len(block), M), dtype=code_dtype(K.bit_length() - 1))
    for m, start in enumerate(offsets):
        part = block[:, start : start + width]
        codes[:, m] = nearest(part, codebooks[m])
    return codes


def nearest(points: Floats, centers: Floats) -> npt.NDArray[np.intp]:
    """points (n, width), centers (K, width) -> the index of each point's nearest center, (n,)"""
    distances = points @ (centers.T * np.float32(-2))
    distances += (centers * centers).sum(axis=1)
    result: npt.NDArray[Any] = distances.argmin(axis=1)
    return result
