"""The files of the paper's own tool: `prefix.codes`, M integers a line, and `prefix.codebook.npy`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.errors import InputError
from lexicode.formats.arrays import read_npy
from lexicode.formats.atomic import replacing
from lexicode.formats.growing import GrowingRows
from lexicode.formats.streams import Source, open_source
from lexicode.formats.text import line_blocks
from lexicode.formats.wordlists import line_of
from lexicode.formats.writing import write_npy

CODES = ".codes"
CODEBOOK = ".codebook.npy"
MOST_CODEWORDS = 1 << 16


def write_original_codes(
    prefix: str | os.PathLike[str], codes: npt.NDArray[np.integer[Any]], codebooks: npt.NDArray[np.float32]
) -> None:
    """codes (V, M) integers below K, codebooks (M, K, dim) float32"""
    M, K, dim = codebooks.shape
    # Codebook m's codewords are rows m*K to (m+1)*K - 1.
    write_npy(os.fspath(prefix) + CODEBOOK, [(0, codebooks.reshape(M * K, dim))], M * K, dim)
    with replacing(os.fspath(prefix) + CODES) as temporary, temporary.open("w", encoding="ascii") as file:
        file.writelines(" ".join(map(str, row.tolist())) + "\n" for row in codes)


def read_original_codes(
    path: str | os.PathLike[str],
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32]]:
    """Either file's path, or the prefix of both -> codes (V, M) uint16, codebooks (M, K, dim) float32"""
    prefix = os.fspath(path).removesuffix(CODES).removesuffix(CODEBOOK)
    for suffix, other in ((CODES, CODEBOOK), (CODEBOOK, CODES)):
        if Path(prefix + other).exists() and not Path(prefix + suffix).exists():
            raise InputError(f"{prefix + other}: its companion {prefix + suffix} is missing")
    with open_source(prefix + CODEBOOK) as source:
        rows = np.array(read_npy(source).matrix, dtype=np.float32)
    with open_source(prefix + CODES) as source:
        codes = _read_codes(source, len(rows))
    M = codes.shape[1]
    return codes, rows.reshape(M, len(rows) // M, rows.shape[1])


def _read_codes(source: Source, codewords: int) -> npt.NDArray[np.uint16]:
    """codes (V, M) uint16, where M is the first line's and K is `codewords` / M."""
    gathered = GrowingRows()
    M = K = 0
    for lines in line_blocks(source, line_of):
        if not M:
            M = len(lines[0].split()) or 1
            K, left = divmod(codewords, M)
            if left or not 1 <= K <= MOST_CODEWORDS:
                raise source.problem(
                    f"has {M} codes a line, but {codewords} codewords do not divide among {M} codebooks"
                )
        block = np.empty((len(lines), M), dtype=np.uint16)
        for index, line in enumerate(lines):
            block[index] = _codes_of(source, line, len(gathered) + index, M, K)
        gathered.append(block)
    if not len(gathered):
        raise source.problem("is empty")
    return gathered.finish()


def _codes_of(source: Source, line: bytes, row: int, M: int, K: int) -> list[int]:
    fields = line.split()
    if len(fields) != M:
        raise source.problem(f"{line_of(row)}: expected {M} codes, found {len(fields)}")
    # At most five digits are a code; isdigit alone would let a megabyte of them through to int.
    codes = [int(field) if field.isdigit() and len(field) <= 5 else -1 for field in fields]
    for code, field in zip(codes, fields, strict=True):
        if not 0 <= code < K:
            raise source.problem(f"{line_of(row)}: {field.decode(errors='replace')!r} is not a code from 0 to {K - 1}")
    return codes
