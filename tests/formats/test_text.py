"""Text: what is read, what is refused, and the sentence that says why."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexicode.errors import InputError
from lexicode.formats import text
from lexicode.formats.reading import read_table
from lexicode.formats.streams import Source

GOOD = b"the 1 2 3\nof 4 5 6\nand 7 8 9\n"


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        b"3 3\n" + GOOD,
        b"\xef\xbb\xbf" + GOOD,
        b"\xef\xbb\xbf3 3\n" + GOOD,
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b" ", b"\t"),
        GOOD.replace(b" ", b"  "),
        GOOD.replace(b"\n", b" \n"),
        GOOD.rstrip(),
        GOOD + b"\n \n",
        b"3\t3 \r\n" + GOOD,
    ],
)
def test_forms_of_text(write, data):
    table = read_table(write(data))
    assert list(table.words) == ["the", "of", "and"]
    np.testing.assert_array_equal(table.matrix, np.arange(1, 10).reshape(3, 3))
    assert table.matrix.dtype == np.float32


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", r"is empty"),
        (b"\n \n", r"is empty"),
        (b"a 1 2\nb 1 2\nc 1\n", r"line 3: expected 2 numbers, found 1$"),
        (b"a 1 2\nb 1 2\nc 1 2 3\n", r"line 3: expected 2 numbers, found 3$"),
        (b"3 2\na 1 2\nb 1 2\nc 1\n", r"line 4: expected 2 numbers, found 1$"),
        (b"a 1 2\nb 1 2\nc\n", r"line 3: expected 2 numbers, found 0$"),
        (b"a 1 x\nb 1 2\nc 1 2\n", r"line 1: 'x' is not a number$"),
        (b"a 1 2\nb 1,5 2\nc 1 2\n", r"line 2: '1,5' is not a number$"),
        (b"a 1 2\nb 1_0 2\n", r"line 2: '1_0' is not a number$"),
        (b"a 1 2\nb 0x1 2\n", r"line 2: '0x1' is not a number$"),
        (b"a 1 2\nb 0.1.2 2\n", r"line 2: '0.1.2' is not a number$"),
        (b"2 2\na 1 x\nb 1 2\n", r"line 2: 'x' is not a number$"),
        (b"a 1 2\n\nb 1 2\n", r"line 2: is empty$"),
        (b"a 1 2\n 1 2\nb 1 2\n", r"line 2: the word is empty$"),
        (b"a 1 2\nnew york 1 2\n", r'line 2: the word \'new york\' has a space in it; spaces="keep" \(--spaces keep\)'),
        (b". . . 1 2\na 1 2\n", r"line 1: the word '. . .' has a space in it"),
        (b"a 1 2\ncaf\xe9 1 2\n", r"line 2: byte 0xe9 of the word b'caf\\xe9' is not UTF-8; convert"),
        (b"2 2\ncaf\xe9 1 2\nb 1 2\n", r"line 2: byte 0xe9 of the word b'caf\\xe9' is not UTF-8; convert"),
        (b"3 2\na 1 2\nb 1 2\n", r"line 1 promises 3 rows, but the file holds 2$"),
        (b"1000000000000 2\na 1 2\n", r"line 1 promises 1000000000000 rows, but the file holds 1$"),
        (b"1 2\na 1 2\nb 1 2\n", r"line 1 promises 1 rows, but more follow; correct it or set a limit$"),
        (b"5 3\n", r"line 1 promises 5 rows, but the file holds 0$"),
        (b"5 3", r"line 1 promises 5 rows, but the file holds 0$"),
        (b"0 3\n", r"line 1 promises 0 rows of 3 numbers"),
        (b"3 0\na\n", r"line 1 promises 3 rows of 0 numbers"),
        (b"3 1000000000000\na 1\nb 2 3\n", r"line 3: expected 1 numbers, found 2$"),
        (b"3 1000000000000\na 1 2\n", r"line 1 promises 3 rows of 1000000000000 numbers; .*1048576"),
        ("a 1 2\n".encode("utf-16"), r"is UTF-16; convert it to UTF-8$"),
        (b"once upon a time there was\n", r"does not look like any format that lexicode reads: GloVe or word2vec"),
        (b"\x89PNG\r\n\x1a\n\0\0", r"does not look like any format"),
        (b"word\n", r"does not look like any format"),
    ],
)
def test_what_is_refused(write, data, sentence):
    path = write(data)
    with pytest.raises(InputError, match=f"^{path}: {sentence}") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


def test_words_with_spaces_are_kept_if_asked(write):
    table = read_table(write(b"new york 1 2\nthe 3 4\n. . . 5 6\nat 9 7 8\n"), spaces="keep")
    assert list(table.words) == ["new york", "the", ". . .", "at 9"]
    np.testing.assert_array_equal(table.matrix, np.arange(1, 9).reshape(4, 2))


def test_keeping_spaces_still_finds_short_lines(write):
    with pytest.raises(InputError, match=r"line 3: expected 2 numbers, found 1"):
        read_table(write(b"new york 1 2\nthe 3 4\nof 5\n"), spaces="keep")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"7 5\n8 6\n", ["7", "8"]),
        (b"7 5\nword 0.5\n", ["7", "word"]),
        (b"2 1\n7 5\n8 6\n", ["7", "8"]),
        (b"word 5\nother 6\n", ["word", "other"]),
    ],
)
def test_one_column_with_and_without_header(write, data, words):
    table = read_table(write(data))
    assert list(table.words) == words
    assert table.matrix.shape == (2, 1)


def test_what_lies_behind_the_limit_is_not_read(write):
    table = read_table(write(b"9 2\na 1 2\nb 3 4\nc what is this\n"), limit=2)
    assert list(table.words) == ["a", "b"]


def test_place_counts_the_header(write):
    assert read_table(write(GOOD)).place(0) == "line 1"
    assert read_table(write(b"3 3\n" + GOOD)).place(0) == "line 2"


def test_lines_that_cross_blocks(write, monkeypatch):
    monkeypatch.setattr(text, "STEP", 7)
    table = read_table(write(GOOD + b"\n\n"))
    assert list(table.words) == ["the", "of", "and"]
    with pytest.raises(InputError, match=r"line 3: expected 3 numbers, found 2"):
        read_table(write(b"the 1 2 3\nof 4 5 6\nand 7 8\n"))


def test_a_line_without_end(write, monkeypatch):
    monkeypatch.setattr(text, "STEP", 8)
    monkeypatch.setattr(text, "LONGEST_LINE", 16)
    with pytest.raises(InputError, match=r"line 2 is longer than 16 bytes"):
        read_table(write(b"a 1\nb " + b"1" * 50))


numbers = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(["1e39", "nan", "-inf", "1e-46", "+.5", "5."]),
)


@settings(deadline=None)
@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=5))
def test_the_fast_way_agrees_with_the_slow_one(rows):
    lines = [("word " + " ".join(row)).encode() for row in rows]
    block = text._Block(Source("table", None), lines, 3, "error", str)
    fast, slow = block.parsed_at_once(), block.parsed_by_line()
    assert fast is not None
    assert fast[0] == slow[0]
    np.testing.assert_array_equal(fast[1], slow[1])
