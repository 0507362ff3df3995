"""What must hold of a coded embedding's parts, or no look-up could be trusted; each check raises an InputError."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.errors import InputError
from lexicode.scheme import CodeScheme
from lexicode.words import Words, most_text


def check_codes(packed: npt.NDArray[Any], scheme: CodeScheme) -> None:
    if packed.dtype != np.uint8 or packed.ndim != 2 or len(packed) == 0:
        raise InputError(f"codes are {packed.dtype} of shape {packed.shape}, not uint8 rows")
    if packed.shape[1] != scheme.bytes_per_row:
        raise InputError(f"codes have {packed.shape[1]} bytes a row, but scheme {scheme} takes {scheme.bytes_per_row}")


def check_codebooks(codebooks: npt.NDArray[Any], scheme: CodeScheme, offsets: Sequence[int] | None, dim: int) -> None:
    M, K = scheme.codebooks, scheme.codewords
    if codebooks.ndim != 3 or codebooks.shape[:2] != (M, K) or codebooks.shape[2] == 0:
        raise InputError(
            f"codebooks have shape {codebooks.shape}, but scheme {scheme} needs ({M}, {K}, dim): "
            "codes would point past them"
        )
    if codebooks.dtype not in (np.float16, np.float32) or not np.isfinite(codebooks).all():
        raise InputError(f"codebooks of {codebooks.dtype}; finite float16 or float32 numbers are needed")
    width = codebooks.shape[2]
    starts = (0,) * M if offsets is None else offsets
    if len(starts) != M or min(starts) < 0 or max(starts) + width > dim or (width < dim and not any(starts)):
        raise InputError(f"{M} codebooks {width} wide at columns {starts} do not make up {dim} columns")


def check_words(words: Words, rows: int) -> None:
    if len(words) != rows:
        raise InputError(f"{len(words)} words for {rows} rows of codes")
    if len(words.text) > most_text(len(words)):
        raise InputError(f"the words of {len(words)} rows take more than {most_text(len(words))} bytes")


def check_norms(norms: npt.NDArray[Any] | None, levels: npt.NDArray[Any] | None, rows: int) -> None:
    if (norms is None) != (levels is None):
        raise InputError("norms and norm_levels come together or not at all")
    if norms is None or levels is None:
        return
    if norms.dtype != np.uint8 or norms.shape != (rows,):
        raise InputError(f"norms are {norms.dtype} of shape {norms.shape}, not one byte for each of {rows} rows")
    if levels.dtype != np.float32 or not np.isfinite(levels).all() or (levels < 0).any():
        raise InputError(f"norm levels of {levels.dtype}; finite float32 numbers, none below zero, are needed")
    if levels.ndim != 1 or int(norms.max()) >= len(levels):
        raise InputError(f"norms point past the {levels.size} norm levels")
