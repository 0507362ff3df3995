"""read_table: one call for every kind of vector file."""

from __future__ import annotations

import os
from dataclasses import replace

from lexicode.errors import InputError, SettingError
from lexicode.formats.arrays import read_npy, read_npz
from lexicode.formats.fasttext_binary import read_fasttext_binary
from lexicode.formats.folders import is_folder, read_folder
from lexicode.formats.gensim import read_gensim
from lexicode.formats.pytorch import read_pytorch
from lexicode.formats.sniffing import Sniffed, sniff
from lexicode.formats.streams import Source, name_of, open_source
from lexicode.formats.table import Table
from lexicode.formats.tensors import read_safetensors
from lexicode.formats.text import Spaces, read_text
from lexicode.formats.word2vec_binary import read_word2vec_binary
from lexicode.formats.wordlists import read_words
from lexicode.words import Words


def read_table(
    source: str | os.PathLike[str],
    *,
    words: str | os.PathLike[str] | None = None,
    tensor: str | None = None,
    limit: int | None = None,
    spaces: Spaces = "error",
) -> Table:
    """Read the vectors of `source`, a file, a folder or `-` for standard input, whatever their format and compression.

    words   a file of one word a line, for a format that holds none
    tensor  which matrix to read, where a file holds several
    limit   stop after so many rows
    spaces  "keep" reads a word with spaces in a text file; "error" says where it stands
    """
    if limit is not None and limit < 1:
        raise SettingError(f"limit={limit} is not a number of rows; give 1 or more, or none")
    if spaces not in ("error", "keep"):
        raise SettingError(f'spaces={spaces!r} is not known; try "error" or "keep"')
    if is_folder(source):
        if words is not None:
            raise InputError(f"{name_of(source)}: has words of its own; leave out the file of words")
        table = read_folder(source, tensor=tensor, limit=limit)
        return _with_words(table, table.words, name_of(source), limit)
    with open_source(source) as opened:
        sniffed = sniff(opened)
        if tensor is not None and sniffed.format not in ("npz", "safetensors", "PyTorch"):
            raise opened.problem(f"is {sniffed.format}, which has no tensors by name; leave out tensor={tensor!r}")
        table = _read(opened, sniffed, tensor, limit, spaces)
        if words is None:
            return _with_words(table, table.words, opened.name, limit)
        if table.words is not None:
            raise opened.problem("has words of its own; leave out the file of words")
        return _with_words(table, read_words(words), name_of(words), limit)


def _with_words(table: Table, words: Words | None, name: str, limit: int | None) -> Table:
    """The table with one word a row: a limit cuts the words as it cut the rows."""
    rows = len(table.matrix)
    if words is not None and rows == limit and len(words) > rows:
        words = Words(words[:rows])
    if words is not None and len(words) != rows:
        raise InputError(f"{name}: holds {len(words)} words, but the table has {rows} rows")
    return replace(table, words=words)


def _read(source: Source, sniffed: Sniffed, tensor: str | None, limit: int | None, spaces: Spaces) -> Table:
    if sniffed.format == "PyTorch":
        return read_pytorch(source, tensor=tensor, limit=limit)
    if source.archive is not None:
        return read_npz(source, source.archive, tensor=tensor, limit=limit)
    if sniffed.format == "npy":
        return read_npy(source, limit=limit)
    if sniffed.format == "safetensors":
        return read_safetensors(source, tensor=tensor, limit=limit)
    if sniffed.format == "gensim KeyedVectors":
        return read_gensim(source, limit=limit)
    if sniffed.format == "fastText binary":
        return read_fasttext_binary(source, limit=limit)
    if sniffed.format == "word2vec binary" and sniffed.header is not None:
        return read_word2vec_binary(source, header=sniffed.header, limit=limit)
    return read_text(source, header=sniffed.header, limit=limit, spaces=spaces)
