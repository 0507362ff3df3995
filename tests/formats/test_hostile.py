"""Whatever the bytes, the answer is a table or a LexicodeError, and memory follows what there is."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_samples import COMPRESSIONS, WITH_WORDS, WITHOUT_WORDS
from lexicode.errors import LexicodeError
from lexicode.vectors import Vectors

SAMPLES = {**WITH_WORDS, **{f"{kind} of ids": data for kind, data in WITHOUT_WORDS.items()}}
PACKED = {name: pack(WITH_WORDS["glove"]) for name, pack in COMPRESSIONS.items() if name != "plain"}
ALL = {**SAMPLES, **PACKED}


@pytest.fixture
def survives(tmp_path, monkeypatch):
    """Read bytes as a file and from standard input; only a LexicodeError may come out."""
    path = tmp_path / "table"

    def survives(data: bytes) -> None:
        path.write_bytes(data)
        with suppress(LexicodeError):
            Vectors.load(path, duplicates="first")
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        with suppress(LexicodeError):
            Vectors.load("-", limit=2)

    return survives


def test_the_sweep_covers_every_sample():
    assert len(ALL) == 19


@pytest.mark.parametrize("kind", ALL)
def test_cut_at_every_byte(survives, kind):
    for length in range(len(ALL[kind])):
        survives(ALL[kind][:length])


def spoiled(data: bytes) -> Iterator[bytes]:
    for at in range(len(data)):
        for value in (data[at] ^ 0x01, data[at] ^ 0xFF):
            yield data[:at] + bytes([value]) + data[at + 1 :]


@pytest.mark.parametrize("kind", ALL)
def test_every_byte_spoiled(survives, kind):
    for data in spoiled(ALL[kind]):
        survives(data)


@settings(deadline=None)
@given(data=st.binary(max_size=200))
def test_random_bytes(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "random"
    path.write_bytes(data)
    with suppress(LexicodeError):
        Vectors.load(path)


@settings(max_examples=300, deadline=None)
@given(kind=st.sampled_from(sorted(ALL)), edits=st.lists(st.tuples(st.integers(0), st.binary(max_size=4)), max_size=4))
def test_random_edits(tmp_path_factory, kind, edits):
    data = ALL[kind]
    for at, piece in edits:
        at %= len(data) + 1
        data = data[:at] + piece + data[at + len(piece) // 2 :]
        data = data or b"\0"
    path = tmp_path_factory.getbasetemp() / "edited"
    path.write_bytes(data)
    with suppress(LexicodeError):
        Vectors.load(path)


PROMISES = {
    "text": b"1000000000000 300\nthe " + b"0.5 " * 300,
    "wide text": b"1000000 1048576\n" + b"the 0.5 1 2\n" * 50_000,
    "binary": b"1000000000000 300\nthe " + b"\0" * 1300,
    "wide binary": b"1000000000000 1048576\nthe " + b"\0" * 1300,
    "npy": WITHOUT_WORDS["npy"].replace(b"(4, 3), }" + b" " * 22, b"(4000000000000, 3000000000), }"),
    "safetensors": WITHOUT_WORDS["safetensors"].replace(b"[4,3]", b"[4000000000,3]"),
    "long header": b"\xff\xff\xff\x05\0\0\0\0{" + b" " * 100,
    "gzip of npy": gzip.compress(
        WITHOUT_WORDS["npy"].replace(b"(4, 3), }" + b" " * 22, b"(4000000000000, 3000000000), }")
    ),
    "bomb of a word": gzip.compress(b"1 3\n" + b"\0" * 30_000_000),
    "bomb of a line": gzip.compress(b"a 1 2\n" + b"1" * 100_000_000),
}
READ_IN_LITTLE_MEMORY = """
import resource, sys
from lexicode.errors import LexicodeError
from lexicode.vectors import Vectors
unit = 1 if sys.platform == "darwin" else 1024
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    Vectors.load("-")
except LexicodeError as error:
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
    raise SystemExit(0 if grown < 400_000_000 else f"{grown} bytes: {error}")
raise SystemExit("was read")
"""


@pytest.mark.parametrize("kind", PROMISES)
def test_no_memory_for_a_promise(kind):
    command = [sys.executable, "-c", READ_IN_LITTLE_MEMORY]
    done = subprocess.run(command, input=PROMISES[kind], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
