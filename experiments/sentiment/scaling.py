"""Codes whose rows vary as much as the vectors they stand for.

Codes of least error are nearer to the mean than their vectors: their variance is the vectors' less the error. At 32x16
a third of it is gone, and a model that trains on such rows for a set number of steps gets less far. The paper's network
does not shrink its rows so, at the price of a larger error. Stretched away from the mean again, rows err more and vary
as before; it costs no byte, for the codebooks take it in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.common.codebooks import with_codebooks
from lexicode import CodedEmbedding


def with_variance_of(
    coded: CodedEmbedding, table: npt.NDArray[np.float32], weights: npt.NDArray[np.floating[Any]]
) -> CodedEmbedding:
    """The coded embedding, its rows moved away from their mean until they vary as `table` (V, dim) does; rows count by
    `weights` (V,). Rows that are kept as they are stay so."""
    decoded = coded.decode()
    mean = np.average(decoded, axis=0, weights=weights)
    factor = np.sqrt(_variance(table, weights) / _variance(decoded, weights))
    codebooks = factor * coded.codebooks.astype(np.float64)
    # Every row has just one codeword of the first codebook, so what is added there is added to all.
    codebooks[0] += (1 - factor) * mean
    return with_codebooks(coded, codebooks, scaled=float(factor))


def _variance(table: npt.NDArray[np.float32], weights: npt.NDArray[np.floating[Any]]) -> float:
    mean = np.average(table, axis=0, weights=weights)
    return float(np.average(np.square(table - mean).sum(axis=1), weights=weights))
