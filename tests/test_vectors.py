"""Vectors: checked once, the same from every file, never changing what it was given."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from lexicode import vectors as module
from lexicode.errors import InputError, SettingError
from lexicode.formats.writing import write_npy, write_word2vec_binary, write_word2vec_text, write_words
from lexicode.vectors import Vectors
from lexicode.words import Words

WORDS = ["the", "Käse", "dog"]
MATRIX = np.array([[0.5, -1.25], [0.1, 3.5], [1e-5, 0.3]], dtype=np.float32)


def test_what_it_holds():
    vectors = Vectors(MATRIX, WORDS)
    assert (len(vectors), vectors.dim, vectors.source, vectors.dropped) == (3, 2, "arrays", 0)
    assert isinstance(vectors.words, Words)
    assert vectors.original_bytes == 3 * 2 * 4 + len("the\nKäse\ndog\n".encode())
    assert Vectors(MATRIX).words is None
    assert Vectors(MATRIX).original_bytes == 24


@pytest.mark.parametrize(
    ("matrix", "words", "sentence"),
    [
        (np.ones(3), None, r"^arrays: an array of shape \(3,\); a matrix"),
        (np.ones((2, 2, 2)), None, r"an array of shape \(2, 2, 2\)"),
        (np.ones((2, 2), dtype=int), None, r"numbers of type int64; float16, float32 or float64 is expected"),
        (np.array([[None]]), None, r"numbers of type object"),
        (np.ones((2, 2), dtype=complex), None, r"numbers of type complex128"),
        (np.ones((0, 2)), None, r"a matrix of shape \(0, 2\); at least one row and column"),
        (np.ones((2, 0)), None, r"a matrix of shape \(2, 0\)"),
        (np.ones((2, 2)), ["a"], r"1 words do not match 2 rows"),
        (np.array([[1.0, 2.0], [3.0, np.nan]]), None, r"^arrays: row 1: the value nan of column 1 is not a finite"),
        (np.array([[1.0, 2.0], [-np.inf, 1.0]]), None, r"row 1: the value -inf of column 0 is not a finite"),
        (np.array([[1.0, 2.0], [1e39, 1.0]]), None, r"row 1: the value 1e\+39 of column 0 is beyond float32"),
        (np.ones((3, 1)), ["a", "b", "a"], r"row 2: the word 'a' stands already at row 0; .*--duplicates first"),
    ],
)
def test_what_is_refused(matrix, words, sentence):
    with pytest.raises(InputError, match=sentence):
        Vectors(matrix, words)


def test_not_finite_in_a_later_block(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "NUMBERS_A_BLOCK", 4)
    path = tmp_path / "table"
    path.write_text("4 2\na 1 2\nb 3 4\nc 5 6\nd nan 8\n")
    with pytest.raises(InputError, match=f"^{path}: line 5: the value nan of column 0 is not a finite number$"):
        Vectors.load(path)


def test_settings():
    with pytest.raises(SettingError, match=r"duplicates='last' is not known"):
        Vectors.load("missing", duplicates="last")
    with pytest.raises(SettingError, match=r"duplicates='last' is not known"):
        Vectors(MATRIX, duplicates="last")
    with pytest.raises(SettingError, match=r"rows=0 is not a size of blocks"):
        next(Vectors(MATRIX).blocks(0))


def test_duplicates_name_both_lines(tmp_path):
    path = tmp_path / "table"
    path.write_text("a 1\nb 2\nc 3\nb 4\na 5\n")
    with pytest.raises(InputError, match=f"^{path}: line 4: the word 'b' stands already at line 2; duplicates="):
        Vectors.load(path)


@pytest.mark.parametrize("numbers_a_block", [1, 3, 1000])
def test_duplicates_first(tmp_path, monkeypatch, numbers_a_block):
    monkeypatch.setattr(module, "NUMBERS_A_BLOCK", numbers_a_block)
    words = ["a", "b", "a", "c", "b", "b", "d"]
    matrix = np.arange(14, dtype=np.float32).reshape(7, 2)
    before = matrix.copy()
    write_word2vec_text(tmp_path / "text", words, [(0, matrix)], 7, 2)
    write_npy(tmp_path / "npy", [(0, matrix)], 7, 2)
    write_words(tmp_path / "words", words)
    for vectors in (
        Vectors(matrix, words, duplicates="first"),
        Vectors.load(tmp_path / "text", duplicates="first"),
        Vectors.load(tmp_path / "npy", words=tmp_path / "words", duplicates="first"),
    ):
        assert list(vectors.words) == ["a", "b", "c", "d"]
        assert vectors.dropped == 3
        np.testing.assert_array_equal(vectors.matrix, before[[0, 1, 3, 6]])
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
@pytest.mark.parametrize(
    "matrix", [MATRIX, MATRIX.astype(np.float64), np.asfortranarray(MATRIX), MATRIX.astype(">f4"), MATRIX[:, ::-1]]
)
def test_blocks(matrix, rows):
    pieces = list(Vectors(matrix).blocks(rows))
    assert [start for start, _ in pieces] == list(range(0, 3, rows))
    for _, block in pieces:
        assert block.dtype == np.float32
        assert block.dtype.isnative
        assert block.flags.c_contiguous
    np.testing.assert_array_equal(np.concatenate([block for _, block in pieces]), matrix.astype(np.float32))


def test_take_is_a_copy():
    vectors = Vectors(MATRIX, WORDS)
    taken = vectors.take([2, 0, 2])
    np.testing.assert_array_equal(taken, MATRIX[[2, 0, 2]])
    taken[:] = 0
    assert vectors.matrix[2, 1] == np.float32(0.3)
    with pytest.raises(IndexError):
        vectors.take([3])


def test_the_digest_is_of_the_table_not_of_the_file(tmp_path):
    write_word2vec_text(tmp_path / "text", WORDS, [(0, MATRIX)], 3, 2)
    write_word2vec_binary(tmp_path / "binary", WORDS, [(0, MATRIX)], 3, 2)
    write_words(tmp_path / "words", WORDS)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(MATRIX.astype(">f8")))
    spelled = hashlib.sha256(MATRIX.astype("<f4").tobytes() + "the\nKäse\ndog\n".encode()).hexdigest()
    for vectors in (
        Vectors(MATRIX, WORDS),
        Vectors.load(tmp_path / "text"),
        Vectors.load(tmp_path / "binary"),
        Vectors.load(tmp_path / "fortran.npy", words=tmp_path / "words"),
    ):
        assert vectors.digest == f"sha256:{spelled}"
    assert Vectors(MATRIX).digest != Vectors(MATRIX, WORDS).digest


def test_the_source_is_the_name_as_given(tmp_path, monkeypatch):
    (tmp_path / "table").write_text("a 1 2\n")
    monkeypatch.chdir(tmp_path)
    assert Vectors.load("table").source == "table"
    assert repr(Vectors.load("table")) == "Vectors(1 x 2 float32 from table)"
