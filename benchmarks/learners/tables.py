"""The tables that methods are tried on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexicode import Vectors
from lexicode.cli.demo import glove
from lexicode.evaluation.rate_distortion import covariance, gaussian_distortion

DEMO = "GloVe 6B 50 d"


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """name; file, or None for the table that the demo extra brings; limit: the first so many rows only"""

    name: str
    file: str | None
    limit: int | None

    @classmethod
    def parse(cls, text: str, limit: int | None) -> TableFile:
        """`NAME=FILE`, or a file, which then is named as it is without its ending"""
        name, separator, file = text.partition("=")
        if not separator:
            name, file = Path(text).name.split(".")[0], text
        return cls(name=_limited(name, limit), file=file, limit=limit)

    @classmethod
    def demo(cls, limit: int | None) -> TableFile:
        return cls(name=_limited(DEMO, limit), file=None, limit=limit)

    def load(self) -> Vectors:
        """In memory, as float32"""
        vectors = glove(self.limit) if self.file is None else Vectors.load(self.file, limit=self.limit)
        return Vectors(vectors.take(np.arange(len(vectors))), vectors.words, source=self.name)


def _limited(name: str, limit: int | None) -> str:
    return name if limit is None else f"{name}, first {limit:,} rows"


def facts(vectors: Vectors) -> dict[str, object]:
    """What the report says of a table, with the Gaussian curve of its covariance: [bits a row, loss]"""
    bits = np.unique(np.round(np.geomspace(8, 8 * vectors.dim, 60)))
    losses = gaussian_distortion(covariance(vectors), bits)
    return {
        "rows": len(vectors),
        "dim": vectors.dim,
        "digest": vectors.digest,
        "gaussian": [[int(bit), float(f"{loss:.6g}")] for bit, loss in zip(bits, losses, strict=True)],
    }
