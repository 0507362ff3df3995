"""Several processes for one command: those that torchrun started, or those that `--processes N` starts itself."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lexicode.cli.farewell import farewell
from lexicode.errors import LearningError, LexicodeError, require
from lexicode.learners.neighbours import Neighbours, Wires, wire_up
from lexicode.learners.team import ALONE, LostProcessError, Team

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.process import BaseProcess

# One process that ends takes the others down with it; so long they have to say what they saw.
SECONDS_TO_EXPLAIN = 3.0
SECONDS_TO_STOP = 5.0


class Work(Protocol):
    def __call__(self, team: Team) -> None: ...

    def outcome(self) -> str:
        """What a run that was cut short leaves behind, to end a sentence with."""
        ...


def in_team() -> bool:
    """Whether this process is one of several that torchrun started."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def run_joined(work: Work) -> None:
    """Run `work` alone, or in the team that torchrun started this process in: then torch is needed, and loaded."""
    if not in_team():
        work(ALONE)
        return
    _quiet_torch()
    with farewell(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), work.outcome) as last_words:
        try:
            with _met_by_torch() as team:
                last_words.meet(team)
                work(team)
        except LostProcessError as error:
            last_words.say(str(error))
        except Exception:
            # When its sentence is said. An orderly end would wait for processes that wait for this one.
            atexit.register(os._exit, 1)
            raise


def run_in_processes(work: Work, count: int, *, by_torch: bool) -> None:
    """Run `work` in `count` new processes on this machine, which meet through torch.distributed or without torch.
    If one fails, all end, and its error is raised here."""
    extra, module = ("torch", "torch") if by_torch else ("learn", "numba")
    if find_spec(module) is None:
        require(module, extra=extra)
    forks = sys.platform == "linux"
    if forks:
        # What is loaded here need not be loaded in each of them. Nothing runs here before, or torch's own threads
        # would be missing there.
        _quiet_torch()
        for name in ("gumbel", "distributed") if by_torch else ("additive",):
            import_module(f"lexicode.learners.{name}")
    context: Any = multiprocessing.get_context("fork" if forks else "spawn")
    processes: list[BaseProcess] = []
    voices: list[Connection] = []
    wires: list[Wires] = [[] for _ in range(count)] if by_torch else wire_up(count)
    with _ended_in_order(), tempfile.TemporaryDirectory(prefix="lexicode-") as folder:
        meeting = f"file://{Path(folder) / 'meeting'}" if by_torch else None
        try:
            for rank in range(count):
                voice, far_end = context.Pipe(duplex=False)
                # A fork holds the later ones' wires too, and would keep them open when those are gone.
                others = [wire for each in wires[rank + 1 :] for wire in each] if forks else []
                process = context.Process(
                    target=_serve, args=(work, rank, count, meeting, wires[rank], others, far_end)
                )
                process.start()
                # The process has its own now, and these would keep the connections open when it is gone.
                far_end.close()
                for wire in wires[rank]:
                    wire.close()
                processes.append(process)
                voices.append(voice)
            if not _all_well(processes):
                _wait_for(processes, SECONDS_TO_EXPLAIN)
                raise _reason(processes, voices, work.outcome())
        finally:
            _stop(processes)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """A request to end (SIGTERM) ends the processes too, and leaves nothing lying about."""

    def end(number: int, frame: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _serve(
    work: Work, rank: int, count: int, meeting: str | None, wires: Wires, others: Wires, voice: Connection
) -> None:
    """What each of the new processes does, on its own wires; it leaves alone those of others."""
    for wire in others:
        wire.close()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Ctrl-C reaches the whole group; the parent answers for all.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        if meeting is None:
            with _sharing_cores(Neighbours(rank, count, wires)) as team:
                work(team)
        else:
            place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
            os.environ |= {name: str(value) for name, value in place.items()} | {"LEXICODE_MEETING": meeting}
            _quiet_torch()
            with _met_by_torch() as team:
                work(team)
    except Exception as error:
        voice.send(_sendable(error))
        # At once: a collective operation that waits for a lost process would hold up an orderly end.
        os._exit(1)


def _sendable(error: Exception) -> Exception:
    """The error itself, if it survives being sent; of a library's own kind its text."""
    if isinstance(error, LexicodeError) or type(error).__module__ == "builtins":
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")


def _quiet_torch() -> None:
    """What torch logs of a lost process, we say in a sentence."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")


@contextmanager
def _met_by_torch() -> Iterator[Team]:
    require("torch", extra="torch")
    from lexicode.learners.distributed import join

    with _sharing_cores(join()) as team:
        yield team


@contextmanager
def _sharing_cores(team: Team) -> Iterator[Team]:
    """The team, left in the end; its matrix library's threads do not get in the way of other processes'."""
    limit_threads = require("threadpoolctl", extra="learn").threadpool_limits
    from lexicode.learners.learner import CommonSettings

    with limit_threads(limits=CommonSettings().threads_in(team)):
        yield team
    team.leave()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _all_well(processes: Sequence[BaseProcess]) -> bool:
    """Wait until all have ended well, or one has not."""
    running = list(processes)
    while running:
        wait([process.sentinel for process in running])
        running = [process for process in running if process.exitcode is None]
        if any(process.exitcode for process in processes):
            return False
    return True


def _wait_for(processes: Sequence[BaseProcess], seconds: float) -> None:
    until = time.monotonic() + seconds
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))


def _reason(processes: Sequence[BaseProcess], voices: Sequence[Connection], outcome: str) -> Exception:
    """Why the run ended: a process that was killed, or what one said of itself rather than of a lost other."""
    for rank, process in enumerate(processes):
        if process.exitcode is not None and process.exitcode < 0:
            name = signal.Signals(-process.exitcode).name
            return LearningError(
                f"process {rank} of {len(processes)} was killed by {name}; the run has ended, and {outcome}"
            )
    said = [_heard(voice) for voice in voices]
    told = sorted((error for error in said if error is not None), key=lambda error: isinstance(error, LostProcessError))
    if told:
        return told[0]
    rank = next(rank for rank, process in enumerate(processes) if process.exitcode)
    code = processes[rank].exitcode
    return LearningError(f"process {rank} of {len(processes)} ended with code {code}; the run has ended, and {outcome}")


def _heard(voice: Connection) -> Exception | None:
    try:
        error: Any = voice.recv() if voice.poll() else None
    except EOFError:
        return None
    return error if isinstance(error, Exception) else None


def _stop(processes: Sequence[BaseProcess]) -> None:
    for process in processes:
        if process.is_alive():
            process.terminate()
    _wait_for(processes, SECONDS_TO_STOP)
    for process in processes:
        if process.is_alive():
            process.kill()
        process.join()
