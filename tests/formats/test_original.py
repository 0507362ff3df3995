"""The files of the paper's own tool."""

from __future__ import annotations

import numpy as np
import pytest

from lexicode.errors import InputError
from lexicode.formats.original import read_original_codes, write_original_codes

CODES = np.array([[0, 3], [1, 2], [3, 0]])
CODEBOOKS = np.arange(2 * 4 * 3, dtype=np.float32).reshape(2, 4, 3)


@pytest.fixture
def prefix(tmp_path):
    write_original_codes(tmp_path / "model", CODES, CODEBOOKS)
    return tmp_path / "model"


def test_bytes(prefix):
    assert prefix.with_name("model.codes").read_bytes() == b"0 3\n1 2\n3 0\n"
    rows = np.load(prefix.with_name("model.codebook.npy"))
    np.testing.assert_array_equal(rows, np.arange(24).reshape(8, 3))
    assert rows.dtype == np.float32


@pytest.mark.parametrize("suffix", ["", ".codes", ".codebook.npy"])
def test_round_trip(prefix, suffix):
    codes, codebooks = read_original_codes(str(prefix) + suffix)
    np.testing.assert_array_equal(codes, CODES)
    np.testing.assert_array_equal(codebooks, CODEBOOKS)
    assert (codes.dtype, codebooks.dtype) == (np.uint16, np.float32)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0 3\n1\n", r"model.codes: line 2: expected 2 codes, found 1$"),
        ("0 3\n1 4\n", r"model.codes: line 2: '4' is not a code from 0 to 3$"),
        ("0 3\n-1 2\n", r"model.codes: line 2: '-1' is not a code from 0 to 3$"),
        ("0 3\n1 2.0\n", r"model.codes: line 2: '2.0' is not a code"),
        ("0 " + "9" * 9999 + "\n", r"model.codes: line 1: '9+' is not a code"),
        ("0 1 2\n", r"model.codes: has 3 codes a line, but 8 codewords do not divide among 3 codebooks$"),
        ("", r"model.codes: is empty$"),
    ],
)
def test_what_is_refused(prefix, text, sentence):
    prefix.with_name("model.codes").write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_original_codes(prefix)


@pytest.mark.parametrize("missing", [".codes", ".codebook.npy"])
def test_a_missing_companion(prefix, missing):
    prefix.with_name("model" + missing).unlink()
    with pytest.raises(InputError, match=rf"its companion .*model{missing} is missing"):
        read_original_codes(prefix)


def test_both_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_original_codes(tmp_path / "nothing")
