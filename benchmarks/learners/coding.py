"""What every method of the benchmark is given, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexicode import CodeScheme, Vectors

Matrix = npt.NDArray[np.float32]


class UnfitError(Exception):
    """The method cannot do this table or scheme; says why."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """The table, and the scheme whose bytes a method is to spend: rows' codes and float16 codebooks."""

    vectors: Vectors
    scheme: CodeScheme
    threads: int

    @property
    def matrix(self) -> Matrix:
        """(V, dim) float32: the table itself, never to be written to"""
        return self.vectors.matrix

    @property
    def budget(self) -> int:
        """The bytes that an additive code of this scheme takes, codebooks counted."""
        rows, dim = self.matrix.shape
        return rows * self.scheme.bytes_per_row + 2 * self.scheme.basis_vectors * dim


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """bytes: codes, codebooks and whatever else it takes to get the rows back, words not counted.
    setup: how the method spent them. decode: the table as it comes back, (V, dim) float32."""

    bytes: int
    setup: str
    decode: Callable[[], Matrix]


Method = Callable[[Task], Outcome]


def as_float16(values: npt.NDArray[np.floating]) -> Matrix:
    """What is left of codebooks when they are stored as float16, (…) float32"""
    return np.asarray(values).astype(np.float16).astype(np.float32)
