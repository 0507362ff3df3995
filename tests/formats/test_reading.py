"""Every format in every compression gives the same table."""

from __future__ import annotations

import io
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from format_samples import COMPRESSIONS, MATRIX, WITH_WORDS, WITHOUT_WORDS, WORDS, as_npz, utf8
from lexicode.errors import InputError, SettingError
from lexicode.formats.reading import read_table

WORDS_FILE = "\n".join(WORDS).encode()


def test_the_sweep_covers_every_pair():
    assert len(WITH_WORDS) == 8
    assert len(WITHOUT_WORDS) == 5
    assert len(COMPRESSIONS) == 7


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", WITH_WORDS)
def test_files_with_words(write, kind, compression):
    table = read_table(write(COMPRESSIONS[compression](WITH_WORDS[kind])))
    assert list(table.words) == WORDS
    np.testing.assert_array_equal(table.matrix, MATRIX)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", WITHOUT_WORDS)
def test_files_without_words(write, kind, compression):
    path = write(COMPRESSIONS[compression](WITHOUT_WORDS[kind]))
    table = read_table(path)
    assert table.words is None
    np.testing.assert_array_equal(table.matrix, MATRIX)
    named = read_table(path, words=write(COMPRESSIONS[compression](WORDS_FILE), "words"))
    assert list(named.words) == WORDS


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", WITH_WORDS)
def test_standard_input(monkeypatch, kind, compression):
    data = COMPRESSIONS[compression](WITH_WORDS[kind])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    table = read_table("-")
    assert list(table.words) == WORDS
    np.testing.assert_array_equal(table.matrix, MATRIX)


def test_standard_input_of_a_process():
    program = (
        "from lexicode.formats.reading import read_table; t = read_table('-'); raise SystemExit(len(t.matrix) + 40)"
    )
    data = COMPRESSIONS["gz"](WITH_WORDS["word2vec binary"])
    assert subprocess.run([sys.executable, "-c", program], input=data, check=False).returncode == 44


def test_standard_input_is_named_in_errors(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a 1 2\nb 1\n")))
    with pytest.raises(InputError, match=r"^standard input: line 2: expected 2 numbers, found 1$"):
        read_table("-")


@pytest.mark.parametrize("limit", [1, 3, 4, 9])
@pytest.mark.parametrize("kind", WITH_WORDS)
def test_limit(write, kind, limit):
    table = read_table(write(WITH_WORDS[kind]), limit=limit)
    assert list(table.words) == WORDS[:limit]
    np.testing.assert_array_equal(table.matrix, MATRIX[:limit])


@pytest.mark.parametrize("compression", ["plain", "gz"])
@pytest.mark.parametrize("kind", WITHOUT_WORDS)
def test_limit_cuts_the_words_file_too(write, kind, compression):
    path = write(COMPRESSIONS[compression](WITHOUT_WORDS[kind]))
    table = read_table(path, limit=2, words=write(WORDS_FILE, "words"))
    assert list(table.words) == WORDS[:2]
    np.testing.assert_array_equal(table.matrix, MATRIX[:2])


@pytest.mark.parametrize("kind", ["npy", "npy in Fortran order", "npy of big-endian float64", "safetensors"])
def test_plain_matrices_are_memory_mapped(write, kind):
    assert isinstance(read_table(write(WITHOUT_WORDS[kind])).matrix, np.memmap)


def test_words_file_of_another_length(write):
    path = write(WITHOUT_WORDS["npy"])
    with pytest.raises(InputError, match=r"few: holds 2 words, but the table has 4 rows"):
        read_table(path, words=write(b"a\nb\n", "few"))
    with pytest.raises(InputError, match=r"many: holds 5 words, but the table has 4 rows"):
        read_table(path, words=write(b"a\nb\nc\nd\ne", "many"), limit=7)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"a\n\nc\nd\n", r"words: line 2: the word is empty"),
        (b"a\nb\xe9\nc\nd\n", r"words: line 2: byte 0xe9 of the word b'b\\xe9' is not UTF-8"),
    ],
)
def test_words_file_with_a_bad_line(write, text, sentence):
    with pytest.raises(InputError, match=sentence):
        read_table(write(WITHOUT_WORDS["npy"]), words=write(text, "words"))


def test_words_file_of_windows(write):
    table = read_table(write(WITHOUT_WORDS["npy"]), words=write(b"\xef\xbb\xbfa\r\nb c\r\nd\r\ne\r\n", "words"))
    assert list(table.words) == ["a", "b c", "d", "e"]


def test_two_sets_of_words(write):
    with pytest.raises(InputError, match=r"table: has words of its own; leave out the file of words"):
        read_table(write(WITH_WORDS["glove"]), words=write(WORDS_FILE, "words"))


def test_npz_words_of_another_length(write):
    with pytest.raises(InputError, match=r"table: holds 3 words, but the table has 4 rows"):
        read_table(write(as_npz(vectors=MATRIX, words=utf8(WORDS[:3]))))


def test_tensor_of_a_text(write):
    with pytest.raises(InputError, match=r"is GloVe text, which has no tensors by name; leave out tensor='x'"):
        read_table(write(WITH_WORDS["glove"]), tensor="x")


def test_settings_are_checked_before_the_file_is_opened():
    with pytest.raises(SettingError, match=r"limit=0 is not a number of rows"):
        read_table("missing", limit=0)
    with pytest.raises(SettingError, match=r"spaces='drop' is not known"):
        read_table("missing", spaces="drop")


def test_pythons_own_errors_stay(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        read_table(tmp_path)
