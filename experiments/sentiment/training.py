"""The paper's model: embeddings, one LSTM layer of 150 units, a softmax; Adam at 1e-4 for 15 epochs."""

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

from experiments.common.pruning import kept_mask, pruning_steps
from experiments.sentiment.lstm import Batch, LastStateLSTM
from experiments.sentiment.reviews import Corpus, Reviews
from lexicode import SettingError
from lexicode.torch import CompositionalEmbedding

Log = Callable[[str], None]

JUDGED_AT_ONCE = 128


@dataclass(frozen=True, kw_only=True)
class Training:
    """units, epochs and learning_rate are the paper's; it names neither its batch size nor a limit on gradients.

    clip: the largest norm of the LSTM's and the softmax's gradient; without, the training loss jumped up in the middle
    of both runs that were made.
    zeros: the fraction of the embeddings to prune while they train; None: embeddings stay as they are, and fixed.
    """

    units: int = 150
    epochs: int = 15
    learning_rate: float = 1e-4
    batch_size: int = 32
    clip: float = 1.0
    seed: int = 1
    zeros: float | None = None

    def __post_init__(self) -> None:
        for name in ("units", "epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name}={getattr(self, name)} is less than 1")
        if not self.clip > 0:
            raise SettingError(f"clip={self.clip} is not a number above zero")
        if self.zeros is not None and not 0 < self.zeros < 1:
            raise SettingError(f"zeros={self.zeros} is not a fraction between 0 and 1")


@dataclass(kw_only=True)
class Trained:
    """The test figures are those of the epoch of lowest validation loss; seconds are of the training alone."""

    test_accuracy: float = 0.0
    test_loss: float = 0.0
    best_epoch: int = 0
    best_loss: float = float("inf")
    validation_losses: list[float] = field(default_factory=list)
    validation_accuracies: list[float] = field(default_factory=list)
    seconds: float = 0.0


class SentimentModel(nn.Module):
    """embedding: any module that turns row numbers (u,) into vectors (u, dim)"""

    def __init__(self, embedding: nn.Module, dim: int, units: int) -> None:
        super().__init__()
        self.embedding = embedding
        self.lstm = LastStateLSTM(dim, units)
        self.softmax = nn.Linear(units, 2)

    def forward(self, batch: Batch) -> Tensor:
        """Logits (n, 2)"""
        logits: Tensor = self.softmax(self.lstm(self.embedding(batch.words), batch))
        return logits


def train(
    embedding: nn.Module, corpus: Corpus, run: Training, *, state: Path, log: Log = lambda line: None
) -> tuple[Trained, SentimentModel]:
    """Train, keep the epoch of lowest validation loss, judge it on the test set.

    state: the file that says how far the training is, so that it goes on after a kill.
    """
    # The vanishing gradients of an LSTM go denormal, and processors take many times as long over such numbers.
    torch.set_flush_denormal(True)
    torch.manual_seed(run.seed)
    model = SentimentModel(embedding, corpus.vectors.dim, run.units)
    identity = {**asdict(run), "digest": _digest(embedding, corpus)}
    pruning = None if run.zeros is None else Pruning(model.embedding, run.zeros, run.epochs)
    optimizers = _optimizers(model, run)
    trained, best, done = Trained(), _weights(model), 0
    saved = torch.load(state, weights_only=True) if state.exists() else None
    if saved is not None and saved["identity"] == identity:
        model.load_state_dict(saved["model"], strict=False)
        for optimizer, kept in zip(optimizers, saved["optimizers"], strict=True):
            optimizer.load_state_dict(kept)
        trained, best, done = Trained(**saved["trained"]), saved["best"], saved["epoch"]
        log(f"  goes on after epoch {done}")
    for epoch in range(done + 1, run.epochs + 1):
        began = time.perf_counter()
        if pruning is not None:
            pruning.begin(epoch)
        losses = [
            _step(model, batch, optimizers, pruning, run.clip)
            for batch in batches_of(corpus.train, run.batch_size, np.random.default_rng([run.seed, epoch]))
        ]
        loss, accuracy = judge(model, corpus.validation)
        # A table that is not pruned far enough yet is not the one whose size is told.
        if loss < trained.best_loss and (pruning is None or pruning.finished):
            best, trained.best_loss, trained.best_epoch = _weights(model), loss, epoch
        trained.validation_losses.append(loss)
        trained.validation_accuracies.append(accuracy)
        seconds = time.perf_counter() - began
        trained.seconds += seconds
        _save(state, identity, model, optimizers, trained, best, epoch)
        log(
            f"  epoch {epoch}: training loss {np.mean(losses):.4f}, validation loss {loss:.4f}, "
            f"accuracy {accuracy:.4f}, {seconds:.0f} s"
        )
    model.load_state_dict(best, strict=False)
    _round_as_in_file(embedding)
    trained.test_loss, trained.test_accuracy = judge(model, corpus.test)
    return trained, model


