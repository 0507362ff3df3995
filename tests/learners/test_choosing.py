from __future__ import annotations

from pathlib import Path

import pytest

from lexicode import SettingError, Vectors
from lexicode.learners import LEARNERS, make_learner
from lexicode.learners.choosing import choose_scheme, schemes_that_fit


@pytest.mark.parametrize("learner", ["additive", "product", "normalized-product"])
@pytest.mark.parametrize("budget", [6_000, 9_000, 14_000])
def test_the_chosen_schemes_file_fits_and_fills_the_budget(
    clustered: Vectors, learner: str, budget: int, tmp_path: Path
) -> None:
    scheme = choose_scheme(clustered, budget, learner=learner)
    settings = {"effort": "fast"} if learner == "additive" else {}
    path = tmp_path / "table"
    make_learner(learner, scheme, **settings).fit(clustered).save(path)
    assert path.stat().st_size <= budget
    # A product code has at most a codebook a column, so a large budget may be more than it can use.
    assert path.stat().st_size > (0.5 if learner == "additive" else 0.4) * budget


def test_a_larger_budget_gives_a_lower_loss(clustered: Vectors) -> None:
    losses = []
    for budget in (5_000, 8_000, 14_000):
        learner = make_learner("additive", choose_scheme(clustered, budget), effort="fast")
        learner.fit(clustered)
        losses.append(learner.curve[-1])
    assert losses == sorted(losses, reverse=True)


def test_a_budget_that_nothing_fits_says_what_would(clustered: Vectors) -> None:
    with pytest.raises(SettingError, match=r"a budget of 100 bytes is too small: the smallest file is [\d,]+ bytes"):
        choose_scheme(clustered, 100)


def test_every_width_is_considered(clustered: Vectors) -> None:
    fitting = schemes_that_fit(clustered, 40_000, learner="additive", codebook_dtype="float16")
    assert len({scheme.codewords for scheme in fitting}) == len(fitting) == 8


def test_learners_by_name() -> None:
    with pytest.raises(SettingError, match="learner 'magic' is not one of additive"):
        make_learner("magic", "4x4")
    assert "additive" in LEARNERS
