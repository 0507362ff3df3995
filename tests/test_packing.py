from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexicode.packing import code_dtype, pack, unpack


@pytest.mark.parametrize(
    ("codes", "bits", "expected"),
    [
        ([1, 15], 4, [0xF1]),
        ([1, 15, 2], 4, [0xF1, 0x02]),
        ([1, 0, 1, 1], 1, [0b1101]),
        ([1, 2, 3], 3, [0b11010001, 0b0]),
        ([7, 7, 7], 3, [0xFF, 0x01]),
        ([0xABC, 0x123], 12, [0xBC, 0x3A, 0x12]),
        ([3, 200], 8, [3, 200]),
        ([31, 0, 31], 5, [0x1F, 0x7C]),
    ],
)
def test_bytes_are_a_promise(codes: list[int], bits: int, expected: list[int]) -> None:
    packed = pack(np.array([codes]), bits=bits)
    assert packed.dtype == np.uint8
    assert packed.tolist() == [expected]
    assert unpack(packed, bits=bits, count=len(codes)).tolist() == [codes]


@given(bits=st.integers(1, 12), count=st.integers(1, 40), rows=st.integers(1, 5), seed=st.integers(0, 2**32))
def test_every_width_round_trips(bits: int, count: int, rows: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(2**bits, size=(rows, count))
    packed = pack(codes, bits=bits)
    assert packed.shape == (rows, (count * bits + 7) // 8)
    back = unpack(packed, bits=bits, count=count)
    assert back.dtype == code_dtype(bits)
    assert np.array_equal(back, codes)


@given(bits=st.integers(1, 12), count=st.integers(1, 20), seed=st.integers(0, 2**32))
def test_bits_lie_where_the_format_says(bits: int, count: int, seed: int) -> None:
    """The slow truth: a row is the number sum of code[m] * 2**(m * bits), lowest byte first."""
    codes = np.random.default_rng(seed).integers(2**bits, size=(1, count))
    number = sum(int(code) << (m * bits) for m, code in enumerate(codes[0]))
    assert pack(codes, bits=bits)[0].tobytes() == number.to_bytes((count * bits + 7) // 8, "little")