def _step(
    model: SentimentModel,
    batch: Batch,
    optimizers: list[torch.optim.Optimizer],
    pruning: Pruning | None,
    clip: float,
) -> float:
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(batch), batch.labels)
    loss.backward()
    nn.utils.clip_grad_norm_([*model.lstm.parameters(), *model.softmax.parameters()], clip)
    for optimizer in optimizers:
        optimizer.step()
    if pruning is not None:
        pruning.hold(batch.words)
    return float(loss.detach())


@torch.no_grad()
def judge(model: SentimentModel, reviews: Reviews) -> tuple[float, float]:
    """(mean cross entropy, accuracy)"""
    loss, right = 0.0, 0
    for batch in batches_of(reviews, JUDGED_AT_ONCE):
        logits = model(batch)
        loss += float(nn.functional.cross_entropy(logits, batch.labels, reduction="sum"))
        right += int((logits.argmax(dim=1) == batch.labels).sum())
    return loss / len(reviews), right / len(reviews)


def batches_of(reviews: Reviews, size: int, rng: np.random.Generator | None = None) -> Iterator[Batch]:
    """All reviews, those of like length together; with `rng` the batches and what they hold differ every time."""
    lengths = reviews.lengths
    # A tenth of a review's length decides by lot who its neighbours are.
    keys = lengths if rng is None else lengths * rng.uniform(0.95, 1.05, size=len(lengths))
    order = np.argsort(-keys, kind="stable")
    starts = np.arange(0, len(order), size)
    for start in starts if rng is None else rng.permutation(starts):
        chosen = order[start : start + size]
        chosen = chosen[np.argsort(-lengths[chosen], kind="stable")]
        texts = [reviews.ids[reviews.starts[i] : reviews.starts[i + 1]] for i in chosen]
        yield Batch.of(texts, reviews.labels[chosen])


class Pruning:
    """The embeddings lose their smallest values a few at a time, over the first two thirds of the epochs, and train on.

    What is zero stays zero (Han et al. 2015).
    """

    def __init__(self, embedding: nn.Module, zeros: float, epochs: int) -> None:
        if not isinstance(embedding, nn.Embedding):
            raise SettingError(f"{type(embedding).__name__} holds no table to prune; give an nn.Embedding")
        self._table = embedding.weight
        self._zeros = zeros
        steps = max(1, 2 * epochs // 3)
        self._fractions = pruning_steps(zeros, steps)
        self._kept = torch.ones_like(self._table, dtype=torch.bool)
        self.finished = False

    def begin(self, epoch: int) -> None:
        """Prune as far as this epoch, counted from 1, wants."""
        steps = len(self._fractions)
        self.finished = epoch >= steps
        self._kept = kept_mask(self._table, self._fractions[min(epoch, steps) - 1])
        with torch.no_grad():
            self._table *= self._kept

    def hold(self, words: Tensor) -> None:
        """Set back to zero what a step changed in the rows of `words` (u,)."""
        with torch.no_grad():
            self._table[words] *= self._kept[words]


@torch.no_grad()
def _round_as_in_file(embedding: nn.Module) -> None:
    """Codebooks that have trained are judged as lexicode's file would have them."""
    if isinstance(embedding, CompositionalEmbedding):
        embedding.codebooks.copy_(embedding.codebooks.half())


def _optimizers(model: SentimentModel, run: Training) -> list[torch.optim.Optimizer]:
    """Adam; for a table that trains, the one that touches only the rows of a batch."""
    layers = [*model.lstm.parameters(), *model.softmax.parameters()]
    embedding = [parameter for parameter in model.embedding.parameters() if parameter.requires_grad]
    if isinstance(model.embedding, nn.Embedding) and model.embedding.sparse:
        return [
            torch.optim.Adam(layers, lr=run.learning_rate),
            torch.optim.SparseAdam(embedding, lr=run.learning_rate),
        ]
    return [torch.optim.Adam([*layers, *embedding], lr=run.learning_rate)]


def _digest(embedding: nn.Module, corpus: Corpus) -> str:
    """Of the layer before it is trained and of the reviews: a row goes on only with what it began with."""
    arrays = [tensor.detach().numpy() for tensor in embedding.state_dict().values()]
    arrays += [corpus.train.ids, corpus.train.labels, corpus.validation.ids]
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def _weights(model: SentimentModel) -> dict[str, Tensor]:
    """A copy of what trains, to come back to; embeddings that are fixed need no copy."""
    return {name: tensor.detach().clone() for name, tensor in model.named_parameters() if tensor.requires_grad}


def _save(
    state: Path,
    identity: dict[str, Any],
    model: SentimentModel,
    optimizers: list[torch.optim.Optimizer],
    trained: Trained,
    best: dict[str, Tensor],
    epoch: int,
) -> None:
    state.parent.mkdir(parents=True, exist_ok=True)
    whole = {
        "model": _weights(model),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
        "identity": identity,
        "trained": asdict(trained),
        "best": best,
        "epoch": epoch,
    }
    temporary = state.with_suffix(".partial")
    torch.save(whole, temporary)
    temporary.replace(state)
