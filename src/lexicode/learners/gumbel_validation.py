"""How good the network's codes are, on rows that stay the same: the hard codes' loss decides, the rest is shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from lexicode.composition import Floats
from lexicode.learners.gumbel_batches import fill_inverse_exponential
from lexicode.learners.gumbel_losses import RowLoss, row_loss
from lexicode.learners.gumbel_network import GumbelNetwork
from lexicode.learners.team import Team

ROWS_AT_ONCE = 1024


@dataclass(frozen=True, kw_only=True)
class Validation:
    """One point of the curve; both losses are means a row of the loss that is learned, weights included.

    soft_loss            of the noisy, soft choices that the network trains on
    hard_loss            of the codes: the argmax without noise
    maximum_probability  the mean over codebooks of the soft choice's largest part: 1 when it is a code already
    dead_codewords       codewords that none of the validation rows uses
    """

    iteration: int
    soft_loss: float
    hard_loss: float
    maximum_probability: float
    dead_codewords: int
    iterations_per_second: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Validator:
    """rows (n, dim) float32 of this process and their weights (n,); noise that stays the same from time to time."""

    def __init__(self, rows: Floats, weights: Floats, loss: str | RowLoss, seed: list[int], team: Team) -> None:
        self._rows = torch.from_numpy(rows)
        self._weights = torch.from_numpy(weights)
        self._loss = row_loss(loss)
        self._seed = seed
        self._team = team

    @torch.no_grad()
    def measure(self, network: GumbelNetwork, iteration: int, speed: float) -> Validation:
        MK, M = network.scheme.basis_vectors, network.scheme.codebooks
        sums = np.zeros(4)
        used = np.zeros(MK)
        noise = np.empty((ROWS_AT_ONCE, MK), dtype=np.float32)
        for start in range(0, len(self._rows), ROWS_AT_ONCE):
            rows = self._rows[start : start + ROWS_AT_ONCE].to(network.device)
            weights = self._weights[start : start + ROWS_AT_ONCE].to(network.device)
            fill_inverse_exponential(noise, np.random.SFC64([*self._seed, start]))
            logits = network.logits(rows)
            soft = network.soft_choice(logits, torch.from_numpy(noise[: len(rows)]).to(network.device))
            codes = network.hard_choice(logits)
            soft_rows = soft.reshape(len(rows), MK) @ network.parameters.codewords
            sums[0] += float((self._loss(soft_rows, rows) * weights).sum())
            sums[1] += float((self._loss(network.compose(codes), rows) * weights).sum())
            sums[2] += float(soft.amax(dim=1).mean(dim=1).sum())
            sums[3] += len(rows)
            numbers = codes * M + torch.arange(M, device=network.device)
            used += torch.bincount(numbers.reshape(-1), minlength=MK).cpu().numpy()
        self._team.sum(sums, used)
        return Validation(
            iteration=iteration,
            soft_loss=float(sums[0] / sums[3]),
            hard_loss=float(sums[1] / sums[3]),
            maximum_probability=float(sums[2] / sums[3]),
            dead_codewords=int((used == 0).sum()),
            iterations_per_second=speed,
        )
