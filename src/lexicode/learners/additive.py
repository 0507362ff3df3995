"""AdditiveLearner, the default: rounds of least-squares codebooks and local search for the codes.

Each round solves for the codebooks given the codes, then searches for better codes given the codebooks. Noise on the
vectors, large at first and falling to zero, keeps the early rounds from settling in the first valley they find
(stochastic relaxation; Zeger et al. 1992, Martinez et al. 2018). Codebooks are learned on a sample where the table is
large; every row is then encoded in a stream.
"""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats, compose
from lexicode.encoding import SearchTables, move_limit, resting_steps, row_states
from lexicode.errors import SettingError
from lexicode.learners import kernels
from lexicode.learners.learner import CommonSettings, check_range, origin, stored, workers
from lexicode.learners.least_squares import LeastSquares
from lexicode.learners.progress import OnProgress, Progress
from lexicode.learners.rounds import Rounds
from lexicode.learners.team import ALONE, Team
from lexicode.packing import Codes, code_dtype, pack
from lexicode.scheme import CodeScheme
from lexicode.vectors import Vectors

# The codewords' inner products are kept as a square matrix of float32: 1 GiB at this many.
MAX_BASIS_VECTORS = 16_384
MIN_SAMPLE = 100_000
SAMPLE_ROWS_PER_CODEWORD = 128
STREAM_ROWS = 65_536
NOISE_ROWS = 8192
# Codes that are given are shaken up less than random ones.
WARM_NOISE = 0.5


@dataclass(frozen=True, kw_only=True)
class Effort:
    """rounds of solving and searching; steps of the search in each round, and in the last search of all rows."""

    rounds: int
    steps: int
    final_steps: int


EFFORTS = {
    "fast": Effort(rounds=12, steps=20, final_steps=200),
    "balanced": Effort(rounds=30, steps=60, final_steps=400),
    "thorough": Effort(rounds=80, steps=200, final_steps=1600),
}


@dataclass(frozen=True, kw_only=True)
class AdditiveSettings(CommonSettings):
    """effort: fast, balanced or thorough. noise: the first round's, in standard deviations of each column.
    checkpoint: a file to keep the state of the rounds in, and to go on from if it is there."""

    effort: str = "balanced"
    noise: float = 1.0
    checkpoint: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.effort not in EFFORTS:
            raise SettingError(f"effort={self.effort!r} is not one of {', '.join(EFFORTS)}")
        if not 0 <= self.noise <= 100:
            raise SettingError(f"noise={self.noise} is not between 0 and 100")

    def record(self) -> dict[str, Any]:
        return {**super().record(), "effort": self.effort, "noise": self.noise}


