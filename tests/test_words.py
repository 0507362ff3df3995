from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexicode import InputError, UnknownWordError
from lexicode.words import SCANS_BEFORE_INDEX, Words, first_duplicate, repeated_rows

ODD = ["the", "", "naïve", "日本", "a b", "\x85", "\u2028x", "🦊", "tab\there", "the2"]


def test_words_keep_their_rows() -> None:
    words = Words(ODD)
    assert len(words) == len(ODD)
    assert list(words) == ODD
    assert [words[row] for row in range(len(words))] == ODD
    assert words[-1] == "the2"
    assert words[1:3] == ["", "naïve"]
    assert Words.from_text(words.text) == words


@pytest.mark.parametrize("indexed", [False, True])
def test_scan_and_index_find_alike(indexed: bool) -> None:
    words = Words(ODD)
    if indexed:
        words.index_of_all()
    assert [words.find(word) for word in ODD] == list(range(len(ODD)))
    for missing in ("th", "he", "the\n", "naïv", "\ud800"):
        assert words.find(missing) is None
        assert missing not in words
    assert 3 not in words


def test_index_takes_over_after_many_scans() -> None:
    words = Words(f"w{i}" for i in range(500))
    assert [words.find(f"w{i}") for i in range(SCANS_BEFORE_INDEX + 50)] == list(range(SCANS_BEFORE_INDEX + 50))
    assert words.ids_of([f"w{i}" for i in range(499, -1, -1)]).tolist() == list(range(499, -1, -1))


@pytest.mark.parametrize("indexed", [False, True])
def test_the_first_of_equal_words_counts(indexed: bool) -> None:
    words = Words(["a", "b", "a"])
    if indexed:
        words.index_of_all()
    assert words.find("a") == 0


def test_unknown_word_offers_close_spellings() -> None:
    words = Words(["house", "mouse", "horse", "tree"])
    with pytest.raises(KeyError, match=r"'housse' is not in the vocabulary; close spellings: house"):
        words.id_of("housse")
    with pytest.raises(UnknownWordError, match=r"^'qqqqqq' is not in the vocabulary$"):
        words.id_of("qqqqqq")


def test_bad_words_are_refused() -> None:
    with pytest.raises(InputError, match=r"row 1: the word 'a\\nb' has a line break"):
        Words(["x", "a\nb"])
    with pytest.raises(InputError, match="UTF-8"):
        Words(["\ud800"])
    with pytest.raises(InputError, match="not UTF-8 at byte 2"):
        Words.from_text(b"a\n\xff\n")
    with pytest.raises(InputError, match="cut short"):
        Words.from_text(b"a\nb")
    with pytest.raises(IndexError, match="row 2 is not in a vocabulary of 2 words"):
        Words(["a", "b"])[2]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=3), max_size=40))
def test_repeats_are_those_a_set_would_find(listed: list[str]) -> None:
    seen: set[str] = set()
    expected = []
    for row, word in enumerate(listed):
        if word in seen:
            expected.append(row)
        seen.add(word)
    assert repeated_rows(listed).tolist() == expected
    found = first_duplicate(listed)
    assert found == ((expected[0], listed.index(listed[expected[0]])) if expected else None)
    assert list(Words(listed)) == listed


def test_many_words_are_found_in_order() -> None:
    words = Words(str(i) for i in range(20_000))
    rows = np.random.default_rng(0).integers(20_000, size=100)
    assert words.ids_of([str(row) for row in rows]).tolist() == rows.tolist()
