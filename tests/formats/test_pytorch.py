"""PyTorch files: weights only."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest

from format_samples import MATRIX
from lexicode.errors import InputError, LexicodeError
from lexicode.formats.reading import read_table
from lexicode.vectors import Vectors

torch = pytest.importorskip("torch")

KINDS = {"present": True, "legacy": False}


def saved(content: object, kind: str = "present") -> bytes:
    kept = io.BytesIO()
    torch.save(content, kept, _use_new_zipfile_serialization=KINDS[kind])
    return kept.getvalue()


def state(dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    return {"a.weight": torch.from_numpy(MATRIX).to(dtype), "a.bias": torch.zeros(3), "ids": torch.arange(4)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dtypes(write, kind, dtype) -> None:
    table = read_table(write(saved(state(dtype), kind)), tensor="a.weight")
    np.testing.assert_array_equal(table.matrix, MATRIX)
    expected = torch.float32 if dtype == torch.bfloat16 else dtype
    assert table.matrix.dtype == str(expected).removeprefix("torch.")
    assert table.words is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_streams(monkeypatch, kind, pack) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(pack(saved(state(), kind)))))
    np.testing.assert_array_equal(Vectors.load("-", limit=2).matrix, MATRIX[:2])


def test_a_tensor_alone_and_one_that_lies_across(write) -> None:
    np.testing.assert_array_equal(read_table(write(saved(torch.from_numpy(MATRIX)))).matrix, MATRIX)
    across = torch.from_numpy(MATRIX.T.copy()).T
    np.testing.assert_array_equal(read_table(write(saved(across))).matrix, MATRIX)


def test_a_checkpoint_of_several_parts(write) -> None:
    path = write(saved({"epoch": 3, "model": state(), "optimizer": {"state": {0: {"step": torch.zeros(2, 2)}}}}))
    np.testing.assert_array_equal(read_table(path, tensor="model.a.weight").matrix, MATRIX)
    listed = r"model\.a\.weight float32 \(4, 3\), optimizer\.state\.0\.step float32 \(2, 2\)"
    with pytest.raises(InputError, match=rf"does not say which tensor to read; .*: {listed}"):
        read_table(path)
    with pytest.raises(InputError, match=rf"has no tensor 'a\.weight'; .*: {listed}"):
        read_table(path, tensor="a.weight")


@pytest.mark.parametrize("kind", KINDS)
def test_objects_are_refused_and_never_run(write, tmp_path, kind) -> None:
    trap = tmp_path / "sprung"

    class Trap:
        def __reduce__(self) -> object:
            return open, (str(trap), "w")

    path = write(saved({"a": torch.zeros(2, 2), "b": Trap()}, kind))
    with pytest.raises(InputError, match=r"holds Python objects, .* save the model's state_dict\(\) instead"):
        read_table(path)
    assert not trap.exists()


@pytest.mark.parametrize(
    ("content", "tensor", "sentence"),
    [
        ({}, None, "does not say which tensor to read; .*: none$"),
        ({"a": torch.zeros(3)}, "a", r"the tensor a is float32 \(3,\); a matrix of floats is expected"),
        ({"a": torch.eye(3).to_sparse()}, "a", r"the tensor a is sparse_coo float32 \(3, 3\); a matrix of floats"),
        (torch.nn.Linear(2, 2), None, "holds Python objects"),
    ],
)
def test_what_is_refused(write, content, tensor, sentence) -> None:
    with pytest.raises(InputError, match=sentence):
        read_table(write(saved(content)), tensor=tensor)


def test_cut_short(write) -> None:
    with pytest.raises(InputError, match="the compressed data are damaged"):
        read_table(write(saved(state())[:-30]))
    with pytest.raises(InputError, match="is a PyTorch file that torch cannot read: it is damaged"):
        read_table(write(saved(state(), "legacy")[:-30]))


@pytest.mark.parametrize("kind", KINDS)
def test_spoiled_bytes(write, kind) -> None:
    """The answer is a table or a LexicodeError."""
    data = saved({"a": torch.zeros(2, 3)}, kind)
    for at in range(0, len(data), 5):
        with suppress(LexicodeError):
            Vectors.load(write(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]))
        with suppress(LexicodeError):
            Vectors.load(write(data[:at]))


def test_torch_is_imported_for_such_a_file_alone(write) -> None:
    np.save(path := write(b"").with_suffix(".npy"), MATRIX)
    program = (
        f"import sys; from lexicode.vectors import Vectors; Vectors.load({str(path)!r}); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_torch_the_pip_line_is_named(write) -> None:
    path = write(saved(state()))
    program = f"""
import sys
sys.modules["torch"] = None
from lexicode.vectors import Vectors
try:
    Vectors.load({str(path)!r})
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "this needs torch: pip install 'lexicode[torch]'\n"
