"""A team of processes on one machine that were started together: connected to the leader by sockets, without torch.

Loading torch takes each process longer than the quickest tables take to learn, and a learner in numpy and numba needs
nothing else of it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from lexicode.learners.several import Several
from lexicode.learners.team import PATIENCE_SECONDS, Array, LostProcessError

Wires = list[socket.socket]


def wire_up(size: int) -> list[Wires]:
    """The ends of the connections that each process of a team of `size` is given: the leader's to all, theirs to it."""
    pairs = [socket.socketpair() for _ in range(1, size)]
    return [[near for near, _ in pairs], *([far] for _, far in pairs)]


class Neighbours(Several):
    """wires: as `wire_up` gives them. The leader adds up in the order of ranks, so that sums are always the same."""

    def __init__(self, rank: int, size: int, wires: Sequence[socket.socket]) -> None:
        super().__init__(rank, size, size)
        self._wires = list(wires)
        for wire in self._wires:
            wire.settimeout(PATIENCE_SECONDS)

    def _add_up(self, array: Array) -> None:
        if self.leads:
            other = np.empty_like(array)
            for rank in range(1, self.size):
                self._receive(other, rank)
                array += other
        else:
            self._send(array, 0)
        self._spread(array)

    def _spread(self, array: Array) -> None:
        if not self.leads:
            self._receive(array, 0)
            return
        for rank in range(1, self.size):
            self._send(array, rank)

    def _send(self, array: Array, rank: int) -> None:
        with self._naming_losses():
            self._wire(rank).sendall(_bytes(array))

    def _receive(self, array: Array, rank: int) -> None:
        left = _bytes(array)
        with self._naming_losses():
            while len(left):
                count = self._wire(rank).recv_into(left)
                if not count:
                    raise ConnectionError("it closed its connection")
                left = left[count:]

    def _wire(self, rank: int) -> socket.socket:
        return self._wires[rank - 1 if self.leads else 0]

    @contextmanager
    def _naming_losses(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LostProcessError.seen_by(self.rank, self.size, error) from error

    def leave(self) -> None:
        for wire in self._wires:
            wire.close()


def _bytes(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
