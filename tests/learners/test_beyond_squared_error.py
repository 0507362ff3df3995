"""Weights, directions, rows that are kept, and learning by the clock."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexicode import AdditiveLearner, CodedEmbedding, ProductLearner, SettingError, Vectors, evaluate
from lexicode.learners.choosing import choose_scheme
from lexicode.learners.weights import heaviest, learning_sample, row_weights


def errors_of(vectors: Vectors, coded: CodedEmbedding) -> np.ndarray:
    return np.square(vectors.matrix.astype(np.float64) - coded.decode()).sum(axis=1)


@pytest.fixture(scope="module")
def table() -> Vectors:
    rng = np.random.default_rng(11)
    return Vectors((rng.normal(size=(40, 8)) * 2)[rng.integers(40, size=1500)] + rng.normal(size=(1500, 8)))


def test_weighted_rows_are_the_exact_ones(table: Vectors) -> None:
    plain = errors_of(table, AdditiveLearner("4x8", effort="fast").fit(table))
    weighted = errors_of(table, AdditiveLearner("4x8", effort="fast", weights="zipf").fit(table))
    assert weighted[:30].mean() < 0.5 * plain[:30].mean()
    by_hand = np.ones(1500)
    by_hand[700:720] = 1000
    chosen = errors_of(table, AdditiveLearner("4x8", effort="fast", weights=by_hand).fit(table))
    assert chosen[700:720].mean() < 0.2 * plain[700:720].mean()


def test_equal_weights_are_no_weights(table: Vectors) -> None:
    plain = AdditiveLearner("4x8", effort="fast").fit(table)
    equal = AdditiveLearner("4x8", effort="fast", weights=np.full(1500, 7.0)).fit(table)
    assert np.array_equal(plain.packed, equal.packed)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(3), r"weights have shape \(3,\), but the table has 1500 rows"),
        (-np.ones(1500), "the weight of row 0 is -1.0; weights are finite and not below zero"),
        (np.zeros(1500), "all weights are zero"),
        (["a"] * 1500, "weights are not numbers"),
    ],
)
def test_weights_that_do_not_fit_are_refused(table: Vectors, weights: np.ndarray, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        AdditiveLearner("4x8", effort="fast", weights=weights).fit(table)


def test_a_weighted_sample_has_the_heaviest_rows_and_stands_for_the_rest() -> None:
    weights = row_weights("zipf", 10_000)
    chosen, kept = learning_sample(weights, 10_000, 1000, np.random.default_rng(0))
    assert np.array_equal(chosen[:500], np.arange(500))
    assert len(np.unique(chosen)) == 1000
    assert kept is not None
    assert kept.sum() == pytest.approx(weights.sum(), rel=0.05)
    weights[:9500] = 0
    chosen, _ = learning_sample(weights, 10_000, 1000, np.random.default_rng(0))
    assert np.array_equal(chosen, np.arange(9500, 10_000))


def test_the_heaviest_rows() -> None:
    assert heaviest(None, 9, 3).tolist() == [0, 1, 2]
    assert heaviest([5, 1, 5, 7], 4, 2).tolist() == [0, 3]


def test_cosine_serves_short_rows_as_well_as_long_ones(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    directions = (rng.normal(size=(30, 8)) * 2)[rng.integers(30, size=1200)] + rng.normal(size=(1200, 8))
    vectors = Vectors(directions * np.exp(rng.normal(size=(1200, 1)) * 1.5))
    plain = AdditiveLearner("4x16", effort="fast").fit(vectors)
    learner = AdditiveLearner("4x16", effort="fast", loss="cosine")
    learner.fit(vectors).save(tmp_path / "t.safetensors")
    coded = CodedEmbedding.load(tmp_path / "t.safetensors")
    by_cosine, by_distance = evaluate(vectors, coded), evaluate(vectors, plain)
    assert by_cosine.mean_cosine > by_distance.mean_cosine
    assert coded.norms is not None
    # A length takes one of 256 levels; what is left is the direction's.
    assert learner.loss == pytest.approx(by_cosine.loss, rel=1e-3)
    lengths = np.linalg.norm(vectors.matrix, axis=1)
    assert np.corrcoef(lengths, np.linalg.norm(coded.decode(), axis=1))[0, 1] > 0.97


def test_later_words_get_the_length_that_serves_them() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(1000, 8)) * np.exp(rng.normal(size=(1000, 1)))
    words = [f"w{i}" for i in range(800)]
    coded = AdditiveLearner("3x8", effort="fast", loss="cosine").fit(Vectors(matrix[:800], words))
    coded.add([f"later{i}" for i in range(200)], matrix[800:])
    errors = errors_of(Vectors(matrix), coded)
    assert errors[800:].mean() < 1.5 * errors[:800].mean()
    others = coded.decode()[800:] * 1.2
    assert np.square(matrix[800:] - others).sum(axis=1).mean() > errors[800:].mean()


@pytest.mark.parametrize("learner", [AdditiveLearner, ProductLearner])
def test_the_most_frequent_rows_are_kept(table: Vectors, learner: Any) -> None:
    settings = {"effort": "fast"} if learner is AdditiveLearner else {}
    coded = learner("4x8", exact=25, **settings).fit(table)
    errors = errors_of(table, coded)
    # The matrix is float64; rows are kept as float32.
    assert errors[:25].max() < 1e-10
    assert errors[25:].min() > 0
    assert coded.origin["settings"]["exact"] == 25


def test_the_most_frequent_rows_are_those_of_largest_weight(table: Vectors) -> None:
    weights = np.ones(1500)
    weights[[7, 1400]] = 5
    coded = AdditiveLearner("4x8", effort="fast", exact=2, weights=weights).fit(table)
    assert coded.exact is not None
    assert coded.exact.ids.tolist() == [7, 1400]


def test_where_only_kept_rows_count_the_others_are_coded_all_the_same(table: Vectors) -> None:
    weights = np.zeros(len(table))
    weights[[7, 1400]] = 3
    coded = AdditiveLearner("4x8", effort="fast", exact=2, weights=weights).fit(table)
    assert coded.exact is not None
    assert coded.exact.ids.tolist() == [7, 1400]
    assert np.isfinite(coded.decode()).all()


@pytest.mark.parametrize("learner", [AdditiveLearner, ProductLearner])
def test_no_row_lies_further_off_than_asked(table: Vectors, learner: Any) -> None:
    settings = {"effort": "fast"} if learner is AdditiveLearner else {}
    distances = np.sqrt(errors_of(table, learner("4x8", **settings).fit(table)))
    limit = float(np.quantile(distances, 0.9))
    coded = learner("4x8", max_error=limit, **settings).fit(table)
    assert np.sqrt(errors_of(table, coded)).max() <= limit * (1 + 1e-6)
    assert coded.exact is not None
    assert len(coded.exact.ids) == 150


@pytest.mark.parametrize("settings", [{"exact": 1}, {"max_error": 100.0}])
def test_a_giant_row_can_be_kept_out_of_the_way(table: Vectors, settings: dict[str, Any]) -> None:
    matrix = table.matrix.copy()
    matrix[0] *= 300
    vectors = Vectors(matrix)
    without, spoilt, kept = [], [], []
    # Tables as small as this one differ by some percent from seed to seed.
    for seed in range(3):
        without.append(errors_of(table, AdditiveLearner("4x8", effort="fast", seed=seed).fit(table))[1:].mean())
        spoilt.append(errors_of(vectors, AdditiveLearner("4x8", effort="fast", seed=seed).fit(vectors))[1:].mean())
        mended = AdditiveLearner("4x8", effort="fast", seed=seed, **settings).fit(vectors)
        kept.append(errors_of(vectors, mended)[1:].mean())
    assert np.mean(kept) < 0.97 * np.mean(spoilt)
    assert np.mean(kept) < 1.03 * np.mean(without)
    assert mended.exact is not None
    assert mended.exact.ids.tolist() == [0]


def test_rows_that_float16_holds_are_kept_in_it() -> None:
    rng = np.random.default_rng(0)
    halves = Vectors(rng.normal(size=(300, 4)).astype(np.float16))
    kept = AdditiveLearner("2x8", effort="fast", exact=10).fit(halves).exact
    assert kept is not None
    assert kept.rows.dtype == np.float16
    assert np.array_equal(kept.rows, halves.matrix[:10])


def test_every_row_may_be_kept() -> None:
    vectors = Vectors(np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32))
    coded = AdditiveLearner("2x8", effort="fast", exact=1000).fit(vectors)
    assert np.array_equal(coded.decode(), vectors.matrix)


def test_a_budget_counts_the_rows_that_are_kept(table: Vectors) -> None:
    budget = 30_000
    scheme = choose_scheme(table, budget, exact=200)
    coded = AdditiveLearner(scheme, effort="fast", exact=200).fit(table)
    assert 0.4 * budget < coded.file_bytes <= budget
    lengths = choose_scheme(table, budget, loss="cosine")
    assert AdditiveLearner(lengths, effort="fast", loss="cosine").fit(table).file_bytes <= budget
    with pytest.raises(SettingError, match="a budget does not go with max_error"):
        choose_scheme(table, budget, max_error=0.5)


def test_the_clock_ends_the_learning(table: Vectors) -> None:
    AdditiveLearner("4x8", effort="fast").fit(table)
    short, long = AdditiveLearner("4x8", time=0.05), AdditiveLearner("4x8", time=1.5)
    started = time.monotonic()
    coded = short.fit(table)
    passed = time.monotonic() - started
    long.fit(table)
    # A loaded machine may be late; it is still the clock that ends it, and longer is better.
    assert passed < 30
    assert len(long.curve) > len(short.curve)
    assert long.loss < short.loss
    assert coded.origin["settings"]["time"] == 0.05
    assert "effort" not in coded.origin["settings"]
