"""What each iteration of the paper's network is fed: rows drawn uniformly, and their noise.

Iteration i draws from a generator of its own, seeded by (seed, process, i): so a run that goes on from a checkpoint is
fed what it would have been. Many iterations are drawn at a time, on all threads; torch's own exponential noise takes
longer than the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import torch

from lexicode.composition import Floats
from lexicode.vectors import Vectors

# Drawn ahead: up to so many iterations, and numbers of float32 (16 MB, which stays near the processor).
MOST_AHEAD = 64
NUMBERS_AHEAD = 1 << 22
# Drawn at a time, to fill a wait with: some 100 microseconds. With an eighth of that an iteration took 8 % longer.
NUMBERS_AT_ONCE = 1 << 15
# 32 random bits, as an integer below and above zero, times this plus a half: never 0 and never 1 in float32.
UNIT = np.float32(2**-32 * (1 - 2**-23))


@dataclass(frozen=True, kw_only=True)
class Batch:
    """rows (B, dim), inverse_noise (B, K*M) of 1 / E with E exponential, numbers (B,) int64 of the rows"""

    rows: torch.Tensor
    inverse_noise: torch.Tensor
    numbers: npt.NDArray[np.int64]


class Batches:
    """Batches of `size` rows of `vectors` and noise for `width` codewords.

    in_parts: so that `draw_some` has something small to do; threads of one process would get into each other's way.
    """

    def __init__(
        self,
        vectors: Vectors,
        *,
        size: int,
        width: int,
        seed: Sequence[int],
        pool: ThreadPoolExecutor,
        device: torch.device,
        in_parts: bool = False,
    ) -> None:
        self._vectors = vectors
        self._size = size
        self._seed = list(seed)
        self._pool = pool
        self._device = device
        self._ahead = max(1, min(MOST_AHEAD, NUMBERS_AHEAD // (size * width)))
        # Two of each: one is learned from while the other is drawn.
        self._noise = np.empty((2, self._ahead, size, width), dtype=np.float32)
        self._numbers = np.empty((2, self._ahead, size), dtype=np.int64)
        self._rows_at_once = max(1, NUMBERS_AT_ONCE // width) if in_parts else size
        self._next_parts: Iterator[None] = iter(())

    def between(self, first: int, stop: int) -> Iterator[Batch]:
        """The batches of iterations first to stop - 1. Each is good until the next is asked for."""
        blocks = [range(start, min(start + self._ahead, stop)) for start in range(first, stop, self._ahead)]
        coming = self._drawings(0, blocks[0]) if blocks else []
        for turn, block in enumerate(blocks):
            half, count = turn % 2, len(block)
            # Whatever draw_some has left of them.
            list(self._pool.map(_finish, coming))
            coming = self._drawings(1 - half, blocks[turn + 1]) if turn + 1 < len(blocks) else []
            self._next_parts = chain.from_iterable(coming)
            rows = self._to_device(self._vectors.take(self._numbers[half, :count].ravel()))
            rows = rows.view(count, self._size, self._vectors.dim)
            noise = self._to_device(self._noise[half, :count])
            for at in range(count):
                yield Batch(rows=rows[at], inverse_noise=noise[at], numbers=self._numbers[half, at])

    def draw_some(self) -> None:
        """Draw a little of what comes next, if anything is left to draw: for a process that has to wait for others."""
        next(self._next_parts, None)

    def _drawings(self, half: int, block: range) -> list[Iterator[None]]:
        return [self._draw(half, at, iteration) for at, iteration in enumerate(block)]

    def _draw(self, half: int, at: int, iteration: int) -> Iterator[None]:
        """One iteration's numbers, a few rows at each step of the iterator."""
        bits = np.random.SFC64([*self._seed, iteration])
        self._numbers[half, at] = np.random.Generator(bits).integers(len(self._vectors), size=self._size)
        for start in range(0, self._size, self._rows_at_once):
            fill_inverse_exponential(self._noise[half, at, start : start + self._rows_at_once], bits)
            yield

    def _to_device(self, array: Floats) -> torch.Tensor:
        return torch.from_numpy(array).to(self._device, non_blocking=True)


def _finish(drawing: Iterator[None]) -> None:
    for _ in drawing:
        pass


def fill_inverse_exponential(out: Floats, bits: np.random.BitGenerator) -> None:
    """1 / E with E exponential of mean 1 into out (any shape of an even size): E = -log U"""
    flat = out.reshape(-1)
    words = bits.random_raw(flat.size // 2).view(np.int32)
    np.copyto(flat, words, casting="unsafe")
    flat *= UNIT
    flat += np.float32(0.5)
    np.log(flat, out=flat)
    np.divide(np.float32(-1), flat, out=flat)
