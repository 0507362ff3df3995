"""evaluate: everything that is measured of a coded embedding, as one object with stable names."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lexicode.coded import CodedEmbedding
from lexicode.evaluation.neighbours import neighbours_kept
from lexicode.evaluation.reconstruction import reconstruction
from lexicode.vectors import Vectors


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """bytes: codes, codebooks, words, file (all of it), original (float32 matrix and words as plain text)."""

    rows: int
    dim: int
    scheme: str
    loss: float
    mean_distance: float
    mean_cosine: float
    neighbours_at_10: float
    eigenspace_overlap: float
    bytes: dict[str, int]
    ratio: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def evaluate(vectors: Vectors, coded: CodedEmbedding) -> Measurements:
    """Judge a coded embedding against the vectors it was made from."""
    distances = reconstruction(vectors, coded)
    sizes = {**coded.part_bytes, "file": coded.file_bytes, "original": vectors.original_bytes}
    return Measurements(
        rows=len(coded),
        dim=coded.dim,
        scheme=str(coded.scheme),
        loss=distances.loss,
        mean_distance=distances.mean_distance,
        mean_cosine=distances.mean_cosine,
        neighbours_at_10=neighbours_kept(vectors, coded),
        eigenspace_overlap=distances.eigenspace_overlap,
        bytes=sizes,
        ratio=sizes["original"] / sizes["file"],
    )
