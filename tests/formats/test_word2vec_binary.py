"""word2vec's binary format."""

from __future__ import annotations

import numpy as np
import pytest

from format_samples import WITH_WORDS, as_word2vec_binary
from lexicode.errors import InputError
from lexicode.formats import records
from lexicode.formats.reading import read_table

FLOATS = np.array([1.5, 0.1], dtype="<f4").tobytes()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"3 2\na " + FLOATS + b"b " + FLOATS, r"promises 3 rows, but holds 2: it ends at byte 24$"),
        (b"1000000000000 2\na " + FLOATS, r"promises 1000000000000 rows, but holds 1: "),
        (b"1 1000000\na " + FLOATS, r"promises 1 rows, but holds 0: "),
        (b"1 2\na " + FLOATS + b"b " + FLOATS, r"line 1 promises 1 rows, but more follow"),
        (b"2 2\na " + FLOATS + b"\n " + FLOATS, r"row 1: the word is empty$"),
        (b"2 2\na " + FLOATS + b"b\nc " + FLOATS, r"row 1: the word b'b\\nc' has a line break in it$"),
        (b"2 2\na " + FLOATS + b"\xe9 " + FLOATS, r"row 1: byte 0xe9 of the word b'\\xe9' is not UTF-8"),
    ],
)
def test_what_is_refused(write, data, sentence):
    path = write(data)
    with pytest.raises(InputError, match=f"^{path}: {sentence}"):
        read_table(path)


def test_a_word_without_end(write):
    with pytest.raises(InputError, match=r"row 1: no word ends within 65536 bytes"):
        read_table(write(b"2 2\na " + FLOATS + b"\0" * 100_000))


def test_truncated_anywhere(write):
    data = as_word2vec_binary(line_end=b"")
    for length in range(len(b"4 3\nthe ") + 3, len(data)):
        with pytest.raises(InputError, match=r"promises 4 rows, but holds [0-3]: it ends at byte \d+$"):
            read_table(write(data[:length]))


def test_rows_that_cross_blocks(write, monkeypatch):
    monkeypatch.setattr(records, "STEP", 5)
    assert len(read_table(write(WITH_WORDS["word2vec binary"])).words) == 4


def test_what_lies_behind_the_limit_is_not_read(write):
    assert list(read_table(write(b"9 2\na " + FLOATS + b"b"), limit=1).words) == ["a"]
