"""Codes that are learned once: kept in a work folder, shared by all rows that use them, gone on with after a kill."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.common.claims import claimed
from lexicode import AdditiveLearner, CodedEmbedding, GumbelLearner, ProductLearner, SettingError, Vectors

Log = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A coded embedding as it was loaded from its file, and how it came to be: seconds of learning and, for the
    paper's network, the iterations it made. If it was stopped in between, the network's are of all runs together, other
    learners' of the last."""

    coded: CodedEmbedding
    seconds: float
    iterations: int | None


class _OutOfTimeError(Exception):
    """The learner used up its time."""


def learned(
    vectors: Vectors,
    learner: str,
    scheme: str,
    *,
    work: Path,
    log: Log = lambda line: None,
    time_limit: float | None = None,
    threads: int | None = None,
    weights: npt.NDArray[Any] | None = None,
    **settings: Any,
) -> Learned:
    """The codes of `vectors` from the work folder, learned first if they are not there.

    learner: "additive", "gumbel", "product" or "npq" (product with its norms coded apart).
    time_limit: seconds after which the paper's network stops and hands out the best codes it had.
    weights (V,): how much each row counts, for the learners that know weights.
    """
    named = dict(settings)
    if time_limit is not None:
        # Codes that were cut short are not to be taken by a run that has more time.
        named["time_limit"] = time_limit
    if weights is not None:
        named["weights"] = hashlib.sha256(np.ascontiguousarray(weights, dtype="<f8").tobytes()).hexdigest()[:8]
        settings["weights"] = weights
    label = "-".join([learner, scheme, *(f"{key}={value}" for key, value in sorted(named.items()))])
    path = work / f"{label}-{vectors.digest[7:15]}.safetensors"
    # Who comes second to codes that are being learned waits for them.
    with claimed(path.with_suffix(".claim"), wait=True):
        if not path.exists():
            log(f"  learning {label}")
            # Threads are no part of the label: they change no code, or none that matters.
            run = {**settings, "threads": threads}
            coded = _learn(vectors, learner, scheme, path.with_suffix(".checkpoint"), log, time_limit, run)
            coded.save(path)
            path.with_suffix(".checkpoint").unlink(missing_ok=True)
    coded = CodedEmbedding.load(path)
    note = coded.origin["experiment"]
    return Learned(coded=coded, seconds=note["seconds"], iterations=note["iterations"])


def _learn(
    vectors: Vectors,
    learner: str,
    scheme: str,
    checkpoint: Path,
    log: Log,
    time_limit: float | None,
    settings: dict[str, Any],
) -> CodedEmbedding:
    began = time.perf_counter()
    iterations = None
    if learner == "gumbel":
        coded, seconds, iterations = _learn_gumbel(vectors, scheme, checkpoint, log, time_limit, settings)
    elif learner == "additive":
        coded = AdditiveLearner(scheme, checkpoint=checkpoint, **settings).fit(vectors)
        seconds = time.perf_counter() - began
    elif learner in ("product", "npq"):
        coded = ProductLearner(scheme, normalized=learner == "npq", **settings).fit(vectors)
        seconds = time.perf_counter() - began
    else:
        raise SettingError(f'learner {learner!r} is not one of "additive", "gumbel", "product", "npq"')
    coded.origin["experiment"] = {"seconds": round(seconds, 3), "iterations": iterations}
    return coded


def _learn_gumbel(
    vectors: Vectors, scheme: str, checkpoint: Path, log: Log, time_limit: float | None, settings: dict[str, Any]
) -> tuple[CodedEmbedding, float, int]:
    """The codes, the seconds of training and the iterations made."""
    network = GumbelLearner(scheme, checkpoint=checkpoint, **settings)
    last_line = time.monotonic()

    def spent() -> float:
        # From the curve, which the checkpoint keeps: a run that was killed counts too.
        pairs = zip(network.curve, network.curve[1:], strict=False)
        return sum((after.iteration - before.iteration) / after.iterations_per_second for before, after in pairs)

    def watch(progress: Any) -> None:
        nonlocal last_line
        if progress.stage == "learning" and time.monotonic() - last_line > 60:
            last_line = time.monotonic()
            log(f"  {scheme}: iteration {progress.step} of {progress.steps}, loss {progress.loss:.4f}, {progress.note}")
        if time_limit is not None and progress.step < progress.steps and spent() > time_limit:
            raise _OutOfTimeError

    try:
        coded = network.fit(vectors, watch)
    except _OutOfTimeError:
        # The checkpoint is at most some seconds old; going on to this very iteration hands out its best codes.
        stopped = network.curve[-1].iteration
        network = GumbelLearner(scheme, checkpoint=checkpoint, **{**settings, "iterations": stopped})
        coded = network.fit(vectors)
    return coded, spent(), network.curve[-1].iteration
