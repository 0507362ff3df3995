"""Folders of model2vec and sentence-transformers, made without either."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import save_file

from format_samples import MATRIX, WORDS
from lexicode.errors import InputError
from lexicode.vectors import Vectors

STATIC = {"idx": 0, "name": "0", "path": "0_StaticEmbedding", "type": "sentence_transformers.models.StaticEmbedding"}
VOCABULARY = {word: row for row, word in enumerate(WORDS)}


def write_folder(
    folder: Path,
    tensors: dict[str, npt.NDArray[Any]] | None = None,
    vocabulary: Any = VOCABULARY,
    added: list[dict[str, Any]] | None = None,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    save_file({"embeddings": MATRIX} if tensors is None else tensors, folder / "model.safetensors")
    content = {"model": {"type": "WordLevel", "vocab": vocabulary}, "added_tokens": added or []}
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def write_modules(folder: Path, *modules: dict[str, Any]) -> None:
    (folder / "modules.json").write_text(json.dumps(modules))


def check(vectors: Vectors, matrix: npt.NDArray[Any] = MATRIX) -> None:
    assert vectors.words is not None
    assert list(vectors.words) == WORDS
    np.testing.assert_array_equal(vectors.matrix, matrix)


@pytest.mark.parametrize("name", ["embeddings", "embedding.weight"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_table_and_its_tokenizer(tmp_path: Path, name: str, dtype: str) -> None:
    folder = write_folder(tmp_path / "model", {name: MATRIX.astype(dtype), "other": np.ones((2, 2), dtype)})
    check(Vectors.load(folder))
    assert list(Vectors.load(str(folder), limit=2).words or ()) == WORDS[:2]


def test_the_module_of_a_larger_model(tmp_path: Path) -> None:
    write_folder(tmp_path / "0_StaticEmbedding", {"embedding.weight": MATRIX})
    write_modules(tmp_path, STATIC, {"idx": 1, "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"})
    check(Vectors.load(tmp_path))


def test_unigrams_and_added_tokens(tmp_path: Path) -> None:
    pairs = [[word, -float(row)] for row, word in enumerate(WORDS[:3])]
    check(Vectors.load(write_folder(tmp_path, vocabulary=pairs, added=[{"id": 3, "content": WORDS[3]}])))


def test_a_quantized_vocabulary_is_read_as_it_is_used(tmp_path: Path) -> None:
    mapping, weights = np.array([1, 0, 1, 2]), np.array([1, 2, 0.5, 4], dtype=np.float64)
    tensors = {"embeddings": MATRIX[:3].astype(np.float16), "mapping": mapping, "weights": weights}
    check(Vectors.load(write_folder(tmp_path, tensors)), MATRIX[mapping] * weights[:, None].astype(np.float32))
    tensors = {"embeddings": MATRIX, "mapping": np.array([0, 1, 2, 4])}
    with pytest.raises(InputError, match="its mapping does not name rows of its 4 embeddings"):
        Vectors.load(write_folder(tmp_path, tensors))
    tensors = {"embeddings": MATRIX, "weights": np.ones(3)}
    with pytest.raises(InputError, match=r"its weights \(3,\) are not one number for each of 4 tokens"):
        Vectors.load(write_folder(tmp_path, tensors))


def test_another_models_table_by_its_name(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {"a.weight": MATRIX, "b.weight": np.ones((3, 3), np.float32)})
    write_modules(folder, {"path": "", "type": "sentence_transformers.models.Transformer"})
    check(Vectors.load(folder, tensor="a.weight"))
    with pytest.raises(InputError, match=r"does not say which tensor to read; .*a\.weight"):
        Vectors.load(folder)


@pytest.mark.parametrize(
    ("vocabulary", "sentence"),
    [
        ({"a": 0, "b": 1, "c": 3}, "no token has the number 2, but the table has 4 rows"),
        (VOCABULARY | {"more": 4}, "it has 5 tokens, but the table has 4 rows"),
        (None, "has no vocabulary of a WordLevel, WordPiece, BPE or Unigram model"),
        ([1, 2], "has no vocabulary of a WordLevel, WordPiece, BPE or Unigram model"),
        ({"a": [0]}, "has no vocabulary of a WordLevel, WordPiece, BPE or Unigram model"),
        ({"a\nb": 0, "b": 1, "c": 2, "d": 3}, "has a line break in it"),
    ],
)
def test_vocabularies_that_do_not_fit(tmp_path: Path, vocabulary: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Vectors.load(write_folder(tmp_path, vocabulary=vocabulary))


def test_damage_is_named_with_its_file(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "tokenizer.json").write_text('{"model": ')
    with pytest.raises(InputError, match=r"tokenizer\.json: is not JSON"):
        Vectors.load(folder)
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-1])
    with pytest.raises(InputError, match=r"model\.safetensors: not a whole \.safetensors file"):
        Vectors.load(folder)


@pytest.mark.parametrize(
    ("modules", "sentence"),
    [
        (
            [{"path": "", "type": "a.Transformer"}, {"path": "1", "type": "a.Pooling"}],
            "a model of Transformer, Pooling",
        ),
        ([STATIC | {"path": "../elsewhere"}], "points outside its folder, at ../elsewhere"),
        ([STATIC | {"path": "/elsewhere"}], "points outside its folder, at /elsewhere"),
        ([{"path": ""}], r"modules\.json: is no list of modules"),
        ([7], r"modules\.json: is no list of modules"),
    ],
)
def test_modules_that_are_no_table(tmp_path: Path, modules: Any, sentence: str) -> None:
    write_modules(tmp_path, *modules)
    with pytest.raises(InputError, match=sentence):
        Vectors.load(tmp_path)


def test_words_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has words of its own; leave out the file of words"):
        Vectors.load(write_folder(tmp_path), words=tmp_path / "words.txt")


def test_other_folders_are_refused_as_python_does(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        Vectors.load(tmp_path)
