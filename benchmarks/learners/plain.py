"""What people do without learning codes: fewer bits a value, fewer columns, fewer rows."""

from __future__ import annotations

import faiss
import numpy as np
import numpy.typing as npt

from learners.coding import Matrix, Method, Outcome, Task, UnfitError, as_float16

KMEANS_ROUNDS = 25
# Half-widths of the range that is divided, in standard deviations; the one of least loss is taken.
RANGES = np.arange(0.5, 8.01, 0.25)
RANGE_ROWS = 10_000


def whole(task: Task) -> Outcome:
    """The table as float32"""
    return Outcome(bytes=task.matrix.nbytes, setup="as it is", decode=task.matrix.copy)


def half(task: Task) -> Outcome:
    """The table as float16"""
    halves = task.matrix.astype(np.float16)
    return Outcome(bytes=halves.nbytes, setup="16 bits a value", decode=lambda: halves.astype(np.float32))


def uniform(bits: int) -> Method:
    """2**bits equal steps a column, around its mean, over the range of least loss (what lies outside is clipped)"""

    def method(task: Task) -> Outcome:
        rows, dim = task.matrix.shape
        mean, spread = task.matrix.mean(axis=0), task.matrix.std(axis=0)
        scaled = (task.matrix - mean) / np.where(spread > 0, spread, 1)
        sample = scaled[:: max(1, rows // RANGE_ROWS)]
        losses = [np.square(sample - _values(_steps(sample, bits, reach), bits, reach)).mean() for reach in RANGES]
        reach = float(RANGES[int(np.argmin(losses))])
        codes = _steps(scaled, bits, reach)

        def decode() -> Matrix:
            return _values(codes, bits, reach) * as_float16(spread) + as_float16(mean)

        return Outcome(
            bytes=rows * -(-dim * bits // 8) + 4 * dim,
            setup=f"2**{bits} steps",
            decode=decode,
        )

    return method


def _steps(scaled: Matrix, bits: int, reach: float) -> npt.NDArray[np.uint8]:
    width = 2 * reach / 2**bits
    return np.clip(np.floor((scaled + reach) / width), 0, 2**bits - 1).astype(np.uint8)


def _values(codes: npt.NDArray[np.uint8], bits: int, reach: float) -> Matrix:
    width = 2 * reach / 2**bits
    return (codes.astype(np.float32) + np.float32(0.5)) * np.float32(width) - np.float32(reach)


def principal(task: Task) -> Outcome:
    """PCA, each component as int8; as many components as the bytes allow"""
    matrix = task.matrix
    rows, dim = matrix.shape
    # A component costs a byte a row, its direction and its scale in float16; the mean comes once.
    kept = min(dim, (task.budget - 2 * dim) // (rows + 2 * dim + 2))
    if kept < 1:
        raise UnfitError(f"{task.budget} bytes do not pay for one component")
    mean = matrix.mean(axis=0)
    centered = matrix - mean
    directions = as_float16(np.linalg.eigh(centered.T.astype(np.float64) @ centered)[1][:, ::-1][:, :kept])
    components = centered @ directions
    scale = as_float16(np.abs(components).max(axis=0) / 127)
    codes = np.rint(components / np.where(scale > 0, scale, 1)).clip(-127, 127).astype(np.int8)
    return Outcome(
        bytes=codes.nbytes + 2 * (dim * kept + kept + dim),
        setup=f"{kept} components",
        decode=lambda: (codes * scale) @ directions.T + as_float16(mean),
    )


def clustered_rows(task: Task) -> Outcome:
    """k-means on whole rows, one codebook, as model2vec does; as many centers as the bytes allow"""
    matrix = task.matrix
    rows, dim = matrix.shape
    centers = min(rows // 2, 65_536, (task.budget - 2 * rows) // (2 * dim))
    if centers < 1:
        raise UnfitError(f"{task.budget} bytes do not pay for one center")
    means = faiss.Kmeans(dim, centers, niter=KMEANS_ROUNDS, seed=0, min_points_per_centroid=1)
    means.train(matrix)
    nearest = means.index.search(matrix, 1)[1].ravel()
    return Outcome(
        bytes=2 * rows + 2 * centers * dim,
        setup=f"{centers:,} centers",
        decode=lambda: as_float16(means.centroids)[nearest],
    )
