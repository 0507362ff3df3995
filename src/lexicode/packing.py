"""Codes to bits and back.

A row of M codes of b bits each is a little-endian bit string: code m occupies bits m*b to (m+1)*b - 1,
counted from the lowest bit of the row's first byte. Each row starts on a byte boundary; what is left of
its last byte is zero. At 4 bits, then, a byte holds the codes of codebooks 2i (low half) and 2i+1 (high half).

>>> pack(np.array([[1, 15]]), bits=4)
array([[241]], dtype=uint8)
>>> unpack(np.array([[241]], dtype=np.uint8), bits=4, count=2)
array([[ 1, 15]], dtype=uint8)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.unsignedinteger[Any]]


def code_dtype(bits: int) -> type[np.uint8] | type[np.uint16]:
    """The smallest dtype that holds one code component."""
    return np.uint8 if bits <= 8 else np.uint16


def pack(codes: npt.NDArray[Any], *, bits: int) -> npt.NDArray[np.uint8]:
    """codes (n, M) of integers below 2**bits -> (n, ceil(M * bits / 8)) uint8"""
    n, M = codes.shape
    if bits == 8:
        return np.ascontiguousarray(codes, dtype=np.uint8)
    if bits == 4 and M % 2 == 0:
        small = codes.astype(np.uint8, copy=False)
        return small[:, 0::2] | small[:, 1::2] << np.uint8(4)
    shifts = np.arange(bits, dtype=np.uint16)
    expanded = (codes[:, :, None].astype(np.uint16) >> shifts) & np.uint16(1)
    return np.packbits(expanded.reshape(n, M * bits).astype(np.uint8), axis=1, bitorder="little")


def unpack(packed: npt.NDArray[np.uint8], *, bits: int, count: int) -> Codes:
    """packed (n, bytes) uint8 -> codes (n, count), uint8 up to 8 bits and uint16 beyond"""
    if bits == 8:
        return np.ascontiguousarray(packed[:, :count])
    if bits == 4:
        codes = np.empty((len(packed), 2 * packed.shape[1]), dtype=np.uint8)
        np.bitwise_and(packed, 15, out=codes[:, 0::2])
        np.right_shift(packed, 4, out=codes[:, 1::2])
        return np.ascontiguousarray(codes[:, :count])
    mask = (1 << bits) - 1
    result = np.empty((len(packed), count), dtype=code_dtype(bits))
    for m in range(count):
        first, shift = divmod(m * bits, 8)
        # A component of at most 12 bits lies in at most three bytes.
        value = packed[:, first].astype(np.uint32)
        for step in range(1, (shift + bits + 7) // 8):
            value |= packed[:, first + step].astype(np.uint32) << np.uint32(8 * step)
        result[:, m] = (value >> np.uint32(shift)) & np.uint32(mask)
    return result
