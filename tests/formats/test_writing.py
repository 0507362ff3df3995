"""Plain files: read back by gensim, by numpy and by lexicode."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models import KeyedVectors

from lexicode.errors import InputError
from lexicode.formats import writing
from lexicode.formats.reading import read_table
from lexicode.formats.writing import write_npy, write_word2vec_binary, write_word2vec_text, write_words

WORDS = ["the", "Käse", "日本", "-0.5"]
# The edges of float32 and values whose shortest text is long.
EDGES = [[0.1, -0.0, 1e-45, 3.4028235e38], [1.1754944e-38, 16777217.0, 1 / 3, -np.pi], [1e16, -1e-5, 0.3, 7.0]]
MATRIX = np.array([*EDGES, [2.0**-149, 2.0**127, 1.0000001, 123456.79]], dtype=np.float32)
WRITERS = {"text": write_word2vec_text, "binary": write_word2vec_binary}


def blocks():
    yield 0, MATRIX[:3]
    yield 3, MATRIX[3:]


@pytest.mark.parametrize("kind", WRITERS)
def test_round_trip(tmp_path, kind):
    WRITERS[kind](tmp_path / "table", WORDS, blocks(), 4, 4)
    table = read_table(tmp_path / "table")
    assert list(table.words) == WORDS
    assert table.matrix.tobytes() == MATRIX.tobytes()


@pytest.mark.parametrize("kind", WRITERS)
def test_gensim_reads_ours(tmp_path, kind):
    WRITERS[kind](tmp_path / "table", WORDS, blocks(), 4, 4)
    read = KeyedVectors.load_word2vec_format(str(tmp_path / "table"), binary=kind == "binary")
    assert read.index_to_key == WORDS
    np.testing.assert_array_equal(read.vectors, MATRIX)


@pytest.mark.parametrize("kind", WRITERS)
def test_we_read_gensims(tmp_path, kind):
    theirs = KeyedVectors(4)
    theirs.add_vectors(WORDS, MATRIX)
    theirs.save_word2vec_format(str(tmp_path / "table"), binary=kind == "binary")
    table = read_table(tmp_path / "table")
    assert list(table.words) == WORDS
    np.testing.assert_array_equal(table.matrix, MATRIX)


def test_text_is_spelled_out(tmp_path):
    write_word2vec_text(tmp_path / "table", ["a", "b"], [(0, np.array([[0.1, 1], [-2.5, 1e-7]], np.float32))], 2, 2)
    assert (tmp_path / "table").read_bytes() == b"2 2\na 0.1 1.0\nb -2.5 1e-07\n"


def test_random_floats_come_back(tmp_path):
    bits = np.random.default_rng(0).integers(0, 2**32, size=(500, 20), dtype=np.uint32)
    matrix = np.where(np.isfinite(bits.view(np.float32)), bits.view(np.float32), np.float32(0))
    words = [f"w{n}" for n in range(500)]
    write_word2vec_text(tmp_path / "table", words, [(0, matrix)], 500, 20)
    assert read_table(tmp_path / "table").matrix.tobytes() == matrix.tobytes()


def test_npy_and_words(tmp_path):
    write_npy(tmp_path / "table.npy", blocks(), 4, 4)
    write_words(tmp_path / "words.txt", ["new york", *WORDS[1:]])
    np.testing.assert_array_equal(np.load(tmp_path / "table.npy"), MATRIX)
    table = read_table(tmp_path / "table.npy", words=tmp_path / "words.txt")
    assert list(table.words) == ["new york", *WORDS[1:]]


@pytest.mark.parametrize("word", ["new york", "", "a\tb", " a", "a "])
@pytest.mark.parametrize("kind", WRITERS)
def test_words_that_word2vec_cannot_hold(tmp_path, kind, word):
    with pytest.raises(InputError, match=r"table: row 1: the word .* is empty or has a space in it"):
        WRITERS[kind](tmp_path / "table", ["a", word, "c", "d"], blocks(), 4, 4)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", WRITERS)
def test_spaces_beyond_ascii_are_letters_to_word2vec(tmp_path, kind):
    words = ["a\u00a0b", "a\u0085b", "\u2028", "d"]
    WRITERS[kind](tmp_path / "table", words, blocks(), 4, 4)
    assert list(read_table(tmp_path / "table").words) == words
    read = KeyedVectors.load_word2vec_format(str(tmp_path / "table"), binary=kind == "binary")
    assert read.index_to_key == words


def test_a_word_of_two_lines(tmp_path):
    with pytest.raises(InputError, match=r"row 1: the word 'a\\nb' has a line break in it"):
        write_words(tmp_path / "words", ["a", "a\nb"])


@pytest.mark.parametrize("kind", WRITERS)
def test_a_count_that_does_not_match(tmp_path, kind):
    with pytest.raises(InputError, match=r"3 words do not match 4 rows"):
        WRITERS[kind](tmp_path / "table", WORDS[:3], blocks(), 4, 4)
    with pytest.raises(ValueError, match=r"the blocks end at row 3 of 4"):
        WRITERS[kind](tmp_path / "table", WORDS, [(0, MATRIX[:3])], 4, 4)
    with pytest.raises(ValueError, match=r"does not continue 3 of 4 x 4"):
        WRITERS[kind](tmp_path / "table", WORDS, [(0, MATRIX[:3]), (2, MATRIX[3:])], 4, 4)
    assert list(tmp_path.iterdir()) == []


def test_small_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "ROWS_A_WRITE", 2)
    for kind, writer in WRITERS.items():
        writer(tmp_path / kind, WORDS, blocks(), 4, 4)
        assert list(read_table(tmp_path / kind).words) == WORDS
