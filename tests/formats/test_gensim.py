"""gensim's files: read as data, whatever a pickle says to do."""

from __future__ import annotations

import os
import pickle
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from format_samples import MATRIX, WORDS
from lexicode.errors import InputError, LexicodeError
from lexicode.vectors import Vectors

pytest.importorskip("gensim", reason="gensim is not installed: pip install 'lexicode[interop]'")
from gensim.models import KeyedVectors, Word2Vec


def keyed_vectors(dtype: str = "float32") -> KeyedVectors:
    vectors = KeyedVectors(MATRIX.shape[1], dtype=np.dtype(dtype))
    vectors.add_vectors(WORDS, MATRIX.astype(dtype))
    vectors.fill_norms()
    vectors.set_vecattr(WORDS[0], "count", 7)
    return vectors


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "table"
    keyed_vectors().save(str(path))
    return path


def check(loaded: Vectors) -> None:
    assert loaded.words is not None
    assert list(loaded.words) == WORDS
    np.testing.assert_array_equal(loaded.matrix, MATRIX)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_what_gensim_saves(tmp_path: Path, dtype: str, protocol: int) -> None:
    path = tmp_path / "table"
    keyed_vectors(dtype).save(str(path), pickle_protocol=protocol)
    assert path.read_bytes()[1] == protocol
    check(Vectors.load(path))
    assert len(Vectors.load(path, limit=2)) == 2


def test_a_matrix_beside_the_pickle(tmp_path: Path) -> None:
    path = tmp_path / "table.kv"
    keyed_vectors().save(str(path), sep_limit=1)
    assert (tmp_path / "table.kv.vectors.npy").exists()
    check(Vectors.load(path))
    (tmp_path / "table.kv.vectors.npy").unlink()
    with pytest.raises(InputError, match=r"keeps its vectors in table\.kv\.vectors\.npy, which is not beside it"):
        Vectors.load(path)


def test_files_from_before_gensim_4(tmp_path: Path) -> None:
    """They call the words index2word, keep a Vocab for each, and name the class otherwise."""
    path = tmp_path / "table"
    old = keyed_vectors()
    old.__dict__ = {"index2word": old.index_to_key, "vectors": old.vectors, "vocab": {}}
    data = pickle.dumps(old, protocol=2)
    path.write_bytes(data.replace(b"\nKeyedVectors\n", b"\nWord2VecKeyedVectors\n"))
    check(Vectors.load(path))


