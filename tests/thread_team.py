"""A team of threads: what a team of processes does, quick enough for every test."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from lexicode.learners.team import Team

Result = TypeVar("Result")


class ThreadTeam(Team):
    def __init__(self, rank: int, size: int, barrier: threading.Barrier, slots: list[Any]) -> None:
        self.rank = rank
        self.size = size
        self.size_here = size
        self._barrier = barrier
        self._slots = slots

    @property
    def stream(self) -> tuple[int, ...]:
        return (self.rank,)

    def tell_all(self, value: Any) -> list[Any]:
        self._slots[self.rank] = value
        self._barrier.wait(60)
        told = list(self._slots)
        self._barrier.wait(60)
        return told

    def sum(self, *arrays: Any) -> None:
        for array in arrays:
            array[...] = sum(self.tell_all(array.copy()))

    def sum_tensor(self, tensor: Any) -> None:
        tensor.copy_(sum(self.tell_all(tensor.clone())))

    def agree(self, array: Any) -> None:
        array[...] = self.tell_all(array.copy())[0]

    def say(self, value: Any) -> Any:
        return self.tell_all(value)[0]

    def gather(self, rows: Any) -> Any:
        told = self.tell_all(rows)
        return np.concatenate(told) if self.leads else None

    def scatter(self, rows: Any, count: int) -> Any:
        first = self.first_row(count)
        return self.tell_all(rows)[0][first : first + count].copy()


def run_team(size: int, work: Callable[[Team], Result]) -> list[Result]:
    """What `work` returns in each of `size` threads, by rank; the first error that is not another's echo is raised."""
    barrier, slots = threading.Barrier(size), [None] * size

    def one(rank: int) -> Result:
        try:
            return work(ThreadTeam(rank, size, barrier, slots))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(one, rank) for rank in range(size)]
    errors = [error for future in futures if (error := future.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise error
    return [future.result() for future in futures]
