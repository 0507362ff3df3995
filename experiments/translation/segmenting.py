"""Text to numbers and back: Moses tokens in lower case, byte-pair pieces, and their row numbers."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cached_property

import sacremoses
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

# The first rows of every table: padding, the start and the end of a sentence, a piece that training never saw.
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
PAD, START, END, UNKNOWN = range(4)
JOINT = "@@"


def moses_tokens(lines: Iterable[str], language: str) -> list[str]:
    """Each line as Moses tokens in lower case, one space between them; entities are not escaped."""
    tokenizer = sacremoses.MosesTokenizer(lang=language)
    return [tokenizer.tokenize(line.strip(), return_str=True, escape=False).lower() for line in lines]


def joined_pieces(pieces: Iterable[str]) -> str:
    """Byte-pair pieces back to tokens.

    >>> joined_pieces(["a", "fire@@", "man", "runs"])
    'a fireman runs'
    """
    return " ".join(pieces).replace(f"{JOINT} ", "").removesuffix(JOINT)


@dataclass(frozen=True, kw_only=True)
class Segmenter:
    """One language: merges, the text that subword-nmt writes; pieces, the name of each row of its table."""

    merges: str
    pieces: tuple[str, ...]

    @classmethod
    def learn(cls, lines: Sequence[str], symbols: int) -> Segmenter:
        """Learn merges on tokenized training lines until there are about `symbols` pieces."""
        out = io.StringIO()
        # It counts aloud on stderr.
        with redirect_stderr(io.StringIO()):
            learn_bpe(io.StringIO("\n".join(lines) + "\n"), out, symbols, total_symbols=True)
        merges = out.getvalue()
        splitter = BPE(io.StringIO(merges), separator=JOINT)
        counts = Counter(piece for line in lines for piece in splitter.segment_tokens(line.split()))
        # The most frequent first, ties in the order of the alphabet: the same text gives the same rows.
        order = sorted(counts, key=lambda piece: (-counts[piece], piece))
        return cls(merges=merges, pieces=(*SPECIAL, *order))

    def __len__(self) -> int:
        return len(self.pieces)

    @cached_property
    def _splitter(self) -> BPE:
        return BPE(io.StringIO(self.merges), separator=JOINT)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {piece: row for row, piece in enumerate(self.pieces)}

    def encode(self, line: str) -> list[int]:
        """A tokenized line -> the row of each piece, and END"""
        pieces = self._splitter.segment_tokens(line.split())
        return [*(self._rows.get(piece, UNKNOWN) for piece in pieces), END]

    def decode(self, rows: Iterable[int]) -> str:
        """Rows up to END -> a tokenized line"""
        pieces = []
        for row in rows:
            if row == END:
                break
            if row not in (PAD, START):
                pieces.append(self.pieces[row])
        return joined_pieces(pieces)
