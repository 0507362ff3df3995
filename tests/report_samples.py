"""Findings that several tests of the page share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from coded_samples import random_coded
from lexicode import CodedEmbedding, Vectors
from lexicode.evaluation.curve import curve_of
from lexicode.evaluation.findings import Findings, examine
from lexicode.evaluation.similarity import Similarity
from lexicode.evaluation.trials import Trial, Trials
from lexicode.words import Words

# Each would do harm, or be lost, in a page that is put together without care.
HOSTILE = (
    "<script>document.title='hurt'</script>", "</script><img src=x onerror=alert(1)>", '"quoted" & <b>bold</b>',
    "'; alert(1); '", "$body", "{{word}}", "🦊", "日本", "שלום", "a b", "\\u003c", "<!--", "\x00", "\u2028", "",
)  # fmt: skip


def hostile_pair(rows: int = 120) -> tuple[Vectors, CodedEmbedding]:
    """A table whose first words are hostile, coded with an error that can be seen."""
    coded = random_coded("4x16", rows=rows, dim=6)
    coded.words = Words([*HOSTILE, *(f"word{i}" for i in range(len(HOSTILE), rows))])
    noise = np.random.default_rng(7).normal(size=(rows, 6)) * 0.4
    return Vectors((coded.decode() + noise).astype(np.float32), coded.words), coded


def full_findings(**changes: Any) -> Findings:
    """Findings with every section filled."""
    vectors, coded = hostile_pair()
    findings = examine(vectors, coded, curve=curve_of([4.0, 3.0, 2.5]), trial_seconds=0)
    results = tuple(
        Trial(
            scheme=scheme, bits_per_row=bits, file_bytes=bits * 100, ratio=200 / bits, sample_loss=20 / bits,
            expected_loss=18 / bits, own=scheme == "4x16",
        )
        for scheme, bits in (("2x16", 8), ("4x16", 16), ("8x16", 32))
    )  # fmt: skip
    trials = Trials(learner="additive", rows=120, planned=7, skipped="the time was too short", results=results)
    judged = [Similarity(name="<i>pairs</i>", pairs=10, known=9, spearman=value) for value in (0.7, 0.6)]
    filled = {"trials": trials, "similarity": ((judged[0], judged[1]),)}
    return replace(findings, **(filled | changes))
