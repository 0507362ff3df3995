"""The compiled search is the numpy search, move for move."""

from __future__ import annotations

import numpy as np
import pytest

from lexicode.composition import compose
from lexicode.encoding import (
    SearchTables,
    greedy_codes,
    local_search,
    move_limit,
    next_states,
    resting_steps,
    row_states,
)
from lexicode.learners import kernels
from lexicode.learners.searching import gumbel_noise


@pytest.mark.parametrize(("M", "K", "dim"), [(1, 2, 1), (3, 2, 4), (8, 16, 10), (5, 8, 33), (4, 64, 7), (2, 512, 3)])
@pytest.mark.parametrize("steps", [0, 60])
def test_numba_agrees_with_numpy(M: int, K: int, dim: int, steps: int) -> None:
    rng = np.random.default_rng(M * K)
    codebooks = rng.normal(size=(M, K, dim)).astype(np.float32)
    block = (rng.normal(size=(120, dim)) * np.sqrt(M)).astype(np.float32)
    tables = SearchTables.of(codebooks)
    states = row_states(9, 50 + np.arange(len(block)))

    slow_scores, _ = tables.begin(block)
    slow = greedy_codes(slow_scores, tables)
    local_search(slow_scores, slow, tables, steps=steps, states=states.copy())

    scores, errors = tables.begin(block)
    codes = np.empty_like(slow)
    kernels.greedy(scores, codes, tables.pull, errors)
    kernels.search(
        scores, codes, tables.pull, errors, states, tables.tolerance, steps, *resting_steps(M), move_limit(M)
    )
    assert np.array_equal(codes, slow)
    assert np.allclose(errors, np.square(block - compose(codes, codebooks)).sum(axis=1), atol=1e-3)

    # Starting from given codes leads to the same errors as arriving at them.
    again, fresh_errors = tables.begin(block)
    kernels.adopt(again, codes, tables.pull, fresh_errors)
    assert np.allclose(fresh_errors, errors, atol=1e-3)


@pytest.mark.parametrize(("M", "K", "dim"), [(1, 2, 3), (3, 4, 5), (8, 16, 10)])
def test_drawing_agrees_with_its_plain_statement(M: int, K: int, dim: int) -> None:
    """Five times each codebook's code is drawn, with noise from where the row's own random numbers say."""
    rng = np.random.default_rng(M * K)
    codebooks = rng.normal(size=(M, K, dim)).astype(np.float32)
    block = rng.normal(size=(40, dim)).astype(np.float32) * 2
    tables = SearchTables.of(codebooks, by_codebook=True)
    codes = rng.integers(K, size=(40, M)).astype(np.uint8)
    noise = gumbel_noise(1, K, 3.0)

    slow = codes.copy()
    for row, state in enumerate(row_states(4, np.arange(40))):
        for m in list(range(M)) * 5:
            state = next_states(state)
            first = int(state >> np.uint64(50))
            others = compose(slow[row : row + 1], codebooks)[0] - codebooks[m, slow[row, m]]
            errors = np.square(block[row] - others - codebooks[m]).sum(axis=1)
            slow[row, m] = np.argmin(errors - noise[first : first + K])

    scores, errors = tables.begin(block)
    kernels.anneal(scores, codes, tables.pull, errors, row_states(4, np.arange(40)), noise, 5)
    assert np.array_equal(codes, slow)
    assert np.allclose(errors, np.square(block - compose(codes, codebooks)).sum(axis=1), atol=1e-3)


def test_codes_are_drawn_as_often_as_the_temperature_says() -> None:
    """One codebook: the code of a row is k with probability exp(-error / temperature), up to a factor."""
    codebooks = np.array([[[0.0], [1.0], [2.0], [4.0]]], dtype=np.float32)
    tables = SearchTables.of(codebooks, by_codebook=True)
    rows = 40_000
    scores, errors = tables.begin(np.zeros((rows, 1), dtype=np.float32))
    codes = np.zeros((rows, 1), dtype=np.uint8)
    kernels.anneal(scores, codes, tables.pull, errors, row_states(1, np.arange(rows)), gumbel_noise(5, 4, 4.0), 1)
    expected = np.exp(-np.square(codebooks[0, :, 0]) / 4)
    assert np.bincount(codes[:, 0], minlength=4) / rows == pytest.approx(expected / expected.sum(), abs=0.02)
