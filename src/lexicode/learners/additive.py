"""AdditiveLearner, the default: rounds of least-squares codebooks and better codes.

Each round solves for the codebooks given the codes, then changes the codes given the codebooks. In the hot rounds
codes are drawn at random, the likelier the less error they give, at a temperature that falls: the codes settle first
where it matters most, and the fine things last (simulated annealing). In the cold rounds the best codes are searched
for. Codebooks are learned on a sample where the table is large; every row is then encoded in a stream.
"""

from __future__ import annotations

import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats, compose
from lexicode.encoding import SearchTables
from lexicode.errors import SettingError
from lexicode.learners.effort import EFFORTS, GIVEN_CODES_WARMTH, CountedRounds, Place, Schedule, TimedRounds
from lexicode.learners.final_encoding import FinalEncoding, scale_levels
from lexicode.learners.keeping import frequent_rows, with_exact_rows
from lexicode.learners.learner import CommonSettings, check_range, origin, stored, workers
from lexicode.learners.least_squares import Doubles, LeastSquares
from lexicode.learners.progress import OnProgress, Progress
from lexicode.learners.rounds import Rounds
from lexicode.learners.searching import Searching, mixed_seed
from lexicode.learners.team import ALONE, Team
from lexicode.learners.weights import Weights, check_weights, learning_sample, row_weights, weights_record
from lexicode.lengths import normalized
from lexicode.packing import Codes, code_dtype
from lexicode.scheme import CodeScheme
from lexicode.vectors import Vectors

# The codewords' inner products are kept as a square matrix of float32: 1 GiB at this many.
MAX_BASIS_VECTORS = 16_384
MIN_SAMPLE = 100_000
SAMPLE_ROWS_PER_CODEWORD = 128
LOSSES = ("squared", "cosine")
# The first temperature, in squares of the rows' mean length a column: codes then hold next to nothing. The last one is
# so many times lower, and lower still where there are many bits a column. Measured best, and flat, on tables of 100 and
# 300 columns, from 48 bits a row to 192.
FIRST_TEMPERATURE = 1.7
COOLING = 2.5
# How far the codebooks of hot rounds go on beyond the least-squares solution, in steps from the one before.
MOMENTUM = 0.85
# Rows so many times as long as the mean are not learned from where an error that is too large lets a row be kept.
GIANT = 16.0


@dataclass(frozen=True, kw_only=True)
class AdditiveSettings(CommonSettings):
    """effort      fast, balanced or thorough
    time        seconds to take instead; how good the codes become then depends on the machine
    loss        "squared", or "cosine": the direction matters, and the length is coded apart in a byte
    weights     how much each row counts: one number a row, or "zipf" for words in the order of their frequency
    heat        times the usual temperature of the hot rounds; 0 leaves them out
    sample_rows codebooks are learned on so many rows at most; by default on as many as pin them down
    checkpoint  a file to keep the state in, and to go on from if it is there
    """

    effort: str = "balanced"
    time: float | None = None
    loss: str = "squared"
    weights: Weights | None = None
    heat: float = 1.0
    sample_rows: int | None = None
    checkpoint: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.effort not in EFFORTS:
            raise SettingError(f"effort={self.effort!r} is not one of {', '.join(EFFORTS)}")
        if self.time is not None and not 0 < self.time < float("inf"):
            raise SettingError(f"time={self.time} is not a number of seconds above zero")
        if self.loss not in LOSSES:
            raise SettingError(f"loss={self.loss!r} is not one of {', '.join(LOSSES)}; the gumbel learner takes any")
        if not 0 <= self.heat <= 100:
            raise SettingError(f"heat={self.heat} is not between 0 and 100")
        if self.sample_rows is not None and (type(self.sample_rows) is not int or self.sample_rows < 1):
            raise SettingError(f"sample_rows={self.sample_rows!r} is not a number of rows; give 1 or more")
        check_weights(self.weights)

    def record(self) -> dict[str, Any]:
        length = {"effort": self.effort} if self.time is None else {"time": self.time}
        asked: dict[str, Any] = {**super().record(), **length, "loss": self.loss, "heat": self.heat}
        if self.weights is not None:
            asked["weights"] = weights_record(self.weights)
        if self.sample_rows is not None:
            asked["sample_rows"] = self.sample_rows
        return asked


