"""Sentence pairs of nearly equal lengths together, targets packed: next to nothing is computed on padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence, pad_sequence

from experiments.translation.segmenting import PAD, START

Sentence = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """source (B, S) padded, lengths (B,); feedback and target (N,): each step's piece before and the piece to find,
    packed; batch_sizes (T,): how many sentences have each step. All int64."""

    source: Tensor
    lengths: Tensor
    feedback: Tensor
    target: Tensor
    batch_sizes: Tensor


def as_arrays(sentences: Sequence[Sequence[int]]) -> list[Sentence]:
    return [np.asarray(sentence, dtype=np.int64) for sentence in sentences]


def padded(sentences: Sequence[Sentence]) -> tuple[Tensor, Tensor]:
    """-> (B, S) int64, padded; lengths (B,)"""
    tensors = [torch.from_numpy(sentence) for sentence in sentences]
    lengths = torch.tensor([len(tensor) for tensor in tensors])
    return pad_sequence(tensors, batch_first=True, padding_value=PAD), lengths


def make_batch(sources: Sequence[Sentence], targets: Sequence[Sentence]) -> Batch:
    """Pairs in any order; the batch has the longest target first."""
    order = sorted(range(len(targets)), key=lambda row: -len(targets[row]))
    source, lengths = padded([sources[row] for row in order])
    target = pack_sequence([torch.from_numpy(targets[row]) for row in order])
    shifted = [torch.from_numpy(np.concatenate([[START], targets[row][:-1]])) for row in order]
    return Batch(source, lengths, pack_sequence(shifted).data, target.data, target.batch_sizes)


def shuffled_rows(
    sources: Sequence[Sentence], targets: Sequence[Sentence], size: int, rng: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """One epoch: the rows of each batch, in random order. Equal lengths are drawn together anew each time."""
    lengths = np.array([(len(source), len(target)) for source, target in zip(sources, targets, strict=True)])
    # The last key is the first to sort by.
    order = np.lexsort((rng.random(len(lengths)), lengths[:, 1], lengths[:, 0]))
    # Batches begin elsewhere in each epoch.
    cuts = np.arange(int(rng.integers(1, size + 1)), len(order), size)
    batches = np.split(order, cuts)
    return [batches[i] for i in rng.permutation(len(batches))]
