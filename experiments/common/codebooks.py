"""A coded embedding with the same codes and other codebooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode import CodedEmbedding

Floats = npt.NDArray[np.floating[Any]]


def with_codebooks(
    coded: CodedEmbedding, codebooks: Floats, *, exact_rows: Floats | None = None, **origin: Any
) -> CodedEmbedding:
    """codebooks (M, K, dim) in place of the coded embedding's, in its precision; exact_rows likewise, where there are
    some; `origin` goes with what tells where it comes from."""
    exact = coded.exact
    return CodedEmbedding(
        scheme=coded.scheme,
        packed=coded.packed,
        codebooks=codebooks.astype(coded.codebooks.dtype),
        words=coded.words,
        exact_ids=exact.ids if exact else None,
        exact_rows=exact_rows.astype(exact.rows.dtype) if exact and exact_rows is not None else exact and exact.rows,
        origin={**coded.origin, **origin},
    )
