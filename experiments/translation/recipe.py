"""One row after the other: the baseline's tables, their codes, the rest trained again from fresh values, BLEU."""

from __future__ import annotations

import hashlib
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from experiments.common.claims import claimed
from experiments.common.learning import Log
from experiments.common.results import Results, Row
from experiments.common.sizes import Sizes, sparse_bytes
from experiments.translation.datasets import DataSet
from experiments.translation.decoding import translate
from experiments.translation.model import Translator, dense_embedding
from experiments.translation.outputs import REFERENCE, Outputs, label_of
from experiments.translation.preparing import Prepared
from experiments.translation.pruning import Pruner
from experiments.translation.rows import (
    CodeSettings,
    Layers,
    RowName,
    as_in_file,
    coded_layers,
    dense_sizes,
    fixed_layers,
    uniform_layers,
)
from experiments.translation.scoring import tokenized_bleu
from experiments.translation.training import Progress, Training, validation_score
from lexicode import LearningError

BASELINE = RowName.parse("baseline")
BEAM = 5
# Sentences of the test set that the results show side by side.
SHOWN = 10
# A table is pruned in so many steps, one before each of the first validations.
PRUNING_STEPS = 4


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that the rows share."""

    dataset: DataSet
    data: Prepared
    results: Results
    work: Path
    codes: CodeSettings
    log: Log

    def run(self, name: RowName, seed: int) -> bool:
        """Compute the row and write it down, unless it is there already or another process is at it; whether it did."""
        with self._claimed(name, seed) as mine:
            wanted = mine and not self.results.has(name.text, seed)
            if wanted:
                self._compute(name, seed)
            return wanted

    def _compute(self, name: RowName, seed: int) -> None:
        layers = self._layers(name, seed)
        model = self._model(name, layers, seed)
        progress = self._as_it_is(model) if name.swapped else self._trained(name, model, seed)
        layers = as_in_file(layers)
        began = time.monotonic()
        rows = translate(model, self.data.test.sources, BEAM)
        lines = self.dataset.scored([self.data.target.decode(each) for each in rows])
        translating = time.monotonic() - began
        if name.kind == "baseline":
            self._keep_baseline(model, seed)
        row = {
            **self._figures(name, seed, layers, _tables(model)),
            "baseline": self._tables_digest(seed),
            "bleu": tokenized_bleu(lines, self.data.test.target_lines),
            "validation": progress.best_score,
            "iterations": progress.iteration,
            "best_iteration": progress.best_iteration,
            "training_seconds": round(progress.seconds, 3),
            "seconds": round(layers.learning_seconds + progress.seconds + translating, 3),
            "threads": torch.get_num_threads(),
            "precision": self.dataset.training.precision,
            "curve": progress.curve,
            "translations": lines[:SHOWN],
        }
        # A baseline that is trained again for its tables leaves its row as it is, and so what that row translated.
        if not self.results.has(name.text, seed):
            outputs = Outputs(self.results.path)
            outputs.write(REFERENCE, self.data.test.target_lines)
            outputs.write(label_of(row), lines)
            self.results.add(row)
        self._kept(name, seed, "pt").unlink(missing_ok=True)
        self.log(f"{name.text}, seed {seed}: BLEU {row['bleu']:.2f}")

    def _trained(self, name: RowName, model: Translator, seed: int) -> Progress:
        self.log(f"{name.text}, seed {seed}: training")
        training = Training(
            model, self.data, self.dataset.training,
            seed=seed, checkpoint=self._kept(name, seed, "pt"), log=self.log, pruner=self._pruner(name, model),
        )  # fmt: skip
        return training.run()

    def _as_it_is(self, model: Translator) -> Progress:
        """No iteration made, and validated once"""
        return Progress(best_score=validation_score(model, self.data, self.dataset.training.validation_sentences))

    # ---- the model

    def _layers(self, name: RowName, seed: int) -> Layers:
        """What stands for the two tables in this row."""
        if name.kind in ("baseline", "prune"):
            return self._dense_layers(seed)
        state = self._baseline(seed)
        source_table, target_table, head = (
            state[f"{layer}.weight"].numpy() for layer in ("source_embedding", "target_embedding", "head")
        )
        if name.kind == "fixed":
            return fixed_layers(source_table, target_table)
        if name.kind == "uniform":
            return uniform_layers(name.number, source_table, target_table, self.data.counts)
        return coded_layers(
            name, source_table, target_table, head,
            counts=self.data.counts, seed=seed, settings=self.codes, work=self.work, log=self.log,
        )  # fmt: skip

    def _dense_layers(self, seed: int) -> Layers:
        """Tables that train"""
        # Not the stream that the rest of the model is drawn from.
        torch.manual_seed(2**32 + seed)
        source, target = (
            dense_embedding(len(each), self.dataset.units) for each in (self.data.source, self.data.target)
        )
        return Layers(source=source, target=target, vectors=len(source.weight) + len(target.weight))

    def _model(self, name: RowName, layers: Layers, seed: int) -> Translator:
        if name.kind == "prune":
            return self._baseline_model(seed)
        if name.swapped:
            return swapped(self._baseline_model(seed), layers)
        return self._fresh_model(layers, seed)

    def _fresh_model(self, layers: Layers, seed: int) -> Translator:
        """Around the layers, values that depend on the seed alone."""
        torch.manual_seed(seed)
        model = Translator(layers.source, layers.target, len(self.data.target), self.dataset.units)
        if layers.head is not None:
            model.head = layers.head
        return model

    def _baseline_model(self, seed: int) -> Translator:
        model = self._fresh_model(self._dense_layers(seed), seed)
        model.load_state_dict(self._baseline(seed))
        return model

    def _baseline(self, seed: int) -> dict[str, Tensor]:
        """The baseline's parameters, trained first if they are not in the work folder."""
        path = self._kept(BASELINE, seed, "safetensors")
        if not path.exists():
            # Whoever needs them while another process trains them waits.
            with self._claimed(BASELINE, seed, wait=True):
                if not path.exists():
                    self._compute(BASELINE, seed)
        with safe_open(path, "pt") as file:
            if (file.metadata() or {}) != self._baseline_identity:
                raise LearningError(
                    f"{path} is of a baseline with other settings or data; move it away to train one anew"
                )
        return load_file(path)

    def _keep_baseline(self, model: Translator, seed: int) -> None:
        path = self._kept(BASELINE, seed, "safetensors")
        temporary = path.with_suffix(".tmp")
        save_file(model.state_dict(), temporary, metadata=self._baseline_identity)
        temporary.replace(path)

    @property
    def _baseline_identity(self) -> dict[str, str]:
        return {"data": self.data.digest, "settings": str(self.dataset.training)}

    def _tables_digest(self, seed: int) -> str:
        """Which training of the baseline a row comes from: another machine's may end in other values."""
        state = load_file(self._kept(BASELINE, seed, "safetensors"))
        tables = b"".join(state[f"{side}_embedding.weight"].numpy().tobytes() for side in ("source", "target"))
        return hashlib.sha256(tables).hexdigest()[:16]

    def _claimed(self, name: RowName, seed: int, *, wait: bool = False) -> AbstractContextManager[bool]:
        return claimed(self.work / "claims" / f"{name.text}-{seed}", wait=wait)

    def _pruner(self, name: RowName, model: Translator) -> Pruner | None:
        if name.kind != "prune":
            return None
        interval = self.dataset.training.validate_every
        return Pruner(_tables(model), zeros=name.number / 100, steps=PRUNING_STEPS, interval=interval)

    def _kept(self, name: RowName, seed: int, suffix: str) -> Path:
        return self.work / f"{name.text}-{seed}.{suffix}"

    # ---- the figures

    def _figures(self, name: RowName, seed: int, layers: Layers, tables: list[Tensor]) -> Row:
        figures: Row = {
            "name": name.text,
            "seed": seed,
            "rows": [len(self.data.source), len(self.data.target)],
            "units": self.dataset.units,
            "vectors": layers.vectors,
            "code_bits": layers.code_bits,
            "code_bytes": layers.code_bytes,
            **(layers.sizes or _sizes(name, tables)).as_dict(),
            "loss": layers.loss,
            "weighted_loss": layers.weighted_loss,
            "learning_seconds": layers.learning_seconds,
            "learning_iterations": layers.learning_iterations,
            "learning": None if name.scheme is None else self.codes.of(name.kind),
        }
        if layers.head_sizes is not None:
            figures["head"] = layers.head_sizes.as_dict()
        if name.kind == "baseline":
            figures["sources"] = self.data.test.source_lines[:SHOWN]
            figures["references"] = self.data.test.target_lines[:SHOWN]
        return figures


@torch.no_grad()
def swapped(model: Translator, layers: Layers) -> Translator:
    """The trained model with the layers in the place of its own; the rest stays."""
    model.source_embedding, model.target_embedding = layers.source, layers.target
    if layers.head is not None:
        layers.head.bias.copy_(model.head.bias)
        model.head = layers.head
    return model


def _tables(model: Translator) -> list[Tensor]:
    """The tables that train: both or none"""
    layers = (model.source_embedding, model.target_embedding)
    return [layer.weight for layer in layers if isinstance(layer, nn.Embedding)]


def _sizes(name: RowName, tables: list[Tensor]) -> Sizes:
    """Of tables that have been trained."""
    arrays = [table.detach().numpy() for table in tables]
    if name.kind == "prune":
        return Sizes(paper_bytes=sum(sparse_bytes(array) for array in arrays))
    return dense_sizes(*arrays)
