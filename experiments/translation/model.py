"""The paper's translation model: a bi-directional encoder, and a decoder of two LSTM layers with key-value attention.

Target sentences lie packed, step after step without padding: `batch_sizes[t]` sentences have a step t, the longest
come first. Only the first decoder layer needs a loop over the steps, because its attention looks at the state before;
the second layer and the output run over all steps at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from experiments.translation.attention import attend, attentive_lstm, lstm_cell

READOUT = 600
DROPOUT = 0.2
RESIDUAL_SCALE = 0.5**0.5
EMBEDDING_RANGE = 0.1
# Embeddings start small, so the weights on them start larger than torch's: or attention stays blind for many epochs.
INPUT_GAIN = 3.0
FORGET_BIAS = 1.0


@dataclass(frozen=True)
class Memory:
    """What the decoder reads of B source sentences of up to S pieces.

    keys (B, S, units), values (B, S, 2 * units), mask (B, S): 0 for a piece, -inf for padding, or None where no
    sentence is padded; state (B, units): the decoder's first state
    """

    keys: Tensor
    values: Tensor
    mask: Tensor | None
    state: Tensor

    def take(self, rows: Tensor) -> Memory:
        """The memory of some of the sentences, each perhaps several times."""
        mask = None if self.mask is None else self.mask[rows]
        return Memory(self.keys[rows], self.values[rows], mask, self.state[rows])


@dataclass(frozen=True)
class DecoderState:
    """Hidden and cell state of both decoder layers, each (B, units)."""

    hidden: tuple[Tensor, Tensor]
    cell: tuple[Tensor, Tensor]

    def take(self, rows: Tensor) -> DecoderState:
        return DecoderState(
            (self.hidden[0][rows], self.hidden[1][rows]),
            (self.cell[0][rows], self.cell[1][rows]),
        )


class Encoder(nn.Module):
    """embedded (B, S, units) -> (B, S, 2 * units): two bi-directional LSTM layers"""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.first = nn.LSTM(units, units, batch_first=True, bidirectional=True)
        self.second = nn.LSTM(2 * units, units, batch_first=True, bidirectional=True)

    def forward(self, embedded: Tensor, lengths: Tensor) -> Tensor:
        if int(lengths.min()) == embedded.shape[1]:
            states = self.first(embedded)[0]
            return self.second(dropout(states, DROPOUT, self.training))[0]
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        states = self.first(packed)[0]
        thinned = dropout(states.data, DROPOUT, self.training)
        states = self.second(states._replace(data=thinned))[0]
        return pad_packed_sequence(states, batch_first=True)[0]


class Decoder(nn.Module):
    """Two LSTM layers; the first attends to the source, with the feedback embedding plus its state as the query."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.start = nn.Linear(units, units)
        self.keys = nn.Linear(2 * units, units)
        self.feedback_gates = nn.Linear(units, 4 * units)
        # Of the context, 2 * units wide, and of the state before.
        self.mixed_gates = nn.Linear(3 * units, 4 * units, bias=False)
        self.second = nn.LSTM(units, units, batch_first=True)

    def read(self, encoded: Tensor, lengths: Tensor) -> Memory:
        """encoded (B, S, 2 * units), lengths (B,) -> what the decoder needs of it"""
        longest = encoded.shape[1]
        mask = None
        if int(lengths.min()) < longest:
            padding = torch.arange(longest) >= lengths.unsqueeze(1)
            mask = torch.zeros(padding.shape).masked_fill_(padding, float("-inf"))
        # The backward layer has read the whole sentence when it comes to the first piece.
        summary = torch.tanh(self.start(encoded[:, 0, self.units :]))
        return Memory(self.keys(encoded), encoded, mask, summary)

    def forward(self, feedback: Tensor, batch_sizes: Tensor, memory: Memory) -> Tensor:
        """feedback (N, units), packed embeddings of the pieces before -> both states' scaled sum, (N, units) packed"""
        first = attentive_lstm(
            feedback, self.feedback_gates(feedback), batch_sizes.tolist(),
            memory.keys, memory.values, memory.mask, memory.state, self.mixed_gates.weight,
        )  # fmt: skip
        thinned = dropout(first, DROPOUT, self.training)
        start = (memory.state.unsqueeze(0), torch.zeros_like(memory.state).unsqueeze(0))
        second = self.second(PackedSequence(thinned, batch_sizes), start)[0].data
        return RESIDUAL_SCALE * (first + second)

    def begin(self, memory: Memory) -> DecoderState:
        zeros = torch.zeros_like(memory.state)
        return DecoderState((memory.state, memory.state), (zeros, zeros))

    def step(self, feedback: Tensor, state: DecoderState, memory: Memory) -> tuple[Tensor, DecoderState]:
        """One step without dropout: feedback (B, units) -> (both states' scaled sum (B, units), the state after)"""
        context = attend(feedback + state.hidden[0], memory.keys, memory.values, memory.mask)[0]
        gates = self.feedback_gates(feedback) + self.mixed_gates(torch.cat([context, state.hidden[0]], dim=1))
        hidden, cell = lstm_cell(gates, state.cell[0])
        before = (state.hidden[1].unsqueeze(0), state.cell[1].unsqueeze(0))
        hidden_2, cell_2 = (part.squeeze(0) for part in self.second(hidden.unsqueeze(1), before)[1])
        return RESIDUAL_SCALE * (hidden + hidden_2), DecoderState((hidden, hidden_2), (cell, cell_2))


