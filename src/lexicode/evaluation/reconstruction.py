"""How far the coded rows lie from the original ones: one pass over both, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats
from lexicode.errors import InputError
from lexicode.vectors import Vectors

BLOCK_ROWS = 8192


@dataclass(frozen=True, kw_only=True)
class Reconstruction:
    """loss: mean squared distance a row, as in the paper; mean_distance: its root, averaged; mean_cosine;
    eigenspace_overlap: how much of the space spanned by the columns is kept, from 0 to 1 (May et al. 2019)."""

    loss: float
    mean_distance: float
    mean_cosine: float
    eigenspace_overlap: float


def reconstruction(vectors: Vectors, coded: CodedEmbedding) -> Reconstruction:
    """Compare row by row. A row of zeros has cosine 1 with a row of zeros and 0 with any other."""
    loss = distance = cosine = 0.0
    dim = vectors.dim
    # X'X, Y'Y and X'Y are all that the overlap needs of the two tables.
    originals, codeds, crossed = np.zeros((dim, dim)), np.zeros((dim, dim)), np.zeros((dim, dim))
    for original, approximate in paired_blocks(vectors, coded):
        x, y = original.astype(np.float64), approximate.astype(np.float64)
        squared = np.square(x - y).sum(axis=1)
        loss += squared.sum()
        distance += np.sqrt(squared).sum()
        cosine += row_cosines(x, y).sum()
        originals += x.T @ x
        codeds += y.T @ y
        crossed += x.T @ y
    rows = len(vectors)
    return Reconstruction(
        loss=float(loss / rows),
        mean_distance=float(distance / rows),
        mean_cosine=float(cosine / rows),
        eigenspace_overlap=_eigenspace_overlap(originals, codeds, crossed),
    )


def paired_blocks(vectors: Vectors, coded: CodedEmbedding) -> Iterator[tuple[Floats, Floats]]:
    """The same rows of both tables, a block at a time, once it is sure that they are the same rows."""
    if (len(vectors), vectors.dim) != (len(coded), coded.dim):
        raise InputError(
            f"the vectors are {len(vectors)} x {vectors.dim}, the coded embedding is {len(coded)} x {coded.dim}: "
            "not the same table"
        )
    if vectors.words is not None and coded.words is not None and vectors.words != coded.words:
        row = next(row for row, (a, b) in enumerate(zip(vectors.words, coded.words, strict=True)) if a != b)
        raise InputError(
            f"row {row} is {vectors.words[row]!r} in the vectors and {coded.words[row]!r} in the coded embedding: "
            "not the same table"
        )
    for (_, original), (_, approximate) in zip(vectors.blocks(BLOCK_ROWS), coded.blocks(BLOCK_ROWS), strict=True):
        yield original, approximate


def row_cosines(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """x and y (n, dim) -> the cosine of each pair of rows, (n,) float64"""
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    both_zero = ~x.any(axis=1) & ~y.any(axis=1)
    products = np.einsum("nd,nd->n", x, y)
    return np.where(lengths > 0, products / np.where(lengths > 0, lengths, 1), both_zero)


def _eigenspace_overlap(
    originals: npt.NDArray[np.float64], codeds: npt.NDArray[np.float64], crossed: npt.NDArray[np.float64]
) -> float:
    """|U'V|^2 / max(rank) for the left singular vectors U, V of the two tables, from X'X, Y'Y and X'Y"""
    left, right = _inverse_root(originals), _inverse_root(codeds)
    ranks = max(left.shape[1], right.shape[1])
    if ranks == 0:
        return 1.0
    return float(np.square(left.T @ crossed @ right).sum() / ranks)


def _inverse_root(gram: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """W (dim, rank) with X W orthonormal, for X'X = gram; directions of no weight are left out"""
    values, directions = np.linalg.eigh(gram)
    kept = values > values.max(initial=0.0) * len(gram) * np.finfo(np.float64).eps * 16
    return np.asarray(directions[:, kept] / np.sqrt(values[kept]), dtype=np.float64)
