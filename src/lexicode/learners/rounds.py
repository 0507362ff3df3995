"""Rounds: what the additive learner carries from one round to the next, and keeps on disk between them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.learners.checkpoint import Checkpoint
from lexicode.learners.team import ALONE, Team
from lexicode.packing import Codes

# The arrays of rows that are encoded for good: codes, and norms where lengths are coded apart.
ENCODED = ("packed", "norms")


class Rounds:
    """rows (n,), the numbers of this process's rows that are learned from; their codes (n, M), weights (n,) float32
    and errors (n,) float32; codewords (K*M, dim) float64 of the last round, and `solved`, the least-squares solution
    that they came from; `step`, the number of the round that comes next"""

    def __init__(
        self,
        *,
        rows: npt.NDArray[np.int64],
        codes: Codes,
        weights: Floats,
        codewords: npt.NDArray[np.float64],
        rng: np.random.Generator,
        first_row: int,
        total: int,
    ) -> None:
        self.rows = rows
        self.codes = codes
        self.weights = weights
        self.errors: Floats = np.ones(len(codes), dtype=np.float32)
        self.codewords = codewords
        self.solved = codewords.copy()
        self.rng = rng
        self.first_row = first_row
        self.total = total
        self.step = 0
        self.curve: list[float] = []
        self.started = time.monotonic()
        # What a run that was killed had encoded already of the table's first rows, and the sum of their errors.
        self.encoded: dict[str, npt.NDArray[np.uint8]] = {}
        self.encoded_error = 0.0
        self._checkpoint: Checkpoint | None = None
        self._team: Team = ALONE

    def keep(self, path: str | os.PathLike[str], identity: Mapping[str, Any], team: Team) -> None:
        """Go on from the checkpoint if there is one, and save to it from now on. The leader alone touches the file."""
        self._checkpoint, self._team = Checkpoint(path, identity), team
        loaded = self._checkpoint.load() if team.leads else None
        record = team.say(None if loaded is None else loaded[0])
        if record is None:
            return
        arrays = loaded[1] if loaded is not None else {}
        self.codewords = arrays.get("codewords", self.codewords)
        self.solved = arrays.get("solved", self.solved)
        team.agree(self.codewords)
        team.agree(self.solved)
        self.codes = team.scatter(arrays.get("codes"), len(self.codes))
        self.errors = team.scatter(arrays.get("errors"), len(self.errors))
        self.encoded = {name: arrays[name] for name in ENCODED if name in arrays}
        self.encoded_error = record["encoded_error"]
        self.rng.bit_generator.state = record["generator"]
        self.step, self.curve = record["step"], record["curve"]
        self.started = time.monotonic() - record["seconds"]

    def finish(self, step: int, curve: list[float], *, last: bool) -> None:
        """A round is done; save now and then, and after the last."""
        self.step, self.curve = step + 1, curve
        # The leader's clock decides for all, for they must gather their codes together.
        if self._checkpoint is None or not self._team.say(last or self._checkpoint.due):
            return
        codes, errors = self._team.gather(self.codes), self._team.gather(self.errors)
        if codes is not None and errors is not None:
            self._save(self._checkpoint, {"codes": codes, "errors": errors})

    def finish_block(self, encoded: dict[str, npt.NDArray[np.uint8]], error: float) -> None:
        """The table's first rows are encoded; save now and then. A team encodes its rows again after a kill."""
        if self._checkpoint is not None and self._team.size == 1 and self._checkpoint.due:
            self.encoded_error = error
            self._save(self._checkpoint, {"codes": self.codes, "errors": self.errors, **encoded})

    def _save(self, checkpoint: Checkpoint, arrays: dict[str, npt.NDArray[Any]]) -> None:
        record = {
            "step": self.step,
            "curve": self.curve,
            "generator": self.rng.bit_generator.state,
            "seconds": time.monotonic() - self.started,
            "encoded_error": self.encoded_error,
        }
        checkpoint.save(record, {**arrays, "codewords": self.codewords, "solved": self.solved})
