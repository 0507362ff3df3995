"""Claims on work, so that several processes share a plan: each takes what no other has, and death gives it back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:
    # Without file locks (Windows) run one process at a time.
    fcntl = None  # type: ignore[assignment]


@contextmanager
def claimed(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """Whether this process has the claim until the block ends; with `wait` it always comes to have it.

    path: a file that stands for the work; it stays empty, and may be deleted when nothing runs.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        if fcntl is None:
            yield True
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
