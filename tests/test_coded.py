from __future__ import annotations

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import CodedEmbedding, CodeScheme, InputError, UnknownWordError
from lexicode.lengths import nearest_levels, normalized
from lexicode.words import Words

SCHEMES = ["1x2", "3x8", "4x16", "7x4", "2x256", "5x512", "11x2"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_every_way_in_gives_the_same_rows(scheme: str, dtype: str) -> None:
    coded = random_coded(scheme, rows=30, dim=5, dtype=dtype)
    table = coded.decode()
    assert table.shape == (30, 5)
    assert table.dtype == np.float32
    codebooks = coded.codebooks.astype(np.float32)
    for row in range(30):
        slow = sum(codebooks[m, k].astype(np.float64) for m, k in enumerate(coded.codes(row)))
        assert np.allclose(table[row], slow, atol=1e-5)
    assert np.array_equal(coded["w7"], table[7])
    assert np.array_equal(coded[["w3", "w9", "w3"]], table[[3, 9, 3]])
    assert np.array_equal(coded.get("w2"), table[2])
    assert np.array_equal(coded.vector(4), table[4])
    assert np.array_equal(coded.lookup([[1, 2], [3, 0]]), table[[[1, 2], [3, 0]]])
    assert np.array_equal(coded.lookup(np.int32(5)), table[5])
    assert coded.lookup([]).shape == (0, 5)
    assert np.array_equal(coded.codes(), np.stack([coded.codes(row) for row in range(30)]))


def test_membership_and_unknown_words() -> None:
    coded = random_coded("3x8", rows=10, dim=4)
    assert "w3" in coded
    assert "w10" not in coded
    assert coded.get("w10") is None
    fallback = np.zeros(4, dtype=np.float32)
    assert coded.get("nope", fallback) is fallback
    assert coded.words is not None
    assert len(coded) == len(coded.words) == 10
    with pytest.raises(UnknownWordError, match="'w99' is not in the vocabulary; close spellings: w9"):
        coded["w99"]
    with pytest.raises(KeyError):
        coded[["w1", "nope"]]
    with pytest.raises(TypeError, match=r"use lookup\(ids\)"):
        coded[3]  # type: ignore[call-overload]


def test_row_numbers_are_checked() -> None:
    coded = random_coded("3x8", rows=10, dim=4, words=False)
    for wrong in ([10], [-1], 10):
        with pytest.raises(IndexError, match=r"row -?\d+ is not in a table of 10 rows"):
            coded.lookup(wrong)
    with pytest.raises(TypeError, match="row numbers are integers, not float64"):
        coded.lookup([0.5])
    with pytest.raises(TypeError, match="this table has no words"):
        coded["dog"]
    assert "dog" not in coded


@pytest.mark.parametrize("scheme", SCHEMES)
def test_most_similar_is_brute_force_over_the_decoded_table(scheme: str) -> None:
    coded = random_coded(scheme, rows=200, dim=6)
    units = normalized(coded.decode())
    for query in ("w5", 17, np.random.default_rng(1).normal(size=6)):
        found = coded.most_similar(query, 8)
        if isinstance(query, np.ndarray):
            cosines = units @ (query / np.linalg.norm(query))
        else:
            row = int(query[1:]) if isinstance(query, str) else query
            cosines = units @ units[row]
            cosines[row] = -np.inf
        expected = np.sort(cosines)[::-1][:8]
        assert np.allclose([cosine for _, cosine in found], expected, atol=1e-5)
        assert all(np.isclose(cosines[int(word[1:])], cosine, atol=1e-5) for word, cosine in found)


@pytest.mark.parametrize("rows", [7, 50, 5003])
def test_of_equal_rows_the_earlier_come_first(rows: int) -> None:
    one = random_coded("4x16", rows=1, dim=7)
    coded = CodedEmbedding(scheme=one.scheme, packed=np.repeat(one.packed, rows, axis=0), codebooks=one.codebooks)
    assert [row for row, _ in coded.most_similar(3, 5)] == [0, 1, 2, 4, 5]


def test_most_similar_at_the_edges() -> None:
    coded = random_coded("2x4", rows=3, dim=2, words=False)
    assert len(coded.most_similar(0, 50)) == 2
    assert len(coded.most_similar(np.zeros(2), 50)) == 3
    assert coded.most_similar(0, 0) == []
    assert all(isinstance(row, int) for row, _ in coded.most_similar(1, 2))
    with pytest.raises(InputError, match=r"a query vector of shape \(3,\) does not fit a table of 2 columns"):
        coded.most_similar(np.zeros(3))
    assert len(random_coded("2x4", rows=1, dim=2).most_similar("w0")) == 0
    with pytest.raises(InputError, match="NaN or infinity has no neighbours"):
        coded.most_similar([np.nan, 1.0])


@pytest.mark.parametrize("scale", [1e-40, 1e-25, 1.0, 1e30])
def test_the_length_of_a_query_does_not_matter(scale: float) -> None:
    coded = random_coded("4x16", rows=50, dim=6)
    query = np.random.default_rng(2).normal(size=6)
    plain, scaled = coded.most_similar(query, 5), coded.most_similar(query * scale, 5)
    assert [row for row, _ in plain] == [row for row, _ in scaled]
    assert np.allclose([cosine for _, cosine in plain], [cosine for _, cosine in scaled], atol=1e-5)


def test_a_row_of_norm_zero_is_near_to_nothing() -> None:
    plain = random_coded("3x8", rows=10, dim=4)
    coded = CodedEmbedding(
        scheme=plain.scheme,
        packed=plain.packed,
        codebooks=plain.codebooks,
        norms=np.array([1] * 9 + [0], dtype=np.uint8),
        norm_levels=np.array([0.0, 1.0], dtype=np.float32),
    )
    assert dict(coded.most_similar(0, 9))[9] == 0


def test_words_may_come_as_an_array() -> None:
    coded = random_coded("3x8", rows=10, dim=4)
    assert np.array_equal(coded[np.array(["w1", "w2"])], coded.lookup([1, 2]))


def test_codes_of_known_rows_are_found_again() -> None:
    coded = random_coded("4x16", rows=200, dim=16, dtype="float32")
    codes = coded.encode(coded.decode())
    assert codes.shape == (200, 4)
    # A search may end in a valley; most rows must be found exactly.
    assert (codes == coded.codes()).all(axis=1).mean() > 0.9


def test_added_words_are_looked_up_like_the_others(tmp_path: pytest.TempPathFactory) -> None:
    coded = random_coded("4x16", rows=20, dim=8)
    before = coded.decode()
    coded.most_similar("w1", 3)
    fresh = before[[4, 5]] + 0.01
    coded.add(["new", "neu"], fresh)
    assert len(coded) == 22
    assert np.array_equal(coded.decode()[:20], before)
    assert np.allclose(coded["new"], before[4], atol=0.1)
    assert coded.most_similar("new", 1)[0][0] == "w4"
    path = tmp_path / "added.safetensors"  # type: ignore[operator]
    coded.save(path)
    assert np.array_equal(CodedEmbedding.load(path)["neu"], coded["neu"])


def test_add_refuses_what_would_break_the_table() -> None:
    coded = random_coded("4x16", rows=20, dim=8)
    row = np.zeros((1, 8))
    with pytest.raises(InputError, match="'w3' is in the table already"):
        coded.add(["w3"], row)
    with pytest.raises(InputError, match="'x' stands twice"):
        coded.add(["x", "x"], np.zeros((2, 8)))
    coded.add([""], row)
    with pytest.raises(InputError, match="'' is in the table already"):
        coded.add([""], row)
    coded.add([], np.zeros((0, 8)))
    with pytest.raises(InputError, match="2 words for 1 vectors"):
        coded.add(["x", "y"], row)
    with pytest.raises(InputError, match=r"shape \(1, 7\) do not fit a table of 8 columns"):
        coded.add(["x"], row[:, :7])
    with pytest.raises(InputError, match="row 0: NaN or infinity"):
        coded.add(["x"], row * np.nan)
    with pytest.raises(InputError, match="has a line break"):
        coded.add(["x\ny"], row)
    assert len(coded) == 21


def test_norms_scale_the_sum() -> None:
    plain = random_coded("3x8", rows=10, dim=4)
    levels = np.array([0.5, 3.0], dtype=np.float32)
    norms = np.arange(10, dtype=np.uint8) % 2
    scaled = CodedEmbedding(
        scheme=plain.scheme,
        packed=plain.packed,
        codebooks=plain.codebooks,
        words=plain.words,
        norms=norms,
        norm_levels=levels,
    )
    assert np.array_equal(scaled.decode(), plain.decode() * levels[norms][:, None])
    assert [word for word, _ in scaled.most_similar("w1", 5)] == [word for word, _ in plain.most_similar("w1", 5)]
    scaled.add(["later"], scaled[["w1"]])
    assert np.linalg.norm(scaled["later"]) > 0
    assert nearest_levels(np.array([0.1, 2.9, 1.7], dtype=np.float32), levels).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"codebooks": np.zeros((3, 4, 4), np.float16)}, r"codes would point past them"),
        ({"codebooks": np.zeros((3, 8, 0), np.float16)}, r"codebooks have shape"),
        ({"packed": np.zeros((5, 3), np.uint8)}, r"codes have 3 bytes a row, but scheme 3x8 takes 2"),
        ({"packed": np.zeros((0, 2), np.uint8)}, r"not uint8 rows"),
        ({"packed": np.zeros((5, 2), np.int32)}, r"codes are int32"),
        ({"words": Words(["a"])}, r"1 words for 5 rows of codes"),
        ({"norms": np.zeros(5, np.uint8)}, r"norms and norm_levels come together"),
        ({"norms": np.full(5, 9, np.uint8), "norm_levels": np.ones(3, np.float32)}, r"norms point past the 3"),
        ({"norms": np.zeros(5, np.uint8), "norm_levels": -np.ones(3, np.float32)}, r"none below zero"),
        (
            {"norms": np.zeros(4, np.uint8), "norm_levels": np.ones(3, np.float32)},
            r"of shape \(4,\), not one byte for each of 5 rows",
        ),
        ({"offsets": (0, 0), "dim": 4}, r"do not make up 4 columns"),
        ({"offsets": (0, 0, 7), "dim": 9}, r"do not make up 9 columns"),
        ({"dim": 9}, r"do not make up 9 columns"),
        ({"codebooks": np.full((3, 8, 4), np.nan, np.float32)}, r"finite float16 or float32 numbers are needed"),
        ({"codebooks": np.zeros((3, 8, 4), np.uint8)}, r"codebooks of uint8; finite float16"),
        ({"words": Words(["x" * 2_000_000, *"bcde"])}, r"the words of 5 rows take more than 1053696 bytes"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, object], sentence: str) -> None:
    parts: dict[str, object] = {
        "scheme": CodeScheme.parse("3x8"),
        "packed": np.zeros((5, 2), np.uint8),
        "codebooks": np.zeros((3, 8, 4), np.float16),
    }
    with pytest.raises(InputError, match=sentence):
        CodedEmbedding(**(parts | change))  # type: ignore[arg-type]
