"""Team: the processes that learn one table together, each on its own rows. One process alone is a team too.

Learners call these methods at the same points in every process. Alone they cost nothing and change nothing, so that
a learner reads the same, and gives the same bytes, as if there were no such thing. `several.py` has what real ones
share, `neighbours.py` the one of a single machine, `distributed.py` the one of many.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.errors import LearningError

# A process that ends is noticed at once; one that hangs, after this.
PATIENCE_SECONDS = 1800

Array = npt.NDArray[Any]


def cores() -> int:
    """How many of the machine's this process may use"""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LostProcessError(LearningError):
    """Another process of the team has ended."""

    @classmethod
    def seen_by(cls, rank: int, size: int, reason: object) -> LostProcessError:
        """`reason`: what the connection to it said."""
        return cls(
            f"process {rank} of {size} has lost another one, which ended or did not answer for "
            f"{PATIENCE_SECONDS // 60} minutes ({reason})"
        )


class Team:
    """One process alone.

    >>> ALONE.size, ALONE.first_row(10), ALONE.gather(np.arange(2)).tolist()
    (1, 0, [0, 1])
    """

    rank: int = 0
    size: int = 1
    # How many of the processes share this machine, and so its cores.
    size_here: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes and reports."""
        return self.rank == 0

    @property
    def stream(self) -> tuple[int, ...]:
        """What sets this process's random numbers apart: nothing, alone, so that they are what they always were."""
        return ()

    def sum(self, *arrays: Array) -> None:
        """Each array becomes, in place, its sum over all processes; the same bits in each of them."""

    def sum_tensor(self, tensor: Any) -> None:
        """A torch tensor on any device becomes, in place, its sum over all processes."""

    def agree(self, array: Array) -> None:
        """The array becomes, in place, the leader's: machines of different make may round differently."""

    def say(self, value: Any) -> Any:
        """The leader's value, of what JSON holds, in every process."""
        return value

    def gather(self, rows: Array) -> Array | None:
        """The leader gets all processes' rows, one below the other; the others get None."""
        return rows

    def scatter(self, rows: Array | None, count: int) -> Array:
        """The way back: each process gets the next `count` of the leader's rows."""
        if rows is None:
            raise ValueError("the leader has no rows to scatter")
        return rows

    def tell_all(self, value: Any) -> list[Any]:
        """Every process's value, of what JSON holds, in every process, by rank."""
        return [value]

    def first_row(self, rows: int) -> int:
        """How many rows the processes before this one hold, if this one holds `rows`."""
        return sum(self.tell_all(rows)[: self.rank])

    def total(self, *values: float) -> list[float]:
        """Each number's sum over all processes."""
        sums = np.array(values, dtype=np.float64)
        self.sum(sums)
        return [float(value) for value in sums]

    def leave(self) -> None:
        """The work is done."""


ALONE = Team()
