"""What a process that torchrun started says when the run is cut short: torchrun itself names no file and no way on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from lexicode.cli.console import complain
from lexicode.learners.team import Team

LOST = 2
# A process that is killed closes its connections a moment before it is seen to be gone.
SECONDS_TO_SEE = 1.0
# The one that speaks for all of a machine stays for so long, so that the others see that somebody does.
SECONDS_TO_LINGER = 1.5

Outcome = Callable[[], str]


class Farewell:
    """outcome: what the run leaves behind, to end a sentence with."""

    def __init__(self, rank: int, size: int, outcome: Outcome) -> None:
        self._rank = rank
        self._size = size
        self._outcome = outcome
        self._speaking = threading.Lock()
        # The processes of this machine, by rank.
        self._pids = {rank: os.getpid()}

    def meet(self, team: Team) -> None:
        """Learn who else is on this machine: torchrun numbers the machines."""
        machine = os.environ.get("GROUP_RANK", "0")
        told = team.tell_all([machine, os.getpid()])
        self._pids = {rank: pid for rank, (where, pid) in enumerate(told) if where == machine}

    def say(self, otherwise: str) -> NoReturn:
        """Name the process that has ended, or say `otherwise` if none of this machine has; then end at once."""
        # Never released: whoever comes second waits for the end.
        self._speaking.acquire()
        ended = self._ended()
        if self._rank == min(self._pids.keys() - ended):
            complain(f"{self._named(ended) or otherwise}; the run has ended, and {self._outcome()}")
            time.sleep(SECONDS_TO_LINGER)
        # An orderly end would wait for the process that is gone.
        os._exit(LOST)

    def _named(self, ended: set[int]) -> str:
        ranks = [str(rank) for rank in sorted(ended)]
        if len(ranks) < 2:
            return f"process {ranks[0]} of {self._size} was killed or has ended" if ranks else ""
        return f"processes {', '.join(ranks[:-1])} and {ranks[-1]} of {self._size} were killed or have ended"

    def _ended(self) -> set[int]:
        until = time.monotonic() + SECONDS_TO_SEE
        others = {rank: pid for rank, pid in self._pids.items() if rank != self._rank}
        while True:
            ended = {rank for rank, pid in others.items() if _has_ended(pid)}
            if ended or time.monotonic() > until:
                return ended
            time.sleep(0.02)


@contextmanager
def farewell(rank: int, size: int, outcome: Outcome) -> Iterator[Farewell]:
    """Answer torchrun's SIGTERM with a sentence. The main thread may be deep in a collective operation, where Python
    runs no handler, so another thread waits for the signal's number in a pipe."""
    last_words = Farewell(rank, size, outcome)
    out, into = os.pipe()
    os.set_blocking(into, False)
    pipe_before = signal.set_wakeup_fd(into, warn_on_full_buffer=False)
    # Without a handler of Python's, nothing would be written.
    handler_before = signal.signal(signal.SIGTERM, lambda number, frame: None)

    def listen() -> None:
        while number := os.read(out, 1):
            if number[0] == signal.SIGTERM:
                last_words.say(f"process {rank} of {size} was told to stop (SIGTERM)")

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield last_words
    finally:
        signal.signal(signal.SIGTERM, handler_before)
        signal.set_wakeup_fd(pipe_before)
        os.close(into)
        listener.join()
        os.close(out)


def _has_ended(pid: int) -> bool:
    """Whether a process is gone, or dead and not yet buried."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state in "ZX"
