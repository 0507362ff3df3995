"""The sums over rows and both solvers, against the matrix B written out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lexicode.learners import least_squares
from lexicode.learners.least_squares import RIDGE, LeastSquares
from lexicode.learners.team import ALONE

n, M, K, dim = 400, 3, 8, 5


@pytest.fixture
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """vectors (n, dim), codes (n, M), and B (n, K*M)"""
    rng = np.random.default_rng(4)
    codes = rng.integers(K, size=(n, M)).astype(np.uint8)
    B = np.zeros((n, K * M))
    for m in range(M):
        B[np.arange(n), codes[:, m].astype(int) * M + m] = 1
    return rng.normal(size=(n, dim)).astype(np.float32), codes, B


@pytest.mark.parametrize(("direct_limit", "tolerance"), [(10_000, 1e-6), (0, 1e-3)])
def test_both_solvers_find_the_least_squares_solution(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
    direct_limit: int,
    tolerance: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors, codes, B = problem
    monkeypatch.setattr(least_squares, "DIRECT_LIMIT", direct_limit)
    monkeypatch.setattr(least_squares, "GRADIENT_STEPS", 60)
    ridge = RIDGE * (B.T @ B).diagonal().mean()
    expected = np.linalg.solve(B.T @ B + ridge * np.eye(K * M), B.T @ vectors.astype(np.float64))
    with ThreadPoolExecutor(2) as pool:
        squares = LeastSquares(codes=codes, weights=ones(codes), codewords=K, pool=pool, team=ALONE)
        found = squares.solve(vectors, np.zeros((K * M, dim)))
        assert np.array_equal(squares.counts, B.sum(axis=0))
    assert np.allclose(found, expected, atol=tolerance)


def test_a_process_without_rows_counts_in_the_same_kind_of_numbers() -> None:
    """Processes add up one another's bytes."""
    codes = np.empty((0, M), dtype=np.uint8)
    with ThreadPoolExecutor(1) as pool:
        counts = LeastSquares(codes=codes, weights=ones(codes), codewords=K, pool=pool, team=ALONE).counts
    assert counts.dtype == np.float64
    assert not counts.any()


def ones(codes: np.ndarray) -> np.ndarray:
    return np.ones(len(codes), dtype=np.float32)


@pytest.mark.parametrize("direct_limit", [2048, 0])
def test_weights_count_rows_as_often(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray], direct_limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of weight 3 is as good as three rows, one of weight 0 as good as none."""
    vectors, codes, _ = problem
    monkeypatch.setattr(least_squares, "DIRECT_LIMIT", direct_limit)
    monkeypatch.setattr(least_squares, "GRADIENT_STEPS", 80)
    times = np.random.default_rng(3).integers(0, 4, size=len(codes))
    rows = np.repeat(np.arange(len(codes)), times)
    with ThreadPoolExecutor(2) as pool:
        weighted = LeastSquares(codes=codes, weights=times.astype(np.float32), codewords=K, pool=pool, team=ALONE)
        repeated = LeastSquares(codes=codes[rows], weights=ones(rows), codewords=K, pool=pool, team=ALONE)
        assert np.array_equal(weighted.counts, repeated.counts)
        found, expected = (
            squares.solve(table, np.zeros((K * M, dim)))
            for squares, table in ((weighted, vectors), (repeated, vectors[rows]))
        )
    assert np.allclose(found, expected, atol=1e-6)


def test_a_few_gradient_steps_come_close(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, codes, B = problem
    best = vectors - B @ np.linalg.lstsq(B, vectors, rcond=None)[0]
    monkeypatch.setattr(least_squares, "DIRECT_LIMIT", 0)
    with ThreadPoolExecutor(1) as pool:
        squares = LeastSquares(codes=codes, weights=ones(codes), codewords=K, pool=pool, team=ALONE)
        found = squares.solve(vectors, np.zeros((K * M, dim)))
    assert np.square(vectors - B @ found).sum() < 1.001 * np.square(best).sum()


def test_threads_change_no_bit(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    vectors, codes, _ = problem
    solutions = []
    for threads in (1, 3):
        with ThreadPoolExecutor(threads) as pool:
            squares = LeastSquares(codes=codes, weights=ones(codes), codewords=K, pool=pool, team=ALONE)
            solutions.append(squares.solve(vectors, np.zeros((K * M, dim))))
    assert np.array_equal(*solutions)
