"""Every row's inner product with a query, and every row's length, straight from the codes: no row is composed.

A query gives each codeword a number, its product with it, and a row's product is the sum of its codewords' numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats, compose
from lexicode.packing import unpack
from lexicode.symbols import (
    BLOCK_ROWS,
    MOST_QUICK_CODEWORDS,
    SYMBOL_BITS,
    Symbols,
    join_codes,
    joined_tables,
)

if TYPE_CHECKING:
    from lexicode.sweep import QuickSweep

Totals = npt.NDArray[np.uint16]

COMPOSED_ROWS = 8192
# Where a squared length is as little of what was added up, it is noise, and taken from the composed row.
CANCELLED = 1e-12
# One row of each so many is looked up to the end, to know what the best reach.
LEADER_GROUP = 512
# More than float32 arithmetic can be wrong by in a cosine.
ROUNDING = 1e-4
LOWEST = -2.0
# Loading numba takes as long as numpy takes to sweep over so many rows: about half a second.
ROWS_BEFORE_NUMBA = 30_000_000


class CodeSearch:
    """Finds the rows whose cosine with a query may be among the highest; what is left is few enough to compose.

    symbols (S, V) uint16 as `join_codes` makes them; inverse_lengths (V,) float32, 0 for a row of zeros; rounding: how
    wrong float32 may be in a row's product with a query; left_out: rows whose codes say nothing of them, and which are
    never found.
    """

    def __init__(
        self,
        symbols: Symbols,
        inverse_lengths: Floats,
        *,
        rounding: float = 0.0,
        left_out: npt.NDArray[np.integer[Any]] | None = None,
    ) -> None:
        self.symbols = symbols
        self.inverse_lengths = inverse_lengths
        self.rounding = rounding
        self.left_out = np.empty(0, dtype=np.int64) if left_out is None else left_out
        self._rows_swept = 0
        self._quick: QuickSweep | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Who unpickles it may have no numba.
        return {**self.__dict__, "_quick": None}

    def candidates(self, tables: Floats, n: int) -> npt.NDArray[np.int64]:
        """tables (M, K) float32, each codeword's product with the query -> rows, ascending, the n best among them

        A sweep over all rows finds what each can reach at most. Some promising rows, looked up exactly, then give a
        score that n rows do reach, and most rows cannot.
        """
        rows = len(self.inverse_lengths)
        group = min(LEADER_GROUP, rows // (2 * n))
        if group < 2:
            return np.setdiff1d(np.arange(rows), self.left_out)
        swept = self._sweep(tables)
        highest = swept.highest
        highest[self.left_out] = -np.inf
        whole = rows // group
        leaders = highest[: whole * group].reshape(whole, group).argmax(axis=1) + np.arange(0, whole * group, group)
        least, _ = swept.closer(leaders)
        # A group of rows that are all left out has no leader.
        reached = np.where(np.isfinite(highest[leaders]), least * self.inverse_lengths[leaders], -np.inf)
        threshold = np.partition(reached, -n)[-n] - ROUNDING
        # No cosine is as low as that, so rows that are left out never come in, not even where there is no leader.
        able = np.flatnonzero(highest >= max(threshold, LOWEST))
        _, most = swept.closer(able)
        return np.asarray(able[most * self.inverse_lengths[able] >= threshold])

    def _sweep(self, tables: Floats) -> _Swept:
        swept_enough = self._rows_swept >= ROWS_BEFORE_NUMBA and tables.shape[1] <= MOST_QUICK_CODEWORDS
        if self._quick is None and swept_enough:
            self._quick = _quick_sweep(self.symbols, tables)
            # Where there is none now, it is asked for no sooner than the first time.
            self._rows_swept = 0
        self._rows_swept += len(self.inverse_lengths)
        if self._quick is None:
            return _Bounds.of(tables, self.rounding).sweep(self.symbols, self.inverse_lengths)
        highest = self._quick.highest(tables, self.inverse_lengths, self.rounding)
        return _Swept(highest, partial(self._quick.closer, tables, self.rounding))


@dataclass(frozen=True)
class _Swept:
    """highest (V,) float32: what each row's cosine is at most; closer: what the sums of rows (n,) are at least and at
    most, known better than from the sweep"""

    highest: Floats
    closer: Callable[[npt.NDArray[np.int64]], tuple[Floats, Floats]]


@dataclass(frozen=True)
class _Bounds:
    """What a row's sum of codeword numbers is at most: numbers are rounded up to whole steps, of which all sums fit 16
    bits. Tables half as large and sums twice as quick for it, and no sum is overrated by more than M steps and what
    float32 rounds: `slack`, about 1 % of what the sums differ by at 32 codebooks of 16."""

    step: float
    base: float
    slack: np.float32
    sums: list[npt.NDArray[np.uint16]]
    # Symbols by what they can do to a sum, the most first.
    order: npt.NDArray[np.int64]

    @classmethod
    def of(cls, tables: Floats, rounding: float) -> _Bounds:
        M = len(tables)
        lowest = tables.min(axis=1, keepdims=True)
        above = tables - lowest
        # No step that float32 would take for zero.
        step = float(above.max(axis=1).sum(dtype=np.float64)) / (np.iinfo(np.uint16).max - 2 * M)
        step = max(step, float(np.finfo(np.float32).tiny))
        sums = joined_tables(np.ceil(above / np.float32(step)).astype(np.uint16))
        order = np.argsort([-int(table.max()) for table in sums], kind="stable")
        base = float(lowest.sum(dtype=np.float64)) + rounding
        return cls(step, base, np.float32(M * step + 2 * rounding), sums, order)

    def sweep(self, symbols: Symbols, inverse_lengths: Floats) -> _Swept:
        """symbols (S, V), inverse_lengths (V,). Three quarters of the symbols are looked up for every row; the others
        count as the most they could be."""
        most = np.uint16(sum(int(self.sums[s].max()) for s in self.order[self._looked_up :]))
        totals = np.full(symbols.shape[1], most)
        highest = np.empty(symbols.shape[1], dtype=np.float32)
        index = np.empty(BLOCK_ROWS, dtype=np.intp)
        found = np.empty(BLOCK_ROWS, dtype=np.uint16)
        for start in range(0, len(totals), BLOCK_ROWS):
            block = totals[start : start + BLOCK_ROWS]
            wide, steps = index[: len(block)], found[: len(block)]
            for s in self.order[: self._looked_up]:
                wide[...] = symbols[s, start : start + BLOCK_ROWS]
                # No symbol is out of range; "wrap" spares numpy the buffer it takes to complain, and is the quickest.
                self.sums[s].take(wide, out=steps, mode="wrap")
                block += steps
            # While the block is still in cache.
            np.multiply(
                self.scaled(block), inverse_lengths[start : start + BLOCK_ROWS], out=highest[start : start + BLOCK_ROWS]
            )

        def closer(rows: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
            whole = totals[rows] - most
            for s in self.order[self._looked_up :]:
                whole += self.sums[s].take(symbols[s].take(rows), mode="wrap")
            sums = self.scaled(whole)
            return sums - self.slack, sums

        return _Swept(highest, closer)

    def scaled(self, totals: Totals) -> Floats:
        """totals (n,) in steps -> sums, (n,) float32"""
        sums = totals.astype(np.float32)
        sums *= np.float32(self.step)
        sums += np.float32(self.base)
        return sums

    @property
    def _looked_up(self) -> int:
        return -(-3 * len(self.sums) // 4)


def _quick_sweep(symbols: Symbols, tables: Floats) -> QuickSweep | None:
    try:
        from lexicode.sweep import QuickSweep

        quick = QuickSweep.of(symbols, tables)
        if quick is not None:
            # A trial, for numba compiles and reads its cache only now.
            quick.highest(tables, np.ones(symbols.shape[1], dtype=np.float32), 0.0)
    except Exception:
        # Whatever numba lacks here (itself, LLVM, room for its cache, a cache that is whole), numpy does without.
        return None
    return quick


def product_rounding(codebooks: Floats) -> float:
    """More than float32 can be wrong by in the product of a row's sum of codewords with a vector of length one: much,
    where large codewords leave a small row. codebooks (M, K, width)"""
    longest = np.linalg.norm(codebooks.astype(np.float64), axis=2).max(axis=1)
    return 2 * len(codebooks) * float(np.finfo(np.float32).eps) * float(longest.sum())


def squared_lengths(
    packed: npt.NDArray[np.uint8],
    codebooks: Floats,
    *,
    bits: int,
    offsets: Sequence[int] | None = None,
    dim: int | None = None,
) -> Floats:
    """packed (n, bytes), codebooks (M, K, width) float32 -> the squared length of each row's sum, (n,) float32

    |sum of s|² is the sum of all s·s': one table of products for each pair of symbols serves all rows. Small tables,
    for which making those would take longer, are composed, and so are product codes, whose sums are short.
    """
    M, _, width = codebooks.shape
    # Two codewords of up to 8 bits each make an index of 16.
    half = SYMBOL_BITS // 2
    pairs = (-(-M // max(1, half // bits))) ** 2 // 2
    # Numbers multiplied for the tables and looked up, against numbers added: about how their times compare.
    making, looking_up, adding = pairs * (width << (SYMBOL_BITS - 3)), 2 * pairs * len(packed), M * width * len(packed)
    if offsets is not None or bits > half or making + looking_up > adding:
        return _composed_lengths(packed, codebooks, bits=bits, offsets=offsets, dim=dim)
    symbols = join_codes(packed, bits=bits, count=M, symbol_bits=half)
    vectors = joined_tables(codebooks.astype(np.float64), symbol_bits=half)
    # In float64, for codewords may be much longer than the rows they sum to.
    own = np.zeros(len(packed))
    for column, sums in zip(symbols, vectors, strict=True):
        own += np.einsum("nd,nd->n", sums, sums).take(column)
    squares = own.copy()
    index, found = np.empty(BLOCK_ROWS, dtype=np.intp), np.empty(BLOCK_ROWS)
    for later in range(1, len(vectors)):
        high = symbols[later] << np.uint16(half)
        for earlier in range(later):
            products = np.zeros((len(vectors[later]), 1 << half))
            products[:, : len(vectors[earlier])] = 2 * (vectors[later] @ vectors[earlier].T)
            for start in range(0, len(packed), BLOCK_ROWS):
                block = squares[start : start + BLOCK_ROWS]
                wide, values = index[: len(block)], found[: len(block)]
                wide[...] = high[start : start + BLOCK_ROWS] | symbols[earlier, start : start + BLOCK_ROWS]
                products.ravel().take(wide, out=values, mode="wrap")
                block += values
    cancelled = np.flatnonzero(squares <= CANCELLED * own)
    squares[cancelled] = _composed_lengths(packed[cancelled], codebooks, bits=bits)
    return squares.astype(np.float32)


def _composed_lengths(
    packed: npt.NDArray[np.uint8],
    codebooks: Floats,
    *,
    bits: int,
    offsets: Sequence[int] | None = None,
    dim: int | None = None,
) -> Floats:
    squares = np.empty(len(packed), dtype=np.float32)
    for start in range(0, len(packed), COMPOSED_ROWS):
        codes = unpack(packed[start : start + COMPOSED_ROWS], bits=bits, count=len(codebooks))
        rows = compose(codes, codebooks, offsets=offsets, dim=dim)
        np.einsum("nd,nd->n", rows, rows, out=squares[start : start + len(rows)])
    return squares
