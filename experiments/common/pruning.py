"""Iterative pruning (Han et al. 2015): the values of smallest magnitude become zero for good, a few more at a time."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def kept_mask(table: Tensor, zeros: float) -> Tensor:
    """table of any shape -> bool of that shape: False for the fraction `zeros` of smallest magnitude

    >>> kept_mask(torch.tensor([[0.1, -3.0], [2.0, -0.2]]), zeros=0.5)
    tensor([[False,  True],
            [ True, False]])
    """
    dropped = round(zeros * table.numel())
    magnitudes = table.detach().abs().flatten().numpy()
    mask = np.ones(table.numel(), dtype=bool)
    mask[np.argpartition(magnitudes, max(dropped - 1, 0))[:dropped]] = False
    return torch.from_numpy(mask).view(table.shape)


def pruning_steps(zeros: float, steps: int) -> list[float]:
    """The fraction of zeros after each step; each step prunes the same share of what is left.

    >>> [round(fraction, 3) for fraction in pruning_steps(0.875, 3)]
    [0.5, 0.75, 0.875]
    """
    kept = (1 - zeros) ** (1 / steps)
    return [1 - kept ** (step + 1) for step in range(steps)]
