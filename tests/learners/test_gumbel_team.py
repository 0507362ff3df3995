"""The paper's learner in a team: one process trains for those of its machine, or all train and sum their gradients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lexicode import CodedEmbedding, GumbelLearner, LearningError, SettingError, Vectors
from lexicode.learners import gumbel_supply
from lexicode.learners.gumbel import _clip
from lexicode.learners.gumbel_supply import BroughtRows
from lexicode.learners.team import Team
from thread_team import run_team

QUICK: dict[str, Any] = {"iterations": 300, "learning_rate": 1e-2, "batch_size": 64, "validate_every": 50, "threads": 1}


def shares(vectors: Vectors, team: Team) -> Vectors:
    """Of 600 rows, unevenly: the first process has the fewest."""
    ends = np.cumsum(np.arange(team.size) + 1) * len(vectors) // sum(range(team.size + 1))
    first = 0 if team.rank == 0 else ends[team.rank - 1]
    return Vectors(vectors.matrix[first : ends[team.rank]])


def learned(vectors: Vectors, size: int, *, machines: bool = False, **more: Any) -> tuple[list[CodedEmbedding], float]:
    """Each process's codes, and the loss, which must be the same in all; machines: each process is on its own."""

    def work(team: Team) -> tuple[CodedEmbedding, float]:
        if machines:
            team.size_here = 1
        learner = GumbelLearner("4x8", **{**QUICK, **more})
        return learner.fit(shares(vectors, team), team=team), learner.loss

    coded, losses = zip(*run_team(size, work), strict=True)
    assert len(set(losses)) == 1
    assert len({each.codebooks.tobytes() for each in coded}) == 1
    return list(coded), losses[0]


@pytest.mark.parametrize("size", [2, 3])
def test_processes_of_one_machine_give_what_one_gives(clustered: Vectors, size: int) -> None:
    weights = np.linspace(0, 2, len(clustered))
    coded, loss = learned(clustered, size, weights=weights)
    # As many threads as the others have together: sums in another order round otherwise.
    one = GumbelLearner("4x8", **{**QUICK, "weights": weights, "threads": size})
    alone = one.fit(clustered)
    assert np.concatenate([each.packed for each in coded]).tobytes() == alone.packed.tobytes()
    assert coded[0].codebooks.tobytes() == alone.codebooks.tobytes()
    assert loss == pytest.approx(one.loss)


@pytest.mark.parametrize("size", [2, 3])
def test_several_machines_learn_as_well_as_one(clustered: Vectors, size: int) -> None:
    coded, loss = learned(clustered, size, machines=True)
    one = GumbelLearner("4x8", **QUICK)
    one.fit(clustered)
    assert loss == pytest.approx(one.loss, rel=0.15)
    assert sum(len(each) for each in coded) == len(clustered)


def test_a_batch_that_cannot_be_shared_is_refused(clustered: Vectors) -> None:
    with pytest.raises(SettingError, match="3 processes cannot share batches of 2 rows; use fewer processes"):
        learned(clustered, 3, machines=True, batch_size=2)


def test_a_table_too_large_for_one_process_is_learned_from_samples(
    clustered: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole = learned(clustered, 2)
    # Two rows of three: a new sample every sixth iteration, or as soon as the batches drawn ahead are used up.
    monkeypatch.setattr(gumbel_supply, "BROUGHT_NUMBERS", clustered.matrix.size * 2 // 3)
    coded, loss = learned(clustered, 2)
    assert loss == pytest.approx(whole, rel=0.15)
    assert loss != whole
    # Stopped half-way, and gone on with.
    learned(clustered, 2, checkpoint=tmp_path / "state", iterations=150)
    again, _ = learned(clustered, 2, checkpoint=tmp_path / "state")
    assert again[1].packed.tobytes() == coded[1].packed.tobytes()


def test_samples_change_and_come_again(clustered: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gumbel_supply, "BROUGHT_NUMBERS", 120 * clustered.dim)
    # A word to the others each time that nothing is to be brought.
    monkeypatch.setattr(gumbel_supply, "SECONDS_OF_SILENCE", -1)
    places = {row.tobytes(): place for place, row in enumerate(clustered.matrix)}

    def work(team: Team) -> list[tuple[int, ...]]:
        own = shares(clustered, team)
        numbers = np.arange(len(own), dtype=np.float32)
        brought, samples = BroughtRows(team, own, numbers, seed=1, batch=10), []
        if not team.leads:
            brought.serve()
            return []
        with brought:
            for iteration in (0, 11, 12, 30, 11):
                rows, weights = brought.rows(iteration)
                found = [places[row.tobytes()] for row in rows.matrix]
                # A third of the table is the first process's, so is a third of the sample; weights go with their rows.
                assert [place - 200 * (place >= 200) for place in found] == weights.tolist()
                assert (len(found), sum(place < 200 for place in found)) == (120, 40)
                samples.append(tuple(found))
        return samples

    first, same, second, third, again = run_team(2, work)[0]
    assert first == same == again
    assert len({first, second, third}) == 3
    assert len(set(first)) == 120


def test_all_processes_hear_that_training_cannot_go_on(clustered: Vectors) -> None:
    def work(team: Team) -> str:
        learner = GumbelLearner("4x8", **{**QUICK, "learning_rate": 1e4})
        with pytest.raises(LearningError, match="it diverges; nothing was kept") as caught:
            learner.fit(shares(clustered, team), team=team)
        return str(caught.value)

    first, second = run_team(2, work)
    assert first == second


def test_a_gradient_is_clipped_to_its_largest_length() -> None:
    long, short = torch.tensor([30.0, 40.0]), torch.tensor([0.3, 0.4])
    _clip(long, 5.0)
    _clip(short, 5.0)
    assert long.tolist() == pytest.approx([3.0, 4.0])
    assert short.tolist() == pytest.approx([0.3, 0.4])
