"""How low the loss could be at so many bits a row, were the vectors Gaussian: a line to hold measured losses against.

A reference, not a bound: of all sources of one covariance the Gaussian is the hardest to code, and real vectors are not
Gaussian. Nor does it count codebooks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lexicode.errors import InputError, SettingError
from lexicode.vectors import Vectors

BLOCK_ROWS = 8192


def covariance(vectors: Vectors) -> npt.NDArray[np.float64]:
    """The covariance of a table's columns, (dim, dim) float64; its trace is the loss of coding no bit at all"""
    total, products = np.zeros(vectors.dim), np.zeros((vectors.dim, vectors.dim))
    # Around some row of the table, so that an offset that all rows share costs no digits.
    origin = vectors.take([0])[0].astype(np.float64)
    for _, block in vectors.blocks(BLOCK_ROWS):
        centered = block - origin
        total += centered.sum(axis=0)
        products += centered.T @ centered
    mean = total / len(vectors)
    return np.asarray(products / len(vectors) - np.outer(mean, mean))


def gaussian_distortion(covariance: npt.ArrayLike, bits: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """covariance (dim, dim), bits a row of any shape -> the least mean squared distance a row, of bits' shape

    Reverse water-filling: directions of a variance above the water level share the bits so that each is left with an
    error of that level; those below get none.

    >>> gaussian_distortion([[4.0, 0.0], [0.0, 1.0]], [0, 1, 3]).round(6).tolist()
    [5.0, 2.0, 0.5]
    """
    matrix, rates = np.asarray(covariance, dtype=np.float64), np.asarray(bits, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise InputError(f"a covariance of shape {matrix.shape}; a square matrix of finite numbers is needed")
    if not (rates >= 0).all():
        raise SettingError(f"bits={rates.min()} is below zero; give 0 or more bits a row")
    found = np.linalg.eigvalsh(matrix)[::-1]
    # What rounding leaves of a variance of zero would swallow bits without end.
    variances = found[found > found.max(initial=0.0) * len(found) * np.finfo(np.float64).eps]
    if not len(variances):
        return np.zeros(rates.shape)
    coded = np.arange(1, len(variances) + 1)
    # Row i: the water levels, as logarithms, if the i + 1 largest variances were coded.
    levels = (np.cumsum(np.log2(variances)) / coded)[:, None] - 2 * rates.ravel() / coded[:, None]
    # As many are coded as stand above the water; the largest always does.
    above = np.maximum((levels <= np.log2(variances)[:, None]).sum(axis=0), 1)
    uncoded = variances.sum() - np.cumsum(variances)
    water = above * np.exp2(levels[above - 1, np.arange(rates.size)])
    return np.asarray(water + np.maximum(uncoded[above - 1], 0)).reshape(rates.shape)
