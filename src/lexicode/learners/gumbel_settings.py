"""The settings of the paper's learner; the defaults are the paper's (section 5.1)."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from lexicode.composition import Floats
from lexicode.errors import SettingError
from lexicode.learners.gumbel_losses import RowLoss, check_loss, loss_name
from lexicode.learners.learner import CommonSettings


@dataclass(frozen=True, kw_only=True)
class GumbelSettings(CommonSettings):
    """iterations       steps of Adam, each on `batch_size` rows drawn uniformly
    learning_rate    Adam's, fixed
    temperature      of the Gumbel-softmax, fixed
    validate_every   so many iterations the codes are judged, and the parameters kept if they are the best so far
    validation_rows  how many rows, drawn once, judge them
    loss             "squared", "cosine", or a function (reconstruction, original) -> one number a row
    weights          how much each row counts, (V,); all the same without
    clip             the gradient's largest norm; the paper names none
    refine           hand the codes to the additive learner in the end
    device           where it trains, as torch names it: "cpu", "cuda", "cuda:1"
    checkpoint       a file to keep the state in, and to go on from if it is there
    """

    iterations: int = 200_000
    batch_size: int = 128
    learning_rate: float = 1e-4
    temperature: float = 1.0
    validate_every: int = 1000
    validation_rows: int = 4096
    loss: str | RowLoss = "squared"
    weights: npt.ArrayLike | None = None
    clip: float | None = None
    refine: bool = False
    device: str | None = None
    checkpoint: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("iterations", "batch_size", "validate_every", "validation_rows"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name}={getattr(self, name)} is less than 1")
        for name in ("learning_rate", "temperature", "clip"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise SettingError(f"{name}={value} is not a number above zero")
        check_loss(self.loss)
        if self.refine and (self.loss != "squared" or self.weights is not None):
            raise SettingError("refine lowers the plain squared distance; it does not go with another loss or weights")
        _check_device(self.device)

    @property
    def torch_device(self) -> torch.device:
        return torch.device(self.device or "cpu")

    def row_weights(self, rows: int) -> Floats:
        """Each row's weight, (rows,) float32, their mean one"""
        if self.weights is None:
            return np.ones(rows, dtype=np.float32)
        given = np.asarray(self.weights, dtype=np.float64)
        if given.shape != (rows,):
            raise SettingError(f"weights have shape {given.shape}, but the table has {rows} rows")
        if not np.isfinite(given).all() or given.min() < 0 or given.sum() == 0:
            raise SettingError("weights must be finite numbers, none below zero and not all of them zero")
        return np.asarray(given / given.mean(), dtype=np.float32)

    def record(self) -> dict[str, Any]:
        plain = ("iterations", "batch_size", "learning_rate", "temperature", "validate_every", "validation_rows")
        more: dict[str, Any] = {"loss": loss_name(self.loss), "refine": self.refine}
        if self.clip is not None:
            more["clip"] = self.clip
        if self.weights is not None:
            more["weights"] = _digest(self.weights)
        return {**super().record(), **{name: getattr(self, name) for name in plain}, **more}

    def identity(self) -> dict[str, Any]:
        """What may not change when a run goes on: the length of it and the learning rate may."""
        fixed = ("seed", "batch_size", "temperature", "loss", "weights")
        return {name: value for name, value in self.record().items() if name in fixed}


def _digest(weights: npt.ArrayLike) -> str:
    numbers = np.ascontiguousarray(weights, dtype="<f8")
    return f"sha256:{hashlib.sha256(numbers.tobytes()).hexdigest()}"


def _check_device(device: str | None) -> None:
    if device is None:
        return
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SettingError(f'device={device!r} cannot be used here ({reason}); try "cpu"') from None
