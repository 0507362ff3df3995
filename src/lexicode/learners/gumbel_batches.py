"""What each iteration of the paper's network is fed: rows drawn uniformly, and their noise.

Iteration i draws from a generator of its own, seeded by (seed, process, i): so a run that goes on from a checkpoint is
fed what it would have been. Many iterations are drawn at a time, on all threads; torch's own exponential noise takes
longer than the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import torch

from lexicode.composition import Floats
from lexicode.learners.gumbel_supply import Supply

# Drawn ahead: up to so many iterations, and numbers of float32 (16 MB, which stays near the processor).
MOST_AHEAD = 64
NUMBERS_AHEAD = 1 << 22
# 32 random bits, as an integer below and above zero, times this plus a half: never 0 and never 1 in float32.
UNIT = np.float32(2**-32 * (1 - 2**-23))


@dataclass(frozen=True, kw_only=True)
class Batch:
    """rows (B, dim), inverse_noise (B, K*M) of 1 / E with E exponential, weights (B,) of the rows"""

    rows: torch.Tensor
    inverse_noise: torch.Tensor
    weights: torch.Tensor


class Batches:
    """Batches of `size` rows of the supply, with their weights times `scale`, and noise for `width` codewords."""

    def __init__(
        self,
        supply: Supply,
        *,
        size: int,
        scale: float,
        width: int,
        seed: Sequence[int],
        pool: ThreadPoolExecutor,
        device: torch.device,
    ) -> None:
        self._supply = supply
        self._size = size
        self._scale = np.float32(scale)
        self._seed = list(seed)
        self._pool = pool
        self._device = device
        self._ahead = max(1, min(MOST_AHEAD, NUMBERS_AHEAD // (size * width)))
        self._noise = np.empty((self._ahead, size, width), dtype=np.float32)
        self._numbers = np.empty((self._ahead, size), dtype=np.int64)

    def between(self, first: int, stop: int) -> Iterator[Batch]:
        """The batches of iterations first to stop - 1. Each is good until the next is asked for."""
        for start in range(first - first % self._ahead, stop, self._ahead):
            block = range(max(first, start), min(start + self._ahead, stop))
            # By the block's place, not by where a run began: one that goes on draws from the same rows.
            vectors, weights = self._supply.rows(start)
            list(self._pool.map(self._draw, range(len(block)), block, repeat(len(vectors))))
            numbers = self._numbers[: len(block)]
            rows = self._to_device(vectors.take(numbers.ravel())).view(*numbers.shape, -1)
            row_weights = self._to_device(weights[numbers] * self._scale)
            noise = self._to_device(self._noise[: len(block)])
            for at in range(len(block)):
                yield Batch(rows=rows[at], inverse_noise=noise[at], weights=row_weights[at])

    def _draw(self, at: int, iteration: int, rows: int) -> None:
        bits = np.random.SFC64([*self._seed, iteration])
        self._numbers[at] = np.random.Generator(bits).integers(rows, size=self._size)
        fill_inverse_exponential(self._noise[at], bits)

    def _to_device(self, array: Floats) -> torch.Tensor:
        return torch.from_numpy(array).to(self._device, non_blocking=True)


def fill_inverse_exponential(out: Floats, bits: np.random.BitGenerator) -> None:
    """1 / E with E exponential of mean 1 into out (any shape of an even size): E = -log U"""
    flat = out.reshape(-1)
    words = bits.random_raw(flat.size // 2).view(np.int32)
    np.copyto(flat, words, casting="unsafe")
    flat *= UNIT
    flat += np.float32(0.5)
    np.log(flat, out=flat)
    np.divide(np.float32(-1), flat, out=flat)
