"""Coded embeddings that several tests share."""

from __future__ import annotations

import numpy as np

from lexicode import CodedEmbedding, CodeScheme
from lexicode.packing import pack
from lexicode.words import Words


def random_coded(
    scheme: str, rows: int, dim: int, *, dtype: str = "float16", words: bool = True, exact: int = 0, seed: int = 0
) -> CodedEmbedding:
    """A coded embedding of random codes and codebooks, with so many random rows kept exactly."""
    parsed = CodeScheme.parse(scheme)
    rng = np.random.default_rng(seed)
    codes = rng.integers(parsed.codewords, size=(rows, parsed.codebooks))
    return CodedEmbedding(
        scheme=parsed,
        packed=pack(codes, bits=parsed.bits),
        codebooks=rng.normal(size=(parsed.codebooks, parsed.codewords, dim)).astype(dtype),
        words=Words(f"w{i}" for i in range(rows)) if words else None,
        exact_ids=np.sort(rng.choice(rows, size=exact, replace=False)).astype(np.uint32),
        exact_rows=rng.normal(size=(exact, dim)).astype(np.float32),
    )
