"""Words: a vocabulary in row order, small in memory and quick to start with."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from lexicode.errors import InputError, UnknownWordError

# Finding a word by scanning the text costs about a millisecond, the dictionary for 400,000 words a hundred:
# a program that looks up a few words should never pay for the dictionary.
SCANS_BEFORE_INDEX = 64
SPELLING_CANDIDATES = 20_000
PIECE_BYTES = 1 << 16


class Words(Sequence[str]):
    r"""The words of a table as one UTF-8 text, each word followed by a newline.

    >>> words = Words(["the", "dog"])
    >>> words.id_of("dog"), words[0], words.text
    (1, 'the', b'the\ndog\n')
    """

    def __init__(self, words: Iterable[str]) -> None:
        listed = list(words)
        try:
            text = "".join([word + "\n" for word in listed]).encode()
        except (TypeError, UnicodeEncodeError) as error:
            raise InputError(f"the words are not all text that UTF-8 can hold: {error}") from error
        if text.count(b"\n") != len(listed):
            row = next(row for row, word in enumerate(listed) if "\n" in word)
            raise InputError(f"row {row}: the word {listed[row]!r} has a line break in it")
        self._adopt(text, len(listed))

    @classmethod
    def from_text(cls, text: bytes) -> Words:
        """Take a text as `Words.text` gives it, without copying words out of it."""
        if text and not text.endswith(b"\n"):
            raise InputError("the text of the words does not end with a line break: it was cut short")
        try:
            text.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"the text of the words is not UTF-8 at byte {error.start}") from error
        words = cls.__new__(cls)
        words._adopt(text, text.count(b"\n"))
        return words

    def _adopt(self, text: bytes, count: int) -> None:
        self._count = count
        # With a break at the front as well, every word stands between two of them.
        self._text = b"\n" + text
        self._index: dict[str, int] | None = None
        self._ends: npt.NDArray[np.int64] | None = None
        self._scans = 0

    @property
    def text(self) -> bytes:
        return self._text[1:]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        # In pieces: 400,000 words as strings at once take ten times the memory of their text.
        start = 1
        while start < len(self._text):
            stop = self._text.find(b"\n", start + PIECE_BYTES) + 1 or len(self._text)
            yield from self._text[start : stop - 1].decode().split("\n")
            start = stop

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(self._count))]
        if not -self._count <= row < self._count:
            raise IndexError(f"row {row} is not in a vocabulary of {self._count} words")
        if self._ends is None:
            self._ends = np.flatnonzero(np.frombuffer(self._text, dtype=np.uint8) == ord("\n"))
        row %= self._count
        return self._text[self._ends[row] + 1 : self._ends[row + 1]].decode()

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.find(word) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and self._text == other._text

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(word) for word in self[:3])
        return f"Words([{shown}{', …' if self._count > 3 else ''}], {self._count} in all)"

    def find(self, word: str) -> int | None:
        """The row of `word`, or None."""
        if self._index is None and self._scans < SCANS_BEFORE_INDEX:
            self._scans += 1
            return self._scan(word)
        return self.index_of_all().get(word)

    def id_of(self, word: str) -> int:
        """The row of `word`, or an UnknownWordError that offers close spellings."""
        row = self.find(word)
        if row is None:
            raise UnknownWordError(word, self.close_to(word))
        return row

    def ids_of(self, words: Sequence[str]) -> npt.NDArray[np.int64]:
        """The rows of many words at once: (n,) int64"""
        if len(words) > SCANS_BEFORE_INDEX:
            self.index_of_all()
        return np.array([self.id_of(word) for word in words], dtype=np.int64)

    def index_of_all(self) -> dict[str, int]:
        """Every word's row, built once and kept."""
        if self._index is None:
            self._index = {}
            for row, word in enumerate(self):
                # As the scan does, and as `duplicates="first"` says: the first of equal words counts.
                self._index.setdefault(word, row)
        return self._index

    def close_to(self, word: str, n: int = 3) -> list[str]:
        """Up to n known words spelled like `word`, looked for among the first (most frequent) ones."""
        # Needed only when a word is unknown, and slow to import.
        import difflib

        length = len(word)
        near = [
            known
            for known in self[: min(self._count, 10 * SPELLING_CANDIDATES)]
            if abs(len(known) - length) <= 2 and set(known[:2].lower()) & set(word[:2].lower())
        ]
        return difflib.get_close_matches(word, near[:SPELLING_CANDIDATES], n=n, cutoff=0.7)

    def _scan(self, word: str) -> int | None:
        if "\n" in word:
            return None
        try:
            at = self._text.find(b"\n" + word.encode() + b"\n")
        except UnicodeEncodeError:
            return None
        return None if at < 0 else self._text.count(b"\n", 0, at)


def first_duplicate(words: Sequence[str]) -> tuple[int, int] | None:
    """The first row whose word stands in an earlier row, and that row: (row, earlier), or None."""
    repeats = repeated_rows(words)
    if not len(repeats):
        return None
    row = int(repeats[0])
    return row, next(i for i, word in enumerate(words) if word == words[row])


def repeated_rows(words: Sequence[Any]) -> npt.NDArray[np.int64]:
    """The rows whose word stands in an earlier row, ascending: (n,) int64"""
    # Sorting 8-byte hashes takes a tenth of the memory of a set of 400,000 words.
    hashes = np.fromiter(map(hash, words), dtype=np.int64, count=len(words))
    order = np.argsort(hashes, kind="stable")
    ranked = hashes[order]
    same = np.zeros(len(words), dtype=bool)
    same[1:] |= ranked[1:] == ranked[:-1]
    same[:-1] |= ranked[1:] == ranked[:-1]
    seen: set[Any] = set()
    repeats = []
    for row in np.sort(order[same]):
        word = words[row]
        if word in seen:
            repeats.append(row)
        seen.add(word)
    return np.array(repeats, dtype=np.int64)


def compress_words(words: Words) -> npt.NDArray[np.uint8]:
    """The words' text as a zlib stream, which Python and every browser can open: (bytes,) uint8"""
    return np.frombuffer(zlib.compress(words.text, level=9), dtype=np.uint8)


def decompress_words(stream: npt.NDArray[np.uint8], rows: int) -> Words:
    """The words of so many rows, from what `compress_words` made"""
    # A few bytes can promise gigabytes; no vocabulary has words of a kilobyte each.
    limit = most_text(rows) + 1
    try:
        text = zlib.decompressobj().decompress(stream.tobytes(), limit)
    except zlib.error as error:
        raise InputError(f"the words cannot be decompressed ({error})") from None
    if len(text) == limit:
        raise InputError(f"the words of {rows} rows take more than {limit - 1} bytes")
    return Words.from_text(text)


def most_text(rows: int) -> int:
    """How many bytes of text the words of so many rows may be."""
    return 1024 * rows + (1 << 20)
