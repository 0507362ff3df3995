"""A learner's state on disk, so that a run that was killed goes on where it was, to the same result.

One .safetensors file of arrays and a JSON record, never a pickle; written beside the old one and renamed over it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from lexicode.errors import InputError
from lexicode.formats.atomic import replacing

KEY = "lexicode-checkpoint"
# A kill loses at most about this much work.
SECONDS_BETWEEN = 5.0

Arrays = dict[str, npt.NDArray[Any]]


class Checkpoint:
    """A file, and the identity of the run that may go on from it: what must be the same for it to make sense."""

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, Any]) -> None:
        self.path = os.fspath(path)
        # Through JSON, so that it compares equal to what comes back from the file.
        self.identity: dict[str, Any] = json.loads(json.dumps(identity))
        self._written = -SECONDS_BETWEEN

    def load(self) -> tuple[dict[str, Any], Arrays] | None:
        """The record and arrays that were saved last, or None where there is no file yet."""
        if not Path(self.path).exists():
            return None
        try:
            with safe_open(self.path, framework="numpy") as file:
                metadata = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        except SafetensorError as error:
            raise InputError(f"{self.path}: not a whole checkpoint ({error}); remove it to start anew") from None
        if KEY not in metadata:
            raise InputError(f"{self.path}: not a checkpoint of lexicode; name another file")
        saved = json.loads(metadata[KEY])
        self._check(saved["identity"])
        return saved["record"], arrays

    def _check(self, saved: dict[str, Any]) -> None:
        for name in [*self.identity, *saved]:
            if saved.get(name) != self.identity.get(name):
                raise InputError(
                    f"{self.path}: a checkpoint of another run, whose {name} was {saved.get(name)}, not "
                    f"{self.identity.get(name)}; remove it, or name another file"
                )

    @property
    def due(self) -> bool:
        """Whether nothing was saved yet, or a while ago."""
        return time.monotonic() - self._written >= SECONDS_BETWEEN

    def save(self, record: Mapping[str, Any], arrays: Arrays) -> None:
        """Write the state, whole or not at all."""
        text = json.dumps({"identity": self.identity, "record": record}, sort_keys=True)
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        with replacing(self.path) as temporary:
            save_file(contiguous, temporary, metadata={KEY: text})
        self._written = time.monotonic()
