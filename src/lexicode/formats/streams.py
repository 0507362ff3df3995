"""Where bytes come from: a plain file, a compressed one, a member of a zip, or standard input."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import stat
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

from lexicode.errors import InputError, LexicodeError

# Nothing is read, and so nothing is allocated, in larger steps than this.
STEP = 1 << 20
# A few real files are compressed twice; a file made to unpack into itself would never end.
MOST_LAYERS = 4

# What Python's decompressors and its zip reader raise when the bytes make no sense.
DAMAGE = (
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
OPENERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
# Every PyTorch file is a zip with this member, in a folder of any name.
PYTORCH_MEMBER = "/data.pkl"
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")


class Source:
    """Bytes in order, with a look ahead, and a name for messages.

    `path` and `size` are set when the bytes are those of a plain file, so that it can be memory-mapped;
    `archive` is set when the content is a zip that is a format of its own: numpy's `.npz`, or a PyTorch file.
    """

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self.name = name
        self.offset = 0
        self.path: Path | None = None
        self.size = 0
        self.archive: zipfile.ZipFile | None = None
        self._file = file
        self._ahead = b""

    def problem(self, text: str) -> InputError:
        """An error whose sentence starts with this source's name."""
        return InputError(f"{self.name}: {text}")

    def peek(self, count: int) -> bytes:
        """Up to `count` bytes (fewer only at the end), which the next read returns again."""
        while len(self._ahead) < count:
            more = self._pull(count - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead[:count]

    def read(self, count: int) -> bytes:
        """Up to `count` bytes, fewer only at the end; memory follows what there is, not what was asked."""
        parts = [self._ahead[:count]]
        self._ahead = self._ahead[count:]
        found = len(parts[0])
        while found < count:
            part = self._pull(min(count - found, STEP))
            if not part:
                break
            parts.append(part)
            found += len(part)
        self.offset += found
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_exactly(self, count: int, what: str) -> bytes:
        """`count` bytes, or an error that says the file ends inside `what`."""
        data = self.read(count)
        if len(data) < count:
            raise self.problem(f"ends at byte {self.offset}, inside {what}: it was cut short")
        return data

    def skip(self, count: int, what: str) -> None:
        """Pass over `count` bytes: at once in a plain file, else in bounded steps."""
        if self.path is not None and len(self._ahead) < count <= self.size - self.offset:
            self.offset += count
            self._ahead = b""
            self._file.seek(self.offset)
            return
        while count > 0:
            count -= len(self.read_exactly(min(count, STEP), what))

    def unread(self, data: bytes) -> None:
        """Give back the last bytes that were read."""
        self._ahead = data + self._ahead
        self.offset -= len(data)

    def _pull(self, count: int) -> bytes:
        with naming_damage(self.name):
            return self._file.read(count)


@contextmanager
def naming_damage(name: str) -> Iterator[None]:
    """Turn what a decompressor raises into one sentence; a true failure of the disk stays an OSError."""
    try:
        yield
    except LexicodeError:
        raise
    except EOFError as error:
        raise InputError(f"{name}: the compressed data end too early: the file was cut short") from error
    except DAMAGE as error:
        # Decompressors raise OSError without a number; a wrong offset in a zip seeks to nowhere (EINVAL).
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise InputError(f"{name}: the compressed data are damaged ({error})") from error


def name_of(source: str | os.PathLike[str]) -> str:
    """The name that messages give to a source."""
    name = os.fspath(source)
    return "standard input" if name == "-" else name


@contextmanager
def open_source(given: str | os.PathLike[str]) -> Iterator[Source]:
    """Open a path, or `-` for standard input, and unpack whatever it is packed in."""
    with ExitStack() as stack:
        if os.fspath(given) == "-":
            source = Source(name_of(given), sys.stdin.buffer)
        else:
            path = Path(given)
            file = stack.enter_context(path.open("rb"))
            source = Source(name_of(given), file)
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode):
                source.path, source.size = path, status.st_size
        yield _unpacked(source, stack)


def _unpacked(source: Source, stack: ExitStack) -> Source:
    for _ in range(MOST_LAYERS):
        start = source.peek(6)
        if start.startswith(ZIP_STARTS):
            inner = _opened_zip(source, stack)
            if inner is source:
                return source
            source = inner
            continue
        opener = next((make for magic, make in OPENERS.items() if start.startswith(magic)), None)
        if opener is None:
            return source
        # A Source reads like a file, so each layer can stand on the one below it.
        source = Source(source.name, stack.enter_context(opener(cast(IO[bytes], source))))
    raise source.problem(f"is compressed more than {MOST_LAYERS} times over; unpack it first")


def _opened_zip(source: Source, stack: ExitStack) -> Source:
    """The one member of a zip as a source; or, for an `.npz` or a PyTorch file, the source itself with its archive."""
    if source.path is not None:
        file = stack.enter_context(source.path.open("rb"))
    else:
        # A zip keeps its directory at the end, so what comes in order must be kept first.
        kept = tempfile.SpooledTemporaryFile(max_size=64 * STEP)  # noqa: SIM115 (the stack closes it)
        file = cast(Any, stack.enter_context(kept))
        while part := source.read(STEP):
            file.write(part)
        file.seek(0)
    with naming_damage(source.name):
        archive = stack.enter_context(zipfile.ZipFile(file))
    members = [info for info in archive.infolist() if not info.filename.endswith("/")]
    is_npz = bool(members) and all(info.filename.endswith(".npy") for info in members)
    if is_npz or any(info.filename.endswith(PYTORCH_MEMBER) for info in members):
        source.archive = archive
        return source
    wanted = [info for info in members if _is_content(info.filename)]
    if not wanted:
        raise source.problem("is a zip with no file in it")
    if len(wanted) > 1:
        names = ", ".join(info.filename for info in wanted[:10]) + (", …" if len(wanted) > 10 else "")
        raise source.problem(f"is a zip of {len(wanted)} files ({names}); unpack the one that you mean")
    return open_member(source, archive, wanted[0], stack)


def open_member(source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo, stack: ExitStack) -> Source:
    """A member of a zip as a source of its own, under the name of the zip."""
    # Python unpacks the other methods without a bound on what one step may yield.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise source.problem(f"{info.filename} is packed by zip method {info.compress_type}; unpack it first")
    with naming_damage(source.name):
        member = stack.enter_context(archive.open(info))
    return Source(source.name, member)


def _is_content(filename: str) -> bool:
    """Whether a zip's member may be the table, not something that rides along."""
    parts = filename.split("/")
    beside = parts[-1].lower().startswith(("readme", "license", "licence", "."))
    return not beside and parts[0] != "__MACOSX"
