"""The quick LSTM layer is torch's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from experiments.sentiment.lstm import Batch, LastStateLSTM
from experiments.sentiment.lstm_steps import squash

DIM, UNITS, WORDS = 5, 4, 11


def texts_of(lengths: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.integers(0, WORDS, size=length).astype(np.int32) for length in lengths]


def in_torchs_order(weight: Tensor) -> Tensor:
    """Gates input, forget, output, new -> input, forget, new, output"""
    into, keep, out, new = weight.chunk(4)
    return torch.cat([into, keep, new, out])


def torchs_lstm(layer: LastStateLSTM) -> nn.LSTM:
    lstm = nn.LSTM(DIM, UNITS)
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(in_torchs_order(layer.input_weight))
        lstm.weight_hh_l0.copy_(in_torchs_order(layer.state_weight))
        lstm.bias_ih_l0.copy_(in_torchs_order(layer.bias))
        lstm.bias_hh_l0.zero_()
    return lstm


@pytest.mark.parametrize("lengths", [[7, 7, 7], [9, 6, 6, 2, 1], [1], [3, 1], [40, 33, 17, 16, 1]])
def test_states_and_gradients_are_those_of_torch(lengths: list[int]) -> None:
    torch.manual_seed(3)
    texts = texts_of(lengths)
    batch = Batch.of(texts, np.zeros(len(texts), dtype=np.int64))
    layer = LastStateLSTM(DIM, UNITS)
    with torch.no_grad():
        layer.bias.normal_()
    lstm = torchs_lstm(layer)
    table = torch.randn(WORDS, DIM, requires_grad=True)
    weights = torch.randn(len(texts), UNITS)

    quick = layer(table[batch.words], batch)
    (quick * weights).sum().backward()
    of_table, table.grad = table.grad, None
    packed = nn.utils.rnn.pack_sequence([table[torch.from_numpy(text.astype(np.int64))] for text in texts])
    slow = lstm(packed)[1][0][0]
    (slow * weights).sum().backward()

    pairs = [
        (quick, slow),
        (of_table, table.grad),
        (in_torchs_order(layer.input_weight.grad), lstm.weight_ih_l0.grad),
        (in_torchs_order(layer.state_weight.grad), lstm.weight_hh_l0.grad),
        (in_torchs_order(layer.bias.grad), lstm.bias_ih_l0.grad),
    ]
    for mine, theirs in pairs:
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


def test_sigmoids_and_tangents_are_those_of_torch() -> None:
    values = torch.cat([torch.linspace(-100, 100, 100_001), torch.tensor([-torch.inf, torch.inf, -1e30, 1e30])])
    sigmoids, tangents = (torch.from_numpy(array) for array in squash(values.numpy()))
    torch.testing.assert_close(sigmoids, torch.sigmoid(values), rtol=0, atol=2e-7)
    torch.testing.assert_close(tangents, torch.tanh(values), rtol=0, atol=4e-7)


def test_a_batch_knows_its_texts() -> None:
    batch = Batch.of([np.array([7, 3, 7], dtype=np.int32), np.array([9], dtype=np.int32)], np.array([1, 0]))
    assert batch.words.tolist() == [3, 7, 9]
    assert batch.steps[:, 0].tolist() == [1, 0, 1]
    assert batch.steps[0, 1] == 2
    assert batch.running == [2, 1, 1]
    assert batch.labels.tolist() == [1, 0]


def test_forget_gates_are_open_at_first() -> None:
    layer = LastStateLSTM(DIM, UNITS)
    assert layer.bias[UNITS : 2 * UNITS].tolist() == [1.0] * UNITS
    assert float(layer.bias.detach().sum()) == UNITS
