"""Records that begin with a name of any length and go on with a fixed number of bytes."""

from __future__ import annotations

from collections.abc import Iterator

from lexicode.formats.streams import STEP, Source

LONGEST_NAME = 1 << 16


def named_records(
    source: Source, *, end_of_name: bytes, size: int, count: int, promised: int
) -> Iterator[tuple[list[bytes], bytes]]:
    """Read `count` of the records in blocks: their names, and their bodies (`size` bytes each) joined."""
    read = 0
    rest = b""
    while read < count:
        chunk = source.read(max(STEP, size))
        data = rest + chunk
        names: list[bytes] = []
        bodies: list[bytes] = []
        at = 0
        while read + len(names) < count:
            name_end = data.find(end_of_name, at, at + LONGEST_NAME)
            body_end = name_end + 1 + size
            if name_end < 0 or body_end > len(data):
                break
            names.append(data[at:name_end])
            bodies.append(data[name_end + 1 : body_end])
            at = body_end
        rest = data[at:]
        read += len(names)
        if read < count and not chunk:
            raise source.problem(f"promises {promised} rows, but holds {read}: it ends at byte {source.offset}")
        if read < count and len(rest) > LONGEST_NAME and end_of_name not in rest[:LONGEST_NAME]:
            raise source.problem(f"row {read}: no word ends within {LONGEST_NAME} bytes: the file is damaged")
        if names:
            yield names, b"".join(bodies)
    source.unread(rest)
