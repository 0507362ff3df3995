"""Quantizers of other libraries: faiss's and nanopq's.

All store codebooks as float16, as lexicode does: rounded before rows are decoded, which changes none of their losses
by a thousandth. Additive ones take the scheme as it is. Product quantizers spend the same bytes a row on codebooks of
256 codewords, which is what they are made for and better than many small ones.
"""

from __future__ import annotations

from typing import Any

import faiss
import nanopq
import numpy as np
import numpy.typing as npt

from learners.coding import Matrix, Outcome, Task, UnfitError, as_float16
from lexicode.learners.product import column_parts

BEAM = 8


def local_search(task: Task) -> Outcome:
    """faiss LocalSearchQuantizer, its defaults"""
    quantizer = faiss.LocalSearchQuantizer(task.matrix.shape[1], task.scheme.codebooks, task.scheme.bits)
    return _additive(task, quantizer, f"{task.scheme}")


def residual(task: Task) -> Outcome:
    """faiss ResidualQuantizer, a beam of 8"""
    quantizer = faiss.ResidualQuantizer(task.matrix.shape[1], task.scheme.codebooks, task.scheme.bits)
    quantizer.max_beam_size = BEAM
    return _additive(task, quantizer, f"{task.scheme}, beam {BEAM}")


def product_local_search(task: Task) -> Outcome:
    """faiss ProductLocalSearchQuantizer: columns in four parts (or two), an additive code for each"""
    dim, M = task.matrix.shape[1], task.scheme.codebooks
    parts = next((parts for parts in (4, 2) if dim % parts == 0 and M % parts == 0), None)
    if parts is None:
        raise UnfitError(f"{dim} columns and {M} codebooks do not divide by 2")
    quantizer = faiss.ProductLocalSearchQuantizer(dim, parts, M // parts, task.scheme.bits)
    return _additive(task, quantizer, f"{parts} parts of {M // parts}x{task.scheme.codewords}", width=dim // parts)


def _additive(task: Task, quantizer: Any, setup: str, width: int | None = None) -> Outcome:
    matrix = task.matrix
    quantizer.train(matrix)
    codes = quantizer.compute_codes(matrix)
    stored = task.scheme.basis_vectors * (width or matrix.shape[1])

    def decode() -> Matrix:
        for part in _parts(quantizer):
            codebooks = faiss.vector_to_array(part.codebooks)
            faiss.copy_array_to_vector(as_float16(codebooks), part.codebooks)
        return quantizer.decode(codes)

    return Outcome(bytes=codes.nbytes + 2 * stored, setup=setup, decode=decode)


def _parts(quantizer: Any) -> list[Any]:
    """The quantizer itself, and those it is made of."""
    if not isinstance(quantizer, faiss.ProductAdditiveQuantizer):
        return [quantizer]
    return [quantizer, *(quantizer.subquantizer(part) for part in range(quantizer.nsplits))]


def product(task: Task) -> Outcome:
    """faiss ProductQuantizer"""
    spread = Spread(task)
    quantizer = faiss.ProductQuantizer(spread.width, spread.parts, 8)
    padded = spread.pad(task.matrix)
    quantizer.train(padded)
    codes = quantizer.compute_codes(padded)

    def decode() -> Matrix:
        _round_centroids(quantizer)
        return spread.unpad(quantizer.decode(codes))

    return Outcome(bytes=codes.nbytes + spread.codebook_bytes, setup=f"{spread.parts}x256", decode=decode)


def rotated_product(task: Task) -> Outcome:
    """faiss OPQMatrix and ProductQuantizer"""
    spread = Spread(task)
    padded = spread.pad(task.matrix)
    rotation = faiss.OPQMatrix(spread.width, spread.parts)
    rotation.train(padded)
    turned = rotation.apply(padded)
    quantizer = faiss.ProductQuantizer(spread.width, spread.parts, 8)
    quantizer.train(turned)
    codes = quantizer.compute_codes(turned)

    def decode() -> Matrix:
        _round_centroids(quantizer)
        back = faiss.vector_to_array(rotation.A).reshape(spread.width, spread.width)
        return quantizer.decode(codes) @ as_float16(back[:, spread.columns])

    rotation_bytes = 2 * spread.width * task.matrix.shape[1]
    return Outcome(
        # Rotated, the columns are no longer partly empty: all of the codebooks are stored.
        bytes=codes.nbytes + 2 * 256 * spread.width + rotation_bytes,
        setup=f"{spread.parts}x256 and a rotation",
        decode=decode,
    )


def _round_centroids(quantizer: Any) -> None:
    centroids = faiss.vector_to_array(quantizer.centroids)
    faiss.copy_array_to_vector(as_float16(centroids), quantizer.centroids)


def nanopq_product(task: Task) -> Outcome:
    """nanopq PQ"""
    spread = Spread(task)
    quantizer = nanopq.PQ(M=spread.parts, Ks=256, verbose=False)
    padded = spread.pad(task.matrix)
    quantizer.fit(padded)
    codes = quantizer.encode(padded)

    def decode() -> Matrix:
        quantizer.codewords = as_float16(quantizer.codewords)
        return spread.unpad(quantizer.decode(codes))

    return Outcome(bytes=codes.nbytes + spread.codebook_bytes, setup=f"{spread.parts}x256", decode=decode)


def nanopq_rotated(task: Task) -> Outcome:
    """nanopq OPQ"""
    spread = Spread(task)
    quantizer = nanopq.OPQ(M=spread.parts, Ks=256, verbose=False)
    padded = spread.pad(task.matrix)
    quantizer.fit(padded)
    codes = quantizer.encode(padded)

    def decode() -> Matrix:
        quantizer.pq.codewords = as_float16(quantizer.pq.codewords)
        return quantizer.pq.decode(codes) @ as_float16(quantizer.R.T[:, spread.columns])

    rotation_bytes = 2 * spread.width * task.matrix.shape[1]
    return Outcome(
        bytes=codes.nbytes + 2 * 256 * spread.width + rotation_bytes,
        setup=f"{spread.parts}x256 and a rotation",
        decode=decode,
    )


class Spread:
    """Columns shared out evenly among parts of one width, narrow parts filled up with zeros: a product quantizer that
    wants equal parts then takes any number of them, and no part is left without columns."""

    columns: npt.NDArray[np.int64]

    def __init__(self, task: Task) -> None:
        dim = task.matrix.shape[1]
        self.parts = task.scheme.bytes_per_row
        if self.parts > dim:
            raise UnfitError(f"{self.parts} bytes a row are more than {dim} columns")
        if len(task.matrix) < 256:
            raise UnfitError(f"{len(task.matrix)} rows cannot make 256 codewords")
        slices = column_parts(dim, self.parts)
        each = max(part.stop - part.start for part in slices)
        self.width = each * self.parts
        starts = [np.arange(part.stop - part.start) + each * number for number, part in enumerate(slices)]
        self.columns = np.concatenate(starts)
        # The zeros need not be stored.
        self.codebook_bytes = 2 * 256 * dim

    def pad(self, matrix: Matrix) -> Matrix:
        padded = np.zeros((len(matrix), self.width), dtype=np.float32)
        padded[:, self.columns] = matrix
        return padded

    def unpad(self, padded: Matrix) -> Matrix:
        return np.ascontiguousarray(padded[:, self.columns])
