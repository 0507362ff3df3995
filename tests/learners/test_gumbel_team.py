"""The paper's learner in a team: shared memory or sums, losses noticed, the same bytes."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from lexicode import CodedEmbedding, GumbelLearner, LearningError, SettingError, Vectors
from lexicode.learners import gumbel_exchange
from lexicode.learners.gumbel_exchange import exchange_for
from lexicode.learners.team import Team
from thread_team import run_team

QUICK: dict[str, Any] = {"iterations": 300, "learning_rate": 1e-2, "batch_size": 64, "validate_every": 50, "threads": 1}


def test_a_team_learns_as_well_as_one(clustered: Vectors) -> None:
    def work(team: Team) -> tuple[CodedEmbedding, float]:
        part = np.arange(len(clustered))[team.rank * 200 : 200 + team.rank * 400]
        learner = GumbelLearner("4x8", **QUICK)
        return learner.fit(Vectors(clustered.take(part)), team=team), learner.loss

    (first, loss_first), (second, loss_second) = run_team(2, work)
    alone = GumbelLearner("4x8", **QUICK)
    alone.fit(clustered)
    assert loss_first == loss_second == pytest.approx(alone.loss, rel=0.15)
    assert first.codebooks.tobytes() == second.codebooks.tobytes()
    assert (len(first), len(second)) == (200, 400)


def test_a_batch_that_cannot_be_shared_is_refused(clustered: Vectors) -> None:
    with pytest.raises(
        SettingError, match=r"batches of 64 rows cannot be shared evenly by 3 .*; use a number that divides 64"
    ):
        run_team(3, lambda team: GumbelLearner("4x8", **QUICK).fit(clustered, team=team))


def test_gradients_summed_through_memory_or_sockets_give_the_same_bytes(clustered: Vectors, tmp_path: Path) -> None:
    def work(team: Team, size_here: int, path: Path) -> CodedEmbedding:
        team.size_here = size_here
        part = Vectors(clustered.matrix[:300] if team.leads else clustered.matrix[300:])
        return GumbelLearner("4x8", checkpoint=path, **QUICK).fit(part, team=team)

    shared = run_team(2, lambda team: work(team, 2, tmp_path / "shared"))
    summed = run_team(2, lambda team: work(team, 1, tmp_path / "summed"))
    for one, other in zip(shared, summed, strict=True):
        assert one.packed.tobytes() == other.packed.tobytes()
        assert one.codebooks.tobytes() == other.codebooks.tobytes()
    with safe_open(tmp_path / "shared", framework="numpy") as one, safe_open(tmp_path / "summed", "numpy") as other:
        for name in ("parameters", "first_moment", "second_moment", "best"):
            np.testing.assert_array_equal(one.get_tensor(name), other.get_tensor(name))


def test_clipping_sees_the_whole_gradient() -> None:
    def work(team: Team) -> tuple[float, float]:
        exchange = exchange_for(team, 5, torch.device("cpu"))
        try:
            exchange.gradient.copy_(torch.arange(5.0) + 10 * team.rank)
            exchange.before_step()
            return exchange.squared_norm(), float(exchange.gradient[exchange.part].sum())
        finally:
            exchange.close()

    # The sum of both gradients is 10, 12, 14, 16, 18; the first process steps two numbers of it.
    assert run_team(2, work) == [(1020, 22), (1020, 48)]


def test_memory_that_is_full_is_looked_for_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container, whose /dev/shm is small."""

    def reserve(file: int, start: int, length: int) -> None:
        if str(tmp_path) in str(Path(f"/proc/self/fd/{file}").readlink()):
            raise OSError(errno.ENOSPC, "no space left on device")
        os.truncate(file, length)

    monkeypatch.setattr(gumbel_exchange, "MEMORY_FOLDER", tmp_path)
    monkeypatch.setattr(os, "posix_fallocate", reserve, raising=False)

    def work(team: Team) -> float:
        exchange = exchange_for(team, 5, torch.device("cpu"))
        try:
            exchange.gradient.fill_(1 + team.rank)
            exchange.before_step()
            return float(exchange.gradient[exchange.part].sum())
        finally:
            exchange.close()

    assert run_team(2, work) == [6, 9]
    assert not list(tmp_path.iterdir())


def test_a_lost_process_is_noticed() -> None:
    def work(team: Team) -> None:
        exchange = exchange_for(team, 10, torch.device("cpu"))
        try:
            exchange.before_step()
            if team.leads:
                exchange.after_step()
                exchange.before_gradient()
        finally:
            exchange.close()

    with pytest.raises(LearningError, match="process 0 of 2 has lost another one, which ended or did not answer"):
        run_team(2, work)
