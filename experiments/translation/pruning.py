"""Iterative pruning (Han et al. 2015) of embedding tables while a model trains."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from experiments.common.pruning import kept_mask, pruning_steps


class Pruner:
    """Sets the values of smallest magnitude to zero, a few more every `interval` iterations, and keeps them there."""

    def __init__(self, tables: Sequence[Tensor], *, zeros: float, steps: int, interval: int) -> None:
        self.tables, self.interval = list(tables), interval
        self.fractions = pruning_steps(zeros, steps)
        self.masks: list[Tensor] = []

    def finished(self, iteration: int) -> bool:
        """Whether the last step has been made."""
        return iteration >= self.interval * len(self.fractions)

    @torch.no_grad()
    def after_step(self, iteration: int) -> None:
        step, rest = divmod(iteration, self.interval)
        if rest == 0 and 1 <= step <= len(self.fractions):
            self.masks = [kept_mask(table, self.fractions[step - 1]) for table in self.tables]
        for table, mask in zip(self.tables, self.masks, strict=False):
            table.mul_(mask)

    def restore(self, iteration: int) -> None:
        """Masks of tables that were pruned before: what is zero stays zero."""
        if iteration >= self.interval:
            self.masks = [table != 0 for table in self.tables]
