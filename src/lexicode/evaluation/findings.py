"""examine: all that the report shows of a coded embedding, as one object with stable names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.evaluation.balance import CodeBalance, SharedCodes, code_balance, shared_codes
from lexicode.evaluation.curve import Curve
from lexicode.evaluation.explorer import Neighbourhoods, frequent_rows, neighbourhoods
from lexicode.evaluation.measuring import Measurements, evaluate
from lexicode.evaluation.rate_distortion import covariance, gaussian_distortion
from lexicode.evaluation.row_errors import Band, Histogram, RowErrors, bands, histogram, row_errors, worst_and_best
from lexicode.evaluation.similarity import Benchmark, Similarity, similarity
from lexicode.evaluation.trials import Trials, try_schemes
from lexicode.learners.progress import OnProgress, Progress
from lexicode.vectors import Vectors
from lexicode.words import Words

EXTREMES = 12
TRIAL_SECONDS = 20.0
# The reference line is drawn from no bits to twice those of the file, and in so many points.
REFERENCE_POINTS = 65
STEPS = ("sizes and errors", "every row", "codes", "neighbours")


@dataclass(frozen=True, kw_only=True)
class RowFinding:
    """One row: its cosine with its original, their distance, and the length of the original."""

    row: int
    word: str
    cosine: float
    distance: float
    length: float


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The Gaussian rate-distortion curve of the table's covariance: the loss at each number of bits a row"""

    bits: tuple[float, ...]
    losses: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Findings:
    """words: the vocabulary, None for a table of ids; similarity: (before, after) for each benchmark."""

    measurements: Measurements
    words: Words | None
    origin: dict[str, Any]
    bits_per_row: int
    codebook_dtype: str
    exact_rows: int
    cosines: Histogram
    bands: tuple[Band, ...]
    worst: tuple[RowFinding, ...]
    best: tuple[RowFinding, ...]
    similarity: tuple[tuple[Similarity, Similarity], ...]
    reference: Reference
    trials: Trials
    curve: Curve | None
    balance: CodeBalance
    shared: SharedCodes
    explorer: Neighbourhoods

    def name_of(self, row: int) -> str:
        """A row's word, or its number in a table of ids."""
        return str(row) if self.words is None else self.words[int(row)]

    def as_dict(self) -> dict[str, Any]:
        """Every number of the report, ready for JSON."""
        judged = [
            {"name": before.name, "pairs": before.pairs, "known": before.known}
            | {"before": before.spearman, "after": after.spearman}
            for before, after in self.similarity
        ]
        groups = [[self.name_of(row) for row in rows] for rows in self.shared.largest]
        explorer = self.explorer.as_dict() | {"words": {int(r): self.name_of(int(r)) for r in self.explorer.named}}
        return {
            "measurements": self.measurements.as_dict(),
            "vocabulary": None if self.words is None else len(self.words),
            "origin": self.origin,
            "bits_per_row": self.bits_per_row,
            "codebook_dtype": self.codebook_dtype,
            "exact_rows": self.exact_rows,
            "cosines": asdict(self.cosines),
            "bands": [band.as_dict() for band in self.bands],
            "worst": [asdict(finding) for finding in self.worst],
            "best": [asdict(finding) for finding in self.best],
            "similarity": judged,
            "reference": asdict(self.reference),
            "trials": asdict(self.trials),
            "curve": None if self.curve is None else self.curve.as_dict(),
            "balance": self.balance.as_dict(),
            "shared_codes": {"rows": self.shared.rows, "codes": self.shared.codes, "largest": groups},
            "explorer": explorer,
        }


def examine(
    vectors: Vectors,
    coded: CodedEmbedding,
    *,
    benchmarks: Sequence[Benchmark] = (),
    curve: Curve | None = None,
    trial_seconds: float = TRIAL_SECONDS,
    on_progress: OnProgress | None = None,
) -> Findings:
    """Judge a coded embedding by all that the report shows. `trial_seconds` bounds the trials of other schemes; 0
    leaves them out."""
    report = on_progress or (lambda progress: None)

    def done(step: int) -> None:
        report(Progress(stage="examining", step=step, steps=len(STEPS), loss=None, note=STEPS[step - 1]))

    measurements = evaluate(vectors, coded)
    done(1)
    judged = tuple((similarity(vectors, each), similarity(coded, each)) for each in benchmarks)
    words = vectors.words if coded.words is None else coded.words
    errors = row_errors(vectors, coded)
    exact = np.empty(0, dtype=np.uint32) if coded.exact is None else coded.exact.ids
    worst, best = worst_and_best(errors, EXTREMES, exact)
    done(2)
    shared = shared_codes(coded)
    balance = code_balance(coded)
    done(3)
    named = [row for group in shared.largest for row in group]
    explored = neighbourhoods(vectors, coded, [*frequent_rows(coded).tolist(), *worst.tolist(), *best.tolist(), *named])
    done(4)
    trials = try_schemes(
        vectors,
        coded,
        measurements.loss,
        seconds=trial_seconds,
        on_trial=lambda step, steps: report(Progress(stage="other schemes", step=step, steps=steps, loss=None)),
    )
    find = partial(_findings_of, errors=errors, words=words)
    return Findings(
        measurements=measurements,
        words=words,
        origin=coded.origin,
        bits_per_row=coded.scheme.bits_per_row,
        codebook_dtype=str(coded.codebooks.dtype),
        exact_rows=len(exact),
        cosines=histogram(errors.cosines),
        bands=bands(errors, exact),
        worst=find(worst),
        best=find(best),
        similarity=judged,
        reference=_reference(vectors, trials, coded.scheme.bits_per_row),
        trials=trials,
        curve=curve,
        balance=balance,
        shared=shared,
        explorer=explored,
    )


def _findings_of(rows: npt.NDArray[np.int64], *, errors: RowErrors, words: Words | None) -> tuple[RowFinding, ...]:
    return tuple(
        RowFinding(
            row=int(row),
            word=str(row) if words is None else words[int(row)],
            cosine=float(errors.cosines[row]),
            distance=float(np.sqrt(errors.squared[row])),
            length=float(errors.lengths[row]),
        )
        for row in rows
    )


def _reference(vectors: Vectors, trials: Trials, own_bits: int) -> Reference:
    """The curve over the bits that are shown: from half the fewest to a little beyond the most."""
    shown = [own_bits, *(trial.bits_per_row for trial in trials.results)]
    bits = np.linspace(min(shown) / 2, max(shown) * 1.15, REFERENCE_POINTS)
    losses = gaussian_distortion(covariance(vectors), bits)
    return Reference(bits=tuple(bits.tolist()), losses=tuple(losses.tolist()))
