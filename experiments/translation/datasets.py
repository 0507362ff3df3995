"""The named data sets, each with its settings: the paper's, and Multi30k's, small enough for two cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from experiments.translation.corpora import Corpus, read_aspec, read_iwslt14, read_multi30k, split_anew
from experiments.translation.training import TrainingSettings


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """A line of the paper's Table 4; sizes in its MB, None where it has none."""

    row: str
    vectors: int
    code_bits: int | None
    code_size: float | None
    total_size: float
    bleu: float


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """read: folder -> tokenized corpus; scored: the model's lines -> what BLEU is of; symbols: byte-pair pieces a
    language; units: width of embeddings and LSTMs; rows: in order of worth, so that whoever stops early has what says
    most"""

    name: str
    title: str
    read: Callable[[Path], Corpus]
    scored: Callable[[list[str]], list[str]] = list
    symbols: int
    units: int
    training: TrainingSettings
    rows: tuple[str, ...]
    paper: tuple[PaperRow, ...] = ()


# Hardly any work beyond learning the codes, which retrained rows share where there are such.
SWAPPED_ROWS = (
    "additive-64x16-swapped",
    "gumbel-64x16-swapped",
    "additive-32x16-swapped",
    "gumbel-32x16-swapped",
    "additive-16x16-swapped",
    "additive-weighted-64x16-swapped",
    "additive-weighted-32x16-swapped",
    "gumbel-weighted-32x16-swapped",
    "additive-weighted-16x16-swapped",
    "uniform-4-swapped",
    "uniform-2-swapped",
)
PAPERS_ROWS = ("baseline", "additive-32x16", "gumbel-32x16", "additive-64x16", "gumbel-64x16", "prune-90")

_ALL = (
    DataSet(
        name="multi30k",
        title="Multi30k German to English, test_2016_flickr",
        read=read_multi30k,
        symbols=8_000,
        units=256,
        # Half the paper's batch: with so few sentences it is the steps that run out. Three validations an epoch.
        training=TrainingSettings(batch_size=32, validate_every=302, validation_sentences=1014, max_epochs=20),
        rows=(
            "baseline",
            "additive-32x16",
            "gumbel-32x16",
            "additive-64x16",
            "gumbel-64x16",
            "fixed",
            "prune-90",
            "additive-16x16",
            "additive-weighted-32x16",
            "additive-weighted-16x16",
            "uniform-4",
            "prune-95",
            "uniform-2",
            "additive-8x16",
            "additive-32x16-head",
            "additive-32x16-each",
            *SWAPPED_ROWS,
        ),
    ),
    DataSet(
        name="iwslt14",
        title="IWSLT14 German to English",
        read=read_iwslt14,
        symbols=20_000,
        units=256,
        training=TrainingSettings(),
        rows=(*PAPERS_ROWS, "prune-95", "uniform-4", "uniform-2", *SWAPPED_ROWS),
        paper=(
            PaperRow(row="baseline", vectors=40_000, code_bits=None, code_size=None, total_size=35, bleu=29.45),
            PaperRow(row="prune-90", vectors=40_000, code_bits=None, code_size=None, total_size=5.21, bleu=29.34),
            PaperRow(row="prune-95", vectors=40_000, code_bits=None, code_size=None, total_size=2.63, bleu=28.84),
            PaperRow(row="gumbel-32x16", vectors=512, code_bits=128, code_size=0.61, total_size=1.05, bleu=29.04),
            PaperRow(row="gumbel-64x16", vectors=1024, code_bits=256, code_size=1.22, total_size=2.11, bleu=29.56),
        ),
    ),
    DataSet(
        name="aspec",
        title="ASPEC English to Japanese",
        read=read_aspec,
        scored=split_anew,
        symbols=40_000,
        units=1000,
        training=TrainingSettings(),
        rows=(*PAPERS_ROWS, "prune-98", "uniform-4", "uniform-2", *SWAPPED_ROWS),
        paper=(
            PaperRow(row="baseline", vectors=80_000, code_bits=None, code_size=None, total_size=274, bleu=37.93),
            PaperRow(row="prune-90", vectors=80_000, code_bits=None, code_size=None, total_size=41, bleu=38.56),
            PaperRow(row="prune-98", vectors=80_000, code_bits=None, code_size=None, total_size=8.26, bleu=37.09),
            PaperRow(row="gumbel-32x16", vectors=512, code_bits=128, code_size=1.22, total_size=2.97, bleu=38.10),
            PaperRow(row="gumbel-64x16", vectors=1024, code_bits=256, code_size=2.44, total_size=5.94, bleu=38.89),
        ),
    ),
)
DATASETS = {each.name: each for each in _ALL}
