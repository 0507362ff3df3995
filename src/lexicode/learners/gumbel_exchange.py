"""How the processes of a team make one step of the optimizer together: from their gradients' sum.

Across machines each process sums all gradients (gloo, nccl) and steps all parameters: what DistributedDataParallel
does, in one all-reduce, for the network keeps its gradient in one buffer. On one machine that costs too much beside a
step of a millisecond, so there parameters and gradients lie in memory that all processes share: each adds up and steps
a part of its own, and they meet before and after.
"""

from __future__ import annotations

import select
import shutil
import socket
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from lexicode.learners.team import PATIENCE_SECONDS, LostProcessError, Team

TOKEN = b"."
# Most waits are shorter than it takes to wake a process that sleeps, on a core that has gone to sleep with it.
SECONDS_AWAKE = 2e-4
# A file system that is memory, where there is one: what is written there never goes to a disk.
MEMORY_FOLDER = Path("/dev/shm")


class Exchange:
    """For one process, and for those that share no memory: each holds and steps all parameters."""

    def __init__(self, team: Team, numbers: int, device: torch.device) -> None:
        self._team = team
        self.parameters = torch.zeros(numbers, device=device)
        self.gradient = torch.zeros(numbers, device=device)
        # The numbers that this process steps.
        self.part = slice(0, numbers)

    def before_step(self) -> None:
        """The gradient's part becomes its sum over all processes."""
        self._team.sum_tensor(self.gradient)

    def after_step(self) -> None:
        """All parameters are as all processes have stepped them."""

    def squared_norm(self) -> float:
        """Of the whole summed gradient."""
        return float(self.gradient.square().sum())

    def complete(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a tensor of which each process keeps up its part alone, with all parts."""
        return tensor.clone()

    def close(self) -> None:
        pass


class SharedExchange(Exchange):
    """For processes of one machine: one copy of the parameters, and a gradient of each, in shared memory."""

    def __init__(self, team: Team, numbers: int) -> None:
        self._team = team
        self.part = slice(numbers * team.rank // team.size, numbers * (team.rank + 1) // team.size)
        shape = (1 + team.size, numbers)
        folder = None
        if team.leads:
            folder = Path(tempfile.mkdtemp(prefix="lexicode-", dir=MEMORY_FOLDER if MEMORY_FOLDER.is_dir() else None))
            memory = np.memmap(folder / "memory", dtype=np.float32, mode="w+", shape=shape)
            door = socket.socket(socket.AF_UNIX)
            door.bind(str(folder / "door"))
            door.listen(team.size)
            door.settimeout(PATIENCE_SECONDS)
        place = Path(team.say(None if folder is None else str(folder)))
        if folder is None:
            memory = np.memmap(place / "memory", dtype=np.float32, mode="r+", shape=shape)
            leader = socket.socket(socket.AF_UNIX)
            leader.connect(str(place / "door"))
            self._others = [leader]
        else:
            self._others = [door.accept()[0] for _ in range(team.size - 1)]
            door.close()
        for other in self._others:
            other.setblocking(False)
        self._rows = torch.from_numpy(np.asarray(memory))
        self.parameters, self.gradient = self._rows[0], self._rows[1 + team.rank]
        self._meet()
        if folder is not None:
            # All have opened it, so its names can go; the memory itself goes with the last process.
            shutil.rmtree(folder)

    def before_step(self) -> None:
        self._meet()
        # Others read other parts of this gradient, so its own part is free for the sum.
        own = self.gradient[self.part]
        for rank in range(self._team.size):
            if rank != self._team.rank:
                own.add_(self._rows[1 + rank, self.part])

    def after_step(self) -> None:
        self._meet()

    def squared_norm(self) -> float:
        return self._team.total(float(self.gradient[self.part].square().sum()))[0]

    def complete(self, tensor: torch.Tensor) -> torch.Tensor:
        whole = torch.zeros_like(tensor)
        whole[self.part] = tensor[self.part]
        self._team.sum(whole.numpy())
        return whole

    def _meet(self) -> None:
        """Wait until all processes are here: they tell the leader, and it tells them."""
        try:
            for other in self._others:
                if not self._team.leads:
                    other.send(TOKEN)
                if _next_byte(other) != TOKEN:
                    raise ConnectionError("it closed its connection")
            if self._team.leads:
                for other in self._others:
                    other.send(TOKEN)
        except OSError as error:
            raise LostProcessError.seen_by(self._team.rank, self._team.size, error) from error

    def close(self) -> None:
        for other in self._others:
            other.close()


def _next_byte(other: socket.socket) -> bytes:
    """What another process sends next, b"" if it has closed. Looks for it a while before going to sleep."""
    asleep_after = time.perf_counter() + SECONDS_AWAKE
    while True:
        try:
            return other.recv(1)
        except BlockingIOError:
            if time.perf_counter() > asleep_after and not select.select([other], [], [], PATIENCE_SECONDS)[0]:
                raise TimeoutError("it did not answer") from None


def exchange_for(team: Team, numbers: int, device: torch.device) -> Exchange:
    """Shared memory where there are several processes, all on this machine and its processor."""
    together = 1 < team.size == team.size_here
    if together and device.type == "cpu" and hasattr(socket, "AF_UNIX"):
        return SharedExchange(team, numbers)
    return Exchange(team, numbers, device)