class AdditiveLearner:
    """AdditiveLearner(scheme, effort="balanced", seed=0).fit(vectors) -> CodedEmbedding

    Same vectors, settings and seed: same bytes, whatever the number of threads. `curve` holds the loss of each round.
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
        """The mean squared distance a row of the codes that `fit` returned."""
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

        `start`, codes of the same rows, is where the rounds set out from, with less noise than random codes get.
        """
        self.curve = []
        check_range(vectors, self.settings.codebook_dtype)
        report = on_progress or (lambda progress: None)
        with workers(self.settings.threads_in(team)) as pool:
            rows = self._sample(len(vectors), team)
            state = self._begin(vectors, rows, start, team)
            codebooks = self._learn(vectors.take(rows), state, pool, report, team)
            shipped = stored(codebooks, self.settings.codebook_dtype)
            warm = state.codes if len(rows) == len(vectors) else (None if start is None else start.codes())
            packed = self._encode_all(vectors, shipped.astype(np.float32), warm, pool, report, team)
        return CodedEmbedding(
            scheme=self.scheme,
            packed=packed,
            codebooks=shipped,
            words=vectors.words,
            origin=origin(self.name, self.settings.record(), vectors),
        )

    @property
    def _effort(self) -> Effort:
        return EFFORTS[self.settings.effort]

    def _sample(self, rows: int, team: Team) -> npt.NDArray[np.int64]:
        """The rows to learn from, ascending: all of them, or as many as pin the codebooks down."""
        first, total = team.first_row(rows), int(team.total(rows)[0])
        wanted = max(MIN_SAMPLE, SAMPLE_ROWS_PER_CODEWORD * self.scheme.basis_vectors)
        if total <= wanted:
            return np.arange(rows)
        rng = np.random.default_rng([self.settings.seed, 1])
        chosen = np.sort(rng.choice(total, size=wanted, replace=False)) - first
        return chosen[(chosen >= 0) & (chosen < rows)]

    def _begin(self, vectors: Vectors, rows: npt.NDArray[np.int64], start: CodedEmbedding | None, team: Team) -> Rounds:
        """The rounds where they were left, or before the first: random codes, or those of `start`."""
        M, K = self.scheme.codebooks, self.scheme.codewords
        rng = np.random.default_rng([self.settings.seed, 2])
        first_row, total = team.first_row(len(rows)), int(team.total(len(rows))[0])
        if start is None:
            # Every process draws the codes of all rows: then its generator, too, is where one process's would be.
            drawn = rng.integers(0, K, size=(total, M))[first_row : first_row + len(rows)]
            codes: Codes = drawn.astype(code_dtype(self.scheme.bits))
        else:
            codes = start.codes()[rows]
        state = Rounds(
            codes=codes,
            codewords=np.zeros((K * M, vectors.dim)),
            noise=self.settings.noise if start is None else min(self.settings.noise, WARM_NOISE),
            rng=rng,
            first_row=first_row,
            total=total,
        )
        if self.settings.checkpoint is not None:
            state.keep(self.settings.checkpoint, self._identity(vectors, start, team), team)
            self.curve = state.curve
        return state

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
        self, vectors: Floats, state: Rounds, pool: ThreadPoolExecutor, report: OnProgress, team: Team
    ) -> Floats:
        """vectors (n, dim) float32, overwritten -> codebooks (M, K, dim) float32; better codes in the state"""
        M, K = self.scheme.codebooks, self.scheme.codewords
        mean, spread = _center(vectors, state.total, team)
        rounds = self._effort.rounds
        for step in range(state.step, rounds):
            heat = state.noise * np.sqrt(1 - (step + 1) / rounds)
            seed = [self.settings.seed, 3, step]
            noisy = _with_noise(vectors, spread * np.float32(heat), seed, pool, first_row=state.first_row)
            squares = LeastSquares(codes=state.codes, codewords=K, pool=pool, team=team)
            state.codewords = squares.solve(noisy, state.codewords)
            self._revive(state, squares.counts, vectors, team)
            team.agree(state.codewords)
            tables = SearchTables.of(_as_codebooks(state.codewords, M))
            state.errors = self._search(
                vectors, state.codes, tables, self._effort.steps, pool, step=step, warm=True, first_row=state.first_row
            )
            (total,) = team.total(float(state.errors.sum(dtype=np.float64)))
            self.curve.append(total / state.total)
            state.finish(step, self.curve, last=step + 1 == rounds)
            report(Progress(stage="learning", step=step + 1, steps=rounds, loss=max(self.curve[-1], 0.0)))
        codebooks = _as_codebooks(state.codewords, M)
        codebooks += mean / np.float32(M)
        return codebooks

    def _revive(self, state: Rounds, counts: npt.NDArray[np.float64], vectors: Floats, team: Team) -> None:
        """Give each codeword that no row uses to a row that is badly coded, so that it makes that row exact."""
        dead = np.flatnonzero(counts == 0)
        if not len(dead):
            return
        # All processes draw from all rows' errors alike; the one that holds a row then makes the codeword.
        own = slice(state.first_row, state.first_row + len(vectors))
        weights = np.zeros(state.total)
        weights[own] = np.maximum(state.errors, 0)
        team.sum(weights)
        if not weights.sum() > 0:
            return
        M, codes, codewords = self.scheme.codebooks, state.codes, state.codewords
        rows = state.rng.choice(state.total, size=len(dead), p=weights / weights.sum()) - state.first_row
        here = (rows >= 0) & (rows < len(vectors))
        rows, m = rows[here], dead[here] % M
        made = np.zeros((len(dead), vectors.shape[1]))
        residuals = vectors[rows] - compose(codes[rows], _as_codebooks(codewords, M))
        made[here] = codewords[codes[rows, m].astype(np.int64) * M + m] + residuals
        team.sum(made)
        codewords[dead] = made

    def _search(
        self,
        vectors: Floats,
        codes: Codes,
        tables: SearchTables,
        steps: int,
        pool: ThreadPoolExecutor,
        *,
        step: int,
        warm: bool,
        first_row: int = 0,
    ) -> Floats:
        """Better codes (n, M), in place, block by block on the pool's threads; their squared errors (n,) float32"""
        M = self.scheme.codebooks
        errors = np.empty(len(vectors), dtype=np.float32)
        seed = _mixed(self.settings.seed, step)
        begin = kernels.adopt if warm else kernels.greedy

        def search_block(start: int) -> None:
            part = slice(start, start + tables.block_rows)
            scores, errors[part] = tables.begin(vectors[part])
            begin(scores, codes[part], tables.pull, errors[part])
            states = row_states(seed, first_row + np.arange(start, start + len(scores)))
            kernels.search(
                scores, codes[part], tables.pull, errors[part], states, tables.tolerance, steps, *resting_steps(M),
                move_limit(M),
            )  # fmt: skip

        list(pool.map(search_block, range(0, len(vectors), tables.block_rows)))
        return errors

    def _encode_all(
        self,
        vectors: Vectors,
        codebooks: Floats,
        warm: Codes | None,
        pool: ThreadPoolExecutor,
        report: OnProgress,
        team: Team,
    ) -> npt.NDArray[np.uint8]:
        """Every row's code in the codebooks as they are shipped: (V, bytes_per_row) uint8"""
        tables = SearchTables.of(codebooks)
        packed = np.empty((len(vectors), self.scheme.bytes_per_row), dtype=np.uint8)
        first_row, total, steps = team.first_row(len(vectors)), 0.0, -(-len(vectors) // STREAM_ROWS)
        for step, (start, block) in enumerate(vectors.blocks(STREAM_ROWS)):
            stop = start + len(block)
            codes = (
                np.empty((len(block), self.scheme.codebooks), dtype=code_dtype(self.scheme.bits))
                if warm is None
                else warm[start:stop]
            )
            errors = self._search(
                block, codes, tables, self._effort.final_steps, pool, step=self._effort.rounds,
                warm=warm is not None, first_row=first_row + start,
            )  # fmt: skip
            packed[start:stop] = pack(codes, bits=self.scheme.bits)
            total += float(errors.sum(dtype=np.float64))
            report(Progress(stage="encoding", step=step + 1, steps=steps, loss=max(total / stop, 0.0)))
        total, count = team.total(total, len(vectors))
        self.curve.append(total / count)
        return packed


def _center(vectors: Floats, total_rows: int, team: Team) -> tuple[Floats, Floats]:
    """Take the mean of all rows off vectors (n, dim), in place; that mean and the columns' standard deviations,
    (dim,) float32. Around its mean a table loses no digits to an offset that all its rows share."""

    def mean_of(block: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
        total = block.sum(axis=0, dtype=np.float64)
        team.sum(total)
        return np.asarray(total / total_rows)

    mean = mean_of(vectors).astype(np.float32)
    vectors -= mean
    return mean, np.sqrt(mean_of(np.square(vectors - mean_of(vectors)))).astype(np.float32)


def _as_codebooks(codewords: npt.NDArray[np.float64], M: int) -> Floats:
    """codewords (K*M, dim), numbered k * M + m -> codebooks (M, K, dim) float32"""
    return np.ascontiguousarray(codewords.reshape(-1, M, codewords.shape[1]).transpose(1, 0, 2), dtype=np.float32)


def _with_noise(
    vectors: Floats, spread: Floats, seed: list[int], pool: ThreadPoolExecutor, *, first_row: int
) -> Floats:
    """vectors (n, dim) plus Gaussian noise of each column's spread (dim,); drawn block by block, so in parallel.

    Blocks are those of the whole table, of which these rows begin at `first_row`: whoever holds a row draws its noise.
    """
    if not spread.any():
        return vectors
    noisy = np.empty_like(vectors)
    behind = first_row + len(vectors)

    def fill(block: int) -> None:
        start, stop = block * NOISE_ROWS, min((block + 1) * NOISE_ROWS, behind)
        rng = np.random.default_rng([*seed, block])
        skipped = max(0, first_row - start)
        rng.standard_normal(size=(skipped, vectors.shape[1]), dtype=np.float32)
        part = slice(start + skipped - first_row, stop - first_row)
        rng.standard_normal(out=noisy[part], dtype=np.float32)
        noisy[part] *= spread
        noisy[part] += vectors[part]

    list(pool.map(fill, range(first_row // NOISE_ROWS, -(-behind // NOISE_ROWS))))
    return noisy


def _mixed(seed: int, step: int) -> int:
    """A 64-bit number that differs for every seed and step."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{step}".encode(), digest_size=8).digest(), "little")
