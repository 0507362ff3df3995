"""Codes as they are searched: neighbouring ones joined to symbols of up to 16 bits.

One table of 65,536 sums, which stays in cache, then serves four codebooks of 16 codewords at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.packing import unpack

Symbols = npt.NDArray[np.uint16]

SYMBOL_BITS = 16
# Indices of so many rows, widened for numpy, stay in the second-level cache.
BLOCK_ROWS = 32_768
# Codebooks of more are searched by numpy alone.
MOST_QUICK_CODEWORDS = 64


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
