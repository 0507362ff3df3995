from __future__ import annotations

import numpy as np

from lexicode.composition import compose


def test_worked_example() -> None:
    codebooks = np.array([[[1.0], [2.0]], [[10.0], [20.0]]], dtype=np.float32)
    assert compose(np.array([[0, 1], [1, 0]]), codebooks).tolist() == [[21.0], [12.0]]


def test_sum_runs_in_codebook_order_in_float32() -> None:
    rng = np.random.default_rng(0)
    codebooks = rng.normal(size=(7, 4, 5)).astype(np.float32)
    codes = rng.integers(4, size=(6, 7))
    for row, code in zip(compose(codes, codebooks), codes, strict=True):
        total = codebooks[0, code[0]].copy()
        for m in range(1, 7):
            total = np.float32(total + codebooks[m, code[m]])
        assert np.array_equal(row, total)


def test_codebooks_that_cover_parts_of_the_columns() -> None:
    codebooks = np.array([[[1, 2], [3, 4]], [[0, 5], [0, 6]]], dtype=np.float32)
    assert compose(np.array([[1, 0]]), codebooks, offsets=(0, 1), dim=3).tolist() == [[3, 4, 5]]
