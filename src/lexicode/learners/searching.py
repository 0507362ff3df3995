"""Better codes for many rows, block by block on a pool's threads: no thread count changes a bit of the result."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.encoding import SearchTables, move_limit, resting_steps, row_states
from lexicode.learners import kernels
from lexicode.packing import Codes

# Each codebook's turn comes once a round; where they are few it comes oftener, for a draw costs less than a round.
LEAST_DRAWS = 40

Numbers = npt.NDArray[np.int64]
# (scores (n, K*M) at no code, the rows they are of, their random states (n,)) -> codes and errors, in place
BlockWork = Callable[[Floats, slice, npt.NDArray[np.uint64]], None]


@dataclass(frozen=True, kw_only=True)
class Searching:
    """tables of the present codebooks, by codebook for `draw`; seed: of the rows' own random numbers, which their
    numbers (n,) set apart"""

    tables: SearchTables
    pool: ThreadPoolExecutor
    seed: int

    def draw(self, vectors: Floats, codes: Codes, numbers: Numbers, *, temperature: float) -> Floats:
        """Draw the codes (n, M) of vectors (n, dim) anew, in place; their squared errors, (n,) float32"""

        def draw_block(scores: Floats, part: slice, states: npt.NDArray[np.uint64]) -> None:
            kernels.anneal(scores, codes[part], self.tables.pull, errors[part], states, noise, sweeps)

        noise = gumbel_noise(self.seed, self.tables.codewords, temperature)
        sweeps = max(1, LEAST_DRAWS // self.tables.codebooks)
        errors = np.empty(len(vectors), dtype=np.float32)
        self._each_block(draw_block, vectors, numbers, errors)
        return errors

    def search(self, vectors: Floats, codes: Codes, numbers: Numbers, *, steps: int, greedy: bool = False) -> Floats:
        """Better codes (n, M) of vectors (n, dim), in place, from those at entry or, greedy, from none; their squared
        errors, (n,) float32"""
        M = self.tables.codebooks
        begin = kernels.greedy if greedy else kernels.adopt

        def search_block(scores: Floats, part: slice, states: npt.NDArray[np.uint64]) -> None:
            begin(scores, codes[part], self.tables.pull, errors[part])
            kernels.search(
                scores, codes[part], self.tables.pull, errors[part], states, self.tables.tolerance, steps,
                *resting_steps(M), move_limit(M),
            )  # fmt: skip

        errors = np.empty(len(vectors), dtype=np.float32)
        self._each_block(search_block, vectors, numbers, errors)
        return errors

    def _each_block(self, work: BlockWork, vectors: Floats, numbers: Numbers, errors: Floats) -> None:
        rows = self.tables.block_rows

        def run(start: int) -> None:
            part = slice(start, start + rows)
            scores, errors[part] = self.tables.begin(vectors[part])
            work(scores, part, row_states(self.seed, numbers[part]))

        list(self.pool.map(run, range(0, len(vectors), rows)))


def gumbel_noise(seed: int, codewords: int, temperature: float) -> Floats:
    """What `kernels.anneal` takes off the scores, (2**NOISE_BITS + K,) float32"""
    drawn = np.random.default_rng(seed).gumbel(scale=temperature, size=(1 << kernels.NOISE_BITS) + codewords)
    return drawn.astype(np.float32)


def mixed_seed(seed: int, step: int) -> int:
    """A 64-bit number that differs for every seed and step."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{step}".encode(), digest_size=8).digest(), "little")