class AdditiveLearner:
    """AdditiveLearner(scheme, effort="balanced", seed=0).fit(vectors) -> CodedEmbedding

    Same vectors, settings and seed: same bytes, whatever the number of threads (unless `time` is given). `curve` holds
    the loss of each round; in hot rounds that of the codes as they were drawn.
    """

    name: ClassVar[str] = "additive"

    def __init__(self, scheme: CodeScheme | str, **settings: Any) -> None:
        scheme = CodeScheme.of(scheme)
        if scheme.basis_vectors > MAX_BASIS_VECTORS:
            raise SettingError(
                f"scheme {scheme} has {scheme.basis_vectors:,} codewords in all; the additive learner takes up to "
                f"{MAX_BASIS_VECTORS:,}"
            )
        self.scheme = scheme
        self.settings = AdditiveSettings(**settings)
        self.curve: list[float] = []

    @property
    def loss(self) -> float:
        """The mean squared distance a row of the codes that `fit` returned, before any row is kept exactly."""
        return self.curve[-1]

    def fit(
        self,
        vectors: Vectors,
        on_progress: OnProgress | None = None,
        *,
        start: CodedEmbedding | None = None,
        team: Team = ALONE,
    ) -> CodedEmbedding:
        """Learn codebooks and codes for every row of `vectors`; in a team: of this process's rows.

        `start`, codes of the same rows, is where the rounds set out from, with less heat than random codes get.
        """
        self.curve = []
        check_range(vectors, self.settings.codebook_dtype, team)
        report = on_progress or (lambda progress: None)
        with workers(self.settings.threads_in(team)) as pool:
            state = self._begin(vectors, start, team)
            schedule = self._schedule(state, len(vectors), start is not None, team)
            sample = self._targets(vectors.take(state.rows))
            codebooks = self._learn(sample, state, schedule, pool, report, team)
            shipped = stored(codebooks, self.settings.codebook_dtype)
            books = shipped.astype(np.float32)
            levels = None
            if self.settings.loss == "cosine":
                levels = scale_levels(vectors, state, books, self.settings.seed, team)
            encoding = FinalEncoding(
                scheme=self.scheme, codebooks=books, levels=levels, schedule=schedule, pool=pool, team=team,
                seed=mixed_seed(self.settings.seed, -1),
            )  # fmt: skip
            encoded = encoding.run(vectors, state, None if start is None else start.codes(), report)
        self.curve.append(encoded.loss)
        coded = CodedEmbedding(
            scheme=self.scheme,
            packed=encoded.packed,
            codebooks=shipped,
            words=vectors.words,
            norms=encoded.norms,
            norm_levels=levels,
            origin=origin(self.name, self.settings.record(), vectors),
        )
        return with_exact_rows(coded, vectors, self.settings, weights=self.settings.weights, team=team)

    def _targets(self, block: Floats) -> Floats:
        """What the codewords are to sum to: the rows, or their directions."""
        return normalized(block) if self.settings.loss == "cosine" else block

    def _schedule(self, state: Rounds, rows: int, given_codes: bool, team: Team) -> Schedule:
        warmth = GIVEN_CODES_WARMTH if given_codes else 1.0
        if self.settings.time is None:
            return CountedRounds(EFFORTS[self.settings.effort], warmth=warmth)
        learned, all_rows = team.total(len(state.rows), rows)
        return TimedRounds(
            self.settings.time, learned_rows=int(learned), rows=int(all_rows), started=state.started, warmth=warmth
        )

    def _begin(self, vectors: Vectors, start: CodedEmbedding | None, team: Team) -> Rounds:
        """The rounds where they were left, or before the first: random codes, or those of `start`."""
        M, K, started = self.scheme.codebooks, self.scheme.codewords, time.monotonic()
        rows, weights = self._sample(len(vectors), team)
        rng = np.random.default_rng([self.settings.seed, 2])
        first_row, total = team.first_row(len(rows)), int(team.total(len(rows))[0])
        if start is None:
            # Every process draws the codes of all rows: then its generator, too, is where one process's would be.
            drawn = rng.integers(0, K, size=(total, M), dtype=np.uint16)[first_row : first_row + len(rows)]
            codes: Codes = drawn.astype(code_dtype(self.scheme.bits))
        else:
            codes = start.codes()[rows]
        state = Rounds(
            rows=rows,
            codes=codes,
            weights=weights,
            codewords=np.zeros((K * M, vectors.dim)),
            rng=rng,
            first_row=first_row,
            total=total,
        )
        state.started = started
        if self.settings.checkpoint is not None:
            state.keep(self.settings.checkpoint, self._identity(vectors, start, team), team)
            self.curve = state.curve
        return state

    def _sample(self, rows: int, team: Team) -> tuple[npt.NDArray[np.int64], Floats]:
        """This process's rows to learn from, ascending, and their weights: all, or enough to pin the codebooks down."""
        first, total = team.first_row(rows), int(team.total(rows)[0])
        weights = None if self.settings.weights is None else row_weights(self.settings.weights, total)
        exact = frequent_rows(self.settings, self.settings.weights, total, ALONE)
        others = np.ones(total, dtype=np.float32) if weights is None else weights.copy()
        others[exact] = 0
        if len(exact) and others.any():
            # The codebooks need not serve rows that are kept as they are.
            weights = others
        wanted = self.settings.sample_rows or max(MIN_SAMPLE, SAMPLE_ROWS_PER_CODEWORD * self.scheme.basis_vectors)
        rng = np.random.default_rng([self.settings.seed, 1])
        chosen, chosen_weights = learning_sample(weights, total, wanted, rng)
        own = (chosen >= first) & (chosen < first + rows)
        kept = np.ones(own.sum(), dtype=np.float32) if chosen_weights is None else chosen_weights[own]
        return chosen[own] - first, kept

    def _identity(self, vectors: Vectors, start: CodedEmbedding | None, team: Team) -> dict[str, Any]:
        """What must not change when a run goes on from a checkpoint."""
        digests = "".join(team.tell_all(vectors.digest))
        return {
            "learner": self.name,
            "scheme": str(self.scheme),
            "vectors": hashlib.sha256(digests.encode()).hexdigest(),
            "processes": team.size,
            "start": "none" if start is None else "given",
            **self.settings.record(),
        }

    def _learn(
        self,
        vectors: Floats,
        state: Rounds,
        schedule: Schedule,
        pool: ThreadPoolExecutor,
        report: OnProgress,
        team: Team,
    ) -> Floats:
        """vectors (n, dim) float32, overwritten -> codebooks (M, K, dim) float32; better codes in the state"""
        M, K = self.scheme.codebooks, self.scheme.codewords
        mean = _center(vectors, state.total, team)
        mean_length = _mean_length(vectors, state.weights, team)
        if self.settings.max_error is not None:
            # They will be kept, for no code brings them near: so let them not bend the codebooks.
            state.weights[np.linalg.norm(vectors, axis=1) > GIANT * mean_length] = 0
            mean_length = _mean_length(vectors, state.weights, team)
        numbers = state.first_row + np.arange(len(vectors))
        place = self._place(schedule, state.step, team)
        while place is not None:
            squares = LeastSquares(codes=state.codes, weights=state.weights, codewords=K, pool=pool, team=team)
            temperature = self._temperature(place, mean_length, vectors.shape[1])
            before, counts = state.solved, squares.counts
            state.solved = squares.solve(vectors, state.codewords)
            self._revive(state, counts, vectors, team)
            team.agree(state.solved)
            state.codewords = state.solved
            if temperature is not None and state.step > 0:
                state.codewords = _carried_on(before, state.solved, counts)
            searching = Searching(
                tables=SearchTables.of(as_codebooks(state.codewords, M), by_codebook=temperature is not None),
                pool=pool,
                seed=mixed_seed(self.settings.seed, state.step),
            )
            if temperature is not None:
                state.errors = searching.draw(vectors, state.codes, numbers, temperature=temperature)
            else:
                began = time.monotonic()
                state.errors = searching.search(vectors, state.codes, numbers, steps=place.steps)
                if self.settings.time is not None:
                    # Of all processes: one that has no row to learn from may have many to encode.
                    rows, seconds = team.total(len(vectors), time.monotonic() - began)
                    schedule.searched(rows, place.steps, seconds)
            (total,) = team.total(float(state.errors.sum(dtype=np.float64)))
            self.curve.append(total / state.total)
            progress = Progress(stage="learning", step=place.done, steps=place.of, loss=max(self.curve[-1], 0.0))
            place = self._place(schedule, state.step + 1, team)
            state.finish(state.step, self.curve, last=place is None)
            report(progress)
        codebooks = as_codebooks(state.codewords, M)
        codebooks += mean / np.float32(M)
        return codebooks

    def _place(self, schedule: Schedule, step: int, team: Team) -> Place | None:
        """The leader's, for clocks differ."""
        place = schedule.place(step)
        if self.settings.time is None:
            return place
        told = team.say(None if place is None else asdict(place))
        return None if told is None else Place(**told)

    def _temperature(self, place: Place, mean_length: float, dim: int) -> float | None:
        """From the first temperature, at warmth 1, to the last, at 0, by equal ratios; None in a cold round."""
        if place.warmth is None or self.settings.heat == 0:
            return None
        first = self.settings.heat * FIRST_TEMPERATURE * mean_length**2 / dim
        return float(first / (COOLING + self.scheme.bits_per_row / dim) ** (1 - place.warmth))

    def _revive(self, state: Rounds, counts: npt.NDArray[np.float64], vectors: Floats, team: Team) -> None:
        """Give each codeword that no row uses to a row that is badly coded, so that it makes that row exact."""
        dead = np.flatnonzero(counts == 0)
        if not len(dead):
            return
        # All processes draw from all rows' errors alike; the one that holds a row then makes the codeword.
        own = slice(state.first_row, state.first_row + len(vectors))
        chances = np.zeros(state.total)
        chances[own] = np.maximum(state.errors, 0) * state.weights
        team.sum(chances)
        if not chances.sum() > 0:
            return
        M, codes, codewords = self.scheme.codebooks, state.codes, state.solved
        rows = state.rng.choice(state.total, size=len(dead), p=chances / chances.sum()) - state.first_row
        here = (rows >= 0) & (rows < len(vectors))
        rows, m = rows[here], dead[here] % M
        made = np.zeros((len(dead), vectors.shape[1]))
        residuals = vectors[rows] - compose(codes[rows], as_codebooks(codewords, M))
        made[here] = codewords[codes[rows, m].astype(np.int64) * M + m] + residuals
        team.sum(made)
        codewords[dead] = made


