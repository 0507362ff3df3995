from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from lexicode import CodedEmbedding, InputError, LexicodeError
from lexicode.formats.artefact import read_artefact, write_artefact

GOLDEN = Path(__file__).parent.parent / "golden" / "v1-4x16-float16-words.safetensors"


def rewritten(tmp_path: Path, change: dict[str, object], **tensors: np.ndarray) -> Path:
    """The golden file with its record or its tensors changed."""
    record, arrays = read_artefact(GOLDEN)
    merged = {name: np.array(array) for name, array in (arrays | tensors).items()}
    path = tmp_path / "changed.safetensors"
    save_file(merged, path, metadata={"lexicode": json.dumps(record | change)})
    return path


def test_arrays_are_mapped_not_read() -> None:
    coded = CodedEmbedding.load(GOLDEN)
    assert isinstance(coded.packed, np.memmap)
    assert not coded.packed.flags.writeable


def test_same_table_same_bytes(tmp_path: Path) -> None:
    coded = CodedEmbedding.load(GOLDEN)
    for name in ("a", "b"):
        coded.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == GOLDEN.read_bytes()
    assert coded.file_bytes == GOLDEN.stat().st_size


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 2}, r"format version 2, but this lexicode reads up to 1; pip install -U lexicode"),
        ({"version": "1"}, r"record is damaged"),
        ({"version": True}, r"record is damaged"),
        ({"version": 0}, r"the first was 1"),
        ({"dim": float("inf")}, r"record is damaged"),
        ({"format": "other"}, r"record is damaged"),
        ({"scheme": "4x32"}, r"codes have 2 bytes a row, but scheme 4x32 takes 3"),
        ({"scheme": "4x12"}, r"not a power of two"),
        ({"scheme": None}, r"not of the form"),
        ({"dim": "many"}, r"record is damaged"),
        ({"dim": None}, r"record is damaged"),
        ({"dim": 8}, r"do not make up 8 columns"),
        ({"offsets": [0, 1, "x", 2]}, r"record is damaged"),
        ({"offsets": 3}, r"record is damaged"),
    ],
)
def test_a_record_that_lies_is_refused(tmp_path: Path, change: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        CodedEmbedding.load(rewritten(tmp_path, change))


def test_tensors_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"codes would point past them"):
        CodedEmbedding.load(rewritten(tmp_path, {}, codebooks=np.zeros((4, 8, 3), np.float16)))
    with pytest.raises(InputError, match=r"unknown tensor 'extra'; a newer lexicode may read it"):
        CodedEmbedding.load(rewritten(tmp_path, {}, extra=np.zeros(3, np.float32)))
    with pytest.raises(InputError, match=r"tensor 'codes' has dtype I64"):
        CodedEmbedding.load(rewritten(tmp_path, {}, codes=np.zeros((5, 2), np.int64)))
    with pytest.raises(InputError, match=r"words cannot be decompressed"):
        CodedEmbedding.load(rewritten(tmp_path, {}, words=np.zeros(9, np.uint8)))
    text = np.frombuffer(zlib.compress(b"a\nb\nc\nd\n"), np.uint8)
    with pytest.raises(InputError, match=r"4 words for 5 rows"):
        CodedEmbedding.load(rewritten(tmp_path, {}, words=text))


def test_words_that_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    bomb = np.frombuffer(zlib.compress(b"a" * 50_000_000), np.uint8)
    with pytest.raises(InputError, match=r"the words of 5 rows take more than 1053696 bytes"):
        CodedEmbedding.load(rewritten(tmp_path, {}, words=bomb))


def test_other_files_are_told_apart(tmp_path: Path) -> None:
    save_file({"weight": np.zeros((3, 2), np.float32)}, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"not one that lexicode wrote"):
        CodedEmbedding.load(tmp_path / "model.safetensors")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(InputError, match=r"cut short or damaged"):
        CodedEmbedding.load(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        CodedEmbedding.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        CodedEmbedding.load(tmp_path)


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    record, arrays = read_artefact(GOLDEN)
    write_artefact(tmp_path / "half", record, {"codes": np.array(arrays["codes"])})
    with pytest.raises(InputError, match=r"tensor 'codebooks' is missing"):
        CodedEmbedding.load(tmp_path / "half")


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    raw = GOLDEN.read_bytes()
    path = tmp_path / "cut"
    for length in range(len(raw)):
        path.write_bytes(raw[:length])
        with pytest.raises(InputError):
            CodedEmbedding.load(path)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(at=st.integers(0, GOLDEN.stat().st_size - 1), value=st.integers(0, 255))
def test_a_changed_byte_never_crashes(tmp_path: Path, at: int, value: int) -> None:
    raw = bytearray(GOLDEN.read_bytes())
    raw[at] = value
    path = tmp_path / "changed"
    path.write_bytes(raw)
    try:
        coded = CodedEmbedding.load(path)
        coded.decode()
        list(coded.words or ())
    except LexicodeError:
        pass


def test_saving_over_a_file_keeps_its_permissions_and_links(tmp_path: Path) -> None:
    coded = CodedEmbedding.load(GOLDEN)
    target, link = tmp_path / "real", tmp_path / "link"
    coded.save(target)
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()
    target.chmod(0o640)
    link.symlink_to(target)
    coded.save(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coded = CodedEmbedding.load(GOLDEN)
    target = tmp_path / "table"
    target.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as raised:
        coded.save(target)
    assert raised.value.filename == str(target)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new(tmp_path: Path) -> None:
    """A process saves two tables in turn over one path and is killed at odd times; the path always loads."""
    target = tmp_path / "table.safetensors"
    program = """
import sys
import numpy as np
from lexicode import CodedEmbedding, CodeScheme
scheme = CodeScheme.parse("4x256")
tables = [
    CodedEmbedding(scheme=scheme, packed=np.full((200_000, 4), value, np.uint8), codebooks=np.ones((4, 256, 2), "f4"))
    for value in (1, 2)
]
print("ready", flush=True)
while True:
    for table in tables:
        table.save(sys.argv[1])
"""
    rng = np.random.default_rng(5)
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-c", program, str(target)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05 + 0.1 * rng.random())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if target.exists():
            values = np.unique(CodedEmbedding.load(target).packed)
            assert values.tolist() in ([1], [2])
    assert target.exists()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
