from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import scoring, sweep
from lexicode.coded import CodedEmbedding
from lexicode.composition import compose
from lexicode.lengths import normalized
from lexicode.packing import pack
from lexicode.scheme import CodeScheme
from lexicode.scoring import CodeSearch, squared_lengths
from lexicode.symbols import join_codes, joined_tables

# By numba's sweep from the first query on, and never.
BOTH_WAYS = pytest.mark.parametrize("rows_before_numba", [0, 10**9])
SCHEMES = [(1, 11), (2, 5), (3, 7), (4, 32), (4, 3), (5, 4), (6, 8), (7, 3), (8, 3), (9, 2), (12, 2), (1, 1)]


def random_codes(rows: int, M: int, bits: int, dim: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, bits, M])
    return rng.integers(2**bits, size=(rows, M)), rng.normal(size=(M, 2**bits, dim)).astype(np.float32)


def test_codes_are_joined_from_the_lowest_bits_up() -> None:
    packed = pack(np.array([[1, 15, 2, 3, 7]]), bits=4)
    assert join_codes(packed, bits=4, count=5).tolist() == [[0x32F1], [7]]
    assert join_codes(packed, bits=4, count=5, symbol_bits=8).tolist() == [[0xF1], [0x32], [7]]


@pytest.mark.parametrize(("bits", "M"), SCHEMES)
def test_joined_tables_hold_the_sums_of_their_codewords(bits: int, M: int) -> None:
    codes, _ = random_codes(50, M, bits)
    tables = np.random.default_rng(bits).normal(size=(M, 2**bits)).astype(np.float32)
    slow = np.array([sum(tables[m, code[m]] for m in range(M)) for code in codes])
    symbols = join_codes(pack(codes, bits=bits), bits=bits, count=M)
    joined = joined_tables(tables)
    assert len(joined) == len(symbols)
    quick = sum(table[column] for table, column in zip(joined, symbols, strict=True))
    assert np.allclose(quick, slow, atol=1e-4)