def _carried_on(before: Doubles, solved: Doubles, counts: Doubles) -> Doubles:
    """Codewords (K*M, dim) that go on beyond the solution, the way it came from the one before: codebooks follow their
    codes slowly, and this saves rounds. A codeword that no row uses came from nowhere."""
    return np.where(counts[:, None] > 0, solved + MOMENTUM * (solved - before), solved)


def _center(vectors: Floats, total_rows: int, team: Team) -> Floats:
    """Take the mean of all rows off vectors (n, dim), in place; that mean, (dim,) float32. Around its mean a table
    loses no digits to an offset that all its rows share."""
    total = vectors.sum(axis=0, dtype=np.float64)
    team.sum(total)
    mean = np.asarray(total / total_rows, dtype=np.float32)
    vectors -= mean
    return mean


def _mean_length(vectors: Floats, weights: Floats, team: Team) -> float:
    """Of the rows (n, dim) that have any weight"""
    lengths = np.linalg.norm(vectors[weights > 0], axis=1)
    total, rows = team.total(float(lengths.sum(dtype=np.float64)), len(lengths))
    return total / max(rows, 1)


def as_codebooks(codewords: npt.NDArray[np.float64], M: int) -> Floats:
    """codewords (K*M, dim), numbered k * M + m -> codebooks (M, K, dim) float32"""
    return np.ascontiguousarray(codewords.reshape(-1, M, codewords.shape[1]).transpose(1, 0, 2), dtype=np.float32)
