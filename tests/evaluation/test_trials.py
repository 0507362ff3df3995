from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import AdditiveLearner, CodeScheme, ProductLearner, Vectors, evaluate
from lexicode.evaluation.trials import bytes_with, neighbouring_schemes, trial_learner, try_schemes


def test_more_bits_are_expected_to_lose_less(clustered: Vectors) -> None:
    coded = AdditiveLearner("4x8", effort="fast").fit(clustered)
    loss = evaluate(clustered, coded).loss
    trials = try_schemes(clustered, coded, loss, seconds=600)
    assert trials.skipped == ""
    assert (trials.rows, trials.planned) == (600, len(trials.results))
    by_name = {trial.scheme: trial for trial in trials.results}
    assert set(by_name) == {"2x8", "4x8", "8x8", "3x16", "6x4", "3x8", "6x8"}
    own = by_name["4x8"]
    assert own.own
    assert own.expected_loss == pytest.approx(loss)
    assert by_name["8x8"].expected_loss < own.expected_loss < by_name["2x8"].expected_loss
    assert [trial.bits_per_row for trial in trials.results] == sorted(trial.bits_per_row for trial in trials.results)
    # An estimate is one: within a fifth of what the learner reaches on all rows.
    reached = AdditiveLearner("2x8", effort="fast").fit(clustered)
    assert by_name["2x8"].expected_loss == pytest.approx(evaluate(clustered, reached).loss, rel=0.2)


@pytest.mark.parametrize("normalized", [False, True])
def test_sizes_are_those_of_files(clustered: Vectors, normalized: bool) -> None:
    for first, second in (("5x8", "10x4"), ("2x16", "5x8")):
        makers = [ProductLearner(scheme, normalized=normalized, seed=0) for scheme in (first, second)]
        one, other = (maker.fit(clustered) for maker in makers)
        assert bytes_with(one, one.scheme) == one.file_bytes
        # The record names the first columns of the codebooks, so files differ by some digits more.
        assert abs(bytes_with(one, other.scheme) - other.file_bytes) < 64
        assert trial_learner(one) == ("normalized-product" if normalized else "product")


def test_additive_sizes_are_exact(clustered: Vectors) -> None:
    one, other = (random_coded(scheme, rows=300, dim=7) for scheme in ("4x16", "3x32"))
    assert abs(bytes_with(one, other.scheme) - other.file_bytes) < 16


def test_neighbours_of_the_smallest_and_the_largest_schemes_are_schemes() -> None:
    for text in ("1x2", "256x4096", "1x4096", "256x2", "2x2"):
        found = neighbouring_schemes(CodeScheme.parse(text))
        assert found
        assert CodeScheme.parse(text) not in found
        assert len(set(found)) == len(found)


def test_no_time_tries_the_own_scheme_only(clustered: Vectors) -> None:
    coded = AdditiveLearner("4x8", effort="fast").fit(clustered)
    trials = try_schemes(clustered, coded, 1.0, seconds=1e-9)
    assert [trial.scheme for trial in trials.results] == ["4x8"]
    assert trials.skipped == "the time for trials, 1e-09 s, was too short"
    assert try_schemes(clustered, coded, 1.0, seconds=0).results == ()


def test_codewords_that_outnumber_the_sample_are_not_tried() -> None:
    coded = random_coded("4x16", rows=40, dim=3)
    trials = try_schemes(Vectors(coded.decode()), coded, 0.0, seconds=5)
    assert trials.results == ()
    assert trials.skipped == "64 codewords are too many to learn from a sample of 40 rows"


def test_a_table_of_equal_rows_does_not_divide_by_zero() -> None:
    vectors = Vectors(np.ones((50, 3), dtype=np.float32))
    coded = AdditiveLearner("2x2", effort="fast").fit(vectors)
    trials = try_schemes(vectors, coded, 0.0, seconds=30)
    assert all(np.isfinite(trial.expected_loss) for trial in trials.results)


def test_without_the_learners_the_report_says_so() -> None:
    program = """
import sys
sys.modules["numba"] = None
import numpy as np
from lexicode import CodedEmbedding, CodeScheme, Vectors
from lexicode.evaluation.trials import try_schemes
coded = CodedEmbedding(scheme=CodeScheme.parse("2x2"), packed=np.zeros((50, 1), np.uint8),
                       codebooks=np.zeros((2, 2, 3), np.float16))
trials = try_schemes(Vectors(coded.decode()), coded, 0.0, seconds=5)
print(trials.skipped, len(trials.results))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "this needs numba: pip install 'lexicode[learn]' 0\n"
