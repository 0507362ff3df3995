"""Packed codes -> numbers, rows, sums."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lexicode import CodeScheme  # noqa: E402
from lexicode.packing import pack  # noqa: E402
from lexicode.torch import lookup  # noqa: E402


@pytest.mark.parametrize("bits", range(1, 13))
@pytest.mark.parametrize("codebooks", [1, 2, 5, 8])
def test_numbers_are_the_codes(bits: int, codebooks: int) -> None:
    scheme = CodeScheme(codebooks=codebooks, codewords=2**bits)
    codes = np.random.default_rng(bits).integers(2**bits, size=(20, codebooks))
    numbers = lookup.codeword_numbers(torch.from_numpy(pack(codes, bits=bits)), scheme)
    assert numbers.dtype == torch.int32
    np.testing.assert_array_equal(numbers.numpy(), codes + np.arange(codebooks) * 2**bits)


@pytest.mark.parametrize("scheme", ["3x16", "7x8"])
@pytest.mark.parametrize("count", [0, 1, 5, 6, 40])
def test_numbers_in_steps_are_the_same(scheme: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = CodeScheme.parse(scheme)
    packed = torch.from_numpy(
        pack(np.random.default_rng(0).integers(parsed.codewords, size=(50, parsed.codebooks)), bits=parsed.bits)
    )
    ids = torch.randint(0, 50, (count,))
    whole = lookup.codeword_numbers(packed, parsed)[ids]
    monkeypatch.setattr(lookup, "STEP_NUMBERS", 5 * parsed.codebooks)
    assert torch.equal(lookup.numbers_of(ids, packed, parsed), whole)


def test_byte_sums_of_two_codes_a_byte() -> None:
    products = torch.arange(3 * 16, dtype=torch.float32).view(3, 16, 1)
    sums = lookup.byte_sums(products, 2)
    assert sums.shape == (2, 256, 1)
    # Byte 0x52 names codeword 2 of the first codebook and 5 of the second, which has the numbers from 16.
    assert sums[0, 0x52].item() == 2 + (16 + 5)
    assert sums[1, 0x07].item() == 32 + 7


@pytest.mark.parametrize("scheme", ["9x2", "5x4", "3x16", "4x256", "3x8", "2x512"])
@pytest.mark.parametrize("vectors", [1, 3])
def test_products_in_blocks_are_the_same(scheme: str, vectors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = CodeScheme.parse(scheme)
    codes = np.random.default_rng(0).integers(parsed.codewords, size=(50, parsed.codebooks))
    packed = torch.from_numpy(pack(codes, bits=parsed.bits))
    products = torch.randn(parsed.codebooks, parsed.codewords, vectors)
    truth = sum(products[m][codes[:, m]] for m in range(parsed.codebooks))
    whole = lookup.summed_products(packed, products, parsed)
    monkeypatch.setattr(lookup, "BLOCK_WORDS", 4)
    monkeypatch.setattr(lookup, "STEP_NUMBERS", 4)
    torch.testing.assert_close(lookup.summed_products(packed, products, parsed), whole, rtol=0, atol=0)
    torch.testing.assert_close(whole, truth)


def test_columns_that_lie_side_by_side_need_no_map() -> None:
    assert lookup.column_sources((0, 2, 4), 2, 6) is None


def test_columns_that_overlap() -> None:
    # Codebooks of columns 0-1 and 1-2: column 1 is the sum of side-by-side columns 1 and 2; 4 means none.
    sources = lookup.column_sources((0, 1), 2, 3)
    assert sources is not None
    assert sources.tolist() == [[0, 1, 3], [4, 2, 4]]
