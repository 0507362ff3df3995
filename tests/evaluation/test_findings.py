from __future__ import annotations

import json

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import AdditiveLearner, InputError, Vectors, evaluate
from lexicode.evaluation.curve import curve_of
from lexicode.evaluation.findings import examine
from lexicode.evaluation.similarity import Benchmark
from lexicode.learners.progress import Progress


def test_everything_is_found_and_is_json(clustered: Vectors) -> None:
    learner = AdditiveLearner("4x8", effort="fast")
    coded = learner.fit(clustered)
    pairs = tuple((f"word{i}", f"word{i + 1}") for i in range(20))
    benchmark = Benchmark(name="made up", pairs=pairs, scores=np.arange(20.0))
    heard: list[Progress] = []
    findings = examine(
        clustered, coded, benchmarks=[benchmark], curve=curve_of(learner.curve), trial_seconds=1e-9,
        on_progress=heard.append,
    )  # fmt: skip
    told = json.loads(json.dumps(findings.as_dict(), allow_nan=False))
    assert set(told) == {
        "measurements", "vocabulary", "origin", "bits_per_row", "codebook_dtype", "exact_rows", "cosines", "bands",
        "worst", "best", "similarity", "reference", "trials", "curve", "balance", "shared_codes", "explorer",
    }  # fmt: skip
    assert told["measurements"] == evaluate(clustered, coded).as_dict()
    assert told["vocabulary"] == 600
    assert told["similarity"][0]["known"] == 20
    assert told["curve"]["losses"]["loss"][-1] == pytest.approx(learner.loss)
    assert len(told["worst"]) == len(told["best"]) == 12
    assert told["worst"][0]["cosine"] <= told["worst"][-1]["cosine"] <= told["best"][-1]["cosine"]
    assert np.sum(told["balance"]["counts"]) == 4 * 600
    assert told["explorer"]["words"]["0"] == "word0"
    assert len(told["explorer"]["rows"]) == 600
    losses = told["reference"]["losses"]
    assert losses == sorted(losses, reverse=True)
    assert [progress.stage for progress in heard] == ["examining"] * 4 + ["other schemes"]


def test_rows_named_on_the_page_can_be_asked_for() -> None:
    coded = random_coded("1x8", rows=5000, dim=3)
    rng = np.random.default_rng(5)
    vectors = Vectors(coded.decode() + rng.normal(size=(5000, 3)), coded.words)
    findings = examine(vectors, coded, trial_seconds=0)
    asked = set(findings.explorer.rows.tolist())
    assert len(asked) < 2100
    named = [each.row for each in (*findings.worst, *findings.best)]
    named += [row for group in findings.shared.largest for row in group]
    assert max(named) > 2000
    assert asked >= set(named)


def test_words_may_be_those_of_the_vectors() -> None:
    coded = random_coded("2x8", rows=20, dim=3, words=False)
    findings = examine(Vectors(coded.decode(), [f"a{i}" for i in range(20)]), coded, trial_seconds=0)
    assert findings.name_of(3) == "a3"
    assert examine(Vectors(coded.decode()), coded, trial_seconds=0).name_of(3) == "3"


def test_other_tables_are_not_examined() -> None:
    with pytest.raises(InputError, match="not the same table"):
        examine(Vectors(np.ones((3, 2))), random_coded("2x8", rows=20, dim=3))
