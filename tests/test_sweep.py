from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from lexicode.packing import pack
from lexicode.sweep import HIGHEST, MOST_CODES, POSSIBLE, QuickSweep, small_symbols
from lexicode.symbols import join_codes

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="the processor has no AVX2")

SCHEMES = [(1, 11), (1, 1), (2, 5), (2, 16), (3, 7), (3, 5), (4, 32), (4, 3), (5, 16), (5, 1), (6, 8), (6, 7)]


def symbols_of(codes: np.ndarray, bits: int) -> np.ndarray:
    return join_codes(pack(codes, bits=bits), bits=bits, count=codes.shape[1])


def sums_by_hand(codes: np.ndarray, tables: np.ndarray) -> np.ndarray:
    return np.array([sum(float(tables[m, k]) for m, k in enumerate(row)) for row in codes])


def test_small_symbols_hold_the_codes_in_their_order() -> None:
    codes = np.array([[1, 15, 2, 3, 7], [0, 1, 2, 3, 4]])
    assert small_symbols(symbols_of(codes, 4), bits=4, count=5).T.tolist() == codes.tolist()
    assert small_symbols(symbols_of(codes % 8, 3), bits=3, count=5).T.tolist() == (codes % 8).tolist()
    # Two codes of two bits to a nibble, the later one higher.
    assert small_symbols(symbols_of(codes % 4, 2), bits=2, count=5).T.tolist() == [[13, 14, 3], [4, 14, 0]]


@pytest.mark.parametrize(("bits", "M"), SCHEMES)
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 1000])
def test_no_sum_is_rated_too_low_nor_much_too_high(bits: int, M: int, rows: int) -> None:
    rng = np.random.default_rng([bits, M, rows])
    codes = rng.integers(2**bits, size=(rows, M))
    tables = rng.normal(size=(M, 2**bits)).astype(np.float32)
    factors = rng.uniform(0.5, 2, size=rows).astype(np.float32)
    sweep = QuickSweep.of(symbols_of(codes, bits), tables)
    assert sweep is not None
    found = sweep.highest(tables, factors, 0.0) / factors
    exact = sums_by_hand(codes, tables)
    together = max(1, 4 // bits)
    widest = max(float(np.ptp(tables[m : m + together], axis=1).sum()) for m in range(0, M, together))
    assert (found >= exact - 1e-5).all()
    assert (found <= exact + -(-M // together) * widest / (HIGHEST - 1) + 1e-5).all()
    least, most = sweep.closer(tables, 0.5, np.arange(rows)[::-1])
    assert np.allclose(least, exact[::-1] - 0.5, atol=1e-5)
    assert np.allclose(most, exact[::-1] + 0.5, atol=1e-5)


def test_whole_steps_are_summed_exactly() -> None:
    """Tables of whole numbers up to the most that seven bits hold: nothing is rounded, and no sum overflows."""
    rng = np.random.default_rng(0)
    tables = rng.integers(HIGHEST, size=(300, 16)).astype(np.float32)
    tables[:, 3], tables[:, 5] = 0, HIGHEST - 1
    codes = np.vstack([rng.integers(16, size=(70, 300)), np.full((1, 300), 5)])
    sweep = QuickSweep.of(symbols_of(codes, 4), tables)
    assert sweep is not None
    found = sweep.highest(tables, np.ones(71, dtype=np.float32), 0.0)
    assert found.tolist() == sums_by_hand(codes, tables).tolist()


def test_a_table_of_equal_numbers_has_a_step() -> None:
    codes = np.random.default_rng(0).integers(4, size=(40, 3))
    tables = np.full((3, 4), 2.5, dtype=np.float32)
    sweep = QuickSweep.of(symbols_of(codes, 2), tables)
    assert sweep is not None
    assert np.allclose(sweep.highest(tables, np.ones(40, dtype=np.float32), 0.25), 7.75)


@pytest.mark.parametrize("shape", [(4, 128), (MOST_CODES + 1, 16)])
def test_what_does_not_fit_is_left_to_numpy(shape: tuple[int, int]) -> None:
    M, K = shape
    codes = np.zeros((40, M), dtype=np.int64)
    bits = K.bit_length() - 1
    assert QuickSweep.of(symbols_of(codes, bits), np.zeros(shape, dtype=np.float32)) is None


@pytest.mark.parametrize(
    ("name", "value"), [("NUMBA_CPU_NAME", "generic"), ("NUMBA_CPU_FEATURES", "-avx2"), ("NUMBA_DISABLE_JIT", "1")]
)
def test_numba_told_of_another_processor_is_not_given_the_instruction(name: str, value: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from lexicode.sweep import POSSIBLE; print(POSSIBLE)"],
        env={**os.environ, name: value},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "False\n"
