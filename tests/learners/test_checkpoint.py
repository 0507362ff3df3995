from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexicode import AdditiveLearner, CodedEmbedding, InputError, Vectors
from lexicode.learners import checkpoint as checkpoints
from lexicode.learners import final_encoding
from lexicode.learners.checkpoint import Checkpoint
from lexicode.learners.progress import Progress
from lexicode.learners.team import ALONE, Team
from thread_team import run_team


class KilledError(Exception):
    pass


def kill_after(round_: int) -> Any:
    def on_progress(progress: Progress) -> None:
        if progress.stage == "learning" and progress.step == round_:
            raise KilledError

    return on_progress


def kill_in_encoding(progress: Progress) -> None:
    if progress.stage == "encoding" and progress.step == 3:
        raise KilledError


def same(one: CodedEmbedding, other: CodedEmbedding) -> bool:
    return one.packed.tobytes() == other.packed.tobytes() and one.codebooks.tobytes() == other.codebooks.tobytes()


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    path, arrays = tmp_path / "c", {"codes": np.arange(6, dtype=np.uint8).reshape(2, 3), "x": np.array([0.1])}
    assert Checkpoint(path, {"seed": 1}).load() is None
    Checkpoint(path, {"seed": 1}).save({"step": 3, "curve": [0.1, 1e-17]}, arrays)
    record, loaded = Checkpoint(path, {"seed": 1}).load() or ({}, {})
    assert record == {"step": 3, "curve": [0.1, 1e-17]}
    assert {name: array.tolist() for name, array in loaded.items()} == {"codes": [[0, 1, 2], [3, 4, 5]], "x": [0.1]}


def test_a_file_that_is_no_checkpoint_of_this_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c"
    Checkpoint(path, {"seed": 1}).save({}, {"x": np.zeros(3)})
    with pytest.raises(
        InputError, match=r"c: a checkpoint of another run, whose seed was 1, not 2; remove it, or name"
    ):
        Checkpoint(path, {"seed": 2}).load()
    with pytest.raises(InputError, match=r"whose effort was None, not fast"):
        Checkpoint(path, {"seed": 1, "effort": "fast"}).load()
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match=r"c: not a whole checkpoint .* remove it to start anew"):
        Checkpoint(path, {"seed": 1}).load()
    table = CodedEmbedding.load(Path(__file__).parent.parent / "golden" / "v1-4x16-float16-words.safetensors")
    table.save(path)
    with pytest.raises(InputError, match="c: not a checkpoint of lexicode; name another file"):
        Checkpoint(path, {"seed": 1}).load()


@pytest.mark.parametrize("round_", [1, 7, 22, 24])
def test_the_additive_learner_goes_on_to_the_same_bytes(
    clustered: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, round_: int
) -> None:
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    settings: dict[str, Any] = {"effort": "fast", "seed": 4, "checkpoint": tmp_path / "run.ckpt"}
    with pytest.raises(KilledError):
        AdditiveLearner("6x16", **settings).fit(clustered, kill_after(round_))
    again = AdditiveLearner("6x16", **settings)
    steps: list[int] = []
    coded = again.fit(clustered, lambda progress: steps.append(progress.step) if progress.stage == "learning" else None)
    whole = AdditiveLearner("6x16", effort="fast", seed=4)
    assert same(coded, whole.fit(clustered))
    assert again.curve == whole.curve
    assert steps == list(range(round_ + 1, 25))


@pytest.mark.parametrize("loss", ["squared", "cosine"])
def test_encoding_goes_on_to_the_same_bytes(
    clustered: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(final_encoding, "STREAM_ROWS", 100)
    settings: dict[str, Any] = {"effort": "fast", "loss": loss, "checkpoint": tmp_path / "run.ckpt"}
    with pytest.raises(KilledError):
        AdditiveLearner("6x16", **settings).fit(clustered, kill_in_encoding)
    stages: list[tuple[str, int]] = []
    again = AdditiveLearner("6x16", **settings)
    coded = again.fit(clustered, lambda progress: stages.append((progress.stage, progress.step)))
    whole = AdditiveLearner("6x16", effort="fast", loss=loss)
    assert same(coded, whole.fit(clustered))
    assert again.loss == pytest.approx(whole.loss)
    assert stages == [("encoding", 4), ("encoding", 5), ("encoding", 6)]


def test_the_first_and_the_last_round_are_saved_and_others_now_and_then(clustered: Vectors, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    identity = AdditiveLearner("3x4", effort="fast")._identity(clustered, None, ALONE)
    with pytest.raises(KilledError):
        AdditiveLearner("3x4", effort="fast", checkpoint=path).fit(clustered, kill_after(9))
    assert (Checkpoint(path, identity).load() or ({}, {}))[0]["step"] == 1
    AdditiveLearner("3x4", effort="fast", checkpoint=path).fit(clustered)
    assert (Checkpoint(path, identity).load() or ({}, {}))[0]["step"] == 24


def test_a_team_goes_on_to_the_same_bytes(clustered: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)

    def fit(team: Team, path: Path | None, on_progress: Any = None) -> CodedEmbedding:
        part = Vectors(clustered.matrix[:250] if team.leads else clustered.matrix[250:])
        return AdditiveLearner("6x16", effort="fast", checkpoint=path).fit(part, on_progress, team=team)

    with pytest.raises(KilledError):
        run_team(2, lambda team: fit(team, tmp_path / "c", kill_after(5) if team.rank == 1 else None))
    resumed = run_team(2, lambda team: fit(team, tmp_path / "c"))
    whole = run_team(2, lambda team: fit(team, None))
    assert [same(a, b) for a, b in zip(resumed, whole, strict=True)] == [True, True]
    with pytest.raises(InputError, match=r"whose (vectors|processes) was"):
        AdditiveLearner("6x16", effort="fast", checkpoint=tmp_path / "c").fit(clustered)


def test_codes_that_are_given_are_where_it_sets_out(clustered: Vectors) -> None:
    """After one round from good codes they are good still; from random ones they could not be."""
    good = AdditiveLearner("5x8", effort="balanced")
    start = good.fit(clustered)
    warm, cold = AdditiveLearner("5x8", effort="fast", seed=1), AdditiveLearner("5x8", effort="fast", seed=1)
    warm.fit(clustered, start=start)
    cold.fit(clustered)
    assert warm.curve[0] < 0.7 * cold.curve[0]
    assert warm.loss < 1.1 * good.loss
