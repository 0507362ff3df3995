"""Beam search over many sentences at once; sentences that are done leave the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from experiments.translation.batches import Sentence, padded
from experiments.translation.model import DecoderState, Memory, Translator
from experiments.translation.segmenting import END, PAD, START

SENTENCES_A_BATCH = 64
# A translation that is this much longer than its source has gone astray.
LENGTH_FACTOR, LENGTH_MARGIN = 2, 10


@dataclass
class Beams:
    """The open sentences, `size` hypotheses each, one below the other: pieces (n * size, t) int64 with START first;
    scores (n, size), summed log-probabilities; open (n,), which sentence of the batch each is."""

    open: Tensor
    pieces: Tensor
    scores: Tensor
    state: DecoderState
    memory: Memory

    @classmethod
    def begin(cls, model: Translator, memory: Memory, size: int) -> Beams:
        n = len(memory.state)
        memory = memory.take(torch.arange(n).repeat_interleave(size))
        # All hypotheses are the same at first, so only one may be continued.
        scores = torch.full((n, size), float("-inf"))
        scores[:, 0] = 0
        pieces = torch.full((n * size, 1), START)
        return cls(torch.arange(n), pieces, scores, model.decoder.begin(memory), memory)

    def keep(self, sentences: Tensor) -> None:
        """Go on with these of the open sentences alone."""
        size = self.scores.shape[1]
        rows = (sentences.unsqueeze(1) * size + torch.arange(size)).flatten()
        self.open, self.pieces, self.scores = self.open[sentences], self.pieces[rows], self.scores[sentences]
        self.state, self.memory = self.state.take(rows), self.memory.take(rows)


@torch.no_grad()
def beam_search(model: Translator, source: Tensor, lengths: Tensor, size: int) -> list[list[int]]:
    """source (n, S) int64, padded -> the rows of each translation, without START and END

    The best of up to `size` finished hypotheses by mean log-probability a piece; size 1 is greedy.
    """
    beams = Beams.begin(model, model.read(source, lengths), size)
    found: list[list[tuple[float, list[int]]]] = [[] for _ in range(len(source))]
    limits = (LENGTH_FACTOR * lengths + LENGTH_MARGIN).tolist()
    for length in range(1, max(limits) + 1):
        states, beams.state = model.decoder.step(model.target_embedding(beams.pieces[:, -1]), beams.state, beams.memory)
        fresh = torch.log_softmax(model.score(states), dim=1)
        fresh[:, [PAD, START]] = float("-inf")
        vocabulary = fresh.shape[1]
        totals = (beams.scores.view(-1, 1) + fresh).view(len(beams.open), -1)
        # Of twice as many candidates at most half can end.
        best, places = totals.topk(2 * size)
        parents = places // vocabulary + torch.arange(len(beams.open)).unsqueeze(1) * size
        pieces = places % vocabulary
        ends = pieces == END
        for sentence, rank in ends[:, :size].nonzero().tolist():
            if best[sentence, rank] > float("-inf"):
                ended = beams.pieces[parents[sentence, rank], 1:].tolist()
                found[int(beams.open[sentence])].append((float(best[sentence, rank]) / length, ended))
        beams.scores, order = best.masked_fill(ends, float("-inf")).topk(size)
        rows = parents.gather(1, order).flatten()
        beams.pieces = torch.cat([beams.pieces[rows], pieces.gather(1, order).view(-1, 1)], dim=1)
        beams.state = beams.state.take(rows)
        going = []
        for i, sentence in enumerate(beams.open.tolist()):
            if len(found[sentence]) < size and length < limits[sentence]:
                going.append(i)
            elif not found[sentence]:
                # What never ended is taken as it stands.
                found[sentence].append((0.0, beams.pieces[i * size, 1:].tolist()))
        if not going:
            break
        if len(going) < len(beams.open):
            beams.keep(torch.tensor(going))
    return [max(hypotheses)[1] for hypotheses in found]


def translate(model: Translator, sources: Sequence[Sentence], size: int) -> list[list[int]]:
    """The rows of each sentence's translation, in the order of the sources; the model is left in evaluation mode."""
    model.eval()
    order = sorted(range(len(sources)), key=lambda row: len(sources[row]))
    translations: list[list[int]] = [[] for _ in sources]
    for first in range(0, len(order), SENTENCES_A_BATCH):
        rows = order[first : first + SENTENCES_A_BATCH]
        batch = padded([sources[row] for row in rows])
        for row, translation in zip(rows, beam_search(model, *batch, size), strict=True):
            translations[row] = translation
    return translations
