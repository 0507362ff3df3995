"""The learner's inner loops, compiled by numba. Each is a plain loop over rows that frees the GIL, so that threads
can share the rows out; each has its slow twin in numpy (encoding.py, least_squares.py) and a test that they agree.

Codewords are numbered j = k * M + m unless it says otherwise; see encoding.py for what scores and pull are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Array = npt.NDArray[Any]

# The bits of a random number that choose where in the noise a draw begins.
NOISE_BITS = 14


@njit(nogil=True, cache=True)
def greedy(scores: Array, codes: Array, pull: Array, errors: Array) -> None:
    """Choose codes codebook by codebook. At entry scores (n, K*M) are those at no code and errors (n,) are |x|^2;
    at exit both are those of codes (n, M)."""
    n, M = codes.shape
    for i in range(n):
        row = scores[i]
        for m in range(M):
            best = m
            for j in range(m, row.shape[0], M):
                if row[j] < row[best]:
                    best = j
            errors[i] += row[best]
            codes[i, m] = best // M
            _add(row, pull[best])


@njit(nogil=True, cache=True)
def adopt(scores: Array, codes: Array, pull: Array, errors: Array) -> None:
    """Bring scores and errors of rows at no code, as in `greedy`, to those of the codes (n, M) that are given."""
    n, M = codes.shape
    for i in range(n):
        row = scores[i]
        for m in range(M):
            j = np.int64(codes[i, m]) * M + m
            errors[i] += row[j]
            _add(row, pull[j])


@njit(nogil=True, cache=True)
def search(
    scores: Array,
    codes: Array,
    pull: Array,
    errors: Array,
    states: Array,
    tolerance: np.float32,
    steps: int,
    rest: int,
    more_rest: int,
    move_limit: int,
) -> None:
    """encoding.local_search, row by row. scores (n, K*M), codes (n, M), errors (n,), states (n,) uint64"""
    n, M = codes.shape
    lowest = np.empty(scores.shape[1] // 2, dtype=np.float32)
    at, best_at, free_at = np.empty(M, dtype=np.int64), np.empty(M, dtype=np.int64), np.empty(M, dtype=np.int64)
    own = np.empty(M, dtype=np.float32)
    for i in range(n):
        row, state = scores[i], states[i]
        for m in range(M):
            at[m] = np.int64(codes[i, m]) * M + m
        errors[i] += _descend(row, at, pull, lowest, tolerance, move_limit)
        for m in range(M):
            best_at[m], free_at[m] = at[m], 0
            own[m], row[at[m]] = row[at[m]], np.inf
        total = best = np.float32(0)
        for step in range(steps):
            _lowest(row, lowest, M)
            moved, change = -1, np.float32(np.inf)
            for m in range(M):
                difference = lowest[m] - own[m]
                if difference < change and (free_at[m] <= step or total + difference < best - tolerance):
                    moved, change = m, difference
            if moved < 0:
                continue
            new, old = moved, at[moved]
            while row[new] > lowest[moved]:
                new += M
            own_new = row[new]
            _shift(row, pull[new], pull[old])
            for m in range(M):
                own[m] += pull[new, at[m]] - pull[old, at[m]]
            row[old], row[new] = own[moved], np.inf
            own[moved], at[moved] = own_new, new
            total += change
            state = _next(state)
            free_at[moved] = step + 1 + rest + np.int64((state >> np.uint64(33)) % np.uint64(more_rest))
            if total < best - tolerance:
                best = total
                _copy(best_at, at)
        errors[i] += best
        for m in range(M):
            codes[i, m] = best_at[m] // M


@njit(nogil=True, cache=True)
def anneal(
    scores: Array,
    codes: Array,
    pull: Array,
    errors: Array,
    states: Array,
    noise: Array,
    sweeps: int,
) -> None:
    """So many times a row, draw the code of each codebook anew, with probabilities exp(-score / temperature).

    The lowest of score - temperature * g, for Gumbel numbers g, is such a draw. `noise` (2**NOISE_BITS + K,) float32
    are such numbers times the temperature: a draw takes K that follow one another, from a place drawn by lot.
    Codewords are numbered by codebook here, m * K + k. scores (n, M*K) and errors (n,) are at entry those at no code,
    at exit those of codes (n, M); states (n,) uint64
    """
    n, M = codes.shape
    K = scores.shape[1] // M
    values = np.empty(K, dtype=np.float32)
    bits = values.view(np.int32)
    for i in range(n):
        row, state = scores[i], states[i]
        for m in range(M):
            j = m * K + np.int64(codes[i, m])
            errors[i] += row[j]
            _add(row, pull[j])
        for _ in range(sweeps):
            for m in range(M):
                state = _next(state)
                first, start = np.int64(state >> np.uint64(64 - NOISE_BITS)), m * K
                for k in range(K):
                    values[k] = row[start + k] - noise[first + k]
                best, old = _first_lowest(bits), np.int64(codes[i, m])
                if best != old:
                    errors[i] += row[start + best] - row[start + old]
                    _shift(row, pull[start + best], pull[start + old])
                    codes[i, m] = best


@njit(nogil=True, cache=True)
def _first_lowest(bits: Array) -> int:
    """Where the lowest number is, of float32 given as their bits, (K,) int32, which are used up. Whole numbers in the
    order of the floats, because compilers make vector code of a minimum of whole numbers only."""
    K = bits.shape[0]
    lowest = np.int32(0x7FFFFFFF)
    for k in range(K):
        key = bits[k] ^ ((bits[k] >> np.int32(31)) & np.int32(0x7FFFFFFF))
        bits[k] = key
        lowest = key if key < lowest else lowest
    first = np.int32(K)
    for k in range(K):
        place = np.int32(k) if bits[k] == lowest else np.int32(K)
        first = place if place < first else first
    return int(first)


@njit(nogil=True, cache=True)
def _next(state: np.uint64) -> np.uint64:
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@njit(nogil=True, cache=True)
def _descend(row: Array, at: Array, pull: Array, lowest: Array, tolerance: np.float32, move_limit: int) -> np.float32:
    """Make the best single move until none wins more than the tolerance; the change of the squared error."""
    M = at.shape[0]
    total = np.float32(0)
    for _ in range(move_limit):
        _lowest(row, lowest, M)
        best, change = -1, -tolerance
        for m in range(M):
            difference = lowest[m] - row[at[m]]
            if difference < change:
                best, change = m, difference
        if best < 0:
            break
        new = best
        while row[new] > lowest[best]:
            new += M
        total += change
        _shift(row, pull[new], pull[at[best]])
        at[best] = new
    return total


@njit(nogil=True, cache=True)
def _lowest(row: Array, lowest: Array, M: int) -> None:
    """The lowest score of each codebook into lowest[:M], by folding the row in half: long loops, vector speed."""
    half = row.shape[0] // 2
    for j in range(half):
        a, b = row[j], row[half + j]
        lowest[j] = a if a < b else b
    while half > M:
        half //= 2
        for j in range(half):
            a, b = lowest[j], lowest[half + j]
            lowest[j] = a if a < b else b


@njit(nogil=True, cache=True)
def _add(row: Array, other: Array) -> None:
    for j in range(row.shape[0]):
        row[j] += other[j]


@njit(nogil=True, cache=True)
def _shift(row: Array, new: Array, old: Array) -> None:
    for j in range(row.shape[0]):
        row[j] += new[j] - old[j]


@njit(nogil=True, cache=True)
def _copy(target: Array, source: Array) -> None:
    for j in range(target.shape[0]):
        target[j] = source[j]


@njit(nogil=True, cache=True)
def sum_by_codeword(rows: Array, codes: Array, weights: Array, m: int, sums: Array) -> None:
    """sums (K, dim) float64 of the rows (n, dim) times their weights (n,) that use each codeword of codebook m,
    added in row order"""
    for i in range(rows.shape[0]):
        row, target, weight = rows[i], sums[codes[i, m]], weights[i]
        for j in range(row.shape[0]):
            target[j] += weight * row[j]


@njit(nogil=True, cache=True)
def count_pairs(codes: Array, weights: Array, m: int, counts: Array) -> None:
    """counts (K, K*M) float64: the weights (n,) of the rows in which each codeword of codebook m stands beside each
    codeword of the codebooks from m on; the rest mirrors these"""
    n, M = codes.shape
    for i in range(n):
        row, weight = counts[codes[i, m]], weights[i]
        for other in range(m, M):
            row[np.int64(codes[i, other]) * M + other] += weight


@njit(nogil=True, cache=True)
def compose_rows(codes: Array, codewords: Array, rows: Array) -> None:
    """codes (n, M), codewords (K*M, dim) numbered k * M + m -> rows (n, dim), each the sum of its codewords"""
    n, M = codes.shape
    for i in range(n):
        row = rows[i]
        row[:] = 0
        for m in range(M):
            _add(row, codewords[np.int64(codes[i, m]) * M + m])
