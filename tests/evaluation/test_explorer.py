from __future__ import annotations

import numpy as np

from coded_samples import random_coded
from lexicode import Vectors
from lexicode.evaluation.explorer import MOST_ROWS, frequent_rows, neighbourhoods
from lexicode.evaluation.neighbours import nearest
from lexicode.lengths import normalized


def test_neighbourhoods_are_those_of_both_tables() -> None:
    coded = random_coded("4x16", rows=700, dim=6, exact=30)
    vectors = Vectors(coded.decode() + np.random.default_rng(2).normal(size=(700, 6)) * 0.3, coded.words)
    found = neighbourhoods(vectors, coded, [5, 3, 699, 5])
    assert found.rows.tolist() == [3, 5, 699]
    for i, row in enumerate(found.rows.tolist()):
        expected = coded.most_similar(row, 10)
        assert [f"w{each}" for each in found.after.rows[i]] == [word for word, _ in expected]
        assert np.allclose(found.after.cosines[i], [cosine for _, cosine in expected], atol=1e-5)
    named = {int(row): code for row, code in zip(found.named, found.codes, strict=True)}
    assert set(named) == {3, 5, 699, *found.before.rows.ravel(), *found.after.rows.ravel()}
    assert all(np.array_equal(code, coded.codes(row)) for row, code in named.items())
    assert coded.exact is not None
    assert found.exact == set(coded.exact.ids.tolist()) & set(named)
    kept = [len(set(a) & set(b)) / 10 for a, b in zip(found.before.rows, found.after.rows, strict=True)]
    assert np.allclose(found.kept, kept)


def test_one_row_has_no_neighbours() -> None:
    found = neighbourhoods(Vectors(np.ones((1, 2))), random_coded("1x2", rows=1, dim=2), [0])
    assert found.before.rows.shape == (1, 0)
    assert found.kept.tolist() == [0]


def test_nearest_agrees_with_brute_force_whatever_the_blocks() -> None:
    table = np.random.default_rng(4).normal(size=(3000, 5)).astype(np.float32)
    # Equal rows far apart: of equal cosines the earlier row comes first.
    table[2900] = table[7]
    units, rows = normalized(table), np.arange(0, 3000, 7)
    cosines = units[rows] @ units.T
    cosines[np.arange(len(rows)), rows] = -np.inf
    expected = np.argsort(-cosines, axis=1, kind="stable")[:, :6]
    for step in (3000, 1000, 10):
        blocks = [(at, table[at : at + step]) for at in range(0, 3000, step)]
        found = nearest(blocks, units[rows], rows, 6)
        assert np.allclose(found.cosines, np.take_along_axis(cosines, expected, axis=1), atol=1e-6)
        assert (found.rows == expected).mean() > 0.999


def test_wide_codes_leave_room_for_fewer_rows() -> None:
    assert len(frequent_rows(random_coded("4x16", rows=3000, dim=2))) == MOST_ROWS
    assert len(frequent_rows(random_coded("4x16", rows=30, dim=2))) == 30
    few = len(frequent_rows(random_coded("256x256", rows=3000, dim=2)))
    assert 50 <= few < 400
