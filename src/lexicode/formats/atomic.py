"""Write a file so that a kill at any moment leaves the old one or the new one; and a folder, whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `target`; when the block ends well, it becomes `target`."""
    # Through a link to the file it names, so that the link survives.
    final = Path(os.path.realpath(target))
    check_target(target)
    temporary = final.with_name(f".{final.name[:200]}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    temporary.touch(mode=0o600, exist_ok=False)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(_mode_for(final))
        temporary.replace(final)
    except BaseException as error:
        with suppress(FileNotFoundError):
            temporary.unlink()
        # A full disk names no file; the one that was wanted is the one to tell of.
        if isinstance(error, OSError) and error.filename is None:
            error.filename = os.fspath(target)
        raise
    _sync_folder(final.parent)


@contextmanager
def making_folder(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder beside `target`; when the block ends well, it becomes `target`."""
    check_folder(target)
    final = Path(os.path.realpath(target))
    temporary = final.with_name(f".{final.name[:200]}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    temporary.mkdir()
    try:
        yield temporary
        # Takes the place of an empty folder, and of nothing else.
        temporary.rename(final)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _sync_folder(final.parent)


def check_folder(target: str | os.PathLike[str]) -> None:
    """Refuse what cannot become a new folder: nothing that is there already is ever written over."""
    final = Path(os.path.realpath(target))
    if not final.is_dir():
        check_target(target)
    if final.exists() and not (final.is_dir() and not any(final.iterdir())):
        raise FileExistsError(errno.EEXIST, "is there already; name a new folder to write", os.fspath(target))


def check_target(target: str | os.PathLike[str]) -> None:
    """Refuse what cannot become a file; callers with long work to do ask before they start it."""
    final = Path(os.path.realpath(target))
    if not os.fspath(target):
        raise FileNotFoundError(errno.ENOENT, "the name of the file to write is empty")
    if final.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a directory", os.fspath(target))
    if final.exists() and not final.is_file():
        # Renaming over a device or a pipe would put a plain file in its place.
        raise OSError(errno.EINVAL, "is not a regular file", os.fspath(target))
    if not final.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such directory", os.fspath(Path(target).parent))
    if not os.access(final.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "permission denied", os.fspath(Path(target).parent))


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
