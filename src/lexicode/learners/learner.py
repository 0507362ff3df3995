"""What all learners share: the settings that any of them takes, their progress, and how codebooks are stored."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats
from lexicode.errors import SettingError
from lexicode.learners.progress import OnProgress
from lexicode.learners.team import ALONE, Team, cores
from lexicode.scheme import CodeScheme
from lexicode.vectors import Vectors
from lexicode.version import VERSION

CODEBOOK_DTYPES = ("float16", "float32")
# Between these a float16 keeps its 11 bits with room for codewords that are larger than the values they sum to.
FLOAT16_LARGEST = 16_000.0
FLOAT16_SMALLEST = 1e-3
# Beyond this the squares of float32 values overflow.
FLOAT32_LARGEST = 1e15


class Learner(Protocol):
    """Vectors -> CodedEmbedding."""

    name: ClassVar[str]
    scheme: CodeScheme
    # What it noted as it learned; each learner says what.
    curve: list[Any]

    @property
    def loss(self) -> float:
        """The mean squared distance a row of what `fit` returned."""
        ...

    def fit(self, vectors: Vectors, on_progress: OnProgress | None = None) -> CodedEmbedding: ...


@dataclass(frozen=True, kw_only=True)
class CommonSettings:
    """Settings of every learner, checked when made.

    exact: so many of the most frequent rows are kept as they are. max_error: so is every row whose code would put
    it further than this from where it was.
    """

    seed: int = 0
    codebook_dtype: str = "float16"
    threads: int | None = None
    exact: int = 0
    max_error: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**63:
            raise SettingError(f"seed={self.seed} is not between 0 and 2**63 - 1")
        if self.codebook_dtype not in CODEBOOK_DTYPES:
            raise SettingError(f"codebook_dtype={self.codebook_dtype!r} is not one of {', '.join(CODEBOOK_DTYPES)}")
        if self.threads is not None and self.threads < 1:
            raise SettingError(f"threads={self.threads} is less than 1")
        if type(self.exact) is not int or self.exact < 0:
            raise SettingError(f"exact={self.exact!r} is not a number of rows; give 0 or more")
        is_number = isinstance(self.max_error, (int, float)) and not isinstance(self.max_error, bool)
        if self.max_error is not None and not (is_number and 0 <= self.max_error < float("inf")):
            raise SettingError(f"max_error={self.max_error!r} is not a distance; give a number of 0 or more")

    @property
    def thread_count(self) -> int:
        """The threads asked for, or as many as this process may use."""
        return cores() if self.threads is None else self.threads

    def threads_in(self, team: Team) -> int:
        """The threads asked for, or this process's share of the machine's."""
        return self.threads or max(1, self.thread_count // team.size_here)

    def record(self) -> dict[str, Any]:
        """What the artefact remembers. Threads stay out: they change no byte of it, or none that matters."""
        asked: dict[str, Any] = {"seed": self.seed, "codebook_dtype": self.codebook_dtype}
        if self.exact:
            asked["exact"] = self.exact
        if self.max_error is not None:
            asked["max_error"] = self.max_error
        return asked


def check_range(vectors: Vectors, codebook_dtype: str, team: Team = ALONE) -> None:
    """Refuse, before any work, a table whose values the codebooks' dtype cannot hold well."""
    largest = max(team.tell_all(max(float(np.abs(block).max()) for _, block in vectors.blocks())))
    if largest > FLOAT32_LARGEST:
        raise SettingError(
            f"the vectors reach {largest:.3g}, and their squares overflow; divide them by a constant first"
        )
    if codebook_dtype != "float16" or largest == 0:
        return
    if largest > FLOAT16_LARGEST:
        raise SettingError(
            f"the vectors reach {largest:.3g}, too large for float16 codebooks; use codebook_dtype float32"
        )
    if largest < FLOAT16_SMALLEST:
        raise SettingError(
            f"the vectors reach only {largest:.3g}, too small for float16 codebooks; use codebook_dtype float32"
        )


def stored(codebooks: Floats, codebook_dtype: str) -> npt.NDArray[np.floating[Any]]:
    """codebooks (M, K, width) float32 in the dtype they are shipped in"""
    if codebook_dtype == "float16" and np.abs(codebooks).max() > np.finfo(np.float16).max:
        raise SettingError("a codeword is too large for float16 codebooks; use codebook_dtype float32")
    return codebooks.astype(codebook_dtype)


def origin(learner: str, settings: dict[str, Any], vectors: Vectors) -> dict[str, Any]:
    """The artefact's memory of how it was made."""
    return {
        "learner": learner,
        "settings": settings,
        "source": {"digest": vectors.digest, "rows": len(vectors)},
        "library": VERSION,
    }


@contextmanager
def workers(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Our own threads, with the matrix library kept to one each: blocks are the parallelism, and one-threaded
    products give the same bits whatever the number of threads."""
    with threadpool_limits(limits=1), ThreadPoolExecutor(threads) as pool:
        yield pool
