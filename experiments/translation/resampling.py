"""How much of a difference in BLEU the choice of test sentences may explain: a paired bootstrap (Koehn 2004)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.bleu import BLEU

from experiments.common.results import Row
from experiments.translation.outputs import REFERENCE, Outputs, label_of

ORDERS = 4
SAMPLES = 1000
COVERED = 95

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def sentence_counts(hypotheses: Sequence[str], references: Sequence[str]) -> Counts:
    """(sentences, 10): n-grams that match, n-grams proposed, both for n = 1 to 4, and the two lengths"""
    metric = BLEU(tokenize="none", smooth_method="none", effective_order=True)
    scores = [metric.sentence_score(*pair) for pair in zip(hypotheses, ([line] for line in references), strict=True)]
    return np.array([[*each.counts, *each.totals, each.sys_len, each.ref_len] for each in scores], dtype=np.int64)


def bleu_of(counts: Counts) -> Floats:
    """Counts summed over sentences, (..., 10) -> BLEU"""
    matched, proposed = counts[..., :ORDERS], counts[..., ORDERS : 2 * ORDERS]
    lengths = counts[..., 2 * ORDERS :]
    with np.errstate(divide="ignore"):
        precision = np.log(matched / np.maximum(proposed, 1)).mean(axis=-1)
    brevity = np.minimum(0, 1 - lengths[..., 1] / np.maximum(lengths[..., 0], 1))
    return 100 * np.exp(precision + brevity)


def difference_interval(ours: Sequence[Counts], theirs: Sequence[Counts]) -> tuple[float, float]:
    """Between which bounds 95 % of all samples of sentences have the difference of the runs' mean BLEU"""
    count = len(ours[0])
    # How often each sentence is drawn; both sides get the same.
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=SAMPLES)
    means = [np.mean([bleu_of(drawn @ run) for run in runs], axis=0) for runs in (ours, theirs)]
    rest = (100 - COVERED) / 2
    low, high = np.percentile(means[0] - means[1], [rest, 100 - rest])
    return float(low), float(high)


class Resampling:
    """Intervals for rows of results, as far as their whole translations are there."""

    def __init__(self, outputs: Outputs) -> None:
        self.outputs = outputs
        self._counts = cache(self._counts_of)

    def _counts_of(self, label: str) -> Counts | None:
        lines, references = self.outputs.read(label), self.outputs.read(REFERENCE)
        return None if lines is None or references is None else sentence_counts(lines, references)

    def _runs(self, rows: Sequence[Row]) -> list[Counts] | None:
        runs = [self._counts(label_of(row)) for row in rows]
        found = [run for run in runs if run is not None]
        return found if len(found) == len(runs) else None

    def interval(self, rows: Sequence[Row], reference: Sequence[Row]) -> tuple[float, float] | None:
        """Of the difference of mean BLEU; None where a row's translations are missing"""
        ours, theirs = self._runs(rows), self._runs(reference)
        return None if ours is None or theirs is None else difference_interval(ours, theirs)

    def bracket(self, rows: Sequence[Row], reference: Sequence[Row]) -> str:
        """The interval as it stands behind a difference: ` [-0.61, +0.35]`, nothing where it is not known"""
        bounds = self.interval(rows, reference)
        return "" if bounds is None else f" [{bounds[0]:+.2f}, {bounds[1]:+.2f}]"
