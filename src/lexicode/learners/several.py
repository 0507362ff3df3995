"""What every team of several processes does, by four ways of passing arrays that each kind of team has its own of."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from lexicode.learners.team import Array, Team

# Rows are gathered in pieces of about this many bytes, so that nobody holds them twice.
PIECE_BYTES = 1 << 26


class Several(Team, ABC):
    """Several processes. What passes between them is arrays and JSON, never a pickle."""

    def __init__(self, rank: int, size: int, size_here: int) -> None:
        self.rank = rank
        self.size = size
        self.size_here = size_here

    @abstractmethod
    def _add_up(self, array: Array) -> None:
        """A contiguous array becomes its sum over all processes."""

    @abstractmethod
    def _spread(self, array: Array) -> None:
        """A contiguous array becomes the leader's."""

    @abstractmethod
    def _send(self, array: Array, rank: int) -> None:
        """A contiguous array of bytes goes to the process `rank`, which receives it."""

    @abstractmethod
    def _receive(self, array: Array, rank: int) -> None:
        """A contiguous array of bytes becomes what the process `rank` sends."""

    @property
    def stream(self) -> tuple[int, ...]:
        return (self.rank,)

    def sum(self, *arrays: Array) -> None:
        for array in arrays:
            contiguous = np.ascontiguousarray(array)
            self._add_up(contiguous)
            if contiguous is not array:
                array[...] = contiguous

    def sum_tensor(self, tensor: Any) -> None:
        raise NotImplementedError("only torch.distributed sums tensors")

    def agree(self, array: Array) -> None:
        contiguous = np.ascontiguousarray(array)
        self._spread(contiguous)
        if contiguous is not array:
            array[...] = contiguous

    def say(self, value: Any) -> Any:
        text = np.frombuffer(json.dumps(value).encode(), dtype=np.uint8).copy()
        length = np.array([len(text)])
        self.agree(length)
        if not self.leads:
            text = np.empty(int(length[0]), dtype=np.uint8)
        self.agree(text)
        return json.loads(text.tobytes())

    def tell_all(self, value: Any) -> list[Any]:
        text = np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
        lengths = np.zeros(self.size, dtype=np.int64)
        lengths[self.rank] = len(text)
        self.sum(lengths)
        stops = np.cumsum(lengths)
        joined = np.zeros(int(stops[-1]), dtype=np.uint8)
        joined[stops[self.rank] - len(text) : stops[self.rank]] = text
        self.sum(joined)
        return [json.loads(part.tobytes()) for part in np.split(joined, stops[:-1])]

    def gather(self, rows: Array) -> Array | None:
        counts = self.tell_all(len(rows))
        if not self.leads:
            for piece in _pieces(np.ascontiguousarray(rows)):
                self._send(piece, 0)
            return None
        whole = np.empty((sum(counts), *rows.shape[1:]), dtype=rows.dtype)
        whole[: len(rows)] = rows
        at = len(rows)
        for rank in range(1, self.size):
            for piece in _pieces(whole[at : at + counts[rank]]):
                self._receive(piece, rank)
            at += counts[rank]
        return whole

    def scatter(self, rows: Array | None, count: int) -> Array:
        counts = self.tell_all(count)
        shape = self.say(None if rows is None else [list(rows.shape[1:]), rows.dtype.str])
        if self.leads and rows is not None:
            at = count
            for rank in range(1, self.size):
                for piece in _pieces(np.ascontiguousarray(rows[at : at + counts[rank]])):
                    self._send(piece, rank)
                at += counts[rank]
            return rows[:count].copy()
        own = np.empty((count, *shape[0]), dtype=shape[1])
        for piece in _pieces(own):
            self._receive(piece, 0)
        return own


def _pieces(rows: Array) -> Iterator[Array]:
    """Views of contiguous rows as the bytes they are made of, few at a time."""
    step = max(1, PIECE_BYTES // max(1, rows[:1].nbytes))
    for start in range(0, len(rows), step):
        yield rows[start : start + step].reshape(-1).view(np.uint8)
