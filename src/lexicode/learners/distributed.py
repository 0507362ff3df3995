"""A team of several processes, on one machine or many, over torch.distributed: gloo for arrays, nccl on CUDA.

`torchrun` (or `lexicode compress --processes N`) starts the processes and tells each its place through the environment;
`join` reads it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from lexicode.errors import LexicodeError
from lexicode.learners.several import Several
from lexicode.learners.team import ALONE, PATIENCE_SECONDS, Array, LostProcessError, Team


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
            timeout=timedelta(seconds=PATIENCE_SECONDS),
        )
    team = Processes(rank, size, int(environment.get("LOCAL_WORLD_SIZE", "1")))
    # Nobody goes to work, where it might fail, before all have met.
    team.total(1)
    return team


class Processes(Several):
    """Several processes; each way of passing an array is one collective operation."""

    def _add_up(self, array: Array) -> None:
        self.sum_tensor(torch.from_numpy(array))

    def sum_tensor(self, tensor: Any) -> None:
        with naming_losses(self.rank, self.size):
            dist.all_reduce(tensor)

    def _spread(self, array: Array) -> None:
        with naming_losses(self.rank, self.size):
            dist.broadcast(torch.from_numpy(array), src=0)

    def _send(self, array: Array, rank: int) -> None:
        with naming_losses(self.rank, self.size):
            dist.send(torch.from_numpy(array), dst=rank)

    def _receive(self, array: Array, rank: int) -> None:
        with naming_losses(self.rank, self.size):
            dist.recv(torch.from_numpy(array), src=rank)

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
        raise LostProcessError.seen_by(rank, size, reason) from error
