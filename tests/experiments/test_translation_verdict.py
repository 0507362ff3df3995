"""What the translation report says of its rows, from rows made up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.translation.outputs import Outputs
from experiments.translation.resampling import Resampling, bleu_of, difference_interval, sentence_counts
from experiments.translation.scoring import tokenized_bleu
from experiments.translation.verdict import verdict

NO_OUTPUTS = Resampling(Outputs(Path("nowhere/translation.json")))


def row(name: str, bleu: float, paper_bytes: int, **more: Any) -> dict[str, Any]:
    kind = name.partition("-")[0]
    return {
        "name": name, "seed": 1, "kind": kind, "bleu": bleu, "validation": bleu, "rows": [100, 200], "loss": 0.5,
        "learning_iterations": 200_000, "iterations": 9000,
        "paper_bytes": paper_bytes, "file_bytes": paper_bytes // 2, **more,
    }  # fmt: skip


def told(*rows: dict[str, Any], resampling: Resampling = NO_OUTPUTS) -> str:
    found: dict[str, list[dict[str, Any]]] = {}
    for each in rows:
        found.setdefault(each["name"], []).append(each)
    return verdict(found, resampling)


BASELINES = [row("baseline", 40.0, 2**20), row("baseline", 41.0, 2**20, seed=2)]


def test_nothing_is_said_before_there_is_a_baseline() -> None:
    assert told(row("additive-4x4", 40, 1000)) == ""


def test_differences_come_with_the_standard_error_of_their_seeds() -> None:
    several = [row(name, 38.0 + seed, 2**16, seed=seed) for name in ("gumbel-4x4", "additive-4x4") for seed in (1, 2)]
    text = told(*BASELINES, *several, row("additive-8x4", 39.5, 2**17))
    assert "The baseline reaches 40.50 (40.00 and 41.00 with seeds 1 and 2) with 1.00 MB." in text
    assert "by the 3 rows of several seeds, is 0.71;" in text
    # 0.7071 * sqrt(1 / 2 + 1 / 2), and with one seed of each 0.7071 * sqrt(1 + 1)
    assert (
        "additive-4x4: 39.50 (39.00 and 40.00 with seeds 1 and 2), -1.00 against the baseline (standard error 0.71)"
        in text
    )
    assert "additive-8x4: 39.50 (seed 1), -0.50 against the baseline (standard error 1.00)" in text
    assert "93.75 % smaller (16 times) by the paper's count, 93.75 % smaller (16 times) as a file of 32,768" in text


def test_too_few_seeds_give_no_standard_error() -> None:
    text = told(*BASELINES, row("gumbel-4x4", 39.5, 2**16))
    assert "Too few rows have several seeds for a standard error. Those that have: baseline 40.00 and 41.00." in text
    assert "-0.50 against the baseline;" in text
    assert "All rows are of one seed" in told(BASELINES[0], row("gumbel-4x4", 39.5, 2**16))


def test_the_schedules_luck_is_told() -> None:
    runs = [row(f"additive-{M}x4", 40, M * 1000, iterations=M * 1000) for M in (2, 3)]
    head = row("additive-2x4-head", 40, 2000, iterations=1000, head={"paper_bytes": 100, "file_bytes": 100})
    text = told(BASELINES[0], *runs, head, row("prune-90", 40, 5000, iterations=10**6, file_bytes=None))
    assert "3 runs from fresh values end after 2,000 to 9,000 iterations" in text
    assert "The schedule" not in told(*BASELINES)


def test_a_gain_over_the_baseline_is_not_taken_for_the_codes() -> None:
    text = told(*BASELINES, row("fixed", 41.5, 2**20), row("additive-4x4", 41.25, 2**16))
    assert "41.50 (seed 1): +1.50 against the baseline." in text
    assert "additive-4x4: 41.25 (seed 1), +1.25 against the baseline and -0.25 against fixed;" in text


def test_only_equal_seeds_are_compared() -> None:
    text = told(*BASELINES, row("fixed", 41.5, 2**20), row("additive-4x4", 41.25, 2**16, seed=2))
    assert "additive-4x4: 41.25 (seed 2), +0.25 against the baseline;" in text
    assert "baseline's same seeds: additive-4x4 (41.25, baseline 41.00)." in text
    both = [row("additive-4x4", 41.0 + seed, 2**16, seed=seed) for seed in (1, 2)]
    assert "+2.00 against the baseline and +0.50 against fixed at seed 1;" in told(
        *BASELINES, row("fixed", 41.5, 2**20), *both
    )


def test_weighted_rows_are_no_evidence_for_the_papers_claim() -> None:
    rows = [row("gumbel-4x4", 40.5, 2**15), row("additive-4x4", 39.5, 2**15)]
    weighted = [row("additive-weighted-4x4", 41.0, 2**15), row("additive-weighted-2x4", 42.0, 2**14)]
    text = told(BASELINES[0], *rows, *weighted)
    assert "and leave the softmax dense (additive-4x4, gumbel-4x4): +0.00 in the mean of 2 runs against" in text
    both = "additive-weighted-4x4, additive-weighted-2x4"
    assert f"square root of its look-ups ({both}): +1.50 in the mean of 2 runs against" in text
    assert "square root" not in told(BASELINES[0], *rows, weighted[0])


def test_all_rows_that_are_small_enough_are_told_together() -> None:
    rows = [row("gumbel-4x4", 40.5, 2**16 - 5000), row("additive-8x4", 44.0, 2**17), row("additive-2x4", 39.0, 2**15)]
    assert "in the mean of 2 runs" not in told(BASELINES[0], *rows[:2])
    assert "and leave the softmax dense (gumbel-4x4, additive-2x4): -0.25 in the mean of 2 runs" in told(
        *BASELINES, *rows
    )
    second = [row("additive-2x4", 40.0, 2**15, seed=2), row("gumbel-4x4", 41.5, 2**16 - 5000, seed=2)]
    # Four runs, two for each baseline: 0.7071 * sqrt(1 / 4 + 1 / 4 + 1 / 4)
    told_error = "-0.25 in the mean of 4 runs (standard error 0.61) against the baselines of their seeds."
    assert told_error in told(*BASELINES, *rows, *second)
    # Of the runs against the fixed tables, only those of their seed: 0.7071 * sqrt(1 / 2 + 1)
    controlled = told(*BASELINES, row("fixed", 42.0, 2**20, seed=2), *rows, *second)
    assert "of their seeds, -1.25 in the mean of 2 runs (standard error 0.87) against fixed." in controlled
    # The second baseline serves one run of three: sqrt(2.5 / 3) * sqrt(1 / 3 + 4 / 9 + 1 / 9)
    third = row("baseline", 39.0, 2**20, seed=3)
    assert "(40.00, 41.00 and 39.00 with seeds 1, 2 and 3)" in told(*BASELINES, third)
    unequal = told(*BASELINES, third, *rows, second[0])
    assert "-0.50 in the mean of 3 runs (standard error 0.86)" in unequal


def test_rows_of_a_seed_without_a_baseline_are_left_out() -> None:
    text = told(BASELINES[0], row("additive-4x4", 41.25, 2**16, seed=3), row("gumbel-4x4", 41.25, 2**16))
    assert "additive-4x4" not in text
    assert "gumbel-4x4" in text


def test_schemes_without_loss_are_told_by_validation() -> None:
    rows = [
        row("additive-16x4", 40.0, 4000, validation=40.6),
        row("additive-8x4", 40.6, 3000, validation=40.0),
        row("additive-4x4", 40.9, 2000, validation=39.9),
        row("additive-2x4", 40.9, 1000, validation=40.9),
        row("additive-2x4-each", 40.9, 900, validation=41.9),
    ]
    text = told(*BASELINES, *rows)
    kept = ", ".join(
        f"additive-{scheme} ({score}, baseline 40.00)"
        for scheme, score in (("16x4", "40.60"), ("8x4", "40.00"), ("2x4", "40.90"))
    )
    assert f"(4 tried), on the validation set not below the smoothed BLEU of the baseline's same seeds: {kept}." in text
    assert "(40.90, baseline 40.00). The smallest: additive-2x4." in text
    text = told(*BASELINES, *rows, row("additive-weighted-2x4", 40.9, 1000, validation=40.9))
    assert "(5 tried)" in text
    assert ". The smallest: additive-2x4 and additive-weighted-2x4." in text
    assert text.index("additive-16x4") < text.index("additive-4x4") < text.index("additive-2x4:")
    assert "baseline's same seeds: none." in told(*BASELINES, rows[2])


def test_both_learners_losses_where_both_have_the_scheme() -> None:
    rows = [
        row("gumbel-4x4", 40, 2000, loss=0.8),
        row("additive-4x4", 39.5, 2000, loss=0.6),
        row("gumbel-8x4", 40, 3000),
    ]
    text = told(*BASELINES, *rows)
    assert "network's, 25 % lower at 4x4. Its BLEU is at 4x4 -0.50 against gumbel-4x4." in text
    rows[1]["loss"] = 1.0
    assert "25 % higher at 4x4." in told(*BASELINES, *rows)
    rows[1]["seed"] = 2
    assert "Lexicode's loss" not in told(*BASELINES, *rows)


def test_a_network_that_was_stopped_is_told() -> None:
    text = told(*BASELINES, row("gumbel-4x4", 40, 2000, learning_iterations=7000))
    assert "(the network was stopped after 7,000 of 200,000 iterations)" in text


def test_a_coded_softmax_is_told_apart() -> None:
    head = {"paper_bytes": 60_000, "file_bytes": 48_000}
    rows = [row("additive-4x4", 40.2, 2000), row("additive-4x4-head", 40.0, 2000, head=head)]
    text = told(*BASELINES, *rows)
    # 600 values for each of 200 pieces are 480,000 bytes.
    assert "-0.20 against additive-4x4;" in text
    assert "the softmax's 0.458 MB become a file of 48,000 bytes, 90.00 % smaller (10 times)" in text
    assert text.count("additive-4x4-head") == 1


def test_rivals_have_no_file_of_their_own() -> None:
    text = told(*BASELINES, row("prune-90", 40.5, 2**17, file_bytes=None))
    assert "The rival prune-90: 40.50 (seed 1), +0.50 against the baseline; 87.50 % smaller (8 times)" in text


# ---- resampled sentences


def made_up_lines(seed: int, wrong: float) -> tuple[list[str], list[str]]:
    """(hypotheses, references) of 60 sentences; a share of the words is wrong"""
    rng = np.random.default_rng(seed)
    words = np.array(["a", "dog", "cat", "runs", "sleeps", "with", "the", "ball", ".", ","])
    references = [rng.choice(words, size=rng.integers(6, 15)) for _ in range(60)]
    hypotheses = [np.where(rng.random(len(line)) < wrong, rng.choice(words), line) for line in references]
    return [" ".join(line) for line in hypotheses], [" ".join(line) for line in references]


def test_counts_sum_up_to_bleu() -> None:
    for wrong in (0.1, 0.5):
        hypotheses, references = made_up_lines(1, wrong)
        hypotheses[0] = hypotheses[0][:3]
        counts = sentence_counts(hypotheses, references)
        expected = tokenized_bleu(hypotheses, references)
        assert expected > 5
        assert float(bleu_of(counts.sum(axis=0))) == pytest.approx(expected, abs=1e-9)


def test_the_interval_holds_the_difference_and_knows_its_sign() -> None:
    good, poor = (sentence_counts(*made_up_lines(2, wrong)) for wrong in (0.05, 0.4))
    low, high = difference_interval([good], [poor])
    assert 0 < low < float(bleu_of(good.sum(axis=0)) - bleu_of(poor.sum(axis=0))) < high
    assert difference_interval([poor], [good]) == pytest.approx((-high, -low))
    assert difference_interval([good], [good]) == (0, 0)
    # Two runs of a side count as their mean.
    middle = difference_interval([good, poor], [poor])
    assert middle == pytest.approx((low / 2, high / 2))


def test_intervals_stand_where_whole_translations_are(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path / "translation.json")
    for label, wrong in (("baseline-1", 0.3), ("gumbel-4x4-1", 0.1)):
        hypotheses, references = made_up_lines(3, wrong)
        outputs.write(label, hypotheses)
    outputs.write("reference", references)
    rows = [BASELINES[0], row("gumbel-4x4", 41, 2000), row("additive-4x4", 41, 2000)]
    text = told(*rows, resampling=Resampling(outputs))
    assert "95 % of 1,000 resamplings" in text
    assert "gumbel-4x4: 41.00 (seed 1), +1.00 against the baseline [+" in text
    assert "additive-4x4: 41.00 (seed 1), +1.00 against the baseline;" in text
