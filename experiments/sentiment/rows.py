"""A row of the table by its name: the embedding layer that the model trains on, and what it costs.

baseline             the vectors as they are; baseline-tuned trains them with the model
prune-80             fine-tuned while 80 % of its values become zero
uniform-4            4 bits a value
npq-10x256           normalized product quantization
gumbel-16x32         the paper's network
additive-16x32       lexicode's default learner; between the two may stand, in this order,
  thorough           the effort: fast, balanced or thorough
  weighted           a word counts by the square root of how often the training texts have it
  aimed              errors count for more along the direction that tells good reviews from bad; see aiming.py
  scaled             rows vary as much as the vectors do; see scaling.py
  tuned              the codebooks train with the model, as a pruned table's values do; the codes stay
  exact50            the 50 most frequent words are kept as they are
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from experiments.common.learning import Learned, Log, learned
from experiments.common.sizes import Sizes, dense_bytes, sizes_of, sparse_bytes
from experiments.common.uniform import quantize
from experiments.sentiment.aiming import Aim
from experiments.sentiment.reviews import Corpus
from experiments.sentiment.scaling import with_variance_of
from lexicode import CodeScheme, SettingError, Vectors
from lexicode.torch import CompositionalEmbedding

# The network's cost grows with the square of M·K: above this many basis vectors it may stop at the time limit.
UNLIMITED_BASIS_VECTORS = 1024
TIME_LIMIT = 40 * 60.0
PAPER_ITERATIONS = 200_000

Table = npt.NDArray[np.float32]


CODED = re.compile(
    r"(additive|gumbel|npq|product)(?:-(fast|balanced|thorough))?(-weighted)?(-aimed)?(-scaled)?(-tuned)?(?:-exact(\d+))?-(\d+x\d+)"
)


@dataclass(frozen=True, kw_only=True)
class RowName:
    """A name taken apart. number: the percent of a pruned row, or the bits of a uniform one.

    >>> name = RowName.parse("additive-thorough-weighted-aimed-exact50-12x16")
    >>> name.kind, name.effort, name.weighted, name.aimed, name.exact, name.scheme
    ('additive', 'thorough', True, True, 50, '12x16')
    """

    text: str
    kind: str
    number: int = 0
    effort: str | None = None
    weighted: bool = False
    aimed: bool = False
    scaled: bool = False
    tuned: bool = False
    exact: int = 0
    scheme: str | None = None

    @classmethod
    def parse(cls, text: str) -> RowName:
        if text in ("baseline", "baseline-tuned"):
            return cls(text=text, kind="baseline", tuned=text != "baseline")
        if match := re.fullmatch(r"(prune|uniform)-(\d+)", text):
            return cls(text=text, kind=match[1], number=int(match[2]))
        if match := CODED.fullmatch(text):
            if match[1] != "additive" and any(match.groups()[1:-1]):
                raise SettingError(
                    f"row {text!r}: effort, weighted, aimed, scaled, tuned and exact go with additive alone"
                )
            return cls(
                text=text,
                kind=match[1],
                effort=match[2],
                weighted=bool(match[3]),
                aimed=bool(match[4]),
                scaled=bool(match[5]),
                tuned=bool(match[6]),
                exact=int(match[7] or 0),
                scheme=str(CodeScheme.parse(match[8])),
            )
        raise SettingError(
            f"row {text!r} is none of baseline, prune-80, uniform-4, npq-10x256, gumbel-16x32, additive-16x32 "
            "or the like with other numbers"
        )

    @property
    def zeros(self) -> float | None:
        """The fraction of values that a pruned row sets to zero."""
        return self.number / 100 if self.kind == "prune" else None


@dataclass(frozen=True, kw_only=True)
class Learning:
    """How codes are learned; the defaults are the paper's for its network, and lexicode's own."""

    iterations: int = PAPER_ITERATIONS
    effort: str = "balanced"
    threads: int | None = None


@dataclass(frozen=True, kw_only=True)
class Layer:
    """embedding: row numbers -> vectors. loss: the mean squared distance a row from the vectors it stands for.
    sizes and loss are None for what trains with the model; see `trained_layer`."""

    embedding: nn.Module
    sizes: Sizes | None = None
    loss: float | None = None
    learned: Learned | None = None


def make_layer(name: RowName, corpus: Corpus, learning: Learning, *, work: Path, log: Log) -> Layer:
    vectors = corpus.vectors
    table = vectors.take(np.arange(len(vectors)))
    if name.kind == "prune" or (name.kind == "baseline" and name.tuned):
        return Layer(embedding=nn.Embedding.from_pretrained(torch.from_numpy(table), freeze=False, sparse=True))
    if name.kind == "baseline":
        return Layer(embedding=_fixed(table), sizes=_dense_sizes(table, vectors), loss=0.0)
    if name.kind == "uniform":
        rounded = quantize(table, name.number)
        decoded = rounded.decode()
        return Layer(embedding=_fixed(decoded), sizes=rounded.sizes, loss=squared_distance(table, decoded))
    codes = make_codes(name, corpus, learning, work=work, log=log)
    if name.tuned:
        return Layer(embedding=CompositionalEmbedding.from_coded(codes.coded, freeze=False), learned=codes)
    return Layer(
        embedding=CompositionalEmbedding.from_coded(codes.coded),
        sizes=sizes_of(codes.coded),
        loss=squared_distance(table, codes.coded.decode()),
        learned=codes,
    )


def trained_layer(layer: Layer, name: RowName, corpus: Corpus) -> Layer:
    """The layer with its sizes and its loss, where they were not known before it was trained."""
    if layer.sizes is not None:
        return layer
    before = corpus.vectors.take(np.arange(len(corpus.vectors)))
    if isinstance(layer.embedding, CompositionalEmbedding):
        coded = layer.embedding.to_coded(corpus.vectors.words)
        return replace(layer, sizes=sizes_of(coded), loss=squared_distance(before, coded.decode()))
    table = layer.embedding.get_parameter("weight").detach().numpy()
    if name.kind == "prune":
        return replace(layer, sizes=Sizes(paper_bytes=sparse_bytes(table)))
    return replace(layer, sizes=_dense_sizes(table, corpus.vectors), loss=squared_distance(before, table))


def make_codes(name: RowName, corpus: Corpus, learning: Learning, *, work: Path, log: Log) -> Learned:
    """The codes of a coded row, learned once for all rows and tables that use them."""
    if name.scheme is None:
        raise SettingError(f"row {name.text!r} has no codes")
    settings: dict[str, Any] = {}
    # A word that only the test texts have is not worth nothing.
    weights = np.sqrt(corpus.counts + 1.0) if name.weighted else None
    if name.kind == "gumbel":
        settings = {"iterations": learning.iterations}
        if CodeScheme.parse(name.scheme).basis_vectors > UNLIMITED_BASIS_VECTORS:
            settings["time_limit"] = TIME_LIMIT
    elif name.kind == "additive":
        settings = {"effort": name.effort or learning.effort}
        if weights is not None:
            settings["weights"] = weights
        if name.exact:
            settings["exact"] = name.exact
    aim = Aim.at_labels(corpus) if name.aimed else None
    vectors = corpus.vectors if aim is None else aim.stretch(corpus.vectors)
    codes = learned(vectors, name.kind, name.scheme, work=work / "codes", log=log, threads=learning.threads, **settings)
    if aim is not None:
        codes = replace(codes, coded=aim.shrink_back(codes.coded))
    if name.scaled:
        table = corpus.vectors.take(np.arange(len(corpus.vectors)))
        counting = np.ones(len(table)) if weights is None else weights
        codes = replace(codes, coded=with_variance_of(codes.coded, table, counting))
    return codes


def squared_distance(table: Table, decoded: Table) -> float:
    """Both (V, dim) -> the mean over rows of the squared distance"""
    return float(np.square(table - decoded).sum(axis=1, dtype=np.float64).mean())


def _dense_sizes(table: Table, vectors: Vectors) -> Sizes:
    """The compressed dump; beside it the plain float32 table, and that with its words as text."""
    return Sizes(paper_bytes=dense_bytes(table), stored_bytes=table.nbytes, file_bytes=vectors.original_bytes)


def _fixed(table: Table) -> nn.Embedding:
    embedding: nn.Embedding = nn.Embedding.from_pretrained(torch.from_numpy(table))
    return embedding
