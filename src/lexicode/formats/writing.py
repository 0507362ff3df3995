"""Plain vector files: written row block by row block, and put in place only when whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from lexicode.errors import InputError
from lexicode.formats.atomic import replacing
from lexicode.words import Words

# (start, block): rows start to start + n of the table, block (n, dim) float32.
Blocks = Iterable[tuple[int, npt.NDArray[np.float32]]]
ROWS_A_WRITE = 4096


def write_word2vec_text(
    path: str | os.PathLike[str], words: Sequence[str], blocks: Blocks, rows: int, dim: int
) -> None:
    """A line `rows dim`, then a word and its numbers a line, each as short as gives the same float32 back."""
    names = _names_of(words, rows, path)
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(f"{rows} {dim}\n".encode())
        for start, block in _pieces(blocks, rows, dim):
            # numpy turns a float into the shortest text that means it; 16 characters hold any float32.
            texts = block.astype("S16").tolist()
            pairs = zip(names[start : start + len(block)], texts, strict=True)
            file.writelines(b" ".join([name, *row]) + b"\n" for name, row in pairs)


def write_word2vec_binary(
    path: str | os.PathLike[str], words: Sequence[str], blocks: Blocks, rows: int, dim: int
) -> None:
    """A line `rows dim`, then for each row its word, a space, dim float32 and a line break."""
    names = _names_of(words, rows, path)
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(f"{rows} {dim}\n".encode())
        for start, block in _pieces(blocks, rows, dim):
            pairs = zip(names[start : start + len(block)], block.astype("<f4", copy=False), strict=True)
            file.writelines(name + b" " + row.tobytes() + b"\n" for name, row in pairs)


def write_npy(path: str | os.PathLike[str], blocks: Blocks, rows: int, dim: int) -> None:
    """numpy's `.npy`: (rows, dim) float32, C order."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
        np.lib.format.write_array_header_1_0(file, header)
        for _, block in _pieces(blocks, rows, dim):
            file.write(block.astype("<f4", copy=False).tobytes())


def write_words(path: str | os.PathLike[str], words: Sequence[str]) -> None:
    """One word a line, in UTF-8."""
    text = Words(words).text
    with replacing(path) as temporary:
        temporary.write_bytes(text)


def _names_of(words: Sequence[str], rows: int, path: str | os.PathLike[str]) -> list[bytes]:
    """The words as bytes; none may hold the ASCII whitespace that the formats separate fields by."""
    if len(words) != rows:
        raise InputError(f"{os.fspath(path)}: {len(words)} words do not match {rows} rows")
    names = Words(words).text.split(b"\n")[:-1]
    for row, name in enumerate(names):
        if name.split() != [name]:
            raise InputError(
                f"{os.fspath(path)}: row {row}: the word {name.decode()!r} is empty or has a space in it, which "
                "word2vec files cannot hold; write .npy and a file of words instead"
            )
    return names


def _pieces(blocks: Blocks, rows: int, dim: int) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
    """The blocks in order and in small pieces; an error if they are not the rows that the header promised."""
    written = 0
    for start, block in blocks:
        if start != written or block.shape[1] != dim or start + len(block) > rows:
            raise ValueError(f"a block {block.shape} at row {start} does not continue {written} of {rows} x {dim}")
        for at in range(0, len(block), ROWS_A_WRITE):
            yield start + at, block[at : at + ROWS_A_WRITE]
        written += len(block)
    if written != rows:
        raise ValueError(f"the blocks end at row {written} of {rows}")
