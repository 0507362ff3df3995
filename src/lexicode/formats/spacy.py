"""spaCy's vectors on disk: a pipeline's folder, its `vocab`, or what `Vectors.to_disk` wrote beside a `strings.json`.

spaCy names a word by a hash, so it takes spaCy to tell which word a row belongs to. It is imported here alone, and
none of its objects is loaded from the folder: only its table of strings is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lexicode.errors import InputError, require
from lexicode.formats.arrays import read_npy
from lexicode.formats.json_files import read_json
from lexicode.formats.streams import open_source
from lexicode.formats.table import Table
from lexicode.formats.wordlists import row_of
from lexicode.words import Words

VECTORS, ROWS, STRINGS, SETTINGS = "vectors", "key2row", "strings.json", "vectors.cfg"


def find_spacy(folder: Path) -> Path | None:
    """The folder that holds the vectors: this one or its `vocab`; None if there is none."""
    for place in (folder, folder / "vocab"):
        if all((place / name).is_file() for name in (VECTORS, ROWS, STRINGS)):
            return place
    return None


def read_spacy(folder: Path, *, limit: int | None = None) -> Table:
    """Words and vectors, in the order of the rows; several words may have one row, as after pruning."""
    settings = read_json(folder / SETTINGS) if (folder / SETTINGS).is_file() else {}
    if isinstance(settings, dict) and settings.get("mode", "default") != "default":
        raise InputError(f"{folder}: vectors of mode {settings['mode']!r} belong to parts of words, not to words")
    with open_source(folder / VECTORS) as source:
        matrix = read_npy(source).matrix
    rows = _rows(folder / ROWS, len(matrix))
    keys = sorted(rows, key=rows.__getitem__)[:limit]
    chosen = np.array([rows[key] for key in keys], dtype=np.int64)
    if not np.array_equal(chosen, np.arange(len(chosen))):
        matrix = matrix[chosen]
    words = _words_of(folder / STRINGS, keys)
    return Table(words=words, matrix=matrix[: len(keys)], place=row_of)


def _rows(path: Path, count: int) -> dict[int, int]:
    """Each word's hash -> its row."""
    srsly: Any = require("srsly", extra="interop")
    try:
        rows = srsly.read_msgpack(path)
    except Exception as error:
        raise InputError(f"{path}: cannot be read ({error}): it is damaged") from error
    if not isinstance(rows, dict) or not rows or not all(type(n) is int for pair in rows.items() for n in pair):
        raise InputError(f"{path}: is no table of rows: it is damaged")
    if not 0 <= min(rows.values()) <= max(rows.values()) < count:
        raise InputError(f"{path}: names rows that the {count} vectors do not have")
    return rows


def _words_of(path: Path, keys: list[int]) -> Words:
    """The words of hashes."""
    strings: Any = require("spacy.strings", extra="interop")
    listed = read_json(path)
    if not isinstance(listed, list) or not all(isinstance(word, str) for word in listed):
        raise InputError(f"{path}: is no list of words: it is damaged")
    known = strings.StringStore(listed)
    try:
        return Words(known[key] for key in keys)
    except KeyError as error:
        raise InputError(f"{path}: lacks the word of the vector {error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
