"""How often each row's word occurs: a file of one number a row, or of words with their counts."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lexicode.errors import InputError
from lexicode.formats.streams import STEP, open_source

NPY = b"\x93NUMPY"


def read_weights(given: str | os.PathLike[str], rows: int, words: Sequence[str] | None) -> npt.NDArray[np.float64]:
    """A weight for each of `rows` rows: from a .npy of so many numbers, a text of one number a line, or a text of lines
    `word count`, in any order, that is looked up by `words`; a word that it lacks counts as much as its rarest."""
    with open_source(given) as source:
        parts = []
        while part := source.read(STEP):
            parts.append(part)
        data, name = b"".join(parts), source.name
    if data.startswith(NPY):
        weights = _numbers_of_npy(name, data)
    else:
        # Words may hold the other characters that Python takes for line breaks.
        lines = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").rstrip("\n").split("\n")
        if lines and len(lines[0].split()) > 1:
            return _by_word(name, lines, rows, words)
        weights = _numbers_of_lines(name, lines)
    if weights.shape != (rows,):
        raise InputError(f"{name}: holds {weights.size} weights, but the table has {rows} rows; give one number a row")
    return weights


def _numbers_of_npy(name: str, data: bytes) -> npt.NDArray[np.float64]:
    from io import BytesIO

    try:
        loaded = np.load(BytesIO(data), allow_pickle=False)
        return np.asarray(loaded, dtype=np.float64)
    except (ValueError, TypeError, EOFError) as error:
        raise InputError(f"{name}: not an array of numbers ({error})") from None


def _numbers_of_lines(name: str, lines: Sequence[str]) -> npt.NDArray[np.float64]:
    weights = np.empty(len(lines))
    for row, line in enumerate(lines):
        weights[row] = _number(name, row, line)
    return weights


def _by_word(name: str, lines: Sequence[str], rows: int, words: Sequence[str] | None) -> npt.NDArray[np.float64]:
    if words is None:
        raise InputError(f"{name}: has words with counts, but the table has no words; give one number a row")
    counts = {}
    for row, line in enumerate(lines):
        word, _, count = line.rstrip().replace("\t", " ").rpartition(" ")
        counts[word.rstrip()] = _number(name, row, count)
    rarest = min(counts.values())
    weights = np.fromiter((counts.get(word, rarest) for word in words), dtype=np.float64, count=rows)
    if not any(word in counts for word in words):
        raise InputError(f"{name}: has none of the table's words")
    return weights


def _number(name: str, row: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name}: line {row + 1}: {text!r} is not a number") from None
