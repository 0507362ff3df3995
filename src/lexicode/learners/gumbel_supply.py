"""The rows that the paper's network is trained on, in this process.

Across machines, and on GPUs, each process of a team trains on its own rows, and all step along the sum of their
gradients: what DistributedDataParallel does, in one all-reduce, for the network keeps its gradient in one buffer. The
processes of one machine without GPUs would lose time by it, because an iteration takes two milliseconds, in which
threads meet more cheaply than processes do. So there the first process trains, with the threads of all, on rows that
the others bring it: on all rows where memory allows, and then to the bytes that one process alone would give; where it
does not, on samples of them that change in the course of the training.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.errors import LearningError
from lexicode.learners.team import LostProcessError, Team
from lexicode.vectors import Vectors

# Numbers of float32 that the first process takes from the others at a time: 512 MB.
BROUGHT_NUMBERS = 1 << 27
# Who hears nothing for long takes the other for lost: so a word now and then.
SECONDS_OF_SILENCE = 10.0


class Supply(Protocol):
    def rows(self, iteration: int) -> tuple[Vectors, Floats]:
        """The rows that this iteration draws from, and their weights (n,)"""
        ...


class OwnRows:
    """The same rows always."""

    def __init__(self, vectors: Vectors, weights: Floats) -> None:
        self._supplied = vectors, weights

    def rows(self, iteration: int) -> tuple[Vectors, Floats]:
        return self._supplied


class BroughtRows:
    """Rows of all processes of a team, for the first of them, which trains in its context; the others `serve` it.

    vectors and weights (n,) are this process's; a sample is trained on for as many iterations as draw every row of it
    once, each of `batch` rows.
    """

    def __init__(self, team: Team, vectors: Vectors, weights: Floats, *, seed: int, batch: int) -> None:
        self._team = team
        self._vectors, self._weights = vectors, weights
        self._seed = seed
        self._candidates: npt.NDArray[np.int64] = np.arange(len(vectors))
        limit = BROUGHT_NUMBERS // vectors.dim
        if int(team.total(len(vectors))[0]) > limit:
            # A sample should teach something.
            self._candidates = np.flatnonzero(weights)
        (total,) = team.total(len(self._candidates))
        wanted = min(int(total), limit)
        self._own = len(self._candidates) * wanted // int(total)
        self._iterations = None if wanted == total else max(1, wanted // batch)
        self._sample: int | None = None

    def rows(self, iteration: int) -> tuple[Vectors, Floats]:
        sample = 0 if self._iterations is None else iteration // self._iterations
        if sample != self._sample:
            self._sample = sample
            self._order({"sample": sample})
            rows, weights = self._bring(sample)
            if rows is None or weights is None:
                raise ValueError("only the first process trains on rows that others bring")
            self._supplied = Vectors(rows), weights
        elif time.monotonic() - self._spoken > SECONDS_OF_SILENCE:
            self._order({"sample": None})
        return self._supplied

    def serve(self) -> None:
        """Bring rows until the training is over."""
        while "sample" in (order := self._order(None)):
            if order["sample"] is not None:
                self._bring(order["sample"])
        if order["trouble"] is not None:
            raise LearningError(order["trouble"])

    def __enter__(self) -> None:
        """The first process trains."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """It is done, or cannot go on: the others hear of it. In a team that has lost a process nobody would."""
        if error is None or (isinstance(error, Exception) and not isinstance(error, LostProcessError)):
            self._order({"trouble": None if error is None else str(error) or type(error).__name__})

    def _order(self, order: dict[str, Any] | None) -> dict[str, Any]:
        """What the first process says, in all of them: the number of the sample to bring, None for no other than
        before; or how the training ended."""
        told: dict[str, Any] = self._team.say(order)
        self._spoken = time.monotonic()
        return told

    def _bring(self, sample: int) -> tuple[Floats | None, Floats | None]:
        chosen = self._candidates
        if self._iterations is not None:
            rng = np.random.default_rng([self._seed, 4, *self._team.stream, sample])
            chosen = np.sort(rng.choice(chosen, size=self._own, replace=False))
        return self._team.gather(self._vectors.take(chosen)), self._team.gather(self._weights[chosen])
