"""A corpus as the model reads it: both languages segmented, their merges learned once and kept in the work folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from experiments.common.results import write_whole
from experiments.translation.batches import Sentence, as_arrays
from experiments.translation.corpora import Corpus, Pairs
from experiments.translation.segmenting import END, START, Segmenter

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """sources and targets: each sentence's rows, END last; the tokenized lines they come from"""

    sources: list[Sentence]
    targets: list[Sentence]
    source_lines: list[str]
    target_lines: list[str]


@dataclass(frozen=True)
class Prepared:
    """source and target: the languages' segmenters, whose pieces name the rows of the two embedding tables"""

    source: Segmenter
    target: Segmenter
    train: Part
    valid: Part
    test: Part

    @cached_property
    def digest(self) -> str:
        """Of the text and its segmentation, to tell one preparation from another."""
        text = "\n".join([*self.train.source_lines, *self.train.target_lines, *self.source.pieces, *self.target.pieces])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def counts(self) -> tuple[Counts, Counts]:
        """How often an epoch looks each row of the source's and of the target's table up: (rows,) int64 each"""
        sources = np.bincount(np.concatenate(self.train.sources), minlength=len(self.source))
        targets = np.bincount(np.concatenate(self.train.targets), minlength=len(self.target))
        # Decoding begins with START, and what comes after END is not asked for.
        targets[[START, END]] = targets[[END, START]]
        return sources, targets


def prepare(corpus: Corpus, symbols: int, work: Path) -> Prepared:
    """Learn `symbols` byte-pair pieces a language on the training side, or take them from the work folder."""
    source = _segmenter(corpus.train.source, symbols, work)
    target = _segmenter(corpus.train.target, symbols, work)
    parts = (_part(pairs, source, target) for pairs in (corpus.train, corpus.valid, corpus.test))
    return Prepared(source, target, *parts)


def _segmenter(lines: Sequence[str], symbols: int, work: Path) -> Segmenter:
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    path = work / f"pieces-{symbols}-{digest}.json"
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Segmenter(merges=kept["merges"], pieces=tuple(kept["pieces"]))
    segmenter = Segmenter.learn(lines, symbols)
    work.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(asdict(segmenter), ensure_ascii=False))
    return segmenter


def _part(pairs: Pairs, source: Segmenter, target: Segmenter) -> Part:
    return Part(
        as_arrays([source.encode(line) for line in pairs.source]),
        as_arrays([target.encode(line) for line in pairs.target]),
        pairs.source,
        pairs.target,
    )
