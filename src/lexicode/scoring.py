"""Every row's inner product with a query, and every row's length, straight from the codes: no row is composed.

A query gives each codeword a number, its product with it, and a row's product is the sum of its codewords' numbers.
Neighbouring codes are joined to symbols of up to 16 bits, so that one table of 65,536 sums, which stays in cache,
serves four codebooks of 16 codewords at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats, compose
from lexicode.packing import unpack

Symbols = npt.NDArray[np.uint16]
Totals = npt.NDArray[np.uint16]

SYMBOL_BITS = 16
# Indices of so many rows, widened for numpy, stay in the second-level cache.
BLOCK_ROWS = 32_768
COMPOSED_ROWS = 8192
# Where a length is what little a sum of large numbers leaves, it is taken from the composed row.
CANCELLED = 1e-2
# One row of each so many is looked up to the end, to know what the best reach.
LEADER_GROUP = 512
# More than float32 arithmetic can be wrong by in a cosine.
ROUNDING = 1e-4
LOWEST = -2.0


def join_codes(packed: npt.NDArray[np.uint8], *, bits: int, count: int, symbol_bits: int = SYMBOL_BITS) -> Symbols:
    """packed (n, bytes) of `count` codes a row -> symbols (S, n) uint16: as many codes as fit `symbol_bits`, joined

    Code j of a symbol stands `bits * j` bits from its lowest; the last symbol of a row may hold fewer codes.
    """
    joined = symbol_bits // bits
    symbols = np.zeros((-(-count // joined), len(packed)), dtype=np.uint16)
    for start in range(0, len(packed), BLOCK_ROWS):
        codes = unpack(packed[start : start + BLOCK_ROWS], bits=bits, count=count).T
        for m, column in enumerate(codes):
            symbols[m // joined, start : start + BLOCK_ROWS] |= column.astype(np.uint16) << np.uint16(m % joined * bits)
    return symbols


def joined_tables(tables: npt.NDArray[Any], *, symbol_bits: int = SYMBOL_BITS) -> list[npt.NDArray[Any]]:
    """tables (M, K, ...) -> for each symbol that `join_codes` makes, the sums of its codewords: (up to 2**16, ...)"""
    M, K = tables.shape[:2]
    joined = symbol_bits // (K.bit_length() - 1)
    result = []
    for first in range(0, M, joined):
        sums = tables[first]
        for table in tables[first + 1 : first + joined]:
            # The later code of a symbol has the higher bits.
            sums = (table[:, None] + sums[None]).reshape(-1, *tables.shape[2:])
        result.append(sums)
    return result


class CodeSearch:
    """Finds the rows whose cosine with a query may be among the highest; what is left is few enough to compose.

    symbols (S, V) uint16 as `join_codes` makes them; inverse_lengths (V,) float32, 0 for a row of zeros; left_out: rows
    whose codes say nothing of them, and which are never found.
    """

    def __init__(
        self, symbols: Symbols, inverse_lengths: Floats, left_out: npt.NDArray[np.integer[Any]] | None = None
    ) -> None:
        self.symbols = symbols
        self.inverse_lengths = inverse_lengths
        self.left_out = np.empty(0, dtype=np.int64) if left_out is None else left_out

    def candidates(self, tables: Floats, n: int) -> npt.NDArray[np.int64]:
        """tables (M, K) float32, each codeword's product with the query -> rows, ascending, the n best among them

        Three quarters of the symbols are looked up for every row; the others count as the most they could be. Some
        promising rows, looked up to the end, then give a score that n rows reach, and most rows cannot.
        """
        rows = len(self.inverse_lengths)
        group = min(LEADER_GROUP, rows // (2 * n))
        if group < 2:
            return np.setdiff1d(np.arange(rows), self.left_out)
        bounds = _Bounds.of(tables)
        totals, most, highest = bounds.partial_totals(self.symbols, self.inverse_lengths)
        highest[self.left_out] = -np.inf
        whole = rows // group
        leaders = highest[: whole * group].reshape(whole, group).argmax(axis=1) + np.arange(0, whole * group, group)
        reached = bounds.scaled(bounds.totals(self.symbols, leaders, totals[leaders] - most)) - bounds.slack
        # A group of rows that are all left out has no leader.
        reached = np.where(np.isfinite(highest[leaders]), reached * self.inverse_lengths[leaders], -np.inf)
        threshold = np.partition(reached, -n)[-n] - ROUNDING
        # No cosine is as low as that, so rows that are left out never come in, not even where there is no leader.
        able = np.flatnonzero(highest >= max(threshold, LOWEST))
        highest = bounds.scaled(bounds.totals(self.symbols, able, totals[able] - most)) * self.inverse_lengths[able]
        return np.asarray(able[highest >= threshold])


@dataclass(frozen=True)
class _Bounds:
    """What a row's sum of codeword numbers is at most: numbers are rounded up to whole steps, of which all sums fit 16
    bits. Tables half as large and sums twice as quick for it, and no sum is overrated by more than M steps: `slack`,
    about 1 % of what the sums differ by at 32 codebooks of 16."""

    step: float
    base: float
    slack: np.float32
    sums: list[npt.NDArray[np.uint16]]
    # Symbols by what they can do to a sum, the most first.
    order: npt.NDArray[np.int64]

    @classmethod
    def of(cls, tables: Floats) -> _Bounds:
        M = len(tables)
        lowest = tables.min(axis=1, keepdims=True)
        above = tables - lowest
        step = float(above.max(axis=1).sum(dtype=np.float64)) / (np.iinfo(np.uint16).max - 2 * M) or 1.0
        sums = joined_tables(np.ceil(above / np.float32(step)).astype(np.uint16))
        order = np.argsort([-int(table.max()) for table in sums], kind="stable")
        return cls(step, float(lowest.sum(dtype=np.float64)), np.float32(M * step), sums, order)

    def partial_totals(self, symbols: Symbols, inverse_lengths: Floats) -> tuple[Totals, np.uint16, Floats]:
        """symbols (S, V), inverse_lengths (V,) -> steps of each row's sum, (V,) uint16; how many of them stand for the
        symbols that are not looked up, the most they could be; and what each cosine is at most, (V,) float32"""
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
        return totals, most, highest

    def totals(self, symbols: Symbols, rows: npt.NDArray[np.int64], partial: Totals) -> Totals:
        """The steps of rows (n,) by all their symbols, of which `partial` (n,) has those looked up before"""
        for s in self.order[self._looked_up :]:
            partial = partial + self.sums[s].take(symbols[s].take(rows), mode="wrap")
        return partial

    def scaled(self, totals: Totals) -> Floats:
        """totals (n,) in steps -> sums, (n,) float32"""
        sums = totals.astype(np.float32)
        sums *= np.float32(self.step)
        sums += np.float32(self.base)
        return sums

    @property
    def _looked_up(self) -> int:
        return -(-3 * len(self.sums) // 4)


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
    vectors = joined_tables(codebooks, symbol_bits=half)
    own = np.zeros(len(packed), dtype=np.float32)
    for column, sums in zip(symbols, vectors, strict=True):
        own += np.einsum("nd,nd->n", sums, sums).take(column)
    squares = own.copy()
    index, found = np.empty(BLOCK_ROWS, dtype=np.intp), np.empty(BLOCK_ROWS, dtype=np.float32)
    for later in range(1, len(vectors)):
        high = symbols[later] << np.uint16(half)
        for earlier in range(later):
            products = np.zeros((len(vectors[later]), 1 << half), dtype=np.float32)
            products[:, : len(vectors[earlier])] = 2 * (vectors[later] @ vectors[earlier].T)
            for start in range(0, len(packed), BLOCK_ROWS):
                block = squares[start : start + BLOCK_ROWS]
                wide, values = index[: len(block)], found[: len(block)]
                wide[...] = high[start : start + BLOCK_ROWS] | symbols[earlier, start : start + BLOCK_ROWS]
                products.ravel().take(wide, out=values, mode="wrap")
                block += values
    cancelled = np.flatnonzero(squares <= CANCELLED * own)
    squares[cancelled] = _composed_lengths(packed[cancelled], codebooks, bits=bits)
    return squares


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
