from __future__ import annotations

import json
from pathlib import Path

import pytest

from lexicode import InputError
from lexicode.evaluation.curve import curve_of, read_curve
from lexicode.learners.gumbel_validation import Validation


def test_numbers_are_rounds() -> None:
    curve = curve_of([4.0, 3.5, 3])
    assert curve is not None
    assert (curve.unit, curve.steps) == ("round", (1, 2, 3))
    assert curve.losses == {"loss": (4.0, 3.5, 3.0)}


def test_the_networks_points_are_iterations() -> None:
    points = [
        Validation(
            iteration=i, soft_loss=2.0 / i, hard_loss=3.0 / i, maximum_probability=0.5, dead_codewords=1,
            iterations_per_second=9.0,
        )
        for i in (1000, 2000)
    ]  # fmt: skip
    curve = curve_of(points)
    assert curve is not None
    assert (curve.unit, curve.steps) == ("iteration", (1000, 2000))
    assert curve.losses == {"soft loss": (0.002, 0.001), "hard loss": (0.003, 0.0015)}
    assert curve_of([point.as_dict() for point in points]) == curve


def test_one_point_is_no_curve() -> None:
    assert curve_of([1.5]) is None
    assert curve_of([]) is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", r"curve\.json: not a JSON list"),
        ('{"loss": 1}', r"curve\.json: a learning curve is a JSON list"),
        ("[1, null]", r"not a JSON list"),
        ('[1, {"iteration": 2, "loss": 3}]', "no number of its step and no loss"),
        ('[{"iteration": 1, "loss": 3}, {"iteration": 2}]', "point 1 of the learning curve lacks a finite iteration"),
        ('[{"x": 1}, {"x": 2}]', "point 0 of the learning curve has no number of its step"),
        ("[1, NaN]", "has no number of its step"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "curve.json"
    path.write_text(content)
    with pytest.raises(InputError, match=sentence):
        read_curve(path)


def test_what_compress_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "curve.json"
    path.write_text(json.dumps([2.5, 1.25], indent=1))
    curve = read_curve(path)
    assert curve is not None
    assert curve.losses["loss"] == (2.5, 1.25)
