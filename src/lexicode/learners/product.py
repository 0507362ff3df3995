"""ProductLearner: product quantization. Each codebook covers its own columns and is learned by k-means on them.

With `normalized=True` the rows are scaled to length one first and their lengths coded apart, in one more byte that
names one of 256 levels: the NPQ that the paper compares with, as fastText.zip does it (Joulin et al. 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats, compose
from lexicode.encoding import nearest_codes
from lexicode.errors import SettingError
from lexicode.learners.keeping import with_exact_rows
from lexicode.learners.kmeans import kmeans
from lexicode.learners.learner import CommonSettings, check_range, origin, stored, workers
from lexicode.learners.progress import OnProgress, Progress
from lexicode.lengths import nearest_levels, normalized
from lexicode.packing import pack
from lexicode.scheme import CodeScheme
from lexicode.vectors import Vectors

MIN_SAMPLE = 100_000
SAMPLE_ROWS_PER_CODEWORD = 256
NORM_LEVELS = 256


@dataclass(frozen=True, kw_only=True)
class ProductSettings(CommonSettings):
    """normalized: code each row's length apart from its direction."""

    normalized: bool = False

    def record(self) -> dict[str, Any]:
        return {**super().record(), "normalized": self.normalized}


class ProductLearner:
    """ProductLearner(scheme, normalized=False, seed=0).fit(vectors) -> CodedEmbedding"""

    name: ClassVar[str] = "product"

    def __init__(self, scheme: CodeScheme | str, **settings: Any) -> None:
        self.scheme = CodeScheme.of(scheme)
        self.settings = ProductSettings(**settings)
        self.curve: list[float] = []

    @property
    def loss(self) -> float:
        """The mean squared distance a row of the codes that `fit` returned."""
        return self.curve[-1]

    def fit(self, vectors: Vectors, on_progress: OnProgress | None = None) -> CodedEmbedding:
        """Learn codebooks and codes for every row of `vectors`."""
        report = on_progress or (lambda progress: None)
        parts = column_parts(vectors.dim, self.scheme.codebooks)
        check_range(vectors, self.settings.codebook_dtype)
        rng = np.random.default_rng([self.settings.seed, 1])
        sample = vectors.take(self._sample(len(vectors), rng))
        levels = None
        if self.settings.normalized:
            levels = np.sort(kmeans(np.linalg.norm(sample, axis=1)[:, None], NORM_LEVELS, rng).ravel())
            sample = normalized(sample)
        codebooks, offsets = self._learn(sample, parts, report)
        shipped = stored(codebooks, self.settings.codebook_dtype)
        packed, norms = self._encode_all(vectors, shipped.astype(np.float32), offsets, levels)
        coded = CodedEmbedding(
            scheme=self.scheme,
            packed=packed,
            codebooks=shipped,
            dim=vectors.dim,
            offsets=offsets,
            words=vectors.words,
            norms=norms,
            norm_levels=levels,
            origin=origin(self.name, self.settings.record(), vectors),
        )
        return with_exact_rows(coded, vectors, self.settings)

    def _sample(self, total: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        wanted = max(MIN_SAMPLE, SAMPLE_ROWS_PER_CODEWORD * self.scheme.codewords)
        return np.arange(total) if total <= wanted else np.sort(rng.choice(total, size=wanted, replace=False))

    def _learn(self, sample: Floats, parts: Sequence[slice], report: OnProgress) -> tuple[Floats, tuple[int, ...]]:
        """sample (n, dim) -> codebooks (M, K, width) float32 and the first column that each covers"""
        M, K, dim = self.scheme.codebooks, self.scheme.codewords, sample.shape[1]
        width = max(part.stop - part.start for part in parts)
        codebooks = np.zeros((M, K, width), dtype=np.float32)
        # Parts may differ in width by one; a narrow one at the end is padded with zeros on its left.
        offsets = tuple(min(part.start, dim - width) for part in parts)

        def learn_part(m: int) -> None:
            part, lead = parts[m], parts[m].start - offsets[m]
            rng = np.random.default_rng([self.settings.seed, 2, m])
            points = np.ascontiguousarray(sample[:, part])
            codebooks[m, :, lead : lead + points.shape[1]] = kmeans(points, K, rng)

        with workers(self.settings.thread_count) as pool:
            for m, _ in enumerate(pool.map(learn_part, range(M))):
                report(Progress(stage="learning", step=m + 1, steps=M, loss=None))
        return codebooks, offsets

    def _encode_all(
        self, vectors: Vectors, codebooks: Floats, offsets: tuple[int, ...], levels: Floats | None
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8] | None]:
        """Every row's code, (V, bytes_per_row) uint8, and its norm's level, (V,) uint8"""
        packed = np.empty((len(vectors), self.scheme.bytes_per_row), dtype=np.uint8)
        norms = None if levels is None else np.empty(len(vectors), dtype=np.uint8)
        total = 0.0
        for start, block in vectors.blocks(8192):
            stop = start + len(block)
            directions = block if levels is None else normalized(block)
            codes = nearest_codes(directions, codebooks, offsets)
            packed[start:stop] = pack(codes, bits=self.scheme.bits)
            rows = compose(codes, codebooks, offsets=offsets, dim=vectors.dim)
            if levels is not None and norms is not None:
                norms[start:stop] = nearest_levels(np.linalg.norm(block, axis=1), levels)
                rows *= levels[norms[start:stop]][:, None]
            total += float(np.square(block - rows, dtype=np.float64).sum())
        self.curve = [total / len(vectors)]
        return packed, norms


def column_parts(dim: int, codebooks: int) -> list[slice]:
    """`dim` columns shared out among the codebooks, as evenly as they go: 10 among 3 is 0:4, 4:7, 7:10."""
    if codebooks > dim:
        raise SettingError(
            f"{codebooks} codebooks cannot share {dim} columns; a product code takes at most one codebook a column"
        )
    sizes = [dim // codebooks + (m < dim % codebooks) for m in range(codebooks)]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return [slice(int(a), int(b)) for a, b in pairwise(bounds)]
