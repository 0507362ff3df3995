"""GloVe text (a word and its numbers on each line) and word2vec text (the same below a line `rows dim`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from lexicode.formats.growing import GrowingRows
from lexicode.formats.streams import STEP, Source
from lexicode.formats.table import Table
from lexicode.formats.wordlists import WordGatherer, line_below_header, line_of

Spaces = Literal["error", "keep"]

LONGEST_LINE = 64 * STEP
# Without a header, the table is as wide as most of this many first lines.
LINES_THAT_VOTE = 100


def read_text(
    source: Source,
    *,
    header: tuple[int, int] | None = None,
    limit: int | None = None,
    spaces: Spaces = "error",
) -> Table:
    """The lines that follow the header (rows, dim), or all lines of a file that has none."""
    place = line_below_header if header else line_of
    promised, dim = header or (None, None)
    words = WordGatherer(source, place)
    vectors = GrowingRows()
    for lines in line_blocks(source, place):
        if limit is not None:
            lines = lines[: limit - len(vectors)]
        if promised is not None and len(vectors) + len(lines) > promised:
            raise source.problem(f"line 1 promises {promised} rows, but more follow; correct it or set a limit")
        if dim is None:
            dim = _voted_dim(lines[:LINES_THAT_VOTE])
        block = _Block(source, lines, dim, spaces, lambda index: place(len(vectors) + index))
        block_words, block_vectors = block.parsed_at_once() or block.parsed_by_line()
        words.add(block_words)
        vectors.append(block_vectors)
        if len(vectors) == limit:
            break
    if promised is not None and len(vectors) < min(promised, limit or promised):
        raise source.problem(f"line 1 promises {promised} rows, but the file holds {len(vectors)}")
    if not len(vectors):
        raise source.problem("holds no rows")
    return Table(words=words.finish(), matrix=vectors.finish(), place=place)


def line_blocks(source: Source, place: Callable[[int], str]) -> Iterator[list[bytes]]:
    """The lines of a source, some thousands at a time; blank lines at the very end do not count."""
    rest = b""
    count = 0
    while chunk := source.read(STEP):
        text = rest + chunk
        at_end = not source.peek(1)
        text, rest = (text.rstrip(), b"") if at_end else _cut_at_line(text)
        if len(rest) > LONGEST_LINE:
            raise source.problem(f"{place(count)} is longer than {LONGEST_LINE} bytes: this is no text of vectors")
        if text:
            lines = text.split(b"\n")
            count += len(lines)
            yield lines


def _cut_at_line(text: bytes) -> tuple[bytes, bytes]:
    lines, found, rest = text.rpartition(b"\n")
    return (lines, rest) if found else (b"", text)


class _Block:
    """Some lines of a text, with what is needed to parse them and to say where one is wrong."""

    def __init__(
        self, source: Source, lines: list[bytes], dim: int, spaces: Spaces, place: Callable[[int], str]
    ) -> None:
        self._source = source
        self._lines = lines
        self._dim = dim
        self._spaces = spaces
        self._place = place

    def parsed_at_once(self) -> tuple[list[bytes], npt.NDArray[np.float32]] | None:
        """words, vectors (n, dim); or None where a line needs a closer look."""
        split = [line.rstrip().split(None, 1) for line in self._lines]
        try:
            numbers = [rest.decode("ascii") for _, rest in split]
            vectors = np.loadtxt(numbers, dtype=np.float32, comments=None, delimiter=" ", ndmin=2)
        except ValueError:
            return None
        if vectors.shape != (len(split), self._dim):
            return None
        return [word for word, _ in split], vectors

    def parsed_by_line(self) -> tuple[list[bytes], npt.NDArray[np.float32]]:
        """The same slowly: keeps words with spaces if asked, or raises for the first line that is wrong."""
        words = []
        vectors = []
        for index, line in enumerate(self._lines):
            fields = line.strip().rsplit(None, self._dim)
            numbers = [number_of(field) for field in fields[1:]]
            if len(numbers) != self._dim or None in numbers or self._has_space(fields[0]):
                self._complain(index, line)
            words.append(fields[0])
            vectors.append(numbers)
        with np.errstate(over="ignore"):
            return words, np.array(vectors, dtype=np.float32)

    def _has_space(self, word: bytes) -> bool:
        return self._spaces == "error" and len(word.split()) > 1

    def _complain(self, index: int, line: bytes) -> None:
        raise self._source.problem(f"{self._place(index)}: {self._what_is_wrong(line)}")

    def _what_is_wrong(self, line: bytes) -> str:
        fields = line.split()
        found = len(fields) - 1
        last = [number_of(field) for field in fields[-self._dim :]]
        if not fields:
            return "is empty"
        if line[:1].isspace() and len(fields) == self._dim and None not in last:
            return "the word is empty"
        if found > self._dim and None not in last and any(number_of(f) is None for f in fields[1 : -self._dim]):
            word = line.strip().rsplit(None, self._dim)[0].decode(errors="replace")
            return f'the word {word!r} has a space in it; spaces="keep" (--spaces keep) reads it as one word'
        bad = next((field for field in fields[1:] if number_of(field) is None), None)
        if bad is not None and found >= self._dim:
            return f"{bad.decode(errors='replace')!r} is not a number"
        return f"expected {self._dim} numbers, found {found}"


def number_of(field: bytes) -> float | None:
    """What a field says as a number, or None."""
    try:
        # Python's own notation allows 1_000; no vector file does.
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def _voted_dim(lines: Sequence[bytes]) -> int:
    """How many numbers most lines end with; a word with spaces, or a line that is wrong, is outvoted."""
    counts = Counter(_numbers_at_end(line) for line in lines)
    return max(1, counts.most_common(1)[0][0])


def _numbers_at_end(line: bytes) -> int:
    fields = line.split()[1:]
    return next((n for n, field in enumerate(reversed(fields)) if number_of(field) is None), len(fields))
