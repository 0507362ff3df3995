"""Table: what every reader returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.words import Words


@dataclass(frozen=True, kw_only=True)
class Table:
    """words, or None for a table of ids; matrix (V, dim) of any float dtype, perhaps memory-mapped."""

    words: Words | None
    matrix: npt.NDArray[np.floating[Any]]
    # A row's place in its file, for messages: "line 7", "row 6".
    place: Callable[[int], str]
