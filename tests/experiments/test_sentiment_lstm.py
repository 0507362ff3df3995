"""The quick LSTM layer is torch's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from experiments.sentiment.lstm import Batch, LastStateLSTM

DIM, UNITS, WORDS = 5, 4, 11


def texts_of(lengths: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.integers(0, WORDS, size=length).astype(np.int32) for length in lengths]


def in_torchs_order(weight: Tensor) -> Tensor:
    """Gates input, forget, output, new -> input, forget, new, output"""
    into, keep, out, new = weight.chunk(4)
    return torch.cat([into, keep, new, out])


def torchs_lstm(layer: LastStateLSTM) -> nn.LSTM:
    lstm = nn.LSTM(DIM, UNITS, dtype=torch.float64)
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(in_torchs_order(layer.input_weight))
        lstm.weight_hh_l0.copy_(in_torchs_order(layer.state_weight))
        lstm.bias_ih_l0.copy_(in_torchs_order(layer.bias))
        lstm.bias_hh_l0.zero_()
    return lstm


@pytest.mark.parametrize("lengths", [[7, 7, 7], [9, 6, 6, 2, 1], [1], [3, 1]])
def test_states_and_gradients_are_those_of_torch(lengths: list[int]) -> None:
    torch.manual_seed(3)
    texts = texts_of(lengths)
    batch = Batch.of(texts, np.zeros(len(texts), dtype=np.int64))
    layer = LastStateLSTM(DIM, UNITS).double()
    with torch.no_grad():
        layer.bias.normal_()
    lstm = torchs_lstm(layer)
    table = torch.randn(WORDS, DIM, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(len(texts), UNITS, dtype=torch.float64)

    quick = layer(table[batch.words], batch)
    (quick * weights).sum().backward()
    of_table, table.grad = table.grad, None
    packed = nn.utils.rnn.pack_sequence([table[torch.from_numpy(text.astype(np.int64))] for text in texts])
    slow = lstm(packed)[1][0][0]
    (slow * weights).sum().backward()

    torch.testing.assert_close(quick, slow)
    torch.testing.assert_close(of_table, table.grad)
    torch.testing.assert_close(in_torchs_order(layer.input_weight.grad), lstm.weight_ih_l0.grad)
    torch.testing.assert_close(in_torchs_order(layer.state_weight.grad), lstm.weight_hh_l0.grad)
    torch.testing.assert_close(in_torchs_order(layer.bias.grad), lstm.bias_ih_l0.grad)


def test_the_gradient_is_the_slope() -> None:
    texts = texts_of([4, 3, 1])
    batch = Batch.of(texts, np.zeros(3, dtype=np.int64))
    layer = LastStateLSTM(DIM, UNITS).double()
    embedded = torch.randn(len(batch.words), DIM, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda rows: layer(rows, batch), (embedded,))


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
