"""One LSTM layer over many texts on a processor, its last states alone: `nn.LSTM`'s numbers in a tenth of its time.

Three things make it quick. The embeddings are fixed and words recur, so the input's part of the gates is computed once
for each different word of a batch. No step computes a text that has ended. And the weights' gradient is one product
at the end, not one for each step. tests/experiments holds it to `nn.LSTM`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

STEPS_AT_ONCE = 16


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Texts, the longest first.

    words (u,) int64: the different row numbers that occur, ascending
    steps (T, n) int64: for each step and text, which of `words` it is; 0 after a text's end
    running (T,): how many texts, from the first, have a word at each step
    labels (n,) int64
    """

    words: Tensor
    steps: Tensor
    running: list[int]
    labels: Tensor

    @classmethod
    def of(cls, texts: list[npt.NDArray[np.int32]], labels: npt.NDArray[np.int64]) -> Batch:
        """texts: the row numbers of each, the longest first"""
        lengths = np.array([len(text) for text in texts])
        words, places = np.unique(np.concatenate(texts), return_inverse=True)
        steps = np.zeros((lengths[0], len(texts)), dtype=np.int64)
        begin = 0
        for column, length in enumerate(lengths):
            steps[:length, column] = places[begin : begin + length]
            begin += length
        return cls(
            words=torch.from_numpy(words.astype(np.int64)),
            steps=torch.from_numpy(steps),
            running=[int((lengths > step).sum()) for step in range(lengths[0])],
            labels=torch.from_numpy(labels),
        )


class LastStateLSTM(nn.Module):
    """Embedded words (u, dim) of a batch -> the state after each text's last word, (n, units).

    input_weight (4 units, dim), state_weight (4 units, units), bias (4 units,): gates in the order input, forget,
    output, new; torch has the last two the other way round.
    """

    def __init__(self, dim: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.input_weight = nn.Parameter(torch.empty(4 * units, dim))
        self.state_weight = nn.Parameter(torch.empty(4 * units, units))
        self.bias = nn.Parameter(torch.zeros(4 * units))
        nn.init.xavier_uniform_(self.input_weight)
        for gate in range(4):
            nn.init.orthogonal_(self.state_weight[gate * units : (gate + 1) * units])
        with torch.no_grad():
            # A state that is kept at first reaches back over hundreds of words (Jozefowicz et al. 2015).
            self.bias[units : 2 * units] = 1.0

    def forward(self, embedded: Tensor, batch: Batch) -> Tensor:
        projected = torch.addmm(self.bias, embedded, self.input_weight.t())
        last: Tensor = _Recurrence.apply(projected, self.state_weight, batch)
        return last


class _Recurrence(torch.autograd.Function):
    """projected (u, 4 units), weight (4 units, units) -> last states (n, units)

    Arrays over time are (T, n, ...). Small products and sums at every step cost more in calls than in arithmetic, so
    what does not depend on the step before it is done for STEPS_AT_ONCE steps together, while they are in the cache.
    """

    @staticmethod
    def forward(ctx: Any, projected: Tensor, weight: Tensor, batch: Batch) -> Tensor:
        T, n = batch.steps.shape
        units = weight.shape[1]
        states, cells = projected.new_empty(2, T + 1, n, units)
        states[0], cells[0] = 0, 0
        squashed, gates = projected.new_empty(T, n, units), projected.new_empty(T, n, 4 * units)
        last = projected.new_empty(n, units)
        turned = weight.t().contiguous()
        # Views of all steps, made in one call each.
        views = [
            each.unbind(0)
            for each in (gates, gates[..., : 3 * units], *gates.split(units, dim=2), cells, cells[1:], squashed)
        ]
        before, after = states.unbind(0), states[1:].unbind(0)
        for step, running in enumerate(batch.running):
            if step % STEPS_AT_ONCE == 0:
                words = batch.steps[step : step + STEPS_AT_ONCE]
                torch.index_select(
                    projected, 0, words.flatten(), out=gates[step : step + STEPS_AT_ONCE].view(-1, 4 * units)
                )
            rows = (before[step], after[step], *(view[step] for view in views))
            if running < n:
                rows = tuple(each[:running] for each in rows)
            state, new_state, gate, sigmoids, into, keep, out, new, cell, new_cell, tanh = rows
            gate.addmm_(state, turned)
            sigmoids.sigmoid_()
            new.tanh_()
            torch.mul(keep, cell, out=new_cell).addcmul_(into, new)
            torch.mul(torch.tanh(new_cell, out=tanh), out, out=new_state)
            following = batch.running[step + 1] if step + 1 < T else 0
            if following < running:
                last[following:running] = new_state[following:]
                # The weights' gradient multiplies these by zero, which would not help against NaN.
                states[step + 1 :, following:running] = 0
        ctx.batch, ctx.words = batch, len(projected)
        ctx.save_for_backward(states, cells, gates, squashed, weight)
        return last

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        states, cells, gates, squashed, weight = ctx.saved_tensors
        batch: Batch = ctx.batch
        (of_last,) = gradients
        T, n, units = squashed.shape
        of_gates = torch.empty_like(gates)
        of_state, of_cell = torch.zeros_like(of_last), torch.zeros_like(of_last)
        slopes: list[tuple[Tensor, ...]] = []
        following = 0
        for step in range(T - 1, -1, -1):
            if not slopes:
                part = slice(max(0, step + 1 - STEPS_AT_ONCE), step + 1)
                slopes = _slopes(gates[part], of_gates[part], cells[part], squashed[part])
            rows = (of_state, of_cell, *slopes.pop())
            running = batch.running[step]
            if following < running:
                of_state[following:running] = of_last[following:running]
                following = running
            if running < n:
                of_gates[step, running:] = 0
                rows = tuple(each[:running] for each in rows)
            dh, dc, of_gate, of_into_keep, of_out, of_new, keep, through = rows
            dc.addcmul_(dh, through)
            of_out.mul_(dh)
            of_into_keep.mul_(dc.unsqueeze(1))
            of_new.mul_(dc)
            dc.mul_(keep)
            torch.mm(of_gate, weight, out=dh)
        flat = of_gates.view(T * n, 4 * units)
        of_projected = flat.new_zeros(ctx.words, 4 * units).index_add_(0, batch.steps.flatten(), flat)
        return of_projected, (states[:T].reshape(T * n, units).t() @ flat).t(), None


def _slopes(gates: Tensor, of_gates: Tensor, cells: Tensor, squashed: Tensor) -> list[tuple[Tensor, ...]]:
    """Fill of_gates (t, n, 4 units) with each gate's slope, but for the factors that come from the step after it.

    For each of the t steps: its slopes as a whole, those of the input and forget gates (n, 2, units), of the output
    gate, of the new value, the forget gate itself, and how the state follows the cell.
    """
    t, n, units = squashed.shape
    into, keep, out, new = gates.split(units, dim=2)
    of_into, of_keep, of_out, of_new = of_gates.split(units, dim=2)
    sigmoid_slope, tanh_slope = torch.ops.aten.sigmoid_backward.grad_input, torch.ops.aten.tanh_backward.grad_input
    sigmoid_slope(new, into, grad_input=of_into)
    sigmoid_slope(cells, keep, grad_input=of_keep)
    sigmoid_slope(squashed, out, grad_input=of_out)
    tanh_slope(into, new, grad_input=of_new)
    through = torch.ops.aten.tanh_backward(out, squashed)
    of_into_keep = of_gates.view(t, n, 4, units)[:, :, :2]
    return list(zip(*(each.unbind(0) for each in (of_gates, of_into_keep, of_out, of_new, keep, through)), strict=True))
