"""gensim's own file of `KeyedVectors.save`: a pickle, read as data, and often the matrix in an `.npy` beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.errors import InputError
from lexicode.formats.arrays import read_npy
from lexicode.formats.pickles import RefusedNameError, StoredArray, StoredObject, read_pickle
from lexicode.formats.streams import Source, open_source
from lexicode.formats.table import Table
from lexicode.formats.wordlists import row_of
from lexicode.words import Words

MODULE = "gensim.models.keyedvectors"
WAY_OUT = "in gensim, save the vectors as a KeyedVectors, or with save_word2vec_format"


class StoredVectors(StoredObject):
    """What stands for gensim's KeyedVectors."""


# Word2VecKeyedVectors and Vocab are what files from before gensim 4 hold.
NAMES = {
    (MODULE, "KeyedVectors"): StoredVectors,
    (MODULE, "Word2VecKeyedVectors"): StoredVectors,
    (MODULE, "Vocab"): StoredObject,
}


def starts_like_pickle(start: bytes) -> bool:
    """The protocol, which gensim has never set below 2; the others are too old or from a future."""
    return start[:1] == b"\x80" and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")


def read_gensim(source: Source, *, limit: int | None = None) -> Table:
    """Words and vectors of a KeyedVectors; any other object is refused, and nothing is run."""
    try:
        stored = read_pickle(source, NAMES)
    except RefusedNameError as error:
        raise source.problem(
            f"is a pickle with {error} in it, and lexicode runs no pickle: it reads gensim's KeyedVectors alone; "
            f"{WAY_OUT}"
        ) from None
    if not isinstance(stored, StoredVectors):
        raise source.problem(f"is a pickle of something other than gensim's KeyedVectors; {WAY_OUT}")
    words = _first(stored, "index_to_key", "index2word", "index2entity")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise source.problem(f"has keys that are not words; {WAY_OUT}")
    matrix = _matrix(source, stored)
    return Table(words=_words(source, words), matrix=matrix[:limit], place=row_of)


def _first(stored: StoredVectors, *names: str) -> Any:
    return next((stored.attributes[name] for name in names if name in stored.attributes), None)


def _words(source: Source, words: list[str]) -> Words:
    try:
        return Words(words)
    except InputError as error:
        raise source.problem(str(error)) from None


def _matrix(source: Source, stored: StoredVectors) -> npt.NDArray[np.floating[Any]]:
    """vectors (V, dim): in the pickle, or in the file beside it that the pickle tells of"""
    inside = _first(stored, "vectors", "syn0")
    if isinstance(inside, StoredArray) and inside.array is not None:
        if inside.array.ndim != 2:
            raise source.problem(f"holds an array of shape {inside.array.shape}; a matrix (rows, columns) is expected")
        return inside.array
    beside = stored.attributes.get("__numpys")
    name = next((name for name in ("vectors", "syn0") if isinstance(beside, list) and name in beside), None)
    if name is None:
        raise source.problem(f"holds no vectors; {WAY_OUT}")
    if source.path is None:
        raise source.problem(f"keeps its vectors in a file beside it, ending with .{name}.npy; unpack it there first")
    companion = Path(f"{source.path}.{name}.npy")
    if not companion.is_file():
        raise source.problem(f"keeps its vectors in {companion.name}, which is not beside it")
    with open_source(companion) as opened:
        return read_npy(opened).matrix
