from __future__ import annotations

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import CodedEmbedding, CodeScheme, ProductLearner, Vectors
from lexicode.evaluation.balance import code_balance, shared_codes
from lexicode.packing import pack


def coded_as(codes: list[list[int]], scheme: str, exact: list[int] | None = None) -> CodedEmbedding:
    parsed = CodeScheme.parse(scheme)
    return CodedEmbedding(
        scheme=parsed,
        packed=pack(np.array(codes), bits=parsed.bits),
        codebooks=np.ones((parsed.codebooks, parsed.codewords, 3), dtype=np.float16),
        exact_ids=np.array(exact or [], dtype=np.uint32),
        exact_rows=np.zeros((len(exact or []), 3), dtype=np.float32),
    )


def test_codewords_are_counted() -> None:
    balance = code_balance(coded_as([[0, 3], [0, 1], [0, 1], [2, 1]], "2x4"))
    assert balance.counts.tolist() == [[3, 0, 1, 0], [0, 3, 0, 1]]
    assert balance.dead == [(0, 1), (0, 3), (1, 0), (1, 2)]
    assert balance.fair_share == 1
    # Of four rows, three are below nine tenths; all four would be crowded.
    assert balance.crowded == []
    assert balance.bits == pytest.approx([0.8112781, 0.8112781])


def test_counts_are_those_of_all_codes() -> None:
    coded = random_coded("3x512", rows=70_000, dim=2)
    balance = code_balance(coded)
    codes = coded.codes()
    expected = [np.bincount(codes[:, m], minlength=512) for m in range(3)]
    assert np.array_equal(balance.counts, expected)
    assert balance.bits.max() < 9
    assert balance.bits.min() > 8.98


def test_a_codeword_of_all_rows_is_crowded_and_carries_nothing() -> None:
    balance = code_balance(coded_as([[1, 0], [1, 1], [1, 2], [1, 3]], "2x4"))
    assert balance.crowded == [(0, 1)]
    assert balance.bits.tolist() == [0, 2]
    told = balance.as_dict()
    assert told["bits_paid"] == 4
    assert told["bits_carried"] == 2


def test_rows_kept_exactly_do_not_count() -> None:
    coded = coded_as([[0, 0], [0, 0], [3, 3], [0, 0]], "2x4", exact=[2, 3])
    assert code_balance(coded).counts[0].tolist() == [2, 0, 0, 0]
    assert code_balance(coded).rows == 2
    assert shared_codes(coded).largest == ((0, 1),)


def test_shared_codes_are_found_the_largest_first() -> None:
    codes = [[0, 1], [2, 2], [3, 3], [2, 2], [3, 3], [1, 1], [2, 2], [0, 0]]
    shared = shared_codes(coded_as(codes, "2x4"))
    assert (shared.rows, shared.codes) == (5, 2)
    assert shared.largest == ((1, 3, 6), (2, 4))
    assert shared_codes(coded_as(codes, "2x4"), groups=1, members=2).largest == ((1, 3),)
    assert shared_codes(coded_as([[0, 1], [1, 0]], "2x4")).codes == 0
    assert shared_codes(coded_as([[0, 1]], "2x4")).largest == ()


def test_a_norm_of_its_own_tells_rows_apart() -> None:
    matrix = np.array([[1, 0], [2, 0], [3, 0], [0, 1]], dtype=np.float32)
    coded = ProductLearner("2x2", normalized=True).fit(Vectors(matrix))
    assert np.array_equal(coded.packed[0], coded.packed[1])
    assert shared_codes(coded).codes == 0
