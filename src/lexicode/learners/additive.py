"""AdditiveLearner, the default: rounds of least-squares codebooks and local search for the codes.

Each round solves for the codebooks given the codes, then searches for better codes given the codebooks. Noise on the
vectors, large at first and falling to zero, keeps the early rounds from settling in the first valley they find
(stochastic relaxation; Zeger et al. 1992, Martinez et al. 2018). Codebooks are learned on a sample where the table is
large; every row is then encoded in a stream.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats, compose
from lexicode.encoding import SearchTables, move_limit, perturbed_codes, row_states
from lexicode.errors import SettingError
from lexicode.learners import kernels
from lexicode.learners.learner import CommonSettings, check_range, origin, stored, workers
from lexicode.learners.least_squares import NormalEquations
from lexicode.learners.progress import OnProgress, Progress
from lexicode.packing import Codes, code_dtype, pack
from lexicode.scheme import CodeScheme
from lexicode.vectors import Vectors

# The codewords' inner products are kept as a square matrix of float32: 1 GiB at this many.
MAX_BASIS_VECTORS = 16_384
MIN_SAMPLE = 100_000
SAMPLE_ROWS_PER_CODEWORD = 128
STREAM_ROWS = 65_536


@dataclass(frozen=True, kw_only=True)
class Effort:
    """rounds of solving and searching; restarts of the search in each round, and of the last search of all rows."""

    rounds: int
    restarts: int
    final_restarts: int


EFFORTS = {
    "fast": Effort(rounds=12, restarts=1, final_restarts=4),
    "balanced": Effort(rounds=25, restarts=4, final_restarts=16),
    "thorough": Effort(rounds=80, restarts=8, final_restarts=64),
}


@dataclass(frozen=True, kw_only=True)
class AdditiveSettings(CommonSettings):
    """effort: fast, balanced or thorough. noise: the first round's, in standard deviations of each column."""

    effort: str = "balanced"
    noise: float = 1.0

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

    def fit(self, vectors: Vectors, on_progress: OnProgress | None = None) -> CodedEmbedding:
        """Learn codebooks and codes for every row of `vectors`."""
        self.curve = []
        check_range(vectors, self.settings.codebook_dtype)
        report = on_progress or (lambda progress: None)
        with workers(self.settings.thread_count) as pool:
            rows = self._sample(len(vectors))
            codebooks, codes = self._learn(vectors.take(rows), pool, report)
            shipped = stored(codebooks, self.settings.codebook_dtype)
            warm = codes if len(rows) == len(vectors) else None
            packed = self._encode_all(vectors, shipped.astype(np.float32), warm, pool, report)
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

    def _sample(self, total: int) -> npt.NDArray[np.int64]:
        """The rows to learn from, ascending: all of them, or as many as pin the codebooks down."""
        wanted = max(MIN_SAMPLE, SAMPLE_ROWS_PER_CODEWORD * self.scheme.basis_vectors)
        if total <= wanted:
            return np.arange(total)
        rng = np.random.default_rng([self.settings.seed, 1])
        return np.sort(rng.choice(total, size=wanted, replace=False))

    def _learn(self, vectors: Floats, pool: ThreadPoolExecutor, report: OnProgress) -> tuple[Floats, Codes]:
        """vectors (n, dim) float32, overwritten -> codebooks (M, K, dim) float32, codes (n, M)"""
        M, K = self.scheme.codebooks, self.scheme.codewords
        n, dim = vectors.shape
        # Around its mean a table loses no digits to an offset that all its rows share.
        mean = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        vectors -= mean
        spread = vectors.std(axis=0, dtype=np.float64).astype(np.float32)
        rng = np.random.default_rng([self.settings.seed, 2])
        codes: Codes = rng.integers(0, K, size=(n, M)).astype(code_dtype(self.scheme.bits))
        errors = np.ones(n, dtype=np.float32)
        codewords = np.zeros((K * M, dim))
        rounds = self._effort.rounds
        for step in range(rounds):
            heat = self.settings.noise * np.sqrt(1 - (step + 1) / rounds)
            noisy = _with_noise(vectors, spread * np.float32(heat), [self.settings.seed, 3, step], pool)
            equations = NormalEquations.of(noisy, codes, K, pool)
            codewords = equations.solve(codewords)
            self._revive(codewords, equations.counts, vectors, codes, errors, rng)
            tables = SearchTables.of(_as_codebooks(codewords, M))
            errors = self._search(vectors, codes, tables, self._effort.restarts, pool, step=step, warm=True)
            self.curve.append(float(errors.mean(dtype=np.float64)))
            report(Progress(stage="learning", step=step + 1, steps=rounds, loss=max(self.curve[-1], 0.0)))
        codebooks = _as_codebooks(codewords, M)
        codebooks += mean / np.float32(M)
        return codebooks, codes

    def _revive(
        self,
        codewords: npt.NDArray[np.float64],
        counts: npt.NDArray[np.float64],
        vectors: Floats,
        codes: Codes,
        errors: Floats,
        rng: np.random.Generator,
    ) -> None:
        """Give each codeword that no row uses to a row that is badly coded, so that it makes that row exact."""
        dead = np.flatnonzero(counts == 0)
        weights = np.maximum(errors.astype(np.float64), 0)
        if not len(dead) or not weights.sum() > 0:
            return
        M = codes.shape[1]
        rows = rng.choice(len(vectors), size=len(dead), p=weights / weights.sum())
        residuals = vectors[rows] - compose(codes[rows], _as_codebooks(codewords, M))
        m = dead % M
        codewords[dead] = codewords[codes[rows, m].astype(np.int64) * M + m] + residuals

    def _search(
        self,
        vectors: Floats,
        codes: Codes,
        tables: SearchTables,
        restarts: int,
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
                scores, codes[part], tables.pull, errors[part], tables.tolerance, restarts, perturbed_codes(M), states,
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
    ) -> npt.NDArray[np.uint8]:
        """Every row's code in the codebooks as they are shipped: (V, bytes_per_row) uint8"""
        tables = SearchTables.of(codebooks)
        packed = np.empty((len(vectors), self.scheme.bytes_per_row), dtype=np.uint8)
        total, steps = 0.0, -(-len(vectors) // STREAM_ROWS)
        for step, (start, block) in enumerate(vectors.blocks(STREAM_ROWS)):
            stop = start + len(block)
            codes = (
                np.empty((len(block), self.scheme.codebooks), dtype=code_dtype(self.scheme.bits))
                if warm is None
                else warm[start:stop]
            )
            errors = self._search(
                block, codes, tables, self._effort.final_restarts, pool, step=self._effort.rounds,
                warm=warm is not None, first_row=start,
            )  # fmt: skip
            packed[start:stop] = pack(codes, bits=self.scheme.bits)
            total += float(errors.sum(dtype=np.float64))
            report(Progress(stage="encoding", step=step + 1, steps=steps, loss=max(total / stop, 0.0)))
        self.curve.append(total / len(vectors))
        return packed


def _as_codebooks(codewords: npt.NDArray[np.float64], M: int) -> Floats:
    """codewords (K*M, dim), numbered k * M + m -> codebooks (M, K, dim) float32"""
    return np.ascontiguousarray(codewords.reshape(-1, M, codewords.shape[1]).transpose(1, 0, 2), dtype=np.float32)


def _with_noise(vectors: Floats, spread: Floats, seed: list[int], pool: ThreadPoolExecutor) -> Floats:
    """vectors (n, dim) plus Gaussian noise of each column's spread (dim,); drawn block by block, so in parallel"""
    if not spread.any():
        return vectors
    noisy = np.empty_like(vectors)

    def fill(block: int) -> None:
        part = slice(block * STREAM_ROWS // 8, (block + 1) * STREAM_ROWS // 8)
        rng = np.random.default_rng([*seed, block])
        rng.standard_normal(out=noisy[part], dtype=np.float32)
        noisy[part] *= spread
        noisy[part] += vectors[part]

    list(pool.map(fill, range(-(-len(vectors) // (STREAM_ROWS // 8)))))
    return noisy


def _mixed(seed: int, step: int) -> int:
    """A 64-bit number that differs for every seed and step."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{step}".encode(), digest_size=8).digest(), "little")
