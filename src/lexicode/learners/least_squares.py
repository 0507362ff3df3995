"""Codes -> the codebooks that fit them best: one linear least-squares problem.

With B (n, K*M) the 0/1 matrix that says which codewords each row uses, the codebooks C solve (B'B + ridge) C = B'X.
Both B'B and B'X are sums over rows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.learners.kernels import accumulate
from lexicode.packing import Codes

# Each codebook may take a constant from another, so B'B is singular; a little ridge picks the small solution.
RIDGE = 1e-4
# Up to here a direct solve (cubic in K*M) is quicker than conjugate gradients (square, for each of many steps).
DIRECT_LIMIT = 2048
GRADIENT_STEPS = 40


@dataclass(frozen=True, kw_only=True)
class NormalEquations:
    """gram (K*M, K*M) float64 is B'B, target (K*M, dim) float64 is B'X; its diagonal counts each codeword's rows."""

    gram: npt.NDArray[np.float64]
    target: npt.NDArray[np.float64]

    @classmethod
    def of(cls, vectors: Floats, codes: Codes, codewords: int, pool: ThreadPoolExecutor) -> NormalEquations:
        """vectors (n, dim) float32, codes (n, M)"""
        M, K, dim = codes.shape[1], codewords, vectors.shape[1]
        sums = np.zeros((M, K, dim))
        counts = np.zeros((M, K, K * M), dtype=np.int64)
        # One codebook is one task: its rows are added up in order, whatever the number of threads.
        list(pool.map(lambda m: accumulate(vectors, codes, m, sums[m], counts[m]), range(M)))
        return cls(
            gram=counts.transpose(1, 0, 2).reshape(K * M, K * M).astype(np.float64),
            target=sums.transpose(1, 0, 2).reshape(K * M, dim),
        )

    @property
    def counts(self) -> npt.NDArray[np.float64]:
        """How many rows use each codeword: (K*M,)"""
        return self.gram.diagonal()

    def solve(self, start: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The codewords (K*M, dim); `start` is where the iterative solver sets out from."""
        ridge = RIDGE * max(self.counts.mean(), 1.0)
        gram = self.gram.copy()
        gram.flat[:: len(gram) + 1] += ridge
        if len(gram) <= DIRECT_LIMIT:
            return np.asarray(np.linalg.solve(gram, self.target), dtype=np.float64)
        return _conjugate_gradients(gram, self.target, start)


def _conjugate_gradients(
    gram: npt.NDArray[np.float64], target: npt.NDArray[np.float64], start: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """gram @ C = target, each column by its own Jacobi-preconditioned conjugate gradients, all columns at once."""
    inverse = 1 / gram.diagonal()[:, None]
    solution = start.copy()
    residual = target - gram @ solution
    scaled = inverse * residual
    direction = scaled.copy()
    strength = (residual * scaled).sum(axis=0)
    tiny = np.finfo(np.float64).tiny
    for _ in range(GRADIENT_STEPS):
        image = gram @ direction
        step = strength / np.maximum((direction * image).sum(axis=0), tiny)
        solution += step * direction
        residual -= step * image
        scaled = inverse * residual
        before, strength = strength, (residual * scaled).sum(axis=0)
        direction = scaled + (strength / np.maximum(before, tiny)) * direction
    return solution
