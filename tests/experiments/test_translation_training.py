"""The schedule, going on after a stop, and pruning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from experiments.translation.decoding import translate
from experiments.translation.model import Translator, dense_embedding
from experiments.translation.preparing import Prepared
from experiments.translation.pruning import Pruner
from experiments.translation.scoring import tokenized_bleu
from experiments.translation.training import Progress, Training, TrainingSettings
from lexicode import LearningError, SettingError
from translation_samples import small_data

UNITS = 32


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Two threads would spend most of such small steps waiting for one another."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return small_data(tmp_path_factory.mktemp("work"))


def fresh_model(data: Prepared) -> Translator:
    torch.manual_seed(1)
    return Translator(
        dense_embedding(len(data.source), UNITS), dense_embedding(len(data.target), UNITS), len(data.target), UNITS
    )


class StoppedError(Exception):
    """Somebody pulled the plug."""


Outcome = tuple[Translator, Progress]


def run(data: Prepared, checkpoint: Path, settings: TrainingSettings, stop_at: int | None = None) -> Outcome:
    """Train; the plug is pulled after so many lines of the log."""
    model = fresh_model(data)
    lines: list[str] = []

    def log(line: str) -> None:
        lines.append(line)
        if len(lines) == stop_at:
            raise StoppedError

    return model, Training(model, data, settings, seed=4, checkpoint=checkpoint, log=log).run()


def test_it_learns_a_small_language(data: Prepared, tmp_path: Path) -> None:
    settings = TrainingSettings(batch_size=16, validate_every=75, max_epochs=15)
    model, progress = run(data, tmp_path / "run.pt", settings)
    lines = [data.target.decode(rows) for rows in translate(model, data.test.sources, 5)]
    # One that has not found the source yet stays below 10.
    assert tokenized_bleu(lines, data.test.target_lines) > 60
    assert progress.curve[0]["loss"] > 2 * progress.curve[-1]["loss"]


def test_a_stopped_run_goes_on_to_the_same_end(data: Prepared, tmp_path: Path) -> None:
    settings = TrainingSettings(batch_size=16, validate_every=10, validation_sentences=10, max_epochs=2)
    whole, expected = run(data, tmp_path / "whole.pt", settings)
    # Its third validation is lost; the state of the second is in the file.
    with pytest.raises(StoppedError):
        run(data, tmp_path / "stopped.pt", settings, stop_at=3)
    resumed, progress = run(data, tmp_path / "stopped.pt", settings)
    assert progress.curve == expected.curve
    assert len(progress.curve) == 5
    for name, value in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], value), name


def test_another_runs_file_is_refused(data: Prepared, tmp_path: Path) -> None:
    settings = TrainingSettings(batch_size=16, validate_every=10, validation_sentences=4, max_epochs=1)
    run(data, tmp_path / "run.pt", settings)
    other = TrainingSettings(batch_size=16, validate_every=10, validation_sentences=4, max_epochs=1, momentum=0.8)
    with pytest.raises(LearningError, match=r"run\.pt is of a run with other settings or data; move it away"):
        run(data, tmp_path / "run.pt", other)


def test_the_rate_falls_three_times_and_then_the_run_ends(data: Prepared, tmp_path: Path) -> None:
    # A rate at which nothing changes, so that no validation but the first is better than those before.
    settings = TrainingSettings(batch_size=64, learning_rate=1e-12, validate_every=1, validation_sentences=2)
    _, progress = run(data, tmp_path / "run.pt", settings)
    assert progress.best_iteration == 1
    assert [entry["rate"] for entry in progress.curve] == pytest.approx([1e-12] * 4 + [1e-13] * 3 + [1e-14] * 3)


def test_pruned_values_stay_zero(data: Prepared, tmp_path: Path) -> None:
    model = fresh_model(data)
    tables = [model.source_embedding.weight, model.target_embedding.weight]
    settings = TrainingSettings(batch_size=16, validate_every=10, validation_sentences=4, max_epochs=2)
    pruner = Pruner(tables, zeros=0.9, steps=3, interval=10)
    progress = Training(model, data, settings, seed=4, checkpoint=tmp_path / "run.pt", pruner=pruner).run()
    for table in tables:
        assert (table == 0).sum() == pytest.approx(0.9 * table.numel(), abs=1)
    # What was not pruned yet does not count as the best.
    assert progress.best_iteration >= 30


def test_a_pruned_run_goes_on_with_its_zeros(data: Prepared) -> None:
    table = torch.tensor([[0.1, -2.0, 0.3, 4.0]])
    Pruner([table], zeros=0.5, steps=1, interval=5).after_step(5)
    assert table.tolist() == [[0, -2, 0, 4]]
    again = Pruner([table], zeros=0.5, steps=1, interval=5)
    again.restore(5)
    table += 1
    again.after_step(6)
    assert table.tolist() == [[0, -1, 0, 5]]


def test_a_pruned_run_that_was_stopped_goes_on_to_the_same_end(data: Prepared, tmp_path: Path) -> None:
    settings = TrainingSettings(batch_size=16, validate_every=10, validation_sentences=10, max_epochs=2)

    def prune(checkpoint: Path, log: Callable[[str], None] = lambda line: None) -> Translator:
        model = fresh_model(data)
        tables = [model.source_embedding.weight, model.target_embedding.weight]
        pruner = Pruner(tables, zeros=0.9, steps=3, interval=10)
        Training(model, data, settings, seed=4, checkpoint=checkpoint, log=log, pruner=pruner).run()
        return model

    def stop(line: str) -> None:
        if "iteration 30," in line:
            raise StoppedError

    whole = prune(tmp_path / "whole.pt")
    with pytest.raises(StoppedError):
        prune(tmp_path / "stopped.pt", stop)
    resumed = prune(tmp_path / "stopped.pt")
    for name, value in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], value), name


def test_another_models_file_is_refused(data: Prepared, tmp_path: Path) -> None:
    """Its tables are fixed, so that nothing that trains tells it apart."""
    settings = TrainingSettings(batch_size=16, validate_every=10, validation_sentences=4, max_epochs=1)
    for change in (0.0, 1.0):
        model = fresh_model(data)
        model.source_embedding.weight.requires_grad_(False)
        model.source_embedding.weight += change
        training = Training(model, data, settings, seed=4, checkpoint=tmp_path / "run.pt")
        if change:
            with pytest.raises(LearningError, match=r"run\.pt is of a run with other settings or data"):
                training.run()
        else:
            training.run()


def test_too_short_a_run_says_so(data: Prepared, tmp_path: Path) -> None:
    settings = TrainingSettings(batch_size=64, validate_every=1000, max_epochs=1)
    with pytest.raises(LearningError, match=r"training ended after [78] iterations, before any validation"):
        run(data, tmp_path / "run.pt", settings)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("batch_size", 0, r"batch_size=0 is less than 1"),
        ("learning_rate", 0.0, r"learning_rate=0\.0 is not a number above zero"),
        ("clip", float("nan"), r"clip=nan is not a number above zero"),
        ("momentum", 1.0, r"momentum=1\.0 is not between 0 and 1"),
        ("precision", "float16", r"precision='float16' is none of float32, bfloat16"),
    ],
)
def test_settings_check_themselves(name: str, value: Any, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        TrainingSettings(**{name: value})
