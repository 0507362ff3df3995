"""IMDB reviews (Maas et al. 2011): read, lower-cased, tokenized, and turned into row numbers of a vector table."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from nltk.tokenize import NLTKWordTokenizer

from experiments.common.claims import claimed
from lexicode import InputError, Vectors

LONGEST_REVIEW = 400
VALIDATION_REVIEWS = 1250
# nltk's word rules part a full stop from its word only at the end of the text; each sentence is such a text.
# nltk's own sentence splitter needs a download, and its 1 or 2 % of other choices touch only full stops.
SENTENCE_END = re.compile(r"(?<=\.)\s+|(?<=\.[\"')\]])\s+")


@dataclass(frozen=True, kw_only=True)
class Reviews:
    """ids (tokens,) int32, all reviews one after the other; review i is ids[starts[i] : starts[i + 1]];
    labels (n,) int64, 1 for a positive review"""

    ids: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.starts)

    def take(self, chosen: npt.NDArray[np.int64]) -> Reviews:
        """The reviews of these numbers, in this order."""
        parts = [self.ids[self.starts[i] : self.starts[i + 1]] for i in chosen]
        return Reviews(
            ids=np.concatenate(parts),
            starts=np.concatenate([[0], np.cumsum(self.lengths[chosen])]),
            labels=self.labels[chosen],
        )


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The three parts of the data over one vocabulary: `vectors` are the words that both IMDB and the table have.

    counts (V,) int64: how often each word occurs in the training texts; known: the part of all tokens that have a row
    """

    vectors: Vectors
    train: Reviews
    validation: Reviews
    test: Reviews
    counts: npt.NDArray[np.int64]
    known: float


def load_corpus(data: Path, table: Vectors, *, work: Path, most: int | None = None) -> Corpus:
    """Reviews of `data` over the words of `table`, at most `most` to train on and as many to test; the tokenized texts
    are kept in the work folder."""
    if table.words is None:
        raise InputError(f"{table.source}: a table without words cannot be matched with reviews")
    texts = {split: list(tokenized(data, split, work, most)) for split in ("train", "test")}
    occurring = Counter(token for reviews in texts.values() for _, tokens in reviews for token in tokens)
    rows = np.array([row for row, word in enumerate(table.words) if word in occurring], dtype=np.int64)
    if not len(rows):
        raise InputError(f"{table.source}: none of its words occurs in the reviews of {data}")
    words = [table.words[int(row)] for row in rows]
    vectors = Vectors(table.take(rows), words, source=table.source)
    number = {word: row for row, word in enumerate(words)}
    training = _numbered(texts["train"], number)
    order = np.random.default_rng(0).permutation(len(training))
    held_out = min(VALIDATION_REVIEWS, len(training) // 5)
    return Corpus(
        vectors=vectors,
        train=training.take(np.sort(order[held_out:])),
        validation=training.take(np.sort(order[:held_out])),
        test=_numbered(texts["test"], number),
        counts=np.bincount(training.ids, minlength=len(words)),
        known=sum(occurring[word] for word in words) / occurring.total(),
    )


def _numbered(texts: list[tuple[int, list[str]]], number: dict[str, int]) -> Reviews:
    """Row numbers of the known words, the first LONGEST_REVIEW of each review; a review without any gets word 0."""
    reviews = [[number[token] for token in tokens if token in number][:LONGEST_REVIEW] or [0] for _, tokens in texts]
    return Reviews(
        ids=np.array([row for review in reviews for row in review], dtype=np.int32),
        starts=np.concatenate([[0], np.cumsum([len(review) for review in reviews])]).astype(np.int64),
        labels=np.array([label for label, _ in texts], dtype=np.int64),
    )


# ---- texts


def tokenized(data: Path, split: str, work: Path, most: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """(label, tokens) of each review; from the work folder where they were kept, for tokenizing takes minutes."""
    texts = list(read_reviews(data, split))
    if most is not None:
        # By lot, for reviews may be sorted by label.
        drawn = np.random.default_rng(0).permutation(len(texts))[:most]
        texts = [texts[place] for place in np.sort(drawn)]
    digest = hashlib.sha256("\n".join(text for _, text in texts).encode()).hexdigest()[:8]
    kept = work / f"{split}-{digest}.tokens"
    # Of several processes that begin together one tokenizes, and the others wait for it.
    with claimed(work / "claims" / kept.name, wait=True):
        if not kept.exists():
            temporary = kept.with_suffix(".partial")
            with temporary.open("w", encoding="utf-8") as file:
                for label, text in texts:
                    file.write(" ".join([str(label), *tokens_of(text)]) + "\n")
            temporary.replace(kept)
    with kept.open(encoding="utf-8") as file:
        for line in file:
            first, *tokens = line.rstrip("\n").split(" ")
            yield int(first), tokens


def tokens_of(text: str) -> list[str]:
    """A review in lower case by nltk's word rules.

    >>> tokens_of("It isn't good.<br /><br />It's <i>great</i>!")
    ['it', 'is', "n't", 'good', '.', 'it', "'s", 'great', '!']
    """
    plain = re.sub(r"<[^<>]{1,20}>", " ", text).lower()
    rules = NLTKWordTokenizer()
    # nltk leaves characters that are spaces to Unicode alone inside a token.
    return " ".join(token for part in SENTENCE_END.split(plain) for token in rules.tokenize(part)).split()


def read_reviews(data: Path, split: str) -> Iterator[tuple[int, str]]:
    """(label, text) of `imdb_SPLIT.jsonl.gz` or of the folders SPLIT/pos and SPLIT/neg; in `data` or one level below"""
    for folder in (data, data / "imdb", data / "aclImdb"):
        if (packed := folder / f"imdb_{split}.jsonl.gz").is_file():
            return _read_lines(packed)
        if (folder / split / "pos").is_dir():
            return _read_folders(folder / split)
    raise InputError(f"{data}: neither imdb_{split}.jsonl.gz nor the folders aclImdb/{split}/pos and neg are there")


def _read_lines(path: Path) -> Iterator[tuple[int, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                review = json.loads(line)
                yield int(review["label"]), str(review["text"])
            except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
                raise InputError(f'{path}: line {number}: no {{"label": 0 or 1, "text": ...}} ({error!r})') from None


def _read_folders(folder: Path) -> Iterator[tuple[int, str]]:
    for label, name in enumerate(("neg", "pos")):
        for path in sorted((folder / name).glob("*.txt")):
            yield label, path.read_text(encoding="utf-8")
