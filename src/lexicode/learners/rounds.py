"""Rounds: what the additive learner carries from one round to the next, and keeps on disk between them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.learners.checkpoint import Checkpoint
from lexicode.learners.team import ALONE, Team
from lexicode.packing import Codes


class Rounds:
    """codes (n, M) of this process's rows, codewords (K*M, dim) float64, errors (n,) float32 of the rows, the
    first round's noise, and the number of the round that comes next"""

    def __init__(
        self,
        *,
        codes: Codes,
        codewords: npt.NDArray[np.float64],
        noise: float,
        rng: np.random.Generator,
        first_row: int,
        total: int,
    ) -> None:
        self.codes = codes
        self.codewords = codewords
        self.errors: Floats = np.ones(len(codes), dtype=np.float32)
        self.noise = noise
        self.rng = rng
        self.first_row = first_row
        self.total = total
        self.step = 0
        self.curve: list[float] = []
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
        team.agree(self.codewords)
        self.codes = team.scatter(arrays.get("codes"), len(self.codes))
        self.errors = team.scatter(arrays.get("errors"), len(self.errors))
        self.rng.bit_generator.state = record["generator"]
        self.step, self.curve = record["step"], record["curve"]

    def finish(self, step: int, curve: list[float], *, last: bool) -> None:
        """A round is done; save now and then, and after the last."""
        self.step, self.curve = step + 1, curve
        # The leader's clock decides for all, for they must gather their codes together.
        if self._checkpoint is None or not self._team.say(last or self._checkpoint.due):
            return
        codes, errors = self._team.gather(self.codes), self._team.gather(self.errors)
        if codes is not None and errors is not None:
            record = {"step": self.step, "curve": self.curve, "generator": self.rng.bit_generator.state}
            self._checkpoint.save(record, {"codes": codes, "errors": errors, "codewords": self.codewords})
