"""How the processes of a team make one step of the optimizer together: from their gradients' sum.

Across machines each process sums all gradients (gloo, nccl) and steps all parameters: what DistributedDataParallel
does, in one all-reduce, for the network keeps its gradient in one buffer. On one machine that costs too much beside a
step of a millisecond, so there parameters and gradients lie in memory that all processes share: each adds up and steps
a part of its own, and they meet before and after.
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from lexicode.learners.team import PATIENCE_SECONDS, LostProcessError, Team, cores

# Most waits are shorter than it takes to wake a process that sleeps, on a core that has gone to sleep with it.
SECONDS_AWAKE = 2e-3
SECONDS_ASLEEP = 1e-4
# Bytes of a cache line: each process counts its meetings on one of its own, and each row of numbers begins on one.
LINE = 64
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
        # A little work for a process that has to wait.
        self.meanwhile: Callable[[], None] = lambda: None

    def before_step(self) -> None:
        """The gradient's part becomes its sum over all processes."""
        self._team.sum_tensor(self.gradient)

    def after_step(self) -> None:
        """This process has stepped its part. What others do with theirs need not be waited for yet."""

    def before_gradient(self) -> None:
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
        self.meanwhile = lambda: None
        self.part = slice(numbers * team.rank // team.size, numbers * (team.rank + 1) // team.size)
        counters, row_bytes = LINE * team.size, -(-4 * numbers // LINE) * LINE
        length = counters + (1 + team.size) * row_bytes
        folder = _folder_with_memory(length) if team.leads else None
        try:
            memory = self._join(folder, length)
        finally:
            # All have opened it, so its names can go; the memory itself goes with the last process.
            if folder is not None:
                shutil.rmtree(folder)
        # Python's own view of integers is looked at several times as fast as numpy's.
        self._counters = memory[:counters].data.cast("q")
        self._places = [LINE // 8 * rank for rank in range(team.size)]
        self._meetings = 0
        self._fence = threading.Lock()
        # With fewer cores than processes, one that stays awake keeps another from its work.
        self._seconds_awake = SECONDS_AWAKE if team.size <= cores() else 0.0
        self._rows = torch.from_numpy(memory[counters:].view(np.float32).reshape(1 + team.size, -1))[:, :numbers]
        self.parameters, self.gradient = self._rows[0], self._rows[1 + team.rank]
        self._meet()

    def _join(self, folder: Path | None, length: int) -> npt.NDArray[np.uint8]:
        """The memory in the leader's folder, opened by all, and a connection of each to the leader."""
        team = self._team
        with socket.socket(socket.AF_UNIX) as door:
            if folder is not None:
                door.bind(str(folder / "door"))
                door.listen(team.size)
                door.settimeout(PATIENCE_SECONDS)
            place = Path(team.say(None if folder is None else str(folder)))
            memory = np.memmap(place / "memory", dtype=np.uint8, mode="r+", shape=length)
            if folder is not None:
                self._others = [door.accept()[0] for _ in range(team.size - 1)]
                return memory
        leader = socket.socket(socket.AF_UNIX)
        leader.connect(str(place / "door"))
        self._others = [leader]
        return memory

    def before_step(self) -> None:
        self._meet()
        # Others read other parts of this gradient, so its own part is free for the sum.
        own = self.gradient[self.part]
        for rank in range(self._team.size):
            if rank != self._team.rank:
                own.add_(self._rows[1 + rank, self.part])

    def after_step(self) -> None:
        self._arrive()

    def before_gradient(self) -> None:
        self._wait_for_all()

    def squared_norm(self) -> float:
        return self._team.total(float(self.gradient[self.part].square().sum()))[0]

    def complete(self, tensor: torch.Tensor) -> torch.Tensor:
        whole = torch.zeros_like(tensor)
        whole[self.part] = tensor[self.part]
        self._team.sum(whole.numpy())
        return whole

    def _meet(self) -> None:
        """Wait until all processes are here: each counts its meetings where all see it."""
        self._arrive()
        self._wait_for_all()

    def _arrive(self) -> None:
        self._meetings += 1
        self._order_memory()
        self._counters[self._places[self._team.rank]] = self._meetings

    def _wait_for_all(self) -> None:
        for place in self._places:
            if self._counters[place] < self._meetings:
                self._wait_for(place)
        self._order_memory()

    def _wait_for(self, place: int) -> None:
        began = time.perf_counter()
        while self._counters[place] < self._meetings:
            self.meanwhile()
            waited = time.perf_counter() - began
            if waited > self._seconds_awake:
                self._check_on_others()
                time.sleep(SECONDS_ASLEEP)
            if waited > PATIENCE_SECONDS:
                raise self._lost(TimeoutError("it did not answer"))

    def _check_on_others(self) -> None:
        """Nothing is ever sent, so a connection that can be read has been closed."""
        if select.select(self._others, [], [], 0)[0]:
            raise self._lost(ConnectionError("it closed its connection"))

    def _lost(self, error: OSError) -> LostProcessError:
        return LostProcessError.seen_by(self._team.rank, self._team.size, error)

    def _order_memory(self) -> None:
        """What is written before this is seen before what is written after it, on processors that promise less than
        x86's do: taking a lock twice keeps both sides apart."""
        for _ in range(2):
            with self._fence:
                pass

    def close(self) -> None:
        for other in self._others:
            other.close()


def _folder_with_memory(length: int) -> Path:
    """A new folder with a file `memory` of so many bytes, all of them reserved: to find out when they are touched
    that there is no room would be the end of the process."""
    for place in (MEMORY_FOLDER, Path(tempfile.gettempdir())):
        if not place.is_dir():
            continue
        folder = Path(tempfile.mkdtemp(prefix="lexicode-", dir=place))
        try:
            with (folder / "memory").open("wb") as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, length)
                else:
                    file.truncate(length)
        except OSError as error:
            shutil.rmtree(folder)
            full = error
            continue
        return folder
    raise full


def exchange_for(team: Team, numbers: int, device: torch.device) -> Exchange:
    """Shared memory where there are several processes, all on this machine and its processor."""
    together = 1 < team.size == team.size_here
    if together and device.type == "cpu" and hasattr(socket, "AF_UNIX"):
        return SharedExchange(team, numbers)
    return Exchange(team, numbers, device)
