"""Rows that are kept as they are, beside the codes of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import CodedEmbedding, InputError


def test_exact_rows_are_looked_up_like_any_other(tmp_path: Path) -> None:
    coded = random_coded("4x16", 60, 5, exact=7)
    plain = random_coded("4x16", 60, 5)
    assert coded.exact is not None
    coded.save(tmp_path / "t.safetensors")
    loaded = CodedEmbedding.load(tmp_path / "t.safetensors")
    expected = plain.decode()
    expected[coded.exact.ids] = coded.exact.rows
    assert np.array_equal(loaded.decode(), expected)
    ids = np.array([[int(coded.exact.ids[-1]), 0, 59], [int(coded.exact.ids[0]), 1, 2]])
    assert np.array_equal(loaded.lookup(ids), expected[ids])
    assert np.array_equal(loaded[f"w{coded.exact.ids[3]}"], coded.exact.rows[3])
    assert loaded.part_bytes["exact"] == 7 * (4 + 4 * 5)
    assert loaded.file_bytes == (tmp_path / "t.safetensors").stat().st_size


@pytest.mark.parametrize("exact", [1, 30, 60])
def test_neighbours_agree_with_brute_force(exact: int) -> None:
    coded = random_coded("4x16", 60, 5, exact=exact)
    table = coded.decode()
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    for row in range(60):
        cosines = unit @ unit[row]
        cosines[row] = -np.inf
        found = coded.most_similar(f"w{row}", 3)
        assert [word for word, _ in found] == [f"w{i}" for i in np.argsort(-cosines)[:3]]
        assert [cosine for _, cosine in found] == pytest.approx(np.sort(cosines)[::-1][:3], abs=1e-5)


def test_of_equal_rows_the_earlier_come_first_kept_or_not() -> None:
    """In one dimension every row is as near as any other, or points away."""
    coded = random_coded("2x4", 3000, 1, exact=750)
    alike = np.flatnonzero(np.sign(coded.decode()[:, 0]) == np.sign(coded.vector(0)[0]))
    assert [row for row, _ in coded.most_similar(0, 5)] == [f"w{row}" for row in alike[1:6]]


def test_the_best_may_all_point_away() -> None:
    """Large tables rule rows out by a bound, which rows that are kept must not raise."""
    coded = random_coded("4x4", 3000, 4, exact=600)
    axis = np.zeros(4)
    axis[0] = -1
    away = CodedEmbedding(
        scheme=coded.scheme,
        packed=coded.packed,
        codebooks=coded.codebooks + np.array([3, 0, 0, 0], dtype=np.float16),
        exact_ids=coded.exact.ids if coded.exact else None,
        exact_rows=coded.exact.rows + np.array([12, 0, 0, 0], dtype=np.float32) if coded.exact else None,
    )
    table = away.decode()
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    expected = np.sort(unit @ axis)[::-1][:5]
    assert expected.max() < 0
    assert [cosine for _, cosine in away.most_similar(axis, 5)] == pytest.approx(expected, abs=1e-5)


def test_an_exact_row_of_zeros_is_nobodys_neighbour() -> None:
    coded = random_coded("4x16", 9, 5)
    kept = CodedEmbedding(
        scheme=coded.scheme,
        packed=coded.packed,
        codebooks=coded.codebooks,
        exact_ids=np.array([4], dtype=np.uint32),
        exact_rows=np.zeros((1, 5), dtype=np.float16),
    )
    assert dict(kept.most_similar(0, 8))[4] == 0


IDS, ROWS = np.array([1, 3], dtype=np.uint32), np.ones((2, 5), dtype=np.float32)


@pytest.mark.parametrize(
    ("ids", "rows", "sentence"),
    [
        (IDS, None, "exact_ids and exact_rows come together"),
        (IDS.astype(np.int64), ROWS, "exact_ids are int64 of shape"),
        (IDS[::-1], ROWS, "do not ascend within the 9 rows"),
        (np.array([3, 3], dtype=np.uint32), ROWS, "do not ascend"),
        (np.array([1, 9], dtype=np.uint32), ROWS, "do not ascend within the 9 rows"),
        (IDS, ROWS[:1], r"exact_rows have shape \(1, 5\), but 2 rows of 5 are named"),
        (IDS, ROWS[:, :4], r"exact_rows have shape \(2, 4\)"),
        (IDS, ROWS.astype(np.float64), "exact_rows of float64; finite float16 or float32"),
        (IDS, ROWS * np.nan, "exact_rows of float32; finite"),
    ],
)
def test_what_does_not_fit_is_refused(ids: Any, rows: Any, sentence: str) -> None:
    coded = random_coded("4x16", 9, 5)
    with pytest.raises(InputError, match=sentence):
        CodedEmbedding(
            scheme=coded.scheme, packed=coded.packed, codebooks=coded.codebooks, exact_ids=ids, exact_rows=rows
        )
