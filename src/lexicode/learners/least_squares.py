"""Codes -> the codebooks that fit them best: one linear least-squares problem.

With B (n, K*M) the 0/1 matrix that says which codewords each row uses, and W the rows' weights, the codewords C solve
(B'WB + ridge) C = B'WX.
Everything that is needed of the rows is a sum over them, so that several processes add up their shares.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.learners import kernels
from lexicode.learners.team import Team
from lexicode.packing import Codes

Doubles = npt.NDArray[np.float64]

# Each codebook may take a constant from another, so B'WB is singular; a little ridge picks the small solution.
RIDGE = 1e-4
# Up to this many codewords B'WB is made and solved directly, which is cubic in them. Beyond, conjugate gradients
# multiply by B and B'W row by row, and B'WB, which would be gigabytes, is never made.
DIRECT_LIMIT = 2048
GRADIENT_STEPS = 12
BLOCK_ROWS = 4096


@dataclass(frozen=True, kw_only=True)
class LeastSquares:
    """codes (n, M) and weights (n,) of this process's rows; the solution is over all processes' rows."""

    codes: Codes
    weights: Floats
    codewords: int
    pool: ThreadPoolExecutor
    team: Team

    def solve(self, vectors: Floats, start: Doubles) -> Doubles:
        """vectors (n, dim) float32 -> codewords (K*M, dim); `start` is where conjugate gradients set out from"""
        target = self._summed(vectors)
        if len(start) <= DIRECT_LIMIT:
            gram = self._gram()
            gram.flat[:: len(gram) + 1] += self._ridge
            return np.asarray(np.linalg.solve(gram, target), dtype=np.float64)
        return self._conjugate_gradients(target, start)

    @property
    def counts(self) -> Doubles:
        """The weight of the rows that use each codeword: (K*M,)"""
        M, K = self.codes.shape[1], self.codewords
        weights = self.weights.astype(np.float64)
        counts = np.stack([np.bincount(column, weights, minlength=K) for column in self.codes.T], axis=1)
        # Without rows numpy counts in integers, and processes add up their bytes.
        total = counts.reshape(K * M).astype(np.float64)
        self.team.sum(total)
        return total

    @property
    def _ridge(self) -> float:
        return RIDGE * max(float(self.counts.mean()), 1.0)

    def _summed(self, rows: Floats) -> Doubles:
        """B'W rows: rows (n, dim) -> (K*M, dim), the weighted sum of the rows that use each codeword"""
        M, K = self.codes.shape[1], self.codewords
        sums = np.zeros((M, K, rows.shape[1]))
        # One codebook is one task: its rows are added up in order, whatever the number of threads.
        list(self.pool.map(lambda m: kernels.sum_by_codeword(rows, self.codes, self.weights, m, sums[m]), range(M)))
        total = np.ascontiguousarray(sums.transpose(1, 0, 2)).reshape(K * M, -1)
        self.team.sum(total)
        return total

    def _gram(self) -> Doubles:
        """B'WB: (K*M, K*M), the weight of the rows that use each pair of codewords"""
        M, K = self.codes.shape[1], self.codewords
        counts = np.zeros((M, K, K * M))
        list(self.pool.map(lambda m: kernels.count_pairs(self.codes, self.weights, m, counts[m]), range(M)))
        gram: Doubles = np.ascontiguousarray(counts.transpose(1, 0, 2)).reshape(K * M, K * M)
        # Each pair was counted once, from its first codebook; a codeword stands beside itself once.
        own = gram.diagonal().copy()
        gram = gram + gram.T
        gram.flat[:: len(gram) + 1] = own
        self.team.sum(gram)
        return gram

    def _composed(self, codewords: Doubles) -> Floats:
        """B codewords: (K*M, dim) -> (n, dim) float32, each row's sum"""
        rows = np.empty((len(self.codes), codewords.shape[1]), dtype=np.float32)
        single = codewords.astype(np.float32)

        def compose_block(at: int) -> None:
            kernels.compose_rows(self.codes[at : at + BLOCK_ROWS], single, rows[at : at + BLOCK_ROWS])

        list(self.pool.map(compose_block, range(0, len(rows), BLOCK_ROWS)))
        return rows

    def _conjugate_gradients(self, target: Doubles, start: Doubles) -> Doubles:
        """Each column by its own Jacobi-preconditioned conjugate gradients, all columns at once."""
        ridge = self._ridge
        inverse = 1 / (self.counts + ridge)[:, None]
        tiny = np.finfo(np.float64).tiny
        solution = start.copy()
        residual = target - self._summed(self._composed(solution)) - ridge * solution
        scaled = inverse * residual
        direction = scaled.copy()
        strength = (residual * scaled).sum(axis=0)
        for _ in range(GRADIENT_STEPS):
            image = self._summed(self._composed(direction)) + ridge * direction
            step = strength / np.maximum((direction * image).sum(axis=0), tiny)
            solution += step * direction
            residual -= step * image
            scaled = inverse * residual
            before, strength = strength, (residual * scaled).sum(axis=0)
            direction = scaled + (strength / np.maximum(before, tiny)) * direction
        return solution
