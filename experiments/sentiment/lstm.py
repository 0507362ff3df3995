"""One LSTM layer over many texts on a processor, its last states alone: `nn.LSTM`'s numbers in a tenth of its time.

Four things make it quick. The embeddings are fixed and words recur, so the input's part of the gates is computed once
for each different word of a batch. No step computes a text that has ended. The weights' gradient is one product for
many steps. And what is not a matrix product is compiled. tests/experiments holds it to `nn.LSTM`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from experiments.sentiment.lstm_steps import advance, retreat

# As many steps' gradients as stay in the cache.
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

    The matrix products are torch's; all else of a step is one call of lstm_steps.py.
    """

    @staticmethod
    def forward(ctx: Any, projected: Tensor, weight: Tensor, batch: Batch) -> Tensor:
        T, n = batch.steps.shape
        units = weight.shape[1]
        states, cells = projected.new_empty(2, T + 1, n, units)
        states[0], cells[0] = 0, 0
        gates, product = projected.new_empty(T, n, 4 * units), projected.new_empty(n, 4 * units)
        last = projected.new_empty(n, units)
        turned = weight.t().contiguous()
        arrays = [each.numpy() for each in (product, projected.detach(), batch.steps, gates, cells, states)]
        for step, running in enumerate(batch.running):
            torch.mm(states[step, :running], turned, out=product[:running])
            advance(step, running, *arrays)
            following = batch.running[step + 1] if step + 1 < T else 0
            if following < running:
                last[following:running] = states[step + 1, following:running]
                # The weights' gradient multiplies these by zero, which would not help against NaN.
                states[step + 1 :, following:running] = 0
        ctx.batch, ctx.words = batch, len(projected)
        ctx.save_for_backward(states, cells, gates, weight)
        return last

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        states, cells, gates, weight = ctx.saved_tensors
        batch: Batch = ctx.batch
        (of_last,) = gradients
        T, n, width = gates.shape
        units = width // 4
        of_projected, of_weight = gates.new_zeros(ctx.words, width), gates.new_zeros(units, width)
        of_state, of_cell = torch.zeros_like(of_last), torch.zeros_like(of_last)
        of_gates = gates.new_empty(STEPS_AT_ONCE, n, width)
        tensors = (batch.steps, gates, cells, of_state, of_cell, of_gates, of_projected)
        arrays = [each.numpy() for each in tensors]
        following = 0
        for step in range(T - 1, -1, -1):
            running = batch.running[step]
            if following < running:
                of_state[following:running] = of_last[following:running]
                following = running
            place = step % STEPS_AT_ONCE
            retreat(step, place, running, *arrays)
            torch.mm(of_gates[place, :running], weight, out=of_state[:running])
            if place == 0:
                before = states[step : min(step + STEPS_AT_ONCE, T)]
                of_weight.addmm_(before.reshape(-1, units).t(), of_gates[: len(before)].view(-1, width))
        return of_projected, of_weight.t(), None