@pytest.mark.parametrize(("bits", "M"), SCHEMES)
@pytest.mark.parametrize("n", [1, 11])
@BOTH_WAYS
def test_the_best_rows_are_among_the_candidates(
    bits: int, M: int, n: int, rows_before_numba: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", rows_before_numba)
    codes, codebooks = random_codes(3000, M, bits)
    rows = compose(codes, codebooks)
    # A row of zeros, and rows that share a code: neither may hide another.
    codes[5:40] = codes[4]
    rows[5:40] = rows[4]
    lengths = np.linalg.norm(rows, axis=1)
    lengths[7] = 0
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    search = CodeSearch(join_codes(pack(codes, bits=bits), bits=bits, count=M), inverse)
    for query in (rows[100], -rows[4], np.random.default_rng(3).normal(size=6), np.eye(6)[0]):
        unit = (query / np.linalg.norm(query)).astype(np.float32)
        cosines = (rows @ unit) * inverse
        found = search.candidates(codebooks @ unit, n)
        assert (np.diff(found) > 0).all()
        lowest = np.sort(cosines)[-n]
        assert set(np.flatnonzero(cosines > lowest + 1e-6)) <= set(found.tolist())
        assert (cosines[found] >= lowest - 1e-6).sum() >= n


@BOTH_WAYS
def test_candidates_are_few(rows_before_numba: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", rows_before_numba)
    codes, codebooks = random_codes(20_000, 32, 4, dim=50)
    rows = compose(codes, codebooks)
    search = CodeSearch(join_codes(pack(codes, bits=4), bits=4, count=32), 1 / np.linalg.norm(rows, axis=1))
    assert 10 <= len(search.candidates(codebooks @ normalized(rows)[17], 10)) < 200


def test_numba_is_loaded_for_those_who_ask_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", 1500)
    codes, codebooks = random_codes(500, 8, 4)
    search = CodeSearch(join_codes(pack(codes, bits=4), bits=4, count=8), np.ones(500, dtype=np.float32))
    asked = []
    monkeypatch.setattr(scoring, "_quick_sweep", lambda *given: asked.append(search._rows_swept))
    for _ in range(8):
        search.candidates(codebooks @ np.eye(6, dtype=np.float32)[1], 3)
    # Three times 500 rows by numpy, then it is asked for; there is none, so not again before as many more.
    assert asked == [1500, 1500]


@BOTH_WAYS
@pytest.mark.parametrize("scale", [1e-42, 1e-44])
def test_tables_of_next_to_nothing_rule_nothing_out(
    scale: float, rows_before_numba: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", rows_before_numba)
    codes, codebooks = random_codes(500, 4, 4)
    search = CodeSearch(join_codes(pack(codes, bits=4), bits=4, count=4), np.full(500, 1e38, dtype=np.float32))
    tables = (codebooks @ np.eye(6)[2] * scale).astype(np.float32)
    sums = np.array([sum(float(tables[m, k]) for m, k in enumerate(row)) for row in codes])
    found = search.candidates(tables, 3)
    assert set(np.flatnonzero(sums > np.sort(sums)[-4])) <= set(found.tolist())


@BOTH_WAYS
@pytest.mark.parametrize("across", [False, True])
def test_large_codewords_that_cancel_hide_no_neighbour(
    across: bool, rows_before_numba: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codewords that are much longer than the rows they sum to, which lie close together: float32 is wrong by more than
    cosines differ. Across: the large part is at right angles to the rows, and their products do not show it."""
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", rows_before_numba)
    codes, codebooks = random_codes(4000, 8, 4, dim=24)
    codebooks *= 0.02
    codebooks[..., 12:] = 0 if across else codebooks[..., 12:]
    codebooks[0, :, :12] += 1
    large = np.random.default_rng(1).normal(size=24)
    large[:12] *= not across
    for m in range(8):
        codebooks[m] += (1e5 * (-1) ** m * large).astype(np.float32)
    coded = CodedEmbedding(
        scheme=CodeScheme.parse("8x16"), packed=pack(codes, bits=4), codebooks=codebooks.astype(np.float32)
    )
    units = normalized(coded.decode())
    for row in range(20):
        cosines = np.delete(units @ units[row], row)
        (_, cosine), *_ = coded.most_similar(row, 1)
        assert cosine == pytest.approx(cosines.max(), abs=1e-5)


@BOTH_WAYS
def test_lengths_that_cancel_hide_no_neighbour(rows_before_numba: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many short codes: the first half of the codebooks go one way, the others back."""
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", rows_before_numba)
    codes, codebooks = random_codes(20_000, 256, 1, dim=40)
    there = np.random.default_rng(2).normal(size=40).astype(np.float32) * 4
    codebooks[:128] += there
    codebooks[128:] -= there
    coded = CodedEmbedding(
        scheme=CodeScheme.parse("256x2"), packed=pack(codes, bits=1), codebooks=codebooks.astype(np.float16)
    )
    units = normalized(coded.decode())
    for row in range(40):
        cosines = np.sort(np.delete(units @ units[row], row))[::-1]
        assert np.allclose([cosine for _, cosine in coded.most_similar(row, 5)], cosines[:5], atol=2e-5)


@BOTH_WAYS
def test_a_group_of_rows_that_are_all_kept_as_they_are(rows_before_numba: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the most frequent rows are, which stand first. The queries are what their codes would say, and nobody is."""
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", rows_before_numba)
    plain = random_coded("8x16", rows=4000, dim=12, words=False)
    kept = np.random.default_rng(1).normal(size=(3000, 12)).astype(np.float32)
    coded = CodedEmbedding(
        scheme=plain.scheme, packed=plain.packed, codebooks=plain.codebooks,
        exact_ids=np.arange(3000, dtype=np.uint32), exact_rows=kept,
    )  # fmt: skip
    units = normalized(coded.decode())
    for unit in normalized(plain.decode())[:3000:4]:
        ((_, cosine),) = coded.most_similar(unit, 1)
        assert cosine == pytest.approx((units @ unit).max(), abs=1e-5)


def test_a_search_is_pickled_without_what_needs_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", 0)
    coded = random_coded("8x16", rows=3000, dim=12)
    found = coded.most_similar(5, 3)
    copied = pickle.loads(pickle.dumps(coded))
    assert copied._code_search._quick is None
    assert copied.most_similar(5, 3) == found


def same_as_brute_force(coded: CodedEmbedding, row: int) -> bool:
    units = normalized(coded.decode())
    expected = np.sort(np.delete(units @ units[row], row))[::-1][:3]
    return np.allclose([cosine for _, cosine in coded.most_similar(row, 3)], expected, atol=1e-5)


@pytest.mark.parametrize("broken", ["numba", "llvmlite"])
def test_without_numba_numpy_goes_on(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", 0)
    monkeypatch.delitem(sys.modules, "lexicode.sweep", raising=False)
    monkeypatch.setitem(sys.modules, broken, None)
    coded = random_coded("8x16", rows=3000, dim=12)
    assert same_as_brute_force(coded, 5)
    assert coded._code_search._quick is None


@pytest.mark.parametrize("error", [RuntimeError("no locator available"), OSError("disk full"), EOFError()])
def test_with_a_numba_that_fails_numpy_goes_on(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise error

    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", 0)
    monkeypatch.setattr(sweep, "_fill_products", fail)
    coded = random_coded("8x16", rows=3000, dim=12)
    assert same_as_brute_force(coded, 5)
    assert coded._code_search._quick is None


def test_numba_is_not_loaded_for_codebooks_it_does_not_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", 0)
    monkeypatch.setattr(scoring, "_quick_sweep", lambda *given: pytest.fail("asked for"))
    assert same_as_brute_force(random_coded("3x128", rows=3000, dim=12), 5)


def test_a_query_of_zeros_leaves_every_row_a_candidate() -> None:
    codes, codebooks = random_codes(500, 4, 4)
    search = CodeSearch(join_codes(pack(codes, bits=4), bits=4, count=4), np.ones(500, dtype=np.float32))
    assert len(search.candidates(codebooks @ np.zeros(6, dtype=np.float32), 3)) == 500


@pytest.mark.parametrize(("bits", "M"), [(1, 9), (2, 6), (3, 5), (4, 32), (4, 5), (8, 3), (10, 2)])
def test_lengths_are_those_of_the_composed_rows(bits: int, M: int) -> None:
    # Wide enough, and rows enough, that tables of products are worth making.
    codes, codebooks = random_codes(40_000, M, bits, dim=24)
    expected = np.square(compose(codes, codebooks).astype(np.float64)).sum(axis=1)
    assert np.allclose(squared_lengths(pack(codes, bits=bits), codebooks, bits=bits), expected, rtol=1e-4)
    few = squared_lengths(pack(codes[:30], bits=bits), codebooks, bits=bits)
    assert np.allclose(few, expected[:30], rtol=1e-5)


def test_lengths_keep_their_digits_where_codewords_cancel() -> None:
    """Large codewords whose sum is tiny: what the sum of products leaves would be noise."""
    codes, codebooks = random_codes(40_000, 4, 4, dim=24)
    codebooks[1] = -codebooks[0] * (1 + 1e-4)
    codebooks[2:] *= 1e-3
    codebooks[:2] *= 100
    codes[:, 1] = codes[:, 0]
    expected = np.square(compose(codes, codebooks).astype(np.float64)).sum(axis=1)
    assert np.allclose(squared_lengths(pack(codes, bits=4), codebooks, bits=4), expected, rtol=1e-3)


def test_lengths_of_product_codes() -> None:
    codes, codebooks = random_codes(300, 3, 3, dim=4)
    offsets = (0, 3, 6)
    expected = np.square(compose(codes, codebooks, offsets=offsets, dim=10)).sum(axis=1)
    found = squared_lengths(pack(codes, bits=3), codebooks, bits=3, offsets=offsets, dim=10)
    assert np.allclose(found, expected, rtol=1e-5)


@BOTH_WAYS
@pytest.mark.parametrize("scheme", ["32x16", "10x8", "9x32", "7x64", "3x256", "2x1024"])
def test_neighbours_of_a_larger_table_are_those_of_brute_force(
    scheme: str, rows_before_numba: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", rows_before_numba)
    coded = random_coded(scheme, rows=5000, dim=12)
    units = normalized(coded.decode())
    for row in (0, 77, 4999):
        cosines = units @ units[row]
        cosines[row] = -np.inf
        found = coded.most_similar(row, 10)
        assert np.allclose([cosine for _, cosine in found], np.sort(cosines)[::-1][:10], atol=1e-5)
        assert np.allclose([cosine for _, cosine in found], [cosines[int(word[1:])] for word, _ in found], atol=1e-5)


@BOTH_WAYS
def test_rows_kept_as_they_are_are_found_by_their_own_direction(
    rows_before_numba: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "ROWS_BEFORE_NUMBA", rows_before_numba)
    plain = random_coded("4x16", rows=2000, dim=8, words=False)
    rng = np.random.default_rng(5)
    ids = np.sort(rng.choice(2000, size=300, replace=False)).astype(np.uint32)
    coded = CodedEmbedding(
        scheme=plain.scheme,
        packed=plain.packed,
        codebooks=plain.codebooks,
        exact_ids=ids,
        exact_rows=rng.normal(size=(300, 8)).astype(np.float16),
    )
    units = normalized(coded.decode())
    for row in (int(ids[3]), int(np.setdiff1d(np.arange(2000), ids)[50])):
        cosines = units @ units[row]
        cosines[row] = -np.inf
        found = coded.most_similar(row, 10)
        assert np.allclose([cosine for _, cosine in found], np.sort(cosines)[::-1][:10], atol=1e-5)
        assert np.allclose([cosine for _, cosine in found], [cosines[each] for each, _ in found], atol=1e-5)
        assert {each for each, _ in found} & set(ids.tolist())
