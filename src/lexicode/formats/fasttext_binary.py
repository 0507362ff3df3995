"""fastText's models (`.bin`): a word's vector is the mean of its own row and its character n-grams' rows."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.formats.growing import GrowingRows, read_matrix
from lexicode.formats.records import named_records
from lexicode.formats.streams import Source
from lexicode.formats.table import Table
from lexicode.formats.wordlists import WordGatherer, row_of

MAGIC = struct.pack("<i", 793712314)
VERSIONS = (11, 12)
SUPERVISED = 3
END_OF_SENTENCE = b"</s>"
# No real model goes beyond 10 or so; a damaged number must not cost hours.
MOST_CHARACTERS = 64

# Words are hashed, and rows gathered, in blocks of about these sizes.
BLOCK_BYTES = 1 << 15
BLOCK_ROWS = 1 << 13


@dataclass(frozen=True, kw_only=True)
class Ngrams:
    """n-grams of `shortest` to `longest` characters, hashed into `buckets` rows; none if longest is 0."""

    shortest: int
    longest: int
    buckets: int


def read_fasttext_binary(source: Source, *, limit: int | None = None) -> Table:
    """The vectors of the words that the model was trained with."""
    ngrams = _read_arguments(source)
    names = _read_dictionary(source)
    words = WordGatherer(source, row_of)
    words.add(names[:limit])
    if source.read_exactly(1, "the model") != b"\0":
        raise source.problem("is a quantized fastText model (.ftz); lexicode needs the full one (.bin)")
    rows, dim = struct.unpack("<qq", source.read_exactly(16, "the size of the matrix"))
    needed = len(names) + (ngrams.buckets if ngrams.longest else 0)
    if rows < needed:
        raise source.problem(f"has {rows} input rows, but its words and n-grams need {needed}: it is damaged")
    inputs = read_matrix(source, (rows, dim), "<f4")
    vectors = GrowingRows()
    for block in _blocks_of(names[:limit]):
        # Numbers that are not finite are found, with their row, when the whole table is checked.
        with np.errstate(over="ignore", invalid="ignore"):
            vectors.append(_mean_rows(block, len(vectors), len(names), inputs, ngrams))
    return Table(words=words.finish(), matrix=vectors.finish(), place=row_of)


def _read_arguments(source: Source) -> Ngrams:
    fields = struct.unpack("<14id", source.read_exactly(64, "its settings"))
    version, model, buckets, shortest, longest = fields[1], fields[9], fields[10], fields[11], fields[12]
    if version not in VERSIONS:
        raise source.problem(f"is a fastText model of version {version}; lexicode reads versions 11 and 12")
    if version == 11 and model == SUPERVISED:
        # Classifiers of that time were trained without n-grams, whatever their settings say.
        longest = 0
    if not 0 <= longest <= MOST_CHARACTERS or (longest and buckets < 1):
        raise source.problem(f"has n-grams of up to {longest} characters in {buckets} buckets: it is damaged")
    return Ngrams(shortest=shortest, longest=longest, buckets=buckets)


def _read_dictionary(source: Source) -> list[bytes]:
    """The words, without a classifier's labels, which stand behind them."""
    size, words, labels, _, pruned = struct.unpack("<iiiqq", source.read_exactly(28, "its dictionary"))
    if words < 1 or labels < 0 or words + labels != size:
        raise source.problem(f"has a dictionary of {size} entries, {words} of them words: it is damaged")
    if pruned >= 0:
        raise source.problem("is a pruned fastText model; lexicode needs the full one")
    # Behind each name: how often it was seen (8 bytes) and whether it is a label (1 byte).
    records = named_records(source, end_of_name=b"\0", size=9, count=size, promised=size)
    names = [name for block, _ in records for name in block]
    return names[:words]


def _blocks_of(names: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    start = size = 0
    for row, name in enumerate(names):
        size += len(name)
        if size >= BLOCK_BYTES:
            yield names[start : row + 1]
            start, size = row + 1, 0
    if start < len(names):
        yield names[start:]


def _mean_rows(
    block: Sequence[bytes], first: int, words: int, inputs: npt.NDArray[np.float32], ngrams: Ngrams
) -> npt.NDArray[np.float32]:
    """The vectors of `block`, whose first word is input row `first`: (n, dim) float32"""
    owners, hashes = ngram_hashes(block, ngrams.shortest, ngrams.longest)
    rows = words + (hashes % max(1, ngrams.buckets)).astype(np.int64)
    sums = np.array(inputs[first : first + len(block)], dtype=np.float32)
    for start in range(0, len(rows), BLOCK_ROWS):
        piece = owners[start : start + BLOCK_ROWS]
        starts = np.flatnonzero(np.diff(piece, prepend=-1))
        sums[piece[starts]] += np.add.reduceat(inputs[rows[start : start + BLOCK_ROWS]], starts, axis=0)
    counts = 1 + np.bincount(owners, minlength=len(block))
    sums /= counts[:, None].astype(np.float32)
    return sums


def ngram_hashes(
    names: Sequence[bytes], shortest: int, longest: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """All n-grams of `<name>` for each name: owners (n,) int64 ascending, hashes (n,) uint32

    All of them grow side by side: at each step every start takes one more character.
    """
    framed = [b"" if name == END_OF_SENTENCE else b"<" + name + b">" for name in names]
    lengths = np.array([len(name) for name in framed], dtype=np.int64)
    # A last byte that continues nothing, so that looking one too far is harmless.
    text = np.frombuffer(b"".join(framed) + b"\0", dtype=np.uint8)
    continues = (text & 0xC0) == 0x80
    # fastText hashes signed characters: a byte from 128 on is extended with ones.
    signed = text.view(np.int8).astype(np.int32).view(np.uint32)
    ends = np.cumsum(lengths)
    owner = np.repeat(np.arange(len(framed)), lengths)
    start = np.flatnonzero(~continues[:-1])
    start_of_word = (ends - lengths)[owner[start]]
    end = ends[owner[start]]
    at = start.copy()
    hashes = np.full(len(start), 2166136261, dtype=np.uint32)
    found_owners: list[npt.NDArray[Any]] = []
    found_hashes: list[npt.NDArray[Any]] = []
    for characters in range(1, longest + 1):
        growing = at < end
        taking = growing.copy()
        while taking.any():
            hashes[taking] = (hashes[taking] ^ signed[at[taking]]) * np.uint32(16777619)
            at[taking] += 1
            taking &= (at < end) & continues[at]
        if characters >= shortest:
            # The frames < and > alone are no n-grams.
            alone = (characters == 1) & ((start == start_of_word) | (at == end))
            kept = growing & ~alone
            found_owners.append(owner[start[kept]])
            found_hashes.append(hashes[kept])
    if not found_owners:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32)
    owners = np.concatenate(found_owners)
    order = np.argsort(owners, kind="stable")
    return owners[order], np.concatenate(found_hashes)[order]
