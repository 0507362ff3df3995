"""A team of several processes, on one machine or many, over torch.distributed: gloo for arrays, nccl on CUDA.

`torchrun` (or `lexicode compress --processes N`) starts the processes and tells each its place through the environment;
`join` reads it. What passes between them is arrays and JSON, never a pickle.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from lexicode.errors import LearningError, LexicodeError
from lexicode.learners.team import ALONE, Array, Team

# A process that ends is noticed at once; one that hangs, after this.
PATIENCE = timedelta(minutes=30)
# Rows are gathered in pieces of about this many bytes, so that nobody holds them twice.
PIECE_BYTES = 1 << 26


def join(environment: Mapping[str, str] = os.environ) -> Team:
    """The team that this process was started in, alone if it was started by itself."""
    size = int(environment.get("WORLD_SIZE", "1"))
    if size == 1:
        return ALONE
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() and dist.is_nccl_available() else "gloo"
    rank = int(environment["RANK"])
    with naming_losses(rank, size):
        dist.init_process_group(
            backend,
            init_method=environment.get("LEXICODE_MEETING", "env://"),
            rank=rank,
            world_size=size,
            timeout=PATIENCE,
        )
    team = Processes(rank, size, int(environment.get("LOCAL_WORLD_SIZE", "1")))
    # Nobody goes to work, where it might fail, before all have met.
    team.total(1)
    return team


class Processes(Team):
    """Several processes; each method is one or two collective operations."""

    def __init__(self, rank: int, size: int, size_here: int) -> None:
        self.rank = rank
        self.size = size
        self.size_here = size_here

    @property
    def stream(self) -> tuple[int, ...]:
        return (self.rank,)

    def sum(self, *arrays: Array) -> None:
        for array in arrays:
            contiguous = np.ascontiguousarray(array)
            with naming_losses(self.rank, self.size):
                dist.all_reduce(torch.from_numpy(contiguous))
            if contiguous is not array:
                array[...] = contiguous

    def sum_tensor(self, tensor: Any) -> None:
        with naming_losses(self.rank, self.size):
            dist.all_reduce(tensor)

    def agree(self, array: Array) -> None:
        contiguous = np.ascontiguousarray(array)
        with naming_losses(self.rank, self.size):
            dist.broadcast(torch.from_numpy(contiguous), src=0)
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
                with naming_losses(self.rank, self.size):
                    dist.send(torch.from_numpy(_bytes(piece)), dst=0)
            return None
        whole = np.empty((sum(counts), *rows.shape[1:]), dtype=rows.dtype)
        whole[: len(rows)] = rows
        at = len(rows)
        for rank in range(1, self.size):
            for piece in _pieces(whole[at : at + counts[rank]]):
                with naming_losses(self.rank, self.size):
                    dist.recv(torch.from_numpy(_bytes(piece)), src=rank)
            at += counts[rank]
        return whole

    def scatter(self, rows: Array | None, count: int) -> Array:
        counts = self.tell_all(count)
        shape = self.say(None if rows is None else [list(rows.shape[1:]), rows.dtype.str])
        if self.leads and rows is not None:
            at = count
            for rank in range(1, self.size):
                for piece in _pieces(np.ascontiguousarray(rows[at : at + counts[rank]])):
                    with naming_losses(self.rank, self.size):
                        dist.send(torch.from_numpy(_bytes(piece)), dst=rank)
                at += counts[rank]
            return rows[:count].copy()
        own = np.empty((count, *shape[0]), dtype=shape[1])
        for piece in _pieces(own):
            with naming_losses(self.rank, self.size):
                dist.recv(torch.from_numpy(_bytes(piece)), src=0)
        return own

    def leave(self) -> None:
        dist.destroy_process_group()


@contextmanager
def naming_losses(rank: int, size: int) -> Iterator[None]:
    """Turn what torch raises when a process is gone into one sentence."""
    try:
        yield
    except LexicodeError:
        raise
    except (RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise LearningError(
            f"process {rank} of {size} has lost another one, which ended or did not answer for "
            f"{PATIENCE.seconds // 60} minutes ({reason})"
        ) from error


def _pieces(rows: Array) -> Iterator[Array]:
    """Views of contiguous rows, each small in bytes."""
    step = max(1, PIECE_BYTES // max(1, rows[:1].nbytes))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def _bytes(rows: Array) -> Array:
    """A contiguous array as the bytes it is made of, which any backend can send."""
    return rows.reshape(-1).view(np.uint8)
