"""Files of every format version load for ever, to the bit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lexicode import CodedEmbedding

FOLDER = Path(__file__).parent / "golden"
FILES = sorted(FOLDER.glob("*.safetensors"))


def test_golden_files_are_there() -> None:
    assert len(FILES) == 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden_file_loads_to_the_bit(path: Path, tmp_path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    coded = CodedEmbedding.load(path)
    assert coded.codes().tolist() == expected["codes"]
    assert np.array_equal(coded.decode(), np.array(expected["rows"], dtype=np.float32))
    assert (None if coded.words is None else list(coded.words)) == expected["words"]
    coded.save(tmp_path / "again.safetensors")
    again = CodedEmbedding.load(tmp_path / "again.safetensors")
    assert np.array_equal(again.decode(), coded.decode())
    assert again.origin == coded.origin


def test_bytes_of_the_smallest_file(tmp_path: Path) -> None:
    """The whole layout, spelled out: header length, header, then the tensors' bytes."""
    from lexicode import CodeScheme
    from lexicode.packing import pack

    coded = CodedEmbedding(
        scheme=CodeScheme(codebooks=2, codewords=2),
        packed=pack(np.array([[0, 1], [1, 1]]), bits=1),
        codebooks=np.array([[[1.0], [2.0]], [[10.0], [20.0]]], dtype=np.float16),
    )
    coded.save(tmp_path / "small.safetensors")
    raw = (tmp_path / "small.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    record = json.loads(header["__metadata__"]["lexicode"])
    assert record == {"dim": 1, "format": "lexicode", "origin": {}, "scheme": "2x2", "version": 1}
    assert header["codebooks"] == {"dtype": "F16", "shape": [2, 2, 1], "data_offsets": [0, 8]}
    assert header["codes"] == {"dtype": "U8", "shape": [2, 1], "data_offsets": [8, 10]}
    assert raw[8 + length :] == bytes([0x00, 0x3C, 0x00, 0x40, 0x00, 0x49, 0x00, 0x4D, 0b10, 0b11])
    assert coded.decode().tolist() == [[21.0], [22.0]]
