from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import InputError, ProductLearner, SettingError, Vectors
from lexicode.export import export, export_format, from_original


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.txt", "word2vec"),
        ("a.VEC", "word2vec"),
        ("a.bin", "word2vec-binary"),
        ("a.npy", "npy"),
        ("a.codes", "original"),
        ("a.codebook.npy", "original"),
    ],
)
def test_endings_name_formats(path: str, name: str) -> None:
    assert export_format(path) == name


def test_unknown_formats_are_refused() -> None:
    with pytest.raises(SettingError, match=r"a.xyz: no format ends like this; end it with .txt"):
        export_format("a.xyz")
    with pytest.raises(SettingError, match=r"format 'pickle' is not one of word2vec"):
        export_format("a.npy", "pickle")


def test_a_table_of_ids_names_its_rows_by_number(tmp_path: Path) -> None:
    coded = random_coded("4x16", rows=12, dim=3, words=False)
    export(coded, tmp_path / "t.bin")
    back = Vectors.load(tmp_path / "t.bin")
    assert back.words is not None
    assert list(back.words) == [str(row) for row in range(12)]
    assert np.array_equal(back.matrix, coded.decode())
    assert export(coded, tmp_path / "t.npy") == [tmp_path / "t.npy"]


@pytest.mark.parametrize("scheme", ["4x16", "3x8", "2x512"])
def test_the_original_tools_files_round_trip(tmp_path: Path, scheme: str) -> None:
    coded = random_coded(scheme, rows=20, dim=5)
    written = export(coded, tmp_path / "model.codes")
    assert [path.name for path in written] == ["model.codes", "model.codebook.npy", "model.words.txt"]
    for given in ("model.codes", "model.codebook.npy"):
        back = from_original(tmp_path / given, words=tmp_path / "model.words.txt")
        assert np.array_equal(back.codes(), coded.codes())
        assert np.array_equal(back.decode(), coded.decode())
        assert back.words == coded.words


def test_a_product_code_is_exported_with_its_zeros(tmp_path: Path, clustered: Vectors) -> None:
    coded = ProductLearner("3x8").fit(clustered)
    export(coded, tmp_path / "p.codes")
    assert np.allclose(from_original(tmp_path / "p.codes").decode(), coded.decode())
    normalized = ProductLearner("3x8", normalized=True).fit(clustered)
    with pytest.raises(InputError, match="norms that are coded apart have no place"):
        export(normalized, tmp_path / "n.codes")


def test_codewords_that_are_no_power_of_two_are_filled_up(tmp_path: Path) -> None:
    (tmp_path / "odd.codes").write_text("0 2\n1 0\n2 1\n")
    books = np.arange(12, dtype=np.float32).reshape(6, 2)
    np.save(tmp_path / "odd.codebook.npy", books)
    coded = from_original(tmp_path / "odd.codes")
    assert str(coded.scheme) == "2x4"
    assert coded.decode().tolist() == [
        (books[0] + books[5]).tolist(),
        (books[1] + books[3]).tolist(),
        (books[2] + books[4]).tolist(),
    ]


def test_codewords_beyond_float16_are_refused(tmp_path: Path) -> None:
    (tmp_path / "big.codes").write_text("0\n1\n")
    np.save(tmp_path / "big.codebook.npy", np.array([[1e6], [2.0]], dtype=np.float32))
    with pytest.raises(InputError, match="too large for float16 codebooks"):
        from_original(tmp_path / "big.codes")
    assert from_original(tmp_path / "big.codes", codebook_dtype="float32").decode().tolist() == [[1e6], [2.0]]
