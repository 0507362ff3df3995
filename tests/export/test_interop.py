"""Files for other libraries, each written, loaded by the library itself, and read back."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import CodedEmbedding, InputError, MissingExtraError, Vectors
from lexicode.export import check_export, export
from lexicode.words import Words

# What tokenizers split, what spaCy names by a number of its own, and what is not ASCII.
WORDS = ["the", "dog", "e-mail", "new york", "日本", "naïve", "u.s.", "n't", "PERSON", "...", "'", "Käse", "x_y"]
# The libraries warn of themselves and of each other.
pytestmark = pytest.mark.filterwarnings("ignore")


def library(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed: pip install 'lexicode[interop]'")


@pytest.fixture
def coded() -> CodedEmbedding:
    made = random_coded("4x16", rows=60, dim=5)
    made.words = Words([*WORDS, *(f"w{row}" for row in range(len(WORDS), 60))])
    return made


def check_back(path: Path, coded: CodedEmbedding) -> Vectors:
    """What comes in again begins with the table that went out."""
    back = Vectors.load(path)
    assert back.words is not None
    assert back.words[: len(coded)] == list(coded.words or ())
    np.testing.assert_array_equal(back.matrix[: len(coded)], coded.decode())
    return back


def test_gensim(tmp_path: Path, coded: CodedEmbedding) -> None:
    gensim = library("gensim.models")
    path = tmp_path / "table.kv"
    assert export(coded, path) == [path]
    vectors = gensim.KeyedVectors.load(str(path))
    assert vectors.index_to_key == list(coded.words or ())
    np.testing.assert_array_equal(vectors.vectors, coded.decode())
    ours, theirs = coded.most_similar("dog", 5), vectors.most_similar("dog", topn=5)
    assert [word for word, _ in ours] == [word for word, _ in theirs]
    assert len(check_back(path, coded)) == len(coded)


def test_gensim_of_a_large_table(tmp_path: Path) -> None:
    """gensim puts a matrix of ten million numbers beside its pickle, to be mapped."""
    gensim = library("gensim.models")
    coded = random_coded("2x4", rows=4200, dim=2500)
    path = tmp_path / "table.kv"
    assert export(coded, path) == [path, tmp_path / "table.kv.vectors.npy"]
    vectors = gensim.KeyedVectors.load(str(path), mmap="r")
    assert isinstance(vectors.vectors, np.memmap)
    np.testing.assert_array_equal(vectors["w4199"], coded["w4199"])
    back = check_back(path, coded)
    assert isinstance(back.matrix, np.memmap)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["table.kv", "table.kv.vectors.npy"]


def test_spacy(tmp_path: Path, coded: CodedEmbedding) -> None:
    spacy = library("spacy")
    folder = tmp_path / "pipeline"
    assert folder / "vocab" / "vectors" in export(coded, folder, format="spacy")
    pipeline = spacy.load(folder)
    for word in coded.words or ():
        np.testing.assert_array_equal(pipeline.vocab.get_vector(word), coded[word])
    document = pipeline("the dog barks")
    assert [token.has_vector for token in document] == [True, True, False]
    np.testing.assert_array_equal(document[1].vector, coded["dog"])
    for place in (folder, folder / "vocab"):
        assert len(check_back(place, coded)) == len(coded)


def test_spacy_reads_our_word2vec_text(tmp_path: Path) -> None:
    library("spacy")
    from spacy.cli.init_pipeline import init_vectors_cli

    coded = random_coded("4x16", rows=60, dim=5)
    export(coded, tmp_path / "table.txt")
    init_vectors_cli("en", tmp_path / "table.txt", tmp_path / "made", prune=-1, truncate=0, mode="default", name=None,
                     verbose=False, jsonl_loc=None, attr="ORTH")  # fmt: skip
    check_back(tmp_path / "made", coded)


def test_spacy_of_words_that_share_a_row(tmp_path: Path) -> None:
    spacy = library("spacy")
    pipeline = spacy.blank("xx")
    matrix = np.arange(15, dtype=np.float32).reshape(5, 3)
    pipeline.vocab.vectors = spacy.vectors.Vectors(strings=pipeline.vocab.strings, data=matrix)
    for word, row in (("e", 4), ("a", 0), ("also a", 0), ("c", 2)):
        pipeline.vocab.strings.add(word)
        pipeline.vocab.vectors.add(word, row=row)
    pipeline.to_disk(tmp_path / "made")
    back = Vectors.load(tmp_path / "made")
    assert dict(zip(back.words or (), back.matrix[:, 0].tolist(), strict=True)) == {
        "a": 0,
        "also a": 0,
        "c": 6,
        "e": 12,
    }
    assert len(Vectors.load(tmp_path / "made", limit=3)) == 3


def test_damaged_vectors_of_spacy(tmp_path: Path, coded: CodedEmbedding) -> None:
    library("spacy")
    import srsly

    export(coded, tmp_path / "made", format="spacy")
    folder = tmp_path / "made" / "vocab"
    rows = srsly.read_msgpack(folder / "key2row")
    first = next(iter(rows))
    for content, sentence in (
        ({**rows, first: 60}, "names rows that the 60 vectors do not have"),
        ({**rows, first: -1}, "names rows that the 60 vectors do not have"),
        ([1, 2], "is no table of rows"),
        ({"the": 1}, "is no table of rows"),
        ({**rows, 12345678901: 0}, "lacks the word of the vector"),
    ):
        srsly.write_msgpack(folder / "key2row", content)
        with pytest.raises(InputError, match=sentence):
            Vectors.load(folder)
    (folder / "key2row").write_bytes(b"\xdf\xff\xff\xff\xff\x01")
    with pytest.raises(InputError, match=r"cannot be read .*: it is damaged"):
        Vectors.load(folder)
    srsly.write_json(folder / "vectors.cfg", {"mode": "floret"})
    with pytest.raises(InputError, match="mode 'floret' belong to parts of words"):
        Vectors.load(folder)


def test_model2vec(tmp_path: Path, coded: CodedEmbedding) -> None:
    model2vec = library("model2vec")
    folder = tmp_path / "model"
    names = ["config.json", "model.safetensors", "modules.json", "tokenizer.json"]
    assert [file.name for file in export(coded, folder, format="static")] == names
    model = model2vec.StaticModel.from_pretrained(folder)
    words = list(coded.words or ())
    np.testing.assert_array_equal(model.encode(words), coded.decode())
    # An unknown word does not count.
    np.testing.assert_allclose(model.encode(["the dog zzz"])[0], coded[["the", "dog"]].mean(axis=0), rtol=1e-6)
    back = check_back(folder, coded)
    assert back.words is not None
    assert back.words[60:] == ["[UNK]"]
    assert not back.matrix[60:].any()


def test_model2vecs_own_folder(tmp_path: Path, coded: CodedEmbedding) -> None:
    model2vec = library("model2vec")
    export(coded, tmp_path / "ours", format="static")
    model = model2vec.StaticModel.from_pretrained(tmp_path / "ours")
    model.save_pretrained(tmp_path / "theirs")
    check_back(tmp_path / "theirs", coded)
    quantized = model2vec.StaticModel.from_pretrained(tmp_path / "ours", vocabulary_quantization=20)
    quantized.save_pretrained(tmp_path / "quantized")
    back = Vectors.load(tmp_path / "quantized")
    np.testing.assert_allclose(back.take([1])[0], quantized.encode(["dog"])[0], rtol=1e-5)


@pytest.mark.slow
def test_sentence_transformers(tmp_path: Path, coded: CodedEmbedding) -> None:
    library("sentence_transformers")
    from sentence_transformers import SentenceTransformer

    export(coded, tmp_path / "ours", format="static")
    model = SentenceTransformer(str(tmp_path / "ours"), device="cpu")
    np.testing.assert_array_equal(model.encode(list(coded.words or ())), coded.decode())
    model.save(str(tmp_path / "theirs"), create_model_card=False)
    check_back(tmp_path / "theirs", coded)


def test_lower_case_is_for_vocabularies_without_capitals(tmp_path: Path) -> None:
    tokenizers = library("tokenizers")
    for words, found in ((["the", "dog"], ["the", "dog"]), (["the", "Dog"], ["[UNK]", "Dog"])):
        coded = random_coded("4x16", rows=2, dim=3)
        coded.words = Words(words)
        folder = tmp_path / words[1]
        export(coded, folder, format="static")
        assert tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")).encode("The Dog").tokens == found


def test_a_row_for_unknown_words_that_is_there_is_used(tmp_path: Path) -> None:
    library("tokenizers")
    coded = random_coded("4x16", rows=3, dim=3)
    coded.words = Words(["the", "[UNK]", "dog"])
    export(coded, tmp_path / "made", format="static")
    assert len(check_back(tmp_path / "made", coded)) == 3


@pytest.mark.parametrize("format", ["spacy", "static"])
def test_folders_are_never_written_over(tmp_path: Path, coded: CodedEmbedding, format: str) -> None:
    library(format if format == "spacy" else "tokenizers")
    folder = tmp_path / "made"
    folder.mkdir()
    export(coded, folder, format=format)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileExistsError, match="is there already; name a new folder to write"):
        export(coded, folder, format=format)
    with pytest.raises(FileExistsError, match="is there already"):
        check_export(folder, format)
    with pytest.raises(FileNotFoundError, match="no such directory"):
        check_export(tmp_path / "no" / "where", format)
    coded.words = Words(["", *(f"w{row}" for row in range(59))])
    with pytest.raises(InputError, match="row 0: the word is empty"):
        export(coded, tmp_path / "other", format=format)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("format", "package"), [("gensim", "gensim"), ("spacy", "spacy"), ("static", "tokenizers"), ("onnx", "onnx")]
)
def test_a_missing_library_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, coded: CodedEmbedding, format: str, package: str
) -> None:
    import sys

    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    extra = "onnx" if format == "onnx" else "interop"
    with pytest.raises(MissingExtraError, match=rf"this needs {package}: pip install 'lexicode\[{extra}\]'"):
        export(coded, tmp_path / "made", format=format)
    assert not list(tmp_path.iterdir())


def test_a_table_of_ids_names_its_rows_by_number(tmp_path: Path) -> None:
    library("tokenizers")
    coded = random_coded("4x16", rows=12, dim=3, words=False)
    export(coded, tmp_path / "made", format="static")
    assert list(Vectors.load(tmp_path / "made").words or ()) == [*map(str, range(12)), "[UNK]"]
