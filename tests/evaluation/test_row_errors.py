from __future__ import annotations

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import Vectors
from lexicode.evaluation.reconstruction import reconstruction
from lexicode.evaluation.row_errors import RowErrors, bands, histogram, row_errors, worst_and_best


def errors_of(cosines: list[float]) -> RowErrors:
    values = np.array(cosines, dtype=np.float32)
    return RowErrors(squared=1 - values, cosines=values, lengths=np.ones_like(values))


def test_rows_add_up_to_the_means() -> None:
    coded = random_coded("4x16", rows=9000, dim=5, exact=20)
    table = coded.decode()
    vectors = Vectors(table + np.random.default_rng(1).normal(size=table.shape).astype(np.float32), coded.words)
    errors, means = row_errors(vectors, coded), reconstruction(vectors, coded)
    assert errors.squared.mean(dtype=np.float64) == pytest.approx(means.loss, rel=1e-6)
    assert errors.cosines.mean(dtype=np.float64) == pytest.approx(means.mean_cosine, rel=1e-6)
    assert np.allclose(errors.lengths, np.linalg.norm(vectors.matrix, axis=1), rtol=1e-6)


def test_a_histogram_counts_every_row() -> None:
    values = np.concatenate([[-1.0], np.linspace(0.5, 1, 99_999)]).astype(np.float32)
    made = histogram(values)
    assert sum(made.counts) == 100_000
    assert len(made.edges) == len(made.counts) + 1
    # One row that is far off does not flatten the rest.
    assert made.edges[0] == pytest.approx(0.5, abs=0.01)
    assert made.edges[-1] == pytest.approx(1)
    assert made.mean == pytest.approx(values.mean(dtype=np.float64))


def test_a_histogram_of_equal_values_has_a_width() -> None:
    made = histogram(np.ones(7, dtype=np.float32))
    assert made.edges[0] < 1 < made.edges[-1]
    assert sum(made.counts) == 7


def test_the_worst_and_the_best_come_in_order_and_never_twice() -> None:
    errors = errors_of([0.9, 0.2, 0.5, 0.2, 1.0])
    worst, best = worst_and_best(errors, 2)
    assert worst.tolist() == [1, 3]
    assert best.tolist() == [4, 0]
    worst, best = worst_and_best(errors, 4)
    assert sorted([*worst, *best]) == [0, 1, 2, 3, 4]
    worst, best = worst_and_best(errors, 2, exact_ids=[1, 4])
    assert (worst.tolist(), best.tolist()) == ([3, 2], [0])
    worst, best = worst_and_best(errors_of([0.3]), 3)
    assert (worst.tolist(), best.tolist()) == ([0], [])


def test_rows_of_zeros_are_neither_worst_nor_best() -> None:
    errors = RowErrors(
        squared=np.zeros(3, np.float32),
        cosines=np.array([0, 0.5, 0.7], np.float32),
        lengths=np.array([0, 1, 1], np.float32),
    )
    worst, best = worst_and_best(errors, 1)
    assert (worst.tolist(), best.tolist()) == ([1], [2])


def test_bands_are_powers_of_ten() -> None:
    rng = np.random.default_rng(0)
    errors = RowErrors(
        squared=rng.random(2500, dtype=np.float32),
        cosines=rng.random(2500, dtype=np.float32),
        lengths=np.full(2500, 2, dtype=np.float32),
    )
    made = bands(errors, np.array([0, 99, 100, 2499]))
    assert [(band.first, band.last) for band in made] == [(0, 99), (100, 999), (1000, 2499)]
    assert [band.exact for band in made] == [2, 1, 1]
    assert made[1].loss == pytest.approx(errors.squared[100:1000].mean(), rel=1e-5)
    assert made[1].relative_error == pytest.approx(made[1].loss / 4, rel=1e-5)
    assert made[2].mean_cosine == pytest.approx(errors.cosines[1000:].mean(), rel=1e-5)
    assert [(band.first, band.last) for band in bands(errors_of([0.1]))] == [(0, 0)]
