"""The softmax's loss and its gradient in one pass over the scores, a block of rows at a time so that it stays in cache.

`summed_cross_entropy_plain` is the same by torch's own functions, for the tests.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

ROWS_A_BLOCK = 32


def summed_cross_entropy_plain(scores: Tensor, target: Tensor) -> Tensor:
    """scores (n, rows), target (n,) int64 -> the cross entropy's sum, float32"""
    return cross_entropy(scores.float(), target, reduction="sum")


class _SummedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, target: Tensor) -> Tensor:
        grad, total = torch.empty_like(scores), scores.new_zeros((), dtype=torch.float64)
        for block, wanted, into in zip(*(each.split(ROWS_A_BLOCK) for each in (scores, target, grad)), strict=True):
            logs, places = torch.log_softmax(block, dim=1, dtype=torch.float32), wanted.unsqueeze(1)
            right = logs.gather(1, places)
            total -= right.sum(dtype=torch.float64)
            into.copy_(logs.exp_().scatter_(1, places, right.exp() - 1))
        ctx.save_for_backward(grad)
        return total.float()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (grad,) = ctx.saved_tensors
        return grad * grads[0], None


def summed_cross_entropy(scores: Tensor, target: Tensor) -> Tensor:
    """What `summed_cross_entropy_plain` computes; the gradient has the scores' precision."""
    result: Tensor = _SummedCrossEntropy.apply(scores, target)
    return result
