"""The neighbours of many rows before and after, and the codes of all that are named: what a page needs to be asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats
from lexicode.evaluation.neighbours import Nearest, nearest
from lexicode.lengths import normalized
from lexicode.packing import Codes, unpack
from lexicode.vectors import Vectors

NEIGHBOURS = 10
MOST_ROWS = 2000
# The codes of the rows and of their neighbours, most of them different ones, stay within about this.
CODE_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Neighbourhoods:
    """rows (q,) int64, ascending; before and after: their nearest rows among all, in the original table and the coded
    one. named (w,) int64: all rows that occur, ascending; codes (w, M): theirs; exact: those of them kept exactly"""

    rows: npt.NDArray[np.int64]
    before: Nearest
    after: Nearest
    named: npt.NDArray[np.int64]
    codes: Codes
    exact: frozenset[int]

    @property
    def kept(self) -> Floats:
        """The share of each row's neighbours before that are its neighbours after, (q,) float32"""
        same = self.before.rows[:, :, None] == self.after.rows[:, None, :]
        return np.asarray(same.any(axis=2).sum(axis=1) / max(same.shape[1], 1), dtype=np.float32)

    def as_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows.tolist(),
            "before": {"rows": self.before.rows.tolist(), "cosines": rounded(self.before.cosines)},
            "after": {"rows": self.after.rows.tolist(), "cosines": rounded(self.after.cosines)},
            "codes": {int(row): code.tolist() for row, code in zip(self.named, self.codes, strict=True)},
        }


def neighbourhoods(vectors: Vectors, coded: CodedEmbedding, rows: Iterable[int]) -> Neighbourhoods:
    """Find the nearest rows, of the whole table, of each of `rows`, in both tables."""
    asked = np.unique(np.fromiter(rows, dtype=np.int64))
    n = min(NEIGHBOURS, len(vectors) - 1)
    before = nearest(vectors.blocks(), normalized(vectors.take(asked)), asked, n)
    after = nearest(coded.blocks(), normalized(coded.lookup(asked)), asked, n)
    named = np.unique(np.concatenate([asked, before.rows.ravel(), after.rows.ravel()]))
    codes = unpack(coded.packed[named], bits=coded.scheme.bits, count=coded.scheme.codebooks)
    exact = frozenset() if coded.exact is None else frozenset(np.intersect1d(coded.exact.ids, named).tolist())
    return Neighbourhoods(rows=asked, before=before, after=after, named=named, codes=codes, exact=exact)


def frequent_rows(coded: CodedEmbedding) -> npt.NDArray[np.int64]:
    """The first rows, as many as a page can hold with their neighbours: (n,) int64"""
    fitting = CODE_BYTES // ((2 * NEIGHBOURS + 1) * coded.scheme.bytes_per_row)
    return np.arange(min(len(coded), MOST_ROWS, max(fitting, 50)), dtype=np.int64)


def rounded(cosines: Floats) -> list[list[float]]:
    """cosines (q, n) with four digits"""
    return [[round(value, 4) for value in line] for line in cosines.tolist()]
