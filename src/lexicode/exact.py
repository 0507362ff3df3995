"""ExactRows: rows that a coded embedding keeps as they are, beside the codes of all the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.errors import InputError


@dataclass(frozen=True, kw_only=True)
class ExactRows:
    """ids (E,) uint32, ascending; rows (E, dim) float16 or float32. Row ids[e] of the table is rows[e], whatever its
    code says."""

    ids: npt.NDArray[np.uint32]
    rows: npt.NDArray[np.floating[Any]]

    def check(self, *, table_rows: int, dim: int) -> None:
        """Refuse what does not fit a table of this shape."""
        if self.ids.dtype != np.uint32 or self.ids.ndim != 1:
            raise InputError(f"exact_ids are {self.ids.dtype} of shape {self.ids.shape}, not one uint32 a row")
        if self.rows.shape != (len(self.ids), dim):
            raise InputError(f"exact_rows have shape {self.rows.shape}, but {len(self.ids)} rows of {dim} are named")
        if self.rows.dtype not in (np.float16, np.float32) or not np.isfinite(self.rows).all():
            raise InputError(f"exact_rows of {self.rows.dtype}; finite float16 or float32 numbers are needed")
        if len(self.ids) and (int(self.ids[-1]) >= table_rows or not (self.ids[1:] > self.ids[:-1]).all()):
            raise InputError(f"exact_ids do not ascend within the {table_rows} rows of the table")

    def put_into(self, vectors: Floats, rows: npt.NDArray[np.integer[Any]]) -> None:
        """Overwrite those of vectors (n, dim), which are the table's rows (n,), that are kept exactly."""
        place = np.searchsorted(self.ids, rows)
        place[place == len(self.ids)] = 0
        kept = np.flatnonzero(self.ids[place] == rows) if len(self.ids) else np.empty(0, dtype=np.intp)
        vectors[kept] = self.rows[place[kept]]

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + self.rows.nbytes
