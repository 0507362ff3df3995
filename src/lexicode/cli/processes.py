"""Several processes for one command: those that torchrun started, or those that `--processes N` starts itself."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexicode.errors import LearningError, LexicodeError, require
from lexicode.learners.team import ALONE, Team

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.context import SpawnProcess

# One process that ends takes the others down with it; so long they have to say what they saw.
SECONDS_TO_EXPLAIN = 3.0
SECONDS_TO_STOP = 5.0

Work = Callable[[Team], None]


def in_team() -> bool:
    """Whether this process is one of several that torchrun, or `run_in_processes`, started."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


@contextmanager
def joined() -> Iterator[Team]:
    """The team that this process was started in; torch is needed, and loaded, for more than one only."""
    if not in_team():
        yield ALONE
        return
    require("torch", extra="torch")
    from lexicode.learners.distributed import join

    team = join()
    try:
        yield team
    finally:
        team.leave()


def run_in_processes(work: Work, count: int, *, hint: str = "") -> None:
    """Run `work` in `count` new processes on this machine. If one fails, all end, and its error is raised here;
    `hint` ends the sentence about one that was killed."""
    if find_spec("torch") is None:
        require("torch", extra="torch")
    context = multiprocessing.get_context("spawn")
    processes: list[SpawnProcess] = []
    voices: list[Connection] = []
    with tempfile.TemporaryDirectory(prefix="lexicode-") as folder:
        meeting = f"file://{Path(folder) / 'meeting'}"
        try:
            for rank in range(count):
                voice, far_end = context.Pipe(duplex=False)
                process = context.Process(target=_serve, args=(work, rank, count, meeting, far_end))
                process.start()
                far_end.close()
                processes.append(process)
                voices.append(voice)
            if not _all_well(processes):
                _wait_for(processes, SECONDS_TO_EXPLAIN)
                raise _reason(processes, voices, hint)
        finally:
            _stop(processes)


def _serve(work: Work, rank: int, count: int, meeting: str, voice: Connection) -> None:
    """What each of the new processes does."""
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "LEXICODE_MEETING": meeting,
        # What torch logs of a lost process, we say in a sentence.
        "TORCH_CPP_LOG_LEVEL": os.environ.get("TORCH_CPP_LOG_LEVEL", "FATAL"),
    }
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Ctrl-C reaches the whole group; the parent answers for all.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with joined() as team:
            work(team)
    except (LexicodeError, OSError, MemoryError) as error:
        voice.send(error)
        # At once: a collective operation that waits for a lost process would hold up an orderly end.
        os._exit(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _all_well(processes: Sequence[SpawnProcess]) -> bool:
    """Wait until all have ended well, or one has not."""
    running = list(processes)
    while running:
        wait([process.sentinel for process in running])
        running = [process for process in running if process.exitcode is None]
        if any(process.exitcode for process in processes):
            return False
    return True


def _wait_for(processes: Sequence[SpawnProcess], seconds: float) -> None:
    until = time.monotonic() + seconds
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))


def _reason(processes: Sequence[SpawnProcess], voices: Sequence[Connection], hint: str) -> Exception:
    """Why the run ended: a process that was killed, or what one said of itself rather than of a lost other."""
    for rank, process in enumerate(processes):
        if process.exitcode is not None and process.exitcode < 0:
            name = signal.Signals(-process.exitcode).name
            return LearningError(
                f"process {rank} of {len(processes)} was killed by {name}; the run has ended, and no file was "
                f"written{hint}"
            )
    said = [_heard(voice) for voice in voices]
    told = sorted((error for error in said if error is not None), key=lambda error: isinstance(error, LearningError))
    if told:
        return told[0]
    rank = next(rank for rank, process in enumerate(processes) if process.exitcode)
    return LearningError(f"process {rank} of {len(processes)} ended with code {processes[rank].exitcode}{hint}")


def _heard(voice: Connection) -> Exception | None:
    try:
        error: Any = voice.recv() if voice.poll() else None
    except EOFError:
        return None
    return error if isinstance(error, Exception) else None


def _stop(processes: Sequence[SpawnProcess]) -> None:
    for process in processes:
        if process.is_alive():
            process.terminate()
    _wait_for(processes, SECONDS_TO_STOP)
    for process in processes:
        if process.is_alive():
            process.kill()
        process.join()
