"""What a row of the table is called, and the model's tables that the name stands for.

baseline                 both tables dense, trained with the rest
fixed                    the baseline's tables as they are, fixed: what coded and uniform rows share but the rounding
prune-90                 the baseline's tables, 90 % of their values zero, trained further (Han et al. 2015)
uniform-4                the baseline's tables rounded to 4 bits a value, fixed
additive-32x16           coded by lexicode's learner, fixed; one set of codebooks serves both languages
gumbel-32x16             coded by the paper's network, likewise
additive-weighted-32x16  a row counts by the square root of how often training looks it up (a softmax's rows count
                         alike); likewise gumbel's
additive-32x16-each      each language has codebooks of its own
additive-32x16-head      the softmax's table is coded too, and scored by `logits`; its codebooks train
additive-32x16-swapped   put into the baseline's model as it is: nothing trains again; likewise gumbel's and uniform's
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from experiments.common.learning import Log, learned
from experiments.common.sizes import Sizes, code_bytes, dense_bytes, sizes_of
from experiments.common.uniform import quantize
from lexicode import CodedEmbedding, CodeScheme, SettingError, Vectors
from lexicode.torch import CompositionalEmbedding, CompositionalHead

Table = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]

PRUNED = re.compile(r"prune-(\d{1,2})")
UNIFORM = re.compile(r"uniform-(\d{1,2})(-swapped)?")
CODED = re.compile(r"(additive|gumbel)(-weighted)?-(\d+x\d+)(-each)?(-head)?(-swapped)?")


@dataclass(frozen=True, kw_only=True)
class RowName:
    """kind: baseline, fixed, prune, uniform, additive or gumbel; number: percent or bits; scheme: of the coded ones

    >>> name = RowName.parse("additive-weighted-16x16-swapped")
    >>> name.kind, str(name.scheme), name.weighted, name.swapped, name.head
    ('additive', '16x16', True, True, False)
    """

    text: str
    kind: str
    number: int = 0
    scheme: CodeScheme | None = None
    weighted: bool = False
    each: bool = False
    head: bool = False
    swapped: bool = False

    @classmethod
    def parse(cls, text: str) -> RowName:
        if text in ("baseline", "fixed"):
            return cls(text=text, kind=text)
        if match := PRUNED.fullmatch(text):
            return cls(text=text, kind="prune", number=int(match[1]))
        if match := UNIFORM.fullmatch(text):
            if not 1 <= (number := int(match[1])) <= 8:
                raise SettingError(f"row {text!r}: {number} bits are not between 1 and 8")
            return cls(text=text, kind="uniform", number=number, swapped=match[2] is not None)
        if match := CODED.fullmatch(text):
            kind, weighted, scheme, each, head, swapped = match.groups()
            return cls(
                text=text, kind=kind, scheme=CodeScheme.parse(scheme),
                weighted=bool(weighted), each=bool(each), head=bool(head), swapped=bool(swapped),
            )  # fmt: skip
        raise SettingError(
            f"row {text!r} is none of baseline, fixed, prune-90, uniform-4, additive-32x16, gumbel-32x16 and their like"
        )


@dataclass(frozen=True, kw_only=True)
class Layers:
    """What stands for the two tables, and for the softmax's where it is coded; what they take and how they were made.

    loss: mean squared distance a row to the baseline's tables; weighted_loss: the same, rows counting as they do
    for weighted codes; vectors: basis vectors, or rows of dense tables;
    sizes and head_sizes: None for what is still to be trained
    """

    source: nn.Module
    target: nn.Module
    head: CompositionalHead | None = None
    vectors: int
    sizes: Sizes | None = None
    code_bits: int | None = None
    code_bytes: int | None = None
    loss: float | None = None
    weighted_loss: float | None = None
    learning_seconds: float = 0.0
    learning_iterations: int | None = None
    head_sizes: Sizes | None = None


@dataclass(frozen=True, kw_only=True)
class CodeSettings:
    """effort: of the additive learner; iterations and time_limit (seconds): of the paper's network"""

    effort: str = "balanced"
    iterations: int = 200_000
    time_limit: float | None = None

    def of(self, kind: str) -> dict[str, Any]:
        if kind == "additive":
            return {"effort": self.effort}
        return {"iterations": self.iterations, "time_limit": self.time_limit}


class LaterRows(nn.Module):
    """Rows of a layer from `first` on, for the second of two tables that share one layer."""

    def __init__(self, layer: nn.Module, first: int) -> None:
        super().__init__()
        self.layer, self.first = layer, first

    def forward(self, ids: Tensor) -> Tensor:
        rows: Tensor = self.layer(ids + self.first)
        return rows


