"""Write a file so that a kill at any moment leaves the old one or the new one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `target`; when the block ends well, it becomes `target`."""
    # Through a link to the file it names, so that the link survives.
    final = Path(os.path.realpath(target))
    if final.is_dir():
        raise IsADirectoryError(21, "is a directory", str(target))
    temporary = final.with_name(f".{final.name[:200]}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    temporary.touch(mode=0o600, exist_ok=False)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(_mode_for(final))
        temporary.replace(final)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _sync_folder(final.parent)


def _mode_for(final: Path) -> int:
    """The permissions of the file that is replaced, or those that an ordinary new file gets."""
    if final.exists():
        return final.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system allows a folder to be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
