"""The search in numpy, against brute force and against first principles."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lexicode.composition import Floats, compose
from lexicode.encoding import SearchTables, encode_rows, greedy_codes, local_search, nearest_codes, row_states
from lexicode.packing import Codes


def squared_errors(block: Floats, codes: Codes, codebooks: Floats) -> Floats:
    return np.square(block - compose(codes, codebooks)).sum(axis=1)


def problem(M: int, K: int, dim: int, rows: int, *, offset: float = 0.0, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    codebooks = (rng.normal(size=(M, K, dim)) + offset / M).astype(np.float32)
    return (rng.normal(size=(rows, dim)) * np.sqrt(M) + offset).astype(np.float32), codebooks


@pytest.mark.parametrize(("M", "K", "dim"), [(4, 4, 3), (8, 2, 6), (2, 16, 5), (1, 64, 3)])
def test_finds_the_best_code_of_all_on_a_small_problem(M: int, K: int, dim: int) -> None:
    block, codebooks = problem(M=M, K=K, dim=dim, rows=300)
    every = np.array(list(itertools.product(range(K), repeat=M)))
    best = np.square(block[:, None] - compose(every, codebooks)[None]).sum(axis=2).min(axis=1)
    codes = encode_rows(block, SearchTables.of(codebooks), steps=200)
    found = squared_errors(block, codes, codebooks)
    assert (found >= best - 1e-4).all()
    assert np.isclose(found, best, atol=1e-4).mean() > 0.85


def test_search_only_ever_lowers_the_error() -> None:
    block, codebooks = problem(M=8, K=16, dim=12, rows=200)
    tables = SearchTables.of(codebooks)
    scores, _ = tables.begin(block)
    codes = greedy_codes(scores, tables)
    before = squared_errors(block, codes, codebooks)
    previous = before
    for steps in (0, 20, 200):
        fresh, _ = tables.begin(block)
        searched = greedy_codes(fresh, tables)
        local_search(fresh, searched, tables, steps=steps, states=row_states(3, np.arange(len(block))))
        after = squared_errors(block, searched, codebooks)
        assert (after <= previous + 1e-3).all()
        previous = after
    assert previous.mean() < 0.8 * before.mean()


def test_an_offset_shared_by_all_rows_costs_no_accuracy() -> None:
    near, codebooks = problem(M=4, K=8, dim=6, rows=100)
    far, shifted = problem(M=4, K=8, dim=6, rows=100, offset=1000.0)
    plain = encode_rows(near, SearchTables.of(codebooks), steps=50)
    moved = encode_rows(far, SearchTables.of(shifted), steps=50)
    lost = squared_errors(far, moved, shifted).mean() / squared_errors(near, plain, codebooks).mean()
    assert lost == pytest.approx(1.0, abs=0.01)


def test_rows_are_coded_alike_in_whatever_block_they_fall() -> None:
    block, codebooks = problem(M=6, K=8, dim=5, rows=90)
    tables = SearchTables.of(codebooks)
    whole = encode_rows(block, tables, steps=30)
    parts = [encode_rows(block[at : at + 17], tables, steps=30, first_row=at) for at in range(0, 90, 17)]
    assert np.array_equal(whole, np.concatenate(parts))


def test_separate_columns_take_their_nearest_codewords() -> None:
    rng = np.random.default_rng(2)
    codebooks = rng.normal(size=(3, 8, 2)).astype(np.float32)
    block = rng.normal(size=(40, 6)).astype(np.float32)
    codes = nearest_codes(block, codebooks, offsets=(0, 2, 4))
    for m in range(3):
        part = block[:, 2 * m : 2 * m + 2]
        slow = np.square(part[:, None] - codebooks[m][None]).sum(axis=2).argmin(axis=1)
        assert np.array_equal(codes[:, m], slow)
