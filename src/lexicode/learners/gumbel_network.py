"""The paper's network, its step written out by hand.

    h     = tanh(W x + b)                                    of size M * K / 2
    alpha = softplus(W' h + b')                              M * K numbers above zero
    d     = softmax((log alpha + G) / temperature)           over each codebook's K, G a Gumbel noise
    y     = d A                                              A holds the codewords

A Gumbel noise is G = -log E with E exponential, so at temperature 1 the softmax is alpha / E over its sum: neither
logarithm nor exponential is needed. Codewords are numbered j = k * M + m, as in a search: then the sum
over a codebook's K runs across rows of M contiguous numbers. All five parameters lie in one buffer, so that the
optimizer makes one pass over it and machines sum their gradients by one all-reduce.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import embedding_bag, softplus
from torch.optim.adam import adam

from lexicode.learners.gumbel_losses import RowLoss, slope
from lexicode.packing import Codes, code_dtype
from lexicode.scheme import CodeScheme

# softplus(-60) is 1e-26: far below any noise, and still an ordinary float32.
LOWEST_LOGIT = -60.0
# The paper's Adam: its own defaults (Kingma and Ba 2014).
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def _shapes(scheme: CodeScheme, dim: int) -> tuple[tuple[int, ...], ...]:
    MK = scheme.basis_vectors
    return (MK // 2, dim), (MK // 2,), (MK, MK // 2), (MK,), (MK, dim)


class Parameters:
    """theta and b of the hidden layer, theta' and b' of alpha, and the codewords A: views of one flat buffer."""

    def __init__(self, scheme: CodeScheme, dim: int, flat: torch.Tensor) -> None:
        self._all_shapes = _shapes(scheme, dim)
        self.adopt(flat)

    def adopt(self, flat: torch.Tensor) -> None:
        """Be views of this buffer from now on."""
        self.flat = flat
        parts, start = [], 0
        for shape in self._all_shapes:
            size = int(np.prod(shape))
            parts.append(flat[start : start + size].view(shape))
            start += size
        self.hidden_weight, self.hidden_bias, self.alpha_weight, self.alpha_bias, self.codewords = parts

    def initialize(self, seed: int) -> None:
        """Glorot's uniform weights, no bias, and codewords near zero.

        The paper does not say. On GloVe, 100 columns at 32x16, this gave a loss of 8.59 after 20,000 iterations, and
        everything uniform within 0.01, as in the authors' code, 9.16; larger codewords ended higher.
        """
        generator = torch.Generator().manual_seed(seed)
        for weight in (self.hidden_weight, self.alpha_weight):
            bound = (6 / sum(weight.shape)) ** 0.5
            weight.copy_(torch.empty(weight.shape).uniform_(-bound, bound, generator=generator))
        codewords = torch.empty(self.codewords.shape).uniform_(-0.01, 0.01, generator=generator)
        self.codewords.copy_(codewords)


class GumbelNetwork:
    """Parameters, their gradient, Adam's moments, and the buffers of a batch."""

    def __init__(
        self, scheme: CodeScheme, dim: int, *, batch: int, temperature: float = 1.0, device: torch.device | None = None
    ) -> None:
        numbers = sum(int(np.prod(shape)) for shape in _shapes(scheme, dim))
        device = device or torch.device("cpu")
        M, K, MK = scheme.codebooks, scheme.codewords, scheme.basis_vectors
        self.scheme = scheme
        self.device = device
        self.temperature = temperature
        self.parameters = Parameters(scheme, dim, torch.zeros(numbers, device=device))
        self.gradient = Parameters(scheme, dim, torch.zeros(numbers, device=device))
        self.first_moment = torch.zeros_like(self.parameters.flat)
        self.second_moment = torch.zeros_like(self.parameters.flat)
        self._steps_taken = torch.zeros((), device=device)

        def buffer(columns: int) -> torch.Tensor:
            return torch.empty(batch, columns, device=device)

        self._hidden, self._hidden_slope = buffer(MK // 2), buffer(MK // 2)
        self._ratio, self._choice, self._slope = buffer(MK), buffer(MK), buffer(MK)
        self._reconstruction = buffer(dim)
        self._sums = torch.empty(batch, 1, M, device=device)
        self._by_codebook = (batch, K, M)

    @torch.no_grad()
    def gradient_of(
        self, batch: torch.Tensor, inverse_noise: torch.Tensor, loss: str | RowLoss, weights: torch.Tensor
    ) -> None:
        """Fill `gradient` with that of sum(weights * loss) over the batch.

        batch (B, dim), inverse_noise (B, K*M) of 1 / E with E exponential, weights (B,) or (1,)
        """
        self._forward(batch, inverse_noise)
        self._backward(batch, slope(loss, self._reconstruction, batch, weights))

    def _forward(self, batch: torch.Tensor, inverse_noise: torch.Tensor) -> None:
        own, logits, choice = self.parameters, self._slope, self._choice
        torch.addmm(own.hidden_bias, batch, own.hidden_weight.t(), out=self._hidden).tanh_()
        torch.addmm(own.alpha_bias, self._hidden, own.alpha_weight.t(), out=logits).clamp_(min=LOWEST_LOGIT)
        self._alpha = softplus(logits)
        # The slope of log alpha in its logit, which the way back needs: sigmoid(logit) / alpha.
        torch.sigmoid(logits, out=self._ratio).div_(self._alpha)
        torch.mul(self._alpha, inverse_noise, out=choice)
        choices = choice.view(self._by_codebook)
        if self.temperature == 1:
            torch.sum(choices, dim=1, keepdim=True, out=self._sums)
            choices.div_(self._sums)
        else:
            choices.log_().div_(self.temperature)
            choices.copy_(torch.softmax(choices, dim=1))
        torch.mm(choice, own.codewords, out=self._reconstruction)

    def _backward(self, batch: torch.Tensor, upstream: torch.Tensor) -> None:
        """upstream (B, dim): the slope of the loss in the reconstruction"""
        own, gradient, logit_slope = self.parameters, self.gradient, self._slope
        torch.mm(self._choice.t(), upstream, out=gradient.codewords)
        torch.mm(upstream, own.codewords.t(), out=logit_slope)
        # Through the softmax: d * (slope - sum(d * slope)), per codebook; alpha's buffer is free by now.
        products = torch.mul(self._choice, logit_slope, out=self._alpha)
        torch.sum(products.view(self._by_codebook), dim=1, keepdim=True, out=self._sums)
        logit_slope.view(self._by_codebook).sub_(self._sums)
        logit_slope.mul_(self._choice).mul_(self._ratio)
        if self.temperature != 1:
            logit_slope.div_(self.temperature)
        torch.mm(logit_slope.t(), self._hidden, out=gradient.alpha_weight)
        torch.sum(logit_slope, dim=0, out=gradient.alpha_bias)
        torch.mm(logit_slope, own.alpha_weight, out=self._hidden_slope)
        # tanh' = 1 - tanh^2
        self._hidden_slope.addcmul_(self._hidden_slope, self._hidden.square_(), value=-1)
        torch.mm(self._hidden_slope.t(), batch, out=gradient.hidden_weight)
        torch.sum(self._hidden_slope, dim=0, out=gradient.hidden_bias)

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """One step of Adam along `gradient`, over all parameters in one pass."""
        adam(
            [self.parameters.flat], [self.gradient.flat], [self.first_moment], [self.second_moment], [],
            [self._steps_taken], fused=True, amsgrad=False, beta1=BETA1, beta2=BETA2, lr=learning_rate,
            weight_decay=0.0, eps=EPSILON, maximize=False,
        )  # fmt: skip

    @property
    def steps_taken(self) -> int:
        return int(self._steps_taken)

    @steps_taken.setter
    def steps_taken(self, steps: int) -> None:
        self._steps_taken.fill_(steps)

    @torch.no_grad()
    def logits(self, rows: torch.Tensor) -> torch.Tensor:
        """rows (n, dim) -> W' h + b', (n, K*M), each codeword's before softplus and noise"""
        own = self.parameters
        hidden = torch.tanh(torch.addmm(own.hidden_bias, rows, own.hidden_weight.t()))
        return torch.addmm(own.alpha_bias, hidden, own.alpha_weight.t()).clamp_(min=LOWEST_LOGIT)

    @torch.no_grad()
    def soft_choice(self, logits: torch.Tensor, inverse_noise: torch.Tensor) -> torch.Tensor:
        """logits and inverse_noise (n, K*M) -> d, (n, K, M): what the network makes of them while it trains"""
        scores = (softplus(logits) * inverse_noise).log_().div_(self.temperature)
        return torch.softmax(scores.view(len(logits), self.scheme.codewords, self.scheme.codebooks), dim=1)

    @torch.no_grad()
    def hard_choice(self, logits: torch.Tensor) -> torch.Tensor:
        """logits (n, K*M) -> the code, (n, M) int64: softplus and log keep the order, so the largest logit's number"""
        return logits.view(len(logits), self.scheme.codewords, self.scheme.codebooks).argmax(dim=1)

    @torch.no_grad()
    def compose(self, codes: torch.Tensor) -> torch.Tensor:
        """codes (n, M) int64 -> the sum of their codewords, (n, dim)"""
        M = self.scheme.codebooks
        numbers = codes * M + torch.arange(M, device=self.device)
        return embedding_bag(numbers, self.parameters.codewords, mode="sum")

    def encode(self, rows: torch.Tensor) -> Codes:
        """rows (n, dim) -> codes (n, M), the argmax without noise"""
        codes = self.hard_choice(self.logits(rows)).cpu().numpy()
        return codes.astype(code_dtype(self.scheme.bits))
