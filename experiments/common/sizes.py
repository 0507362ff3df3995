"""Bytes as the paper counts them (section 5), and as they lie in lexicode's file.

The paper: every float takes 32 bits; dense arrays are dumped by numpy, compressed; pruned ones as scipy's csc_matrix;
codes are packed bits. Words are not counted. Its MB are 2**20 bytes: 75,102 codes of 80 bits are its 0.71 MB.
Codebooks are counted as plain float32, not dumped: ours are rounded to float16, and the zeros that a float32 then ends
on would compress away. A dump of float32 codebooks takes some 7 % less.
"""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from lexicode import CodedEmbedding, CodeScheme

MEBIBYTE = 2**20
FLOAT32_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """paper_bytes   codes and codebooks, or whatever stands for the table, by the paper's count
    stored_bytes  the same as lexicode stores it: float16 codebooks, nothing compressed
    file_bytes    all of lexicode's file, words included; None where lexicode has no such file
    """

    paper_bytes: int
    stored_bytes: int | None = None
    file_bytes: int | None = None

    def as_dict(self) -> dict[str, int | None]:
        return asdict(self)


def dumped_bytes(*arrays: npt.NDArray[Any]) -> int:
    """The size of one compressed numpy dump of the arrays."""
    stream = io.BytesIO()
    np.savez_compressed(stream, *arrays)
    return stream.tell()


def dense_bytes(matrix: npt.NDArray[np.floating[Any]]) -> int:
    """matrix of any shape -> its compressed numpy dump as float32"""
    return dumped_bytes(np.asarray(matrix, dtype=np.float32))


def sparse_bytes(matrix: npt.NDArray[np.floating[Any]]) -> int:
    """matrix (V, dim), mostly zeros -> its compressed dump as a float32 csc_matrix"""
    stream = io.BytesIO()
    scipy.sparse.save_npz(stream, scipy.sparse.csc_matrix(np.asarray(matrix, dtype=np.float32)), compressed=True)
    return stream.tell()


def code_bytes(rows: int, scheme: CodeScheme) -> int:
    """All codes as one string of bits, as the paper counts them; lexicode's rows end on byte boundaries.

    >>> code_bytes(75_102, CodeScheme.parse("16x32"))
    751020
    """
    return -(-rows * scheme.bits_per_row // 8)


def sizes_of(coded: CodedEmbedding) -> Sizes:
    """What a coded embedding takes: its codes and codebooks, norms that are coded apart, rows that are kept exactly."""
    codes = code_bytes(len(coded), coded.scheme)
    floats = coded.codebooks.size
    if coded.norms is not None and coded.norm_levels is not None:
        codes += coded.norms.nbytes
        floats += coded.norm_levels.size
    if coded.exact is not None:
        codes += coded.exact.ids.nbytes
        floats += coded.exact.rows.size
    stored = sum(size for part, size in coded.part_bytes.items() if part != "words")
    return Sizes(paper_bytes=codes + FLOAT32_BYTES * floats, stored_bytes=stored, file_bytes=coded.file_bytes)


def mebibytes(count: int | None) -> str:
    """As the paper writes sizes: three digits. `-` for None.

    >>> mebibytes(751_020), mebibytes(81_800_000), mebibytes(None)
    ('0.716', '78.0', '-')
    """
    if count is None:
        return "-"
    value = count / MEBIBYTE
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3}f}"


def smaller(size: int, base: int) -> str:
    """`98.75 % smaller (80 times)`"""
    return f"{100 * (1 - size / base):.2f} % smaller ({base / size:.0f} times)"
