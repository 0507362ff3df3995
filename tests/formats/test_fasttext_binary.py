"""fastText's models: against gensim, and against the hash spelled out."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model
from hypothesis import given, settings
from hypothesis import strategies as st

from format_samples import MATRIX, WITH_WORDS, WORDS, as_fasttext_binary
from lexicode.errors import InputError
from lexicode.formats.fasttext_binary import ngram_hashes
from lexicode.formats.reading import read_table

SENTENCES = [["der", "Käse", "ist", "gut"], ["日本", "語", "der", "a"], ["Käse", "gut", "a" * 40, "ist"]]


@pytest.mark.parametrize(("shortest", "longest"), [(3, 6), (1, 2), (2, 2)])
def test_agrees_with_gensim(tmp_path, shortest, longest):
    model = FastText(
        SENTENCES, vector_size=7, min_count=1, min_n=shortest, max_n=longest, bucket=50, epochs=1, workers=1
    )
    path = tmp_path / "model"
    save_facebook_model(model, str(path))
    table = read_table(path)
    assert list(table.words) == model.wv.index_to_key
    np.testing.assert_allclose(table.matrix, model.wv.vectors, atol=1e-7)


@pytest.mark.parametrize("labels", [0, 3])
@pytest.mark.parametrize("version", [11, 12])
def test_versions_and_classifiers(write, version, labels):
    table = read_table(write(as_fasttext_binary(version=version, labels=labels)))
    assert list(table.words) == WORDS
    np.testing.assert_array_equal(table.matrix, MATRIX)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (as_fasttext_binary(quantized=True), r"is a quantized fastText model \(.ftz\); lexicode needs the full one"),
        (as_fasttext_binary(version=13), r"is a fastText model of version 13; lexicode reads versions 11 and 12"),
        (as_fasttext_binary(longest=6), r"has n-grams of up to 6 characters in 0 buckets"),
        (as_fasttext_binary(longest=-1), r"has n-grams of up to -1 characters"),
        (as_fasttext_binary()[:200], r"promises 4 rows of 3 numbers \(48 bytes\) but holds \d+ bytes"),
        (as_fasttext_binary()[:100], r"promises 4 rows, but holds 0"),
        (as_fasttext_binary()[:30], r"ends at byte 30, inside its settings"),
        (as_fasttext_binary().replace(b"the", b"th\xe9"), r"row 0: byte 0xe9 of the word b'th\\xe9' is not UTF-8"),
        (
            as_fasttext_binary().replace(struct.pack("<qq", 4, 3), struct.pack("<qq", 3, 3), 1),
            r"has 3 input rows, but its words and n-grams need 4",
        ),
        (
            as_fasttext_binary().replace(struct.pack("<qq", 4, 3), struct.pack("<qq", 2**60, 3), 1),
            r"promises 1152921504606846976 rows of 3 numbers",
        ),
        (
            as_fasttext_binary().replace(struct.pack("<iii", 4, 4, 0), struct.pack("<iii", 2**31 - 1, 2**31 - 1, 0)),
            r"promises 2147483647 rows, but holds",
        ),
    ],
)
def test_what_is_refused(write, data, sentence):
    path = write(data)
    with pytest.raises(InputError, match=f"^{path}: {sentence}"):
        read_table(path)


def test_the_end_of_sentence_has_no_ngrams():
    owners, _ = ngram_hashes([b"</s>", b"ab"], 3, 6)
    assert owners.tolist() == [1, 1, 1]


def slow_hashes(word: str, shortest: int, longest: int) -> list[int]:
    """Character by character, as the definition reads."""
    framed = f"<{word}>"
    hashes = []
    for start in range(len(framed)):
        for stop in range(start + 1, min(start + longest, len(framed)) + 1):
            alone = stop - start == 1 and (start == 0 or stop == len(framed))
            if stop - start < shortest or alone:
                continue
            value = 2166136261
            for byte in framed[start:stop].encode():
                extended = byte | 0xFFFFFF00 if byte >= 128 else byte
                value = ((value ^ extended) * 16777619) % 2**32
            hashes.append(value)
    return hashes


words = st.lists(st.text(st.sampled_from("aé日🙂<"), max_size=6), min_size=1, max_size=4)


@settings(deadline=None)
@given(words, st.integers(0, 4), st.integers(0, 5))
def test_hashes_agree_with_the_definition(words, shortest, longest):
    owners, hashes = ngram_hashes([word.encode() for word in words], shortest, longest)
    for row, word in enumerate(words):
        assert sorted(hashes[owners == row].tolist()) == sorted(slow_hashes(word, shortest, longest))


def test_limit_still_averages_over_all_ngrams(write):
    np.testing.assert_array_equal(read_table(write(WITH_WORDS["fastText bin"]), limit=2).matrix, MATRIX[:2])
