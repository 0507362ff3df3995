"""numpy's own files: `.npy` and `.npz`. Nothing in them is ever unpickled."""

from __future__ import annotations

import ast
import re
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt

from lexicode.formats.growing import read_matrix
from lexicode.formats.streams import Source, open_member
from lexicode.formats.table import Table
from lexicode.formats.wordlists import WordGatherer, row_of, words_of_text
from lexicode.words import Words

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000
FLOATS = re.compile(r"[<>=]?f[248]")
BYTES = re.compile(r"[<>=|]?u1")
STRINGS = re.compile(r"[<>=|]?[SU][1-9]\d{0,5}")


@dataclass(frozen=True, kw_only=True)
class ArrayHeader:
    """What an `.npy` says of itself; kind is numpy's letter code, such as `<f4`."""

    kind: str
    fortran: bool
    shape: tuple[int, ...]

    @property
    def is_matrix(self) -> bool:
        return len(self.shape) == 2 and FLOATS.fullmatch(self.kind) is not None

    def __str__(self) -> str:
        return f"{self.kind} {self.shape}"


def read_npy(source: Source, *, limit: int | None = None) -> Table:
    """A table of ids: the file holds no words."""
    return Table(words=None, matrix=_float_matrix(source, limit), place=row_of)


def read_npz(source: Source, archive: ZipFile, *, tensor: str | None = None, limit: int | None = None) -> Table:
    """The array `tensor`, or `vectors`, or the only float matrix; with the words of the array `words`."""
    members = {
        info.filename.removesuffix(".npy"): info for info in archive.infolist() if not info.filename.endswith("/")
    }
    headers = {}
    for name, info in members.items():
        with ExitStack() as stack:
            headers[name] = read_header(open_member(source, archive, info, stack))
    with ExitStack() as stack:
        chosen = members[_chosen(source, headers, tensor)]
        matrix = _float_matrix(open_member(source, archive, chosen, stack), limit)
        words = None
        if "words" in members:
            words = _read_words_array(open_member(source, archive, members["words"], stack))
    return Table(words=words, matrix=matrix, place=row_of)


def _chosen(source: Source, headers: dict[str, ArrayHeader], tensor: str | None) -> str:
    matrices = [name for name, header in headers.items() if header.is_matrix]
    listed = ", ".join(f"{name} {header}" for name, header in headers.items())
    if tensor is not None and tensor not in headers:
        raise source.problem(f"has no array {tensor!r}; it has {listed}")
    if tensor is not None:
        return tensor
    if "vectors" in headers:
        return "vectors"
    if len(matrices) != 1:
        raise source.problem(f"has {len(matrices)} float matrices; name one of its arrays with tensor=: {listed}")
    return matrices[0]


def _float_matrix(source: Source, limit: int | None) -> npt.NDArray[np.floating[Any]]:
    header = read_header(source)
    if not FLOATS.fullmatch(header.kind):
        raise source.problem(f"holds numbers of type {header.kind!r}; float16, float32 or float64 is expected")
    if len(header.shape) != 2:
        raise source.problem(f"holds an array of shape {header.shape}; a matrix (rows, columns) is expected")
    rows, dim = header.shape
    return read_matrix(source, (rows, dim), header.kind, fortran=header.fortran, limit=limit)


def _read_words_array(source: Source) -> Words:
    """UTF-8 text as bytes, or an array of strings."""
    header = read_header(source)
    if len(header.shape) != 1 or header.shape[0] < 1:
        raise source.problem(f"its words have the shape {header.shape}; one axis is expected")
    count = header.shape[0]
    if BYTES.fullmatch(header.kind):
        return words_of_text(source, read_matrix(source, (count, 1), np.uint8).tobytes())
    if not STRINGS.fullmatch(header.kind):
        raise source.problem(f"its words are of type {header.kind!r}; UTF-8 bytes or strings are expected")
    strings = read_matrix(source, (count, 1), header.kind)[:, 0]
    words = WordGatherer(source, row_of)
    words.add(strings.tolist() if strings.dtype.kind == "S" else _encoded(source, strings))
    return words.finish()


def _encoded(source: Source, strings: npt.NDArray[np.str_]) -> list[bytes]:
    """strings (V,) of numpy's fixed width -> each as UTF-8, without the zeros that fill it up"""
    width = strings.dtype.itemsize // 4
    try:
        text = strings.astype(f"<U{width}").tobytes().decode("utf-32-le")
    except UnicodeDecodeError as error:
        row = error.start // strings.dtype.itemsize
        raise source.problem(f"row {row}: the word is not text that UTF-8 can hold") from error
    return [text[at : at + width].rstrip("\0").encode() for at in range(0, len(text), width)]


def read_header(source: Source) -> ArrayHeader:
    """Read an `.npy` up to where its numbers begin."""
    start = source.read_exactly(8, "the header")
    if start[:6] != MAGIC or start[6] not in (1, 2, 3):
        raise source.problem("has an array that is not in numpy's format: it is damaged")
    size = int.from_bytes(source.read_exactly(2 if start[6] == 1 else 4, "the header"), "little")
    if size > LONGEST_HEADER:
        raise source.problem(f"has a header of {size} bytes: it is damaged")
    try:
        fields = ast.literal_eval(source.read_exactly(size, "the header").decode("latin-1").strip())
        kind, fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError) as error:
        raise source.problem("has a header that makes no sense: it is damaged") from error
    if isinstance(kind, list):
        raise source.problem("holds records of several fields; a matrix of floats is expected")
    if not isinstance(kind, str) or not isinstance(shape, tuple) or not all(_is_size(n) for n in shape):
        raise source.problem("has a header that makes no sense: it is damaged")
    if kind.endswith("O"):
        raise source.problem("holds Python objects, which only unpickling could read; save it as floats instead")
    return ArrayHeader(kind=kind, fortran=bool(fortran), shape=shape)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
