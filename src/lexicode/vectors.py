"""Vectors: words (or ids) and a float matrix, checked once; what every learner and measurement takes."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lexicode.errors import InputError, SettingError
from lexicode.formats.reading import read_table
from lexicode.formats.streams import name_of
from lexicode.formats.table import Table
from lexicode.formats.text import Spaces
from lexicode.formats.wordlists import row_of
from lexicode.words import Words, first_duplicate, repeated_rows

Duplicates = Literal["error", "first"]

# Checks and hashes go over the matrix in blocks of about this many numbers.
NUMBERS_A_BLOCK = 1 << 20
# A mapped table up to this size stays in memory once it is read: to read its pages anew costs more than they take.
KEPT_BYTES = 1 << 28
# Rows here and there touch a page of a mapped file each.
ROWS_TAKEN_AT_ONCE = 4096


class Vectors:
    """words, or None for a table of ids; matrix (V, dim) float16, float32 or float64, perhaps memory-mapped.

    >>> vectors = Vectors(np.array([[1.0, 2.0], [3.0, 4.0]]), ["the", "dog"])
    >>> len(vectors), vectors.dim, vectors.words.id_of("dog")
    (2, 2, 1)
    """

    words: Words | None
    matrix: npt.NDArray[np.floating[Any]]
    source: str
    dropped: int

    def __init__(
        self,
        matrix: npt.NDArray[np.floating[Any]],
        words: Sequence[str] | None = None,
        *,
        source: str = "arrays",
        duplicates: Duplicates = "error",
    ) -> None:
        listed = words if words is None or isinstance(words, Words) else Words(words)
        table = Table(words=listed, matrix=np.asarray(matrix), place=row_of)
        self._adopt(table, source, duplicates, owned=False)

    @classmethod
    def load(
        cls,
        source: str | os.PathLike[str],
        *,
        words: str | os.PathLike[str] | None = None,
        tensor: str | None = None,
        limit: int | None = None,
        spaces: Spaces = "error",
        duplicates: Duplicates = "error",
    ) -> Vectors:
        """Read any vector file, or `-` for standard input; the settings are those of `read_table`."""
        _check_duplicates_setting(duplicates)
        table = read_table(source, words=words, tensor=tensor, limit=limit, spaces=spaces)
        vectors = cls.__new__(cls)
        vectors._adopt(table, name_of(source), duplicates, owned=True)
        return vectors

    def _adopt(self, table: Table, source: str, duplicates: Duplicates, *, owned: bool) -> None:
        _check_duplicates_setting(duplicates)
        _check_shape(table, source)
        _check_finite(table, source)
        self.words = table.words
        self.matrix = table.matrix
        self.source = source
        self.dropped = 0
        repeats = np.empty(0, dtype=np.int64) if table.words is None else repeated_rows(table.words)
        if len(repeats) and duplicates == "error":
            raise InputError(f"{source}: {_duplicate_sentence(table)}")
        if len(repeats):
            self._drop(repeats, owned=owned)

    def _drop(self, rows: npt.NDArray[np.int64], *, owned: bool) -> None:
        """Leave out `rows` (n,) ascending; in place if the matrix is ours to change."""
        kept = np.ones(len(self), dtype=bool)
        kept[rows] = False
        if owned and self.matrix.flags.writeable:
            filled = 0
            for start, stop in _spans(self.matrix):
                block = self.matrix[start:stop][kept[start:stop]]
                self.matrix[filled : filled + len(block)] = block
                filled += len(block)
            self.matrix = self.matrix[:filled]
        else:
            self.matrix = np.asarray(self.matrix)[kept]
        text = bytearray()
        for word, keep in zip(self.words or (), kept, strict=True):
            if keep:
                text += word.encode() + b"\n"
        self.words = Words.from_text(bytes(text))
        self.dropped = len(rows)

    def __len__(self) -> int:
        return len(self.matrix)

    def __repr__(self) -> str:
        return f"Vectors({len(self)} x {self.dim} {self.matrix.dtype} from {self.source})"

    @property
    def dim(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def original_bytes(self) -> int:
        """What the table takes as float32, with its words as text."""
        return 4 * self.matrix.size + (0 if self.words is None else len(self.words.text))

    @cached_property
    def digest(self) -> str:
        """`sha256:` of the rows as float32 and of the words' text: the same from whatever file they came."""
        state = hashlib.sha256()
        for start, stop in _spans(self.matrix):
            state.update(_as_float32(self.matrix[start:stop]).astype("<f4", copy=False).data)
            _let_go(self.matrix)
        if self.words is not None:
            state.update(self.words.text)
        return f"sha256:{state.hexdigest()}"

    def blocks(self, rows: int = 65536) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
        """The table in order: (start, block (n, dim) float32); often a view, so never write to it."""
        if rows < 1:
            raise SettingError(f"rows={rows} is not a size of blocks; give 1 or more")
        for start in range(0, len(self), rows):
            yield start, _as_float32(self.matrix[start : start + rows])
            _let_go(self.matrix)

    def take(self, rows: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """rows (n,) integers -> (n, dim) float32, a copy"""
        wanted = np.asarray(rows, dtype=np.int64)
        taken = np.empty((len(wanted), self.dim), dtype=np.float32)
        for start in range(0, len(wanted), ROWS_TAKEN_AT_ONCE):
            part = slice(start, start + ROWS_TAKEN_AT_ONCE)
            taken[part] = np.asarray(self.matrix)[wanted[part]]
            _let_go(self.matrix)
        return taken


def _as_float32(block: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(block, dtype=np.float32)


def _let_go(matrix: npt.NDArray[Any]) -> None:
    """Give back the memory of a mapped file's pages that were read; they come back if they are read again."""
    base: Any = matrix
    while isinstance(base, np.ndarray):
        base = base.base
    if not isinstance(base, mmap.mmap) or matrix.flags.writeable or matrix.nbytes <= KEPT_BYTES:
        return
    if hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def _spans(matrix: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
    """(start, stop) of row blocks that are small in bytes, however wide the rows."""
    step = max(1, NUMBERS_A_BLOCK // matrix.shape[1])
    for start in range(0, len(matrix), step):
        yield start, min(start + step, len(matrix))


def _check_duplicates_setting(duplicates: str) -> None:
    if duplicates not in ("error", "first"):
        raise SettingError(f'duplicates={duplicates!r} is not known; try "error" or "first"')


def _check_shape(table: Table, source: str) -> None:
    matrix = table.matrix
    if matrix.dtype.kind != "f" or matrix.dtype.itemsize > 8:
        raise InputError(f"{source}: numbers of type {matrix.dtype}; float16, float32 or float64 is expected")
    if matrix.ndim != 2:
        raise InputError(f"{source}: an array of shape {matrix.shape}; a matrix (rows, columns) is expected")
    if 0 in matrix.shape:
        raise InputError(f"{source}: a matrix of shape {matrix.shape}; at least one row and column is needed")
    if table.words is not None and len(table.words) != len(matrix):
        raise InputError(f"{source}: {len(table.words)} words do not match {len(matrix)} rows")


def _check_finite(table: Table, source: str) -> None:
    """Block by block, so that a memory map is never held whole."""
    for start, stop in _spans(table.matrix):
        block = table.matrix[start:stop]
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(_as_float32(block))
        _let_go(table.matrix)
        if finite.all():
            continue
        index, column = np.argwhere(~finite)[0]
        value = block[index, column]
        why = "is beyond float32" if np.isfinite(value) else "is not a finite number"
        raise InputError(f"{source}: {table.place(start + int(index))}: the value {value} of column {column} {why}")


def _duplicate_sentence(table: Table) -> str:
    words = table.words or Words(())
    row, earlier = first_duplicate(words) or (0, 0)
    return (
        f"{table.place(row)}: the word {words[row]!r} stands already at {table.place(earlier)}; "
        'duplicates="first" (--duplicates first) keeps the first of them'
    )
