"""Codes and codebooks -> vectors: the one sum that every runtime of lexicode repeats.

Codebook m's codewords are added to the columns `offsets[m]` to `offsets[m] + width`. In an additive code every
codebook covers all columns (offsets 0, width dim); in a product code each covers a part of its own.

>>> compose(np.array([[0, 1]]), np.array([[[1.], [2.]], [[10.], [20.]]], dtype=np.float32))
array([[21.]], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def compose(
    codes: npt.NDArray[Any],
    codebooks: Floats,
    *,
    offsets: Sequence[int] | None = None,
    dim: int | None = None,
) -> Floats:
    """codes (n, M) integers, codebooks (M, K, width) float32 -> (n, dim) float32

    The sum runs over codebooks 0, 1, 2, … in float32: every runtime adds in this order, so that all agree to the bit.
    """
    M, _, width = codebooks.shape
    if offsets is None:
        rows: Floats = codebooks[0][codes[:, 0]]
        for m in range(1, M):
            rows += codebooks[m][codes[:, m]]
        return rows
    rows = np.zeros((len(codes), dim or width), dtype=np.float32)
    for m, start in enumerate(offsets):
        rows[:, start : start + width] += codebooks[m][codes[:, m]]
    return rows
