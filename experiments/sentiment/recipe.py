"""The recipe: for each task of the plan make the embedding layer, train the model on it, and write the row down."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.claims import claimed
from experiments.common.learning import Log
from experiments.common.results import Results
from experiments.common.sizes import sizes_of
from experiments.sentiment.codes import describe
from experiments.sentiment.paper import ACCURACIES, LOSSES
from experiments.sentiment.plan import MAIN, SECOND, Task
from experiments.sentiment.reviews import Corpus, load_corpus
from experiments.sentiment.rows import Learning, RowName, make_codes, make_layer, squared_distance, trained_layer
from experiments.sentiment.training import Training, train
from lexicode import SettingError, Vectors

# The tables of the published results, where --vectors and --second name no others.
PUBLISHED = {MAIN: "glove840B_300d_33860.f32.npz", SECOND: "glove6B_100d_imdbvocab.f32.npz"}


@dataclass(frozen=True, kw_only=True)
class Places:
    """data: the reviews. tables: a vector file each for the main and the second table. work: what may be deleted.
    results: the folder of sentiment.json, sentiment.md and the plots."""

    data: Path
    tables: dict[str, Path]
    work: Path
    results: Path


def find_table(data: Path, which: str, given: Path | None) -> Path | None:
    """The vector file that was named, or the published one if it lies in `data` or in `data`/vectors."""
    if given is not None:
        return given
    places = [data / PUBLISHED[which], data / "vectors" / PUBLISHED[which]]
    return next((path for path in places if path.is_file()), None)


def label_of(table: Path) -> str:
    """A vector file's name without what tells only of its format.

    >>> label_of(Path("vectors/glove.42B.300d.txt.gz"))
    'glove.42B.300d'
    """
    return re.sub(r"(\.(f32|npz|npy|txt|vec|bin|safetensors|zip|gz|bz2|xz))+$", "", table.name) or table.name


class Recipe:
    """One run over tasks; `training` and `learning` hold for all of them."""

    def __init__(
        self, places: Places, training: Training, learning: Learning, *, log: Log, most_reviews: int | None = None
    ) -> None:
        self.places = places
        self.training = training
        self.learning = learning
        self.log = log
        self.most_reviews = most_reviews
        self.results = Results(places.results / "sentiment.json")
        self._loaded: dict[str, Corpus] = {}
        for row in self.results.rows:
            table = places.tables.get(row["table"])
            if table is not None and row["vectors"] != label_of(table):
                raise SettingError(
                    f"{self.results.path} has rows of {row['vectors']}, and these are {label_of(table)}; "
                    "name another folder with --results"
                )

    def name_of(self, task: Task) -> str:
        """The row's name in the results, which tells tables apart: `baseline on glove840B_300d_33860`."""
        row = task.row if task.kind == "accuracy" else f"{task.kind}:{task.row}"
        return f"{row} on {label_of(self.places.tables[task.vectors])}"

    def missing(self, tasks: list[Task]) -> list[Task]:
        """The tasks that can be done here and are not in the results yet."""
        able = [task for task in tasks if task.vectors in self.places.tables]
        return [task for task in able if not self.results.has(self.name_of(task), task.seed)]

    def run_all(self, tasks: list[Task], after_each: Callable[[], None]) -> None:
        """Every task that is missing and that no other process is at."""
        for task in self.missing(tasks):
            with claimed(self.places.work / "claims" / f"{self.name_of(task)} seed {task.seed}") as mine:
                # Another process may have finished it since the list was made.
                if mine and self.missing([task]):
                    self.run(task)
                    after_each()

    def run(self, task: Task) -> None:
        began = time.perf_counter()
        self.log(f"{self.name_of(task)}, seed {task.seed}")
        corpus = self._corpus(task.vectors)
        kinds = {"accuracy": self._accuracy, "loss": self._loss, "codes": self._codes}
        name = RowName.parse(task.row)
        row = {
            "name": self.name_of(task),
            "kind": task.kind,
            "row": task.row,
            "vectors": label_of(self.places.tables[task.vectors]),
            "table": task.vectors,
            "words": len(corpus.vectors),
            "dim": corpus.vectors.dim,
            "learner": name.kind,
            "scheme": name.scheme,
            "seed": task.seed,
            **kinds[task.kind](task, name, corpus),
        }
        self.results.add(row)
        self._state_of(task).unlink(missing_ok=True)
        figures = {key: row[key] for key in ("accuracy", "loss", "paper_bytes") if row.get(key) is not None}
        self.log(f"  done in {time.perf_counter() - began:.0f} s: {figures}")

    # ---- the kinds of tasks

    def _accuracy(self, task: Task, name: RowName, corpus: Corpus) -> dict[str, Any]:
        """Train the model on the row's embeddings and judge it on the test reviews."""
        layer = make_layer(name, corpus, self.learning, work=self.places.work, log=self.log)
        run = replace(self.training, seed=task.seed, zeros=name.zeros)
        trained, _ = train(layer.embedding, corpus, run, state=self._state_of(task), log=self.log)
        layer = trained_layer(layer, name, corpus)
        sizes = layer.sizes.as_dict() if layer.sizes else {}
        paper = ACCURACIES.get(task.row)
        return {
            **sizes,
            "accuracy": trained.test_accuracy,
            "loss": layer.loss,
            "seconds": round(trained.seconds, 3),
            "learning_seconds": layer.learned.seconds if layer.learned else None,
            "iterations": layer.learned.iterations if layer.learned else None,
            "best_epoch": trained.best_epoch,
            "test_loss": trained.test_loss,
            "validation_losses": [round(loss, 5) for loss in trained.validation_losses],
            "validation_accuracies": [round(accuracy, 5) for accuracy in trained.validation_accuracies],
            "training": asdict(run),
            "known_tokens": round(corpus.known, 4),
            "paper_accuracy": paper.accuracy if paper else None,
            "paper_megabytes": paper.megabytes if paper else None,
        }

    def _loss(self, task: Task, name: RowName, corpus: Corpus) -> dict[str, Any]:
        """A cell of Table 2, or a binary code for Table 1."""
        codes = make_codes(name, corpus, self.learning, work=self.places.work, log=self.log)
        scheme = codes.coded.scheme
        table = corpus.vectors.take(np.arange(len(corpus.vectors)))
        return {
            **sizes_of(codes.coded).as_dict(),
            "loss": squared_distance(table, codes.coded.decode()),
            "seconds": codes.seconds,
            "iterations": codes.iterations,
            "paper_loss": LOSSES.get((scheme.codebooks, scheme.codewords)) if name.kind == "gumbel" else None,
        }

    def _codes(self, task: Task, name: RowName, corpus: Corpus) -> dict[str, Any]:
        """Section 6."""
        codes = make_codes(name, corpus, self.learning, work=self.places.work, log=self.log)
        return {**describe(corpus.vectors, codes.coded), "seconds": codes.seconds, "iterations": codes.iterations}

    def _state_of(self, task: Task) -> Path:
        return self.places.work / "training" / f"{self.name_of(task)} seed {task.seed}.pt"

    def _corpus(self, which: str) -> Corpus:
        """The reviews over one table's words; kept until a task wants the other's."""
        if which not in self._loaded:
            corpus = load_corpus(self.places.data, self._table(which), work=self.places.work, most=self.most_reviews)
            self._loaded = {which: corpus}
            parts = ", ".join(f"{len(part):,}" for part in (corpus.train, corpus.validation, corpus.test))
            self.log(
                f"  {len(corpus.vectors):,} words x {corpus.vectors.dim}, {corpus.known:.1%} of all tokens; "
                f"reviews to train, validate, test: {parts}"
            )
        return self._loaded[which]

    def _table(self, which: str) -> Vectors:
        return Vectors.load(self.places.tables[which], duplicates="first")