def _fixed(table: Table) -> nn.Embedding:
    return nn.Embedding.from_pretrained(torch.from_numpy(table))


def dense_sizes(*tables: Table) -> Sizes:
    plain = sum(table.nbytes for table in tables)
    return Sizes(paper_bytes=sum(dense_bytes(table) for table in tables), stored_bytes=plain, file_bytes=plain)


@torch.no_grad()
def as_in_file(layers: Layers) -> Layers:
    """A head whose codebooks have trained as lexicode's file would have it, and what that takes."""
    if layers.head is None:
        return layers
    codebooks = layers.head.embedding.codebooks
    codebooks.copy_(codebooks.half())
    return replace(layers, head_sizes=sizes_of(layers.head.embedding.to_coded()))


def fixed_layers(source: Table, target: Table) -> Layers:
    return Layers(
        source=_fixed(source),
        target=_fixed(target),
        vectors=len(source) + len(target),
        sizes=dense_sizes(source, target),
    )


def row_weights(counts: Sequence[Counts]) -> list[Weights]:
    """Of each table: the square root of how often training looks a row up, one more for what it never does

    >>> row_weights([np.array([0, 3, 99])])
    [array([ 1.,  2., 10.])]
    """
    return [np.sqrt(count + 1.0) for count in counts]


def uniform_layers(bits: int, source: Table, target: Table, counts: Sequence[Counts]) -> Layers:
    quantized = [quantize(table, bits) for table in (source, target)]
    rows = [each.decode() for each in quantized]
    return Layers(
        source=_fixed(rows[0]),
        target=_fixed(rows[1]),
        vectors=len(source) + len(target),
        sizes=_sum([each.sizes for each in quantized]),
        **_losses(rows, [source, target], counts),
    )


def coded_layers(
    name: RowName,
    source: Table,
    target: Table,
    head: Table,
    *,
    counts: Sequence[Counts],
    seed: int,
    settings: CodeSettings,
    work: Path,
    log: Log,
) -> Layers:
    """Learn the codes of the baseline's tables, or take them from the work folder, and make layers of them.

    counts: how often training looks each row of source and target up
    """
    scheme = name.scheme
    if scheme is None:
        raise SettingError(f"row {name.text!r} has no codes")

    def code(table: Table, weights: Weights | None = None) -> tuple[CodedEmbedding, float, int | None]:
        done = learned(
            Vectors(table), name.kind, str(scheme), work=work, log=log, threads=torch.get_num_threads(), seed=seed,
            weights=weights, **settings.of(name.kind),
        )  # fmt: skip
        return done.coded, done.seconds, done.iterations

    tables, weights = [source, target], row_weights(counts)
    if not name.each:
        tables, weights = [np.concatenate(tables)], [np.concatenate(weights)]
    codings = [code(table, row if name.weighted else None) for table, row in zip(tables, weights, strict=True)]
    coded, seconds, iterations = zip(*codings, strict=True)
    layers = [CompositionalEmbedding.from_coded(each) for each in coded]
    shared = LaterRows(layers[0], len(source))
    head_layer, head_seconds = None, 0.0
    if name.head:
        head_coded, head_seconds, _ = code(head)
        bias = nn.Parameter(torch.zeros(len(head)))
        head_layer = CompositionalHead(CompositionalEmbedding.from_coded(head_coded, freeze=False), bias)
    return Layers(
        source=layers[0],
        target=layers[1] if name.each else shared,
        head=head_layer,
        vectors=scheme.basis_vectors * len(coded),
        sizes=_sum([sizes_of(each) for each in coded]),
        code_bits=scheme.bits_per_row,
        code_bytes=sum(code_bytes(len(each), scheme) for each in coded),
        **_losses([each.decode() for each in coded], [source, target], counts),
        learning_seconds=sum(seconds) + head_seconds,
        learning_iterations=iterations[0],
    )


def _sum(sizes: list[Sizes]) -> Sizes:
    def total(values: list[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if len(known) == len(values) else None

    return Sizes(
        paper_bytes=sum(each.paper_bytes for each in sizes),
        stored_bytes=total([each.stored_bytes for each in sizes]),
        file_bytes=total([each.file_bytes for each in sizes]),
    )


def _losses(decoded: Sequence[Table], original: Sequence[Table], counts: Sequence[Counts]) -> dict[str, float]:
    """The layers' `loss` and `weighted_loss`"""
    distances = np.square(np.concatenate(decoded) - np.concatenate(original)).sum(axis=1, dtype=np.float64)
    return {
        "loss": float(distances.mean()),
        "weighted_loss": float(np.average(distances, weights=np.concatenate(row_weights(counts)))),
    }
