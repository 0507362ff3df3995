"""Which format a source is in, told by its content and never by its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lexicode.formats import arrays, fasttext_binary, pytorch
from lexicode.formats.gensim import starts_like_pickle
from lexicode.formats.streams import Source
from lexicode.formats.tensors import starts_like_safetensors
from lexicode.formats.text import number_of
from lexicode.formats.wordlists import BYTE_ORDER_MARK

Format = Literal[
    "npy",
    "npz",
    "safetensors",
    "PyTorch",
    "gensim KeyedVectors",
    "fastText binary",
    "word2vec binary",
    "word2vec text",
    "GloVe text",
]
READABLE = (
    "GloVe or word2vec text, word2vec binary, fastText .vec or .bin, .npy, .npz, .safetensors, PyTorch, "
    "gensim's KeyedVectors, plain or in gzip, bzip2, xz or zip; folders of spaCy, model2vec or StaticEmbedding"
)

# The first lines of the widest tables fit in this.
HEAD = 1 << 16
WIDEST = 1 << 20
HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*")
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True, kw_only=True)
class Sniffed:
    """A format and, for word2vec's two, the header's (rows, dim)."""

    format: Format
    header: tuple[int, int] | None = None


def sniff(source: Source) -> Sniffed:
    """Tell the format, and leave the source where its reader begins: behind a header line, if any."""
    if source.archive is not None:
        return Sniffed(format="PyTorch" if pytorch.holds_pytorch(source.archive) else "npz")
    head = source.peek(HEAD)
    if not head.strip():
        raise source.problem("is empty")
    if head.startswith(arrays.MAGIC):
        return Sniffed(format="npy")
    if head.startswith(pytorch.LEGACY_MAGIC):
        return Sniffed(format="PyTorch")
    if head.startswith(fasttext_binary.MAGIC):
        return Sniffed(format="fastText binary")
    if starts_like_safetensors(head):
        return Sniffed(format="safetensors")
    if starts_like_pickle(head):
        return Sniffed(format="gensim KeyedVectors")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise source.problem("is UTF-16; convert it to UTF-8")
    if head.startswith(BYTE_ORDER_MARK):
        source.skip(len(BYTE_ORDER_MARK), "the byte order mark")
        head = head.removeprefix(BYTE_ORDER_MARK)
    return _sniff_lines(source, head)


def _sniff_lines(source: Source, head: bytes) -> Sniffed:
    first, _, rest = head.partition(b"\n")
    header = HEADER.fullmatch(first)
    if header is None or _is_row_of_one(header, rest):
        if not _looks_like_row(first):
            raise source.problem(f"does not look like any format that lexicode reads: {READABLE}")
        return Sniffed(format="GloVe text")
    rows, dim = int(header[1]), int(header[2])
    if rows < 1 or not 1 <= dim <= WIDEST:
        raise source.problem(f"line 1 promises {rows} rows of {dim} numbers; from 1 row and 1 to {WIDEST} are possible")
    source.skip(min(len(first) + 1, len(head)), "the header")
    text = _is_text(rest)
    return Sniffed(format="word2vec text" if text else "word2vec binary", header=(rows, dim))


def _is_row_of_one(first: re.Match[bytes], rest: bytes) -> bool:
    """Whether two integers are a word and its only number: then the next line is such a row too."""
    fields = rest.partition(b"\n")[0].split()
    return int(first[2]) != 1 and len(fields) == 2 and number_of(fields[1]) is not None


def _looks_like_row(line: bytes) -> bool:
    """Whether most of what follows the first field is numbers."""
    fields = line.split()[1:]
    # The line may be cut where the head ends, and its last field with it.
    numbers = sum(number_of(field) is not None for field in fields)
    return numbers > 0 and 2 * numbers >= len(fields)


def _is_text(rest: bytes) -> bool:
    """Whether what follows a header is lines of text, not words with the bytes of floats."""
    row = rest.partition(b"\n")[0].split()[1:]
    if row and all(number_of(field) is not None for field in row[-4:-1] or row):
        return True
    if CONTROL.search(rest):
        return False
    try:
        rest[: len(rest) - 4].decode()
    except UnicodeDecodeError as error:
        # A character cut in two at the end of the head is no sign of floats.
        return error.end >= len(rest) - 4
    return True
