from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from lexicode import AdditiveLearner, CodedEmbedding, GumbelLearner, InputError, LearningError, SettingError, Vectors
from lexicode.learners import checkpoint as checkpoints
from lexicode.learners import make_learner
from lexicode.learners.progress import Progress

# Small tables learn within hundreds of steps at a rate ten times the paper's.
QUICK: dict[str, Any] = {"iterations": 300, "learning_rate": 1e-2, "batch_size": 64, "validate_every": 50, "threads": 1}


def loss(vectors: Vectors, coded: CodedEmbedding) -> float:
    return float(np.square(vectors.matrix.astype(np.float64) - coded.decode()).sum(axis=1).mean())


def same(one: CodedEmbedding, other: CodedEmbedding) -> bool:
    return one.packed.tobytes() == other.packed.tobytes() and one.codebooks.tobytes() == other.codebooks.tobytes()


def test_it_learns_and_its_figures_are_those_of_what_is_shipped(clustered: Vectors) -> None:
    learner = GumbelLearner("4x8", codebook_dtype="float32", **QUICK)
    seen: list[Progress] = []
    coded = learner.fit(clustered, seen.append)
    spread = np.square(clustered.matrix - clustered.matrix.mean(axis=0)).sum(axis=1).mean()
    assert learner.loss == pytest.approx(loss(clustered, coded), rel=1e-5)
    assert learner.loss < 0.3 * spread
    # All 600 rows are validation rows here, so the best point of the curve is what comes out.
    assert learner.loss == pytest.approx(min(point.hard_loss for point in learner.curve), rel=1e-4)
    assert coded.words == clustered.words
    assert [point.iteration for point in learner.curve] == [0, 50, 100, 150, 200, 250, 300]
    last = learner.curve[-1]
    assert last.soft_loss < learner.curve[0].soft_loss
    assert last.maximum_probability > learner.curve[0].maximum_probability
    assert 0 <= last.dead_codewords <= 32
    assert last.iterations_per_second > 0
    assert [progress.step for progress in seen] == [50, 100, 150, 200, 250, 300]
    assert "it/s" in seen[-1].note
    assert seen[-1].loss == last.hard_loss


def test_codes_near_one_hot_have_a_soft_loss_near_the_hard_one() -> None:
    """Six points and eight codewords: the network becomes sure of its choices."""
    rng = np.random.default_rng(2)
    points = rng.normal(size=(6, 4)).astype(np.float32) * 3
    learner = GumbelLearner("1x8", **QUICK | {"iterations": 1500, "validate_every": 500})
    learner.fit(Vectors(points[rng.integers(6, size=200)]))
    last = learner.curve[-1]
    assert learner.curve[0].maximum_probability < 0.6
    assert last.maximum_probability > 0.75
    assert last.hard_loss < 0.5 * learner.curve[0].hard_loss
    assert abs(last.soft_loss - last.hard_loss) < 0.02 * learner.curve[0].hard_loss


def test_the_defaults_are_the_papers() -> None:
    own = GumbelLearner("32x16").settings
    assert (own.iterations, own.batch_size, own.learning_rate) == (200_000, 128, 1e-4)
    assert (own.temperature, own.validate_every, own.loss, own.clip) == (1.0, 1000, "squared", None)


def test_same_seed_same_bytes(clustered: Vectors) -> None:
    runs = [GumbelLearner("3x4", seed=seed, **QUICK).fit(clustered) for seed in (1, 1, 2)]
    assert same(runs[0], runs[1])
    assert not same(runs[0], runs[2])


@pytest.mark.parametrize("scheme", ["1x2", "2x512", "20x2"])
def test_every_shape_of_scheme_works(scheme: str) -> None:
    vectors = Vectors(np.random.default_rng(0).normal(size=(130, 3)))
    coded = GumbelLearner(scheme, **QUICK | {"iterations": 20}).fit(vectors)
    assert coded.codes().shape == (130, coded.scheme.codebooks)


