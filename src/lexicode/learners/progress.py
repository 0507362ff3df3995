"""How a learner tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """One step of a learner: `loss` is the mean squared distance a row, None while there is none yet; `note` is what
    else there is to show."""

    stage: str
    step: int
    steps: int
    loss: float | None
    note: str = ""


OnProgress = Callable[[Progress], None]
