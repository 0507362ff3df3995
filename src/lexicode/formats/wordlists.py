"""Words from bytes: checked where they stand, and kept as one text."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from lexicode.formats.streams import STEP, Source, open_source
from lexicode.words import Words

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def line_of(row: int) -> str:
    """The place of a row in a file without a header line."""
    return f"line {row + 1}"


def line_below_header(row: int) -> str:
    """The place of a row in a file with a header line."""
    return f"line {row + 2}"


def row_of(row: int) -> str:
    """The place of a row in a file without lines."""
    return f"row {row}"


class WordGatherer:
    """Words as a file holds them, gathered into one UTF-8 text; a bad one is named with its place."""

    def __init__(self, source: Source, place: Callable[[int], str]) -> None:
        self._source = source
        self._place = place
        self._text = bytearray()
        self._count = 0

    def add(self, words: Sequence[bytes]) -> None:
        if not words:
            return
        joined = b"\n".join(words) + b"\n"
        if joined.count(b"\n") != len(words):
            row = next(row for row, word in enumerate(words) if b"\n" in word)
            raise self._problem(row, f"the word {words[row]!r} has a line break in it")
        if b"" in words:
            raise self._problem(words.index(b""), "the word is empty")
        try:
            joined.decode()
        except UnicodeDecodeError as error:
            row = joined.count(b"\n", 0, error.start)
            byte = joined[error.start]
            raise self._problem(
                row, f"byte 0x{byte:02x} of the word {words[row]!r} is not UTF-8; convert the file to UTF-8"
            ) from error
        self._text += joined
        self._count += len(words)

    def finish(self) -> Words:
        return Words.from_text(bytes(self._text))

    def _problem(self, index: int, text: str) -> Exception:
        return self._source.problem(f"{self._place(self._count + index)}: {text}")


def words_of_text(source: Source, text: bytes) -> Words:
    """One word a line, with or without a line break after the last."""
    lines = text.removeprefix(BYTE_ORDER_MARK).replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    gatherer = WordGatherer(source, line_of)
    gatherer.add(lines)
    return gatherer.finish()


def read_words(given: str | os.PathLike[str]) -> Words:
    """A file of one word a line; plain, compressed or standard input."""
    with open_source(given) as source:
        parts = []
        while part := source.read(STEP):
            parts.append(part)
        return words_of_text(source, b"".join(parts))
