"""What the paper's network lowers: a number a row, and its slope in the reconstruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from lexicode.errors import SettingError

# (reconstruction (n, dim), original (n, dim)) -> a loss a row, (n,); differentiable in the reconstruction.
RowLoss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

# Below this length a row has no direction to compare.
SMALLEST_LENGTH = 1e-12


def squared_distance(reconstruction: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
    """The paper's loss: |reconstruction - original|^2, (n,)"""
    return (reconstruction - original).square().sum(dim=1)


def cosine_distance(reconstruction: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
    """1 - the cosine of the angle between them, (n,)"""
    return 1 - torch.nn.functional.cosine_similarity(reconstruction, original, dim=1, eps=SMALLEST_LENGTH)


LOSSES: dict[str, RowLoss] = {"squared": squared_distance, "cosine": cosine_distance}


def check_loss(loss: Any) -> None:
    """A built-in loss by its name, or a function that gives one finite number a row with a slope."""
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise SettingError(f"loss={loss!r} is not one of {', '.join(LOSSES)}, nor a function of two tensors")
        return
    if not callable(loss):
        raise SettingError(f"loss={loss!r} is neither a name ({', '.join(LOSSES)}) nor a function of two tensors")
    trial = torch.tensor([[1.0, 2.0], [3.0, -4.0], [0.5, 0.25]], requires_grad=True)
    values = loss(trial, trial.detach() + 1)
    if not isinstance(values, torch.Tensor) or values.shape != (3,):
        shape = tuple(values.shape) if isinstance(values, torch.Tensor) else type(values).__name__
        raise SettingError(f"loss {loss_name(loss)} gave {shape} for 3 rows; it must give a tensor of one number a row")
    if not values.requires_grad:
        raise SettingError(f"loss {loss_name(loss)} has no slope in the reconstruction; build it of torch operations")


def loss_name(loss: str | RowLoss) -> str:
    """What the artefact remembers of a loss."""
    return loss if isinstance(loss, str) else str(getattr(loss, "__qualname__", type(loss).__name__))


def row_loss(loss: str | RowLoss) -> RowLoss:
    return LOSSES[loss] if isinstance(loss, str) else loss


def slope(
    loss: str | RowLoss, reconstruction: torch.Tensor, original: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """The derivative (n, dim) of sum(weights * loss) in the reconstruction; weights (n,) or (1,).

    The squared distance has it written out, overwrites the reconstruction and is the fast path.
    """
    if loss == "squared":
        return reconstruction.sub_(original).mul_((2 * weights)[:, None])
    leaf = reconstruction.detach().requires_grad_()
    with torch.enable_grad():
        total = (row_loss(loss)(leaf, original) * weights).sum()
    (gradient,) = torch.autograd.grad(total, leaf)
    return gradient