class Translator(nn.Module):
    """Both embedding layers, encoder, decoder and the dense softmax.

    The embedding layers are `nn.Embedding` or whatever takes its place; `head` maps the 600 readout values to a score
    for each target piece.
    """

    def __init__(self, source_embedding: nn.Module, target_embedding: nn.Module, rows: int, units: int) -> None:
        super().__init__()
        self.source_embedding = source_embedding
        self.target_embedding = target_embedding
        self.encoder = Encoder(units)
        self.decoder = Decoder(units)
        self.readout = nn.Linear(units, READOUT)
        self.head: nn.Module = nn.Linear(READOUT, rows)
        self._widen()

    @torch.no_grad()
    def _widen(self) -> None:
        """torch's starting values, but for the gates' input weights and forget biases."""
        for lstm in (self.encoder.first, self.encoder.second, self.decoder.second):
            for name, value in lstm.named_parameters():
                if name.startswith("weight_ih"):
                    value.mul_(INPUT_GAIN)
                elif name.startswith("bias_ih"):
                    value[lstm.hidden_size : 2 * lstm.hidden_size] += FORGET_BIAS
        units = self.decoder.units
        self.decoder.feedback_gates.weight.mul_(INPUT_GAIN)
        self.decoder.feedback_gates.bias[units : 2 * units] += FORGET_BIAS
        self.decoder.mixed_gates.weight.mul_(INPUT_GAIN)

    def read(self, source: Tensor, lengths: Tensor) -> Memory:
        """source (B, S) int64, padded; lengths (B,) int64"""
        embedded = dropout(self.source_embedding(source), DROPOUT, self.training)
        encoded = self.encoder(embedded, lengths)
        return self.decoder.read(dropout(encoded, DROPOUT, self.training), lengths)

    def forward(self, source: Tensor, lengths: Tensor, feedback: Tensor, batch_sizes: Tensor) -> Tensor:
        """feedback (N,) int64, the pieces before, packed -> scores (N, rows) of the pieces that follow"""
        memory = self.read(source, lengths)
        embedded = dropout(self.target_embedding(feedback), DROPOUT, self.training)
        return self.score(self.decoder(embedded, batch_sizes, memory))

    def score(self, states: Tensor) -> Tensor:
        """(n, units) -> (n, rows)"""
        thinned = dropout(states, DROPOUT, self.training)
        return self.head(dropout(self.readout(thinned), DROPOUT, self.training))


def dense_embedding(rows: int, units: int) -> nn.Embedding:
    """A table that trains, its values within a tenth of zero."""
    table = nn.Embedding(rows, units)
    nn.init.uniform_(table.weight, -EMBEDDING_RANGE, EMBEDDING_RANGE)
    return table
