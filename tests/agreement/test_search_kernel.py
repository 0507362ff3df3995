"""The compiled search is the numpy search, move for move."""

from __future__ import annotations

import numpy as np
import pytest

from lexicode.composition import compose
from lexicode.encoding import SearchTables, greedy_codes, local_search, move_limit, resting_steps, row_states
from lexicode.learners import kernels


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
