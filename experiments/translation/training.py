"""Nesterov's accelerated gradient, validated on smoothed BLEU at an interval; the rate falls when it stands still.

The whole state is kept in a file at each validation, so that a run that was stopped goes on, to the same end.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from experiments.translation.batches import Batch, make_batch, shuffled_rows
from experiments.translation.decoding import translate
from experiments.translation.losses import summed_cross_entropy
from experiments.translation.model import Translator
from experiments.translation.precision import PRECISIONS
from experiments.translation.preparing import Prepared
from experiments.translation.pruning import Pruner
from experiments.translation.scoring import smoothed_bleu
from lexicode import LearningError, SettingError

Log = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """The paper's, but for what it leaves open (momentum, clip) and the interval, in iterations, which fits the data.

    The loss is summed over a sentence's pieces and averaged over the sentences of a batch. max_epochs ends a run that
    still improves. precision is that of the matrix products in training, and of what comes out of them;
    parameters and momenta are kept in float32, and translations are made in it.
    """

    batch_size: int = 64
    learning_rate: float = 0.25
    momentum: float = 0.9
    clip: float = 1.0
    validate_every: int = 7000
    validation_sentences: int = 3200
    patience: int = 3
    cuts: int = 3
    max_epochs: int = 100
    precision: str = "float32"

    def __post_init__(self) -> None:
        for name in ("batch_size", "validate_every", "validation_sentences", "patience", "cuts", "max_epochs"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name}={getattr(self, name)} is less than 1")
        for name in ("learning_rate", "clip"):
            if not 0 < getattr(self, name) < float("inf"):
                raise SettingError(f"{name}={getattr(self, name)} is not a number above zero")
        if not 0 < self.momentum < 1:
            raise SettingError(f"momentum={self.momentum} is not between 0 and 1")
        if self.precision not in PRECISIONS:
            raise SettingError(f"precision={self.precision!r} is none of {', '.join(PRECISIONS)}")


@dataclass
class Progress:
    """Where a run stands: what the file holds beside parameters and momenta."""

    iteration: int = 0
    cuts: int = 0
    waited: int = 0
    best_score: float = -1.0
    best_iteration: int = 0
    seconds: float = 0.0
    curve: list[dict[str, float]] = field(default_factory=list)


class Training:
    """Train a model in place; `run` leaves it with the parameters of the best validation."""

    def __init__(
        self,
        model: Translator,
        data: Prepared,
        settings: TrainingSettings,
        *,
        seed: int,
        checkpoint: Path,
        log: Log = lambda line: None,
        pruner: Pruner | None = None,
    ) -> None:
        self.model, self.data, self.settings = model, data, settings
        self.seed, self.checkpoint, self.log, self.pruner = seed, checkpoint, log, pruner
        self.progress = Progress()
        self._start = _digest(model)
        self.trained = {name: value for name, value in model.named_parameters() if value.requires_grad}
        self.best: dict[str, Tensor] = {}
        self.optimizer = torch.optim.SGD(
            self.trained.values(),
            lr=settings.learning_rate,
            momentum=settings.momentum,
            nesterov=True,
            fused=True,
        )

    def run(self) -> Progress:
        torch.manual_seed(self.seed)
        self._restore()
        began = time.monotonic() - self.progress.seconds
        total, pieces = 0.0, 0
        for batch in self._batches():
            loss = self._update(batch)
            total, pieces = total + loss, pieces + len(batch.target)
            if self.progress.iteration % self.settings.validate_every:
                continue
            self.progress.seconds = time.monotonic() - began
            self._validate(total / pieces)
            self._save()
            total, pieces = 0.0, 0
            if self._finished:
                break
        if not self.best:
            raise LearningError(f"training ended after {self.progress.iteration} iterations, before any validation")
        with torch.no_grad():
            for name, value in self.best.items():
                self.trained[name].copy_(value)
        return self.progress

    @property
    def _finished(self) -> bool:
        return self.progress.cuts >= self.settings.cuts

    def _batches(self) -> Iterator[Batch]:
        """The batches that are still to come; each epoch's order depends on the seed and its number alone."""
        sources, targets = self.data.train.sources, self.data.train.targets
        skip, epoch = self.progress.iteration, 0
        while not self._finished and epoch < self.settings.max_epochs:
            rng = np.random.default_rng([self.seed, epoch])
            batches = shuffled_rows(sources, targets, self.settings.batch_size, rng)
            for rows in batches[skip:]:
                yield make_batch([sources[row] for row in rows], [targets[row] for row in rows])
            skip, epoch = max(0, skip - len(batches)), epoch + 1

    def _update(self, batch: Batch) -> float:
        """One step; the loss summed over the batch's pieces"""
        self.model.train()
        self.optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.settings.precision == "bfloat16"):
            scores = self.model(batch.source, batch.lengths, batch.feedback, batch.batch_sizes)
        loss = summed_cross_entropy(scores, batch.target)
        (loss / len(batch.lengths)).backward()
        nn.utils.clip_grad_norm_(self.trained.values(), self.settings.clip)
        self.optimizer.step()
        self.progress.iteration += 1
        if self.pruner is not None:
            self.pruner.after_step(self.progress.iteration)
        value = loss.item()
        if not np.isfinite(value):
            raise LearningError(f"the loss is {value} at iteration {self.progress.iteration}; lower the learning rate")
        return value

    def _validate(self, train_loss: float) -> None:
        """Keep what is best so far; cut the rate by ten after `patience` validations without a better one."""
        progress, settings = self.progress, self.settings
        score = validation_score(self.model, self.data, settings.validation_sentences)
        rate = self.optimizer.param_groups[0]["lr"]
        self.log(
            f"  iteration {progress.iteration}, rate {rate:g}: loss {train_loss:.3f}, validation {score:.2f}, "
            f"{progress.seconds:.0f} s"
        )
        progress.curve.append({"iteration": progress.iteration, "rate": rate, "loss": train_loss, "score": score})
        if self.pruner is not None and not self.pruner.finished(progress.iteration):
            return
        if score > progress.best_score:
            progress.best_score, progress.best_iteration, progress.waited = score, progress.iteration, 0
            self.best = {name: value.detach().clone() for name, value in self.trained.items()}
            return
        progress.waited += 1
        if progress.waited >= settings.patience:
            progress.waited, progress.cuts = 0, progress.cuts + 1
            self.optimizer.param_groups[0]["lr"] = rate / 10

    # ---- going on after a stop

    def _save(self) -> None:
        state = {
            "identity": self._identity,
            "progress": asdict(self.progress),
            "trained": {name: value.detach() for name, value in self.trained.items()},
            "best": self.best,
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
        }
        self.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.checkpoint.with_suffix(".tmp")
        torch.save(state, temporary)
        temporary.replace(self.checkpoint)

    def _restore(self) -> None:
        if not self.checkpoint.exists():
            return
        state: dict[str, Any] = torch.load(self.checkpoint, weights_only=True)
        if state["identity"] != self._identity:
            raise LearningError(
                f"{self.checkpoint} is of a run with other settings or data; move it away to start anew"
            )
        self.progress = Progress(**state["progress"])
        self.best = state["best"]
        with torch.no_grad():
            for name, value in state["trained"].items():
                self.trained[name].copy_(value)
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        if self.pruner is not None:
            self.pruner.restore(self.progress.iteration)
        self.log(f"  going on from iteration {self.progress.iteration}")

    @property
    def _identity(self) -> dict[str, Any]:
        """What must not change when a run goes on."""
        shapes = {name: list(value.shape) for name, value in self.trained.items()}
        return {
            "seed": self.seed,
            "data": self.data.digest,
            "shapes": shapes,
            "start": self._start,
            **asdict(self.settings),
        }


def validation_score(model: Translator, data: Prepared, sentences: int) -> float:
    """Smoothed BLEU of greedy translations of the first validation sentences"""
    rows = translate(model, data.valid.sources[:sentences], size=1)
    return smoothed_bleu([data.target.decode(each) for each in rows], data.valid.target_lines[:sentences])


def _digest(model: nn.Module) -> str:
    """Of all values that training starts from, fixed tables among them."""
    values = b"".join(value.detach().numpy().tobytes() for value in model.state_dict().values())
    return hashlib.sha256(values).hexdigest()[:16]