def test_a_mapped_table_is_read_without_a_warning(tmp_path: Path, clustered: Vectors) -> None:
    np.save(tmp_path / "table.npy", clustered.matrix)
    mapped = Vectors.load(tmp_path / "table.npy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coded = GumbelLearner("3x4", **QUICK).fit(mapped)
    assert same(coded, GumbelLearner("3x4", **QUICK).fit(clustered))


# ---- losses


def test_the_cosine_is_a_loss_of_its_own() -> None:
    """Rows whose lengths differ a thousandfold: only the cosine cares for the short ones."""
    rng = np.random.default_rng(3)
    directions = rng.normal(size=(8, 6))[rng.integers(8, size=400)]
    vectors = Vectors(directions * 10 ** rng.uniform(-1.5, 1.5, size=(400, 1)))

    def mean_cosine(kind: str) -> float:
        table = GumbelLearner("3x8", loss=kind, **QUICK | {"iterations": 600}).fit(vectors).decode()
        products = (table * vectors.matrix).sum(axis=1)
        return float((products / np.linalg.norm(table, axis=1) / np.linalg.norm(vectors.matrix, axis=1)).mean())

    assert 1 - mean_cosine("cosine") < 0.5 * (1 - mean_cosine("squared"))


def test_a_loss_of_ones_own(clustered: Vectors) -> None:
    def squared(reconstruction: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
        return (reconstruction - original).pow(2).sum(1)

    mine = GumbelLearner("3x4", loss=squared, **QUICK)
    built_in = GumbelLearner("3x4", **QUICK)
    coded = mine.fit(clustered)
    built_in.fit(clustered)
    assert mine.loss == pytest.approx(built_in.loss, rel=0.05)
    assert coded.origin["settings"]["loss"].endswith("squared")


def test_rows_that_count_are_coded_better_than_those_that_do_not() -> None:
    rng = np.random.default_rng(8)
    vectors = Vectors(rng.normal(size=(400, 6)).astype(np.float32))
    weights = np.arange(400) < 20
    coded = GumbelLearner("2x8", weights=weights, **QUICK | {"iterations": 600}).fit(vectors)
    errors = np.square(vectors.matrix - coded.decode()).sum(axis=1)
    assert errors[weights].mean() < 0.6 * errors[~weights].mean()


def test_rows_of_no_weight_do_not_judge_the_codes(clustered: Vectors) -> None:
    weights = np.zeros(600)
    weights[[3, 500]] = 1
    learner = GumbelLearner("2x2", weights=weights, **QUICK | {"iterations": 300, "validation_rows": 20})
    errors = np.square(clustered.matrix - learner.fit(clustered).decode()).sum(axis=1)
    assert errors[[3, 500]].mean() < 0.6 * np.square(clustered.matrix[[3, 500]]).sum(axis=1).mean()
    assert 0 < learner.curve[-1].hard_loss < learner.curve[0].hard_loss


@pytest.mark.parametrize("largest", [1e-300, 1e308])
def test_weights_of_any_size_are_taken(clustered: Vectors, largest: float) -> None:
    plain = GumbelLearner("4x8", **QUICK).fit(clustered)
    assert same(GumbelLearner("4x8", weights=np.full(600, largest), **QUICK).fit(clustered), plain)


# ---- settings


def own_loss(reconstruction: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
    return (reconstruction - original).abs().sum(dim=1)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"iterations": 0}, "iterations=0 is less than 1"),
        ({"batch_size": 0}, "batch_size=0 is less than 1"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 is not a number above zero"),
        ({"temperature": float("nan")}, "temperature=nan is not a number above zero"),
        ({"clip": -1.0}, "clip=-1.0 is not a number above zero"),
        ({"refine": True, "scheme": "8x4096"}, "16,384"),
        ({"refine": True, "loss": own_loss}, "refine hands the codes to the additive learner"),
        ({"weights": "count"}, r"weights='count' is not \"zipf\""),
        ({"device": "abacus"}, "device='abacus' cannot be used here"),
        ({"seed": -1}, "seed=-1 is not between"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        make_learner("gumbel", **{"scheme": "4x4"} | settings)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(3), r"weights have shape \(3,\), but the table has 600 rows"),
        (np.zeros(600), "all weights are zero"),
        (-np.ones(600), "weights are finite and not below zero"),
        (np.full(600, np.nan), "the weight of row 0 is nan"),
    ],
)
def test_wrong_weights_are_named(clustered: Vectors, weights: Any, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        GumbelLearner("4x4", weights=weights).fit(clustered)


def test_the_process_is_left_as_it_was(clustered: Vectors) -> None:
    before = torch.get_num_threads()
    GumbelLearner("2x4", **QUICK | {"iterations": 2, "threads": before + 1}).fit(clustered)
    assert torch.get_num_threads() == before
    assert float(torch.tensor(1e-40) * 1) > 0


def test_clipping_bounds_the_gradient(clustered: Vectors) -> None:
    free = GumbelLearner("3x4", **QUICK).fit(clustered)
    loose = GumbelLearner("3x4", clip=1e9, **QUICK).fit(clustered)
    tight = GumbelLearner("3x4", clip=1e-3, **QUICK).fit(clustered)
    assert same(free, loose)
    assert not same(free, tight)


# ---- going on, and stopping


class KilledError(Exception):
    pass


def kill_at(iteration: int) -> Any:
    def on_progress(progress: Progress) -> None:
        if progress.step >= iteration:
            raise KilledError

    return on_progress


@pytest.mark.parametrize("stop", [50, 150, 300])
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(
    clustered: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    whole = GumbelLearner("3x4", **QUICK)
    expected = whole.fit(clustered)
    path = tmp_path / "run.ckpt"
    with pytest.raises(KilledError):
        GumbelLearner("3x4", checkpoint=path, **QUICK).fit(clustered, kill_at(stop))
    again = GumbelLearner("3x4", checkpoint=path, **QUICK)
    steps: list[int] = []
    assert same(again.fit(clustered, lambda progress: steps.append(progress.step)), expected)
    assert steps == list(range(stop + 50, 301, 50))
    assert [point.hard_loss for point in again.curve] == [point.hard_loss for point in whole.curve]


def test_a_checkpoint_is_plain_safetensors(clustered: Vectors, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    GumbelLearner("3x4", checkpoint=path, **QUICK).fit(clustered)
    with safe_open(path, framework="numpy") as file:
        assert set(file.keys()) == {"parameters", "first_moment", "second_moment", "best"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.ckpt"]


def test_a_run_may_be_made_longer(clustered: Vectors, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    GumbelLearner("3x4", checkpoint=path, **QUICK).fit(clustered)
    longer = GumbelLearner("3x4", checkpoint=path, **QUICK | {"iterations": 400})
    assert same(longer.fit(clustered), GumbelLearner("3x4", **QUICK | {"iterations": 400}).fit(clustered))


@pytest.mark.parametrize(
    ("scheme", "settings", "sentence"),
    [
        ("3x8", {}, "a checkpoint of another run, whose scheme was 3x4, not 3x8; remove it, or name another file"),
        ("3x4", {"seed": 9}, "whose seed was 0, not 9"),
        ("3x4", {"loss": "cosine"}, "whose loss was squared, not cosine"),
    ],
)
def test_another_runs_checkpoint_is_refused(
    clustered: Vectors, tmp_path: Path, scheme: str, settings: dict[str, Any], sentence: str
) -> None:
    path = tmp_path / "run.ckpt"
    GumbelLearner("3x4", checkpoint=path, **QUICK | {"iterations": 5}).fit(clustered)
    with pytest.raises(InputError, match=sentence):
        GumbelLearner(scheme, checkpoint=path, **QUICK | settings).fit(clustered)


def test_a_run_that_diverges_stops_with_the_last_good_state(clustered: Vectors, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    start = GumbelLearner("3x4", checkpoint=path, **QUICK | {"iterations": 100})
    start.fit(clustered)
    wild = GumbelLearner("3x4", checkpoint=path, **QUICK | {"learning_rate": 1e4})
    with pytest.raises(LearningError, match=r"it diverges; the state of iteration 100 is in .*run.ckpt; go on with"):
        wild.fit(clustered)
    tame = GumbelLearner("3x4", checkpoint=path, **QUICK)
    assert same(tame.fit(clustered), GumbelLearner("3x4", **QUICK).fit(clustered))


def test_nan_stops_it_with_a_sentence(clustered: Vectors) -> None:
    def broken(reconstruction: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
        distance = (reconstruction - original).square().sum(dim=1)
        return distance * torch.where(distance < 1.5 * distance.detach().mean(), 1.0, float("nan"))

    with pytest.raises(LearningError, match=r"the loss is nan after 50 iterations .* nothing was kept, for want of"):
        GumbelLearner("3x4", loss=broken, **QUICK).fit(clustered)


# ---- refining


def test_refined_codes_are_better(clustered: Vectors) -> None:
    plain, refined = GumbelLearner("3x8", **QUICK), GumbelLearner("3x8", refine=True, **QUICK)
    plain.fit(clustered)
    coded = refined.fit(clustered)
    assert refined.loss < 0.95 * plain.loss
    assert refined.loss == pytest.approx(loss(clustered, coded), rel=1e-3)
    assert coded.origin["learner"] == "gumbel"
    assert coded.origin["settings"]["refine"] is True


def test_refining_never_makes_codes_worse(clustered: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = AdditiveLearner.fit

    def worse(self: AdditiveLearner, *arguments: Any, **settings: Any) -> CodedEmbedding:
        coded = fit(self, *arguments, **settings)
        self.curve.append(1e9)
        return coded

    monkeypatch.setattr(AdditiveLearner, "fit", worse)
    plain, refined = GumbelLearner("3x8", **QUICK), GumbelLearner("3x8", refine=True, **QUICK)
    assert same(plain.fit(clustered), refined.fit(clustered))
    assert refined.loss == plain.loss
