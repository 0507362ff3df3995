from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import InputError, Vectors
from lexicode.evaluation.similarity import Similarity, rank, read_benchmark, similarity, spearman

ANGLES = {"a": 0.0, "b": 0.1, "c": 0.5, "d": 1.2, "Paris": 2.0}


@pytest.fixture
def vectors() -> Vectors:
    """Words on a circle: the nearer two angles, the higher the cosine."""
    matrix = [[np.cos(angle), np.sin(angle)] for angle in ANGLES.values()]
    return Vectors(np.array(matrix), list(ANGLES))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_equal_values_share_their_places() -> None:
    assert rank([3.0, 1.0, 3.0, 3.0, 2.0]).tolist() == [4, 1, 4, 4, 2]
    assert rank([]).tolist() == []


def test_spearman_with_ties_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    for n in (2, 3, 10, 200):
        x, y = rng.integers(0, max(2, n // 3), size=n), rng.normal(size=n)
        if len(set(x.tolist())) > 1:
            assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def test_what_has_no_order_has_no_correlation() -> None:
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert spearman([1], [2]) is None
    assert spearman([], []) is None
    assert spearman([1, 2, 3], [5, 7, 9]) == pytest.approx(1)
    assert spearman([1, 2, 3], [9, 7, 5]) == pytest.approx(-1)


def test_cosines_that_agree_with_people(vectors: Vectors, tmp_path: Path) -> None:
    path = written(tmp_path / "Circle-4.txt", "a\tb\t9.5\na\tc\t7\nb\td\t5\na\td\t1\n")
    assert similarity(vectors, path) == Similarity(name="Circle-4", pairs=4, known=4, spearman=pytest.approx(1))
    reversed_scores = written(tmp_path / "r", "a b 1\na c 5\nb d 7\na d 9.5\n")
    assert similarity(vectors, reversed_scores).spearman == pytest.approx(-1)


def test_unknown_words_are_counted_and_left_out(vectors: Vectors, tmp_path: Path) -> None:
    path = written(tmp_path / "t", "a b 9\nA C 7\nb zebra 1\nParis a 3\nparis a 100\n")
    judged = similarity(vectors, path)
    # "A" and "C" are found in lower case; "paris" is not looked for in upper case.
    assert (judged.pairs, judged.known) == (5, 3)
    assert judged.spearman == pytest.approx(1)
    none = similarity(vectors, written(tmp_path / "n", "x y 1\n"))
    assert (none.known, none.spearman) == (0, None)


def test_a_coded_table_is_judged_by_what_it_looks_up(tmp_path: Path) -> None:
    coded = random_coded("4x16", rows=50, dim=6)
    rng = np.random.default_rng(1)
    pairs = [f"w{a}\tw{b}\t{rng.random():.3f}\n" for a, b in rng.integers(50, size=(40, 2))]
    path = written(tmp_path / "t", "".join(pairs))
    decoded = Vectors(coded.decode(), coded.words)
    assert similarity(coded, path) == similarity(decoded, path)
    assert similarity(coded, read_benchmark(path)).known == 40


def test_headings_blank_lines_and_phrases(tmp_path: Path) -> None:
    path = written(tmp_path / "t.tsv", "\ufeffword1\tword2\tmean\n\nnew york\tparis\t4\r\n a \tb\t1e1\n")
    read = read_benchmark(path)
    assert read.pairs == (("new york", "paris"), ("a", "b"))
    assert read.scores.tolist() == [4, 10]
    assert read.name == "t"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a b 1\na b\n", r"line 2: expected word, word, score; found 2 fields"),
        ("a b c 1\n", r"line 1: expected word, word, score; found 4 fields"),
        ("a b 1\na b much\n", r"line 2: the score 'much' is not a finite number"),
        ("a b 1\na b nan\n", r"line 2: the score 'nan' is not a finite number"),
        ("", r"no pairs of words"),
        ("word1 word2 score\n", r"no pairs of words"),
    ],
)
def test_files_that_cannot_be_used(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        read_benchmark(written(tmp_path / "t", text))


def test_what_is_no_text_and_what_has_no_words(vectors: Vectors, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"a b 1\n\xff\xfe 2\n")
    with pytest.raises(InputError, match="not UTF-8 at byte 6"):
        read_benchmark(tmp_path / "t")
    with pytest.raises(FileNotFoundError):
        read_benchmark(tmp_path / "missing")
    with pytest.raises(InputError, match="a table without words cannot be judged by pairs"):
        similarity(Vectors(np.ones((2, 2))), written(tmp_path / "pairs.txt", "a b 1\n"))
