"""The first decoder layer: an LSTM whose input is the feedback embedding and what its attention finds in the source.

`attentive_lstm` keeps what its backward pass needs and leaves all sums over steps to one product each;
`attentive_lstm_plain` is the same by autograd, for the tests. Rows of all steps lie packed, see model.py.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def attend(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """query (b, u), keys (b, S, u), values (b, S, v), mask (b, S) or None -> context (b, v), weights (b, S)"""
    scores = torch.bmm(keys, query.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores if mask is None else scores + mask, dim=1)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights


def lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """gates (b, 4 u) in torch's order (input, forget, candidate, output), cell (b, u) -> the next hidden, cell"""
    inner, forget, candidate, outer = gates.chunk(4, dim=1)
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(inner) * torch.tanh(candidate)
    return torch.sigmoid(outer) * torch.tanh(cell), cell


def attentive_lstm_plain(
    feedback: Tensor,
    feedback_gates: Tensor,
    batch_sizes: list[int],
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    state: Tensor,
    weight: Tensor,
) -> Tensor:
    """feedback (N, u) and its share of the gates (N, 4 u), packed; keys (B, S, u), values (B, S, v); mask (B, S) or
    None; the first state (B, u); weight (4 u, v + u) of context and state -> hidden states (N, u), packed"""
    hidden, cell, outputs, first = state, torch.zeros_like(state), [], 0
    for b in batch_sizes:
        rows, first = slice(first, first + b), first + b
        context, _ = attend(feedback[rows] + hidden[:b], keys[:b], values[:b], None if mask is None else mask[:b])
        gates = feedback_gates[rows] + torch.cat([context, hidden[:b]], dim=1) @ weight.T
        hidden, cell = lstm_cell(gates, cell[:b])
        outputs.append(hidden)
    return torch.cat(outputs)


class _AttentiveLSTM(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        feedback: Tensor,
        feedback_gates: Tensor,
        batch_sizes: list[int],
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None,
        state: Tensor,
        weight: Tensor,
    ) -> Tensor:
        (total, units), (B, S, width), T = feedback.shape, values.shape, len(batch_sizes)
        attention, queries = keys.new_zeros(T, B, S), keys.new_zeros(T, B, units)
        gates, mixed = torch.empty_like(feedback_gates), weight.new_empty(total, width + units)
        cells, hiddens = keys.new_empty(total + B, units), keys.new_empty(total + B, units)
        # Row i of a step has its state before at row i of the step before; the first state lies in front.
        cells[:B], hiddens[:B] = 0, state
        before, first = 0, 0
        for t, b in enumerate(batch_sizes):
            rows, after = slice(first, first + b), slice(B + first, B + first + b)
            hidden = hiddens[before : before + b]
            torch.add(feedback[rows], hidden, out=queries[t, :b])
            context, attention[t, :b] = attend(queries[t, :b], keys[:b], values[:b], None if mask is None else mask[:b])
            mixed[rows, :width], mixed[rows, width:] = context, hidden
            step = torch.add(feedback_gates[rows], mixed[rows] @ weight.T, out=gates[rows])
            step[:, : 2 * units].sigmoid_()
            step[:, 2 * units : 3 * units].tanh_()
            step[:, 3 * units :].sigmoid_()
            inner, forget, candidate, outer = step.chunk(4, dim=1)
            torch.mul(forget, cells[before : before + b], out=cells[after]).addcmul_(inner, candidate)
            torch.mul(torch.tanh(cells[after]), outer, out=hiddens[after])
            before, first = B + first, first + b
        ctx.save_for_backward(keys, values, weight, attention, queries, gates, mixed, cells)
        ctx.batch_sizes = batch_sizes
        return hiddens[B:]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (grad,) = grads
        keys, values, weight, attention, queries, gates, mixed, cells = ctx.saved_tensors
        batch_sizes = ctx.batch_sizes
        (total, units), (B, _, width) = grad.shape, values.shape
        grad_gates, grad_feedback = torch.empty_like(gates), torch.empty_like(grad)
        grad_scores = torch.zeros_like(attention)
        grad_contexts = keys.new_zeros(len(batch_sizes), B, width)
        grad_hidden, grad_cell = keys.new_zeros(B, units), keys.new_zeros(B, units)
        first = total
        for t in reversed(range(len(batch_sizes))):
            b = batch_sizes[t]
            first -= b
            rows = slice(first, first + b)
            before = 0 if t == 0 else B + first - batch_sizes[t - 1]
            inner, forget, candidate, outer = gates[rows].chunk(4, dim=1)
            squashed = torch.tanh(cells[B + first : B + first + b])
            into_hidden = grad_hidden[:b] + grad[rows]
            into_cell = grad_cell[:b] + into_hidden * outer * (1 - squashed * squashed)
            step = grad_gates[rows]
            step[:, :units] = into_cell * candidate * inner * (1 - inner)
            step[:, units : 2 * units] = into_cell * cells[before : before + b] * forget * (1 - forget)
            step[:, 2 * units : 3 * units] = into_cell * inner * (1 - candidate * candidate)
            step[:, 3 * units :] = into_hidden * squashed * outer * (1 - outer)
            into_mixed = (step.to(weight.dtype) @ weight).to(step.dtype)
            into_context = into_mixed[:, :width]
            grad_contexts[t, :b] = into_context
            into_weights = torch.bmm(values[:b], into_context.unsqueeze(2)).squeeze(2)
            share = attention[t, :b]
            into_scores = share * (into_weights - (share * into_weights).sum(1, keepdim=True))
            grad_scores[t, :b] = into_scores
            into_query = torch.bmm(into_scores.unsqueeze(1), keys[:b]).squeeze(1)
            grad_feedback[rows] = into_query
            # Sentences that end at this step get nothing from later ones: their rows are still zero.
            grad_hidden[:b] = into_mixed[:, width:] + into_query
            grad_cell[:b] = into_cell * forget
        over_steps = (1, 2, 0)
        grad_keys = torch.bmm(grad_scores.permute(over_steps), queries.transpose(0, 1))
        grad_values = torch.bmm(attention.permute(over_steps), grad_contexts.transpose(0, 1))
        grad_weight = grad_gates.to(weight.dtype).T @ mixed
        return grad_feedback, grad_gates, None, grad_keys, grad_values, None, grad_hidden, grad_weight


def attentive_lstm(
    feedback: Tensor,
    feedback_gates: Tensor,
    batch_sizes: list[int],
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    state: Tensor,
    weight: Tensor,
) -> Tensor:
    """What `attentive_lstm_plain` computes, with its gradients written out.

    Under autocast the products with the weight are in its precision; states and attention are in float32 always.
    """
    given = (feedback, feedback_gates, keys, values, state)
    if torch.is_autocast_enabled("cpu"):
        weight = weight.to(torch.get_autocast_dtype("cpu"))
        given = tuple(each.float() for each in given)
    feedback, feedback_gates, keys, values, state = given
    with torch.autocast("cpu", enabled=False):
        result: Tensor = _AttentiveLSTM.apply(feedback, feedback_gates, batch_sizes, keys, values, mask, state, weight)
    return result