def test_other_objects_of_gensim_name_the_way(tmp_path: Path) -> None:
    path = tmp_path / "model"
    Word2Vec([["a", "b"]], vector_size=2, min_count=1, epochs=1).save(str(path))
    with pytest.raises(InputError, match=r"gensim\.models\.word2vec\.Word2Vec in it.*save_word2vec_format"):
        Vectors.load(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"index_to_key": [1, 2, 3, 4]}, "has keys that are not words"),
        ({"index_to_key": ["a", "b"]}, "holds 2 words, but the table has 4 rows"),
        ({"index_to_key": ["a\nb", "c", "d", "e"]}, "row 0: the word 'a\\\\nb' has a line break in it"),
        ({"vectors": None}, "holds no vectors"),
        ({"vectors": np.zeros(4)}, r"an array of shape \(4,\); a matrix"),
        ({"vectors": np.array(1.5)}, r"an array of shape \(\); a matrix"),
        ({"vectors": np.ones((4, 2), dtype=int)}, "numbers of type int64"),
        ({"vectors": np.array([["a"]])}, "an array of something other than numbers"),
        ({"vectors": np.array([[{}]])}, "an array of something other than numbers"),
        ({"extra": {(1, 2): 3}}, "a dictionary whose keys are neither words nor numbers"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    vectors = keyed_vectors()
    vectors.__dict__.update(change)
    path = tmp_path / "table"
    path.write_bytes(pickle.dumps(vectors, protocol=4))
    with pytest.raises(InputError, match=sentence):
        Vectors.load(path)


class Runs:
    """An object whose pickle calls a function when it is loaded."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> Any:
        return self._call


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("inside", [False, True])
def test_nothing_that_a_pickle_names_is_run(tmp_path: Path, protocol: int, inside: bool) -> None:
    trace = tmp_path / "was-run"
    attacks = [
        Runs(os.system, f"touch {trace}"),
        Runs(exec, f"open({str(trace)!r}, 'w')"),
        Runs(eval, f"open({str(trace)!r}, 'w')"),
        Runs(Path.touch, trace),
        Runs(getattr, KeyedVectors, "load"),
        Runs(np.load, str(trace)),
        Runs(pickle.loads, b""),
        Runs(KeyedVectors.load, str(trace)),
        Runs(__import__, "os"),
    ]
    for attack in attacks:
        content: Any = attack
        if inside:
            content = keyed_vectors()
            content.extra = attack
        path = tmp_path / "attack"
        path.write_bytes(pickle.dumps(content, protocol=protocol))
        with pytest.raises(InputError, match=r"lexicode runs no pickle|holds more than plain values"):
            Vectors.load(path)
        assert not trace.exists()


def hand_made(*parts: bytes) -> bytes:
    return b"\x80\x04" + b"".join(parts) + b"."


def text(value: str) -> bytes:
    return b"\x8c" + bytes([len(value)]) + value.encode()


KEYED = text("gensim.models.keyedvectors") + text("KeyedVectors") + b"\x93"
HAND_MADE = {
    "a name with a dot": hand_made(text("gensim.models.keyedvectors"), text("KeyedVectors.load"), b"\x93"),
    "a name through our own class": hand_made(text("lexicode.formats.pickles"), text("pickle"), b"\x93"),
    "an old global": b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.",
    "an instance": b"\x80\x02(X\x02\x00\x00\x00lsios\nsystem\n.",
    "an extension code": b"\x80\x02\x82\x01.",
    "a persistent name": b"\x80\x02X\x01\x00\x00\x00aQ.",
    "a buffer out of band": b"\x80\x05\x97.",
    "the class itself": hand_made(KEYED),
    "a state that is no dictionary": hand_made(KEYED, b")\x81", b"K\x01b"),
    "a state with slots": hand_made(KEYED, b")\x81", b"}}", text("__class__"), KEYED, b"s\x86b"),
    "a call of a string": hand_made(text("abc"), b")R"),
    "a class of a string": hand_made(text("abc"), b")\x81"),
    "a state for a list": hand_made(b"]}b"),
    "things into a number": hand_made(b"K\x01(K\x02e"),
    "a long text": hand_made(b"\x8d" + struct.pack("<Q", 1 << 40) + b"abc"),
    "many bytes": hand_made(b"\x8e" + struct.pack("<Q", 1 << 40) + b"abc"),
    "a long frame": hand_made(b"\x95" + struct.pack("<Q", 1 << 40) + b"abc"),
    "an array of bytes": b"\x80\x05\x96" + struct.pack("<Q", 1 << 36) + b"abc.",
    "a far place to remember": hand_made(b"K\x01r\xff\xff\xff\xff"),
    "an empty stack": hand_made(),
    "tuples in tuples as a key": hand_made(b"}", b")", b"2\x86" * 60, b"K\x01s"),
}


@pytest.mark.parametrize("kind", HAND_MADE)
def test_pickles_made_by_hand(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "table"
    path.write_bytes(HAND_MADE[kind])
    with pytest.raises(InputError, match="is a pickle"):
        Vectors.load(path)


def test_an_array_must_have_the_bytes_of_its_shape(saved: Path) -> None:
    data = saved.read_bytes()
    # The shape (4, 3) before its dtype, in the pickle of the vectors.
    assert data.count(b"K\x04K\x03\x86") == 1
    for shape in (b"K\x04K\x07\x86", b"K\xffK\xff\x86", b"K\x00K\x03\x86"):
        saved.write_bytes(data.replace(b"K\x04K\x03\x86", shape))
        with pytest.raises(InputError, match="cannot reshape array"):
            Vectors.load(saved)


def test_damage_gives_a_sentence(saved: Path) -> None:
    data = saved.read_bytes()
    for length in range(2, len(data), 3):
        saved.write_bytes(data[:length])
        with pytest.raises(LexicodeError):
            Vectors.load(saved)
    for at in range(len(data)):
        saved.write_bytes(data[:at] + bytes([data[at] ^ (0x01, 0xFF)[at % 2]]) + data[at + 1 :])
        with suppress(LexicodeError):
            Vectors.load(saved)
