"""Uniform quantization: each value becomes the nearest of 2**bits evenly spaced levels.

Each column has its own levels, around its mean; how far they reach is what makes the squared error least. That is the
strong form of what May et al. (2019) found hard to beat: they use one range for the whole table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from experiments.common.sizes import Sizes, dumped_bytes
from lexicode import SettingError

# Reaches that are tried, as fractions of a column's largest distance from its mean.
REACHES = np.linspace(0.02, 1.0, 50, dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class UniformTable:
    """levels (V, dim) uint8 of numbers below 2**bits; lowest (dim,) and step (dim,) float32"""

    bits: int
    levels: npt.NDArray[np.uint8]
    lowest: npt.NDArray[np.float32]
    step: npt.NDArray[np.float32]

    def decode(self) -> npt.NDArray[np.float32]:
        """(V, dim) float32"""
        return self.levels * self.step + self.lowest

    @property
    def sizes(self) -> Sizes:
        """The levels packed to `bits` bits each, and two floats a column; lexicode has no file for it."""
        packed = np.packbits(np.unpackbits(self.levels.reshape(-1, 1), axis=1)[:, -self.bits :])
        columns = self.lowest.nbytes + self.step.nbytes
        return Sizes(
            paper_bytes=dumped_bytes(packed, self.lowest, self.step),
            stored_bytes=packed.nbytes + columns,
        )


def quantize(matrix: npt.NDArray[np.float32], bits: int) -> UniformTable:
    """matrix (V, dim) float32 -> its values as numbers of `bits` bits, 1 to 8

    >>> quantize(np.array([[1.0], [3.0]], dtype=np.float32), bits=1).decode().ravel().tolist()
    [1.0, 3.0]
    """
    if not 1 <= bits <= 8:
        raise SettingError(f"bits={bits} is not between 1 and 8")
    mean = matrix.mean(axis=0)
    largest = np.abs(matrix - mean).max(axis=0)
    best = np.full(len(mean), np.inf, dtype=np.float32)
    reach = largest.copy()
    for fraction in REACHES:
        tried = _rounded(matrix, mean, fraction * largest, bits).decode()
        error = np.square(tried - matrix).mean(axis=0)
        reach[error < best] = (fraction * largest)[error < best]
        best = np.minimum(best, error)
    return _rounded(matrix, mean, reach, bits)


def _rounded(
    matrix: npt.NDArray[np.float32], mean: npt.NDArray[np.float32], reach: npt.NDArray[np.float32], bits: int
) -> UniformTable:
    """Levels from mean - reach to mean + reach, (dim,) each; values beyond them get the outermost."""
    top = 2**bits - 1
    # A column of one value has no reach; any step will do, for its level is the middle anyway.
    step = np.where(reach > 0, 2 * reach / top, 1).astype(np.float32)
    lowest = (mean - reach).astype(np.float32)
    levels = np.clip(np.rint((matrix - lowest) / step), 0, top).astype(np.uint8)
    return UniformTable(bits=bits, levels=levels, lowest=lowest, step=step)
