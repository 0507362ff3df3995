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
from lexicode.learners.gumbel_network import GumbelNetwork
from lexicode.learners.gumbel_supply import BroughtRows
from lexicode.learners.progress import Progress
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
        numbers = np.arange(len(own), dtype=np.float32) + 1
        brought, samples = BroughtRows(team, own, numbers, seed=1, batch=10), []
        if not team.leads:
            brought.serve()
            return []
        with brought:
            for iteration in (0, 11, 12, 30, 11):
                rows, weights = brought.rows(iteration)
                found = [places[row.tobytes()] for row in rows.matrix]
                # A third of the table is the first process's, so is a third of the sample; weights go with their rows.
                assert [place - 200 * (place >= 200) + 1 for place in found] == weights.tolist()
                assert (len(found), sum(place < 200 for place in found)) == (120, 40)
                samples.append(tuple(found))
        return samples

    first, same, second, third, again = run_team(2, work)[0]
    assert first == same == again
    assert len({first, second, third}) == 3
    assert len(set(first)) == 120


def test_of_a_large_table_rows_without_weight_are_not_brought(
    clustered: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gumbel_supply, "BROUGHT_NUMBERS", 120 * clustered.dim)
    weights = np.zeros(len(clustered))
    weights[[3, 250, 599]] = 1
    coded, _ = learned(clustered, 2, weights=weights)
    rows = np.concatenate([each.decode() for each in coded])[[3, 250, 599]]
    assert np.square(rows - clustered.matrix[[3, 250, 599]]).sum() < np.square(clustered.matrix[[3, 250, 599]]).sum()


def test_the_first_process_trains_with_the_threads_of_all(clustered: Vectors) -> None:
    seen: list[int] = []

    def watched(reconstruction: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
        seen.append(torch.get_num_threads())
        return (reconstruction - original).square().sum(dim=1)

    learned(clustered, 3, loss=watched, iterations=50)
    # Each has one. The loss is also tried out when the learner is made, on whatever threads there are.
    assert seen.count(3) >= 50


def test_every_row_of_several_machines_counts_the_same(clustered: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    sums: list[float] = []
    plain = GumbelNetwork.gradient_of

    def watched(network: GumbelNetwork, rows: Any, noise: Any, loss: Any, weights: torch.Tensor) -> None:
        sums.append(round(float(weights.sum()), 4))
        plain(network, rows, noise, loss, weights)

    monkeypatch.setattr(GumbelNetwork, "gradient_of", watched)
    learned(clustered, 3, machines=True, iterations=10)
    # 100, 200 and 300 of the 600 rows, though each process draws 21 or 22 rows of a batch
    assert {value: sums.count(value) for value in sums} == {0.1667: 10, 0.3333: 10, 0.5: 10}


def test_machines_clip_the_gradient_of_the_whole_batch(clustered: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[float] = []
    plain = GumbelNetwork.step

    def watched(network: GumbelNetwork, learning_rate: float) -> None:
        lengths.append(float(network.gradient.flat.norm()))
        plain(network, learning_rate)

    monkeypatch.setattr(GumbelNetwork, "step", watched)
    learned(clustered, 2, machines=True, clip=0.01, iterations=10)
    assert lengths == pytest.approx([0.01] * 20)


def test_all_processes_hear_that_training_cannot_go_on(clustered: Vectors) -> None:
    def work(team: Team) -> str:
        learner = GumbelLearner("4x8", **{**QUICK, "learning_rate": 1e4})
        with pytest.raises(LearningError, match="it diverges; nothing was kept") as caught:
            learner.fit(shares(clustered, team), team=team)
        return str(caught.value)

    first, second = run_team(2, work)
    assert first == second


def test_all_processes_hear_of_an_error_in_the_first(clustered: Vectors) -> None:
    def fail(progress: Progress) -> None:
        raise OSError("the disk is full")

    def work(team: Team) -> type[BaseException]:
        with pytest.raises((OSError, LearningError), match="the disk is full") as caught:
            GumbelLearner("4x8", **QUICK).fit(shares(clustered, team), fail, team=team)
        return caught.type

    assert run_team(2, work) == [OSError, LearningError]


def test_a_gradient_is_clipped_to_its_largest_length() -> None:
    long, short = torch.tensor([30.0, 40.0]), torch.tensor([0.3, 0.4])
    _clip(long, 5.0)
    _clip(short, 5.0)
    assert long.tolist() == pytest.approx([3.0, 4.0])
    assert short.tolist() == pytest.approx([0.3, 0.4])
