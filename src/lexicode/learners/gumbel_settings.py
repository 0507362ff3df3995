"""The settings of the paper's learner; the defaults are the paper's (section 5.1)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch

from lexicode.errors import SettingError
from lexicode.learners.gumbel_losses import LOSSES, RowLoss, check_loss, loss_name
from lexicode.learners.learner import CommonSettings
from lexicode.learners.weights import Weights, check_weights, weights_record


@dataclass(frozen=True, kw_only=True)
class GumbelSettings(CommonSettings):
    """iterations       steps of Adam, each on `batch_size` rows drawn uniformly
    learning_rate    Adam's, fixed
    temperature      of the Gumbel-softmax, fixed
    validate_every   so many iterations the codes are judged, and the parameters kept if they are the best so far
    validation_rows  how many rows, drawn once, judge them
    loss             "squared", "cosine", or a function (reconstruction, original) -> one number a row
    weights          how much each row counts: one number a row, or "zipf"; all the same without
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
    weights: Weights | None = None
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
        check_weights(self.weights)
        if self.refine and self.loss not in LOSSES:
            raise SettingError("refine hands the codes to the additive learner, which takes no loss of your own")
        _check_device(self.device)

    @property
    def torch_device(self) -> torch.device:
        return torch.device(self.device or "cpu")

    def record(self) -> dict[str, Any]:
        plain = ("iterations", "batch_size", "learning_rate", "temperature", "validate_every", "validation_rows")
        more: dict[str, Any] = {"loss": loss_name(self.loss), "refine": self.refine}
        if self.clip is not None:
            more["clip"] = self.clip
        if self.weights is not None:
            more["weights"] = weights_record(self.weights)
        return {**super().record(), **{name: getattr(self, name) for name in plain}, **more}

    def identity(self) -> dict[str, Any]:
        """What may not change when a run goes on: the length of it and the learning rate may."""
        fixed = (
            "seed", "batch_size", "temperature", "loss", "weights", "clip", "validate_every", "validation_rows",
        )  # fmt: skip
        return {name: value for name, value in self.record().items() if name in fixed}


def _check_device(device: str | None) -> None:
    if device is None:
        return
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SettingError(f'device={device!r} cannot be used here ({reason}); try "cpu"') from None
