from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from lexicode import SettingError, Vectors
from lexicode.learners.gumbel_batches import Batch, Batches, fill_inverse_exponential
from lexicode.learners.gumbel_losses import check_loss
from lexicode.learners.gumbel_network import GumbelNetwork
from lexicode.learners.gumbel_supply import OwnRows
from lexicode.scheme import CodeScheme


def absolute(reconstruction: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
    return (reconstruction - original).abs().sum(dim=1)


def eager_gradient(
    network: GumbelNetwork, x: torch.Tensor, inverse_noise: torch.Tensor, loss: object, weights: torch.Tensor
) -> torch.Tensor:
    """What autograd makes of the plain network."""
    own, scheme = network.parameters, network.scheme
    parts = (own.hidden_weight, own.hidden_bias, own.alpha_weight, own.alpha_bias, own.codewords)
    w1, b1, w2, b2, codewords = leaves = [part.clone().requires_grad_() for part in parts]
    alpha = torch.nn.functional.softplus(torch.tanh(x @ w1.T + b1) @ w2.T + b2)
    scores = (alpha.log() + inverse_noise.log()) / network.temperature
    d = torch.softmax(scores.view(len(x), scheme.codewords, scheme.codebooks), dim=1).reshape(len(x), -1)
    y = d @ codewords
    rows = {
        "squared": lambda: (y - x).square().sum(1),
        "cosine": lambda: 1 - torch.nn.functional.cosine_similarity(y, x),
    }.get(str(loss), lambda: absolute(y, x))()
    (rows * weights).sum().backward()
    return torch.cat([leaf.grad.flatten() for leaf in leaves if leaf.grad is not None])


@pytest.mark.parametrize("loss", ["squared", "cosine", absolute])
@pytest.mark.parametrize("scheme", ["1x2", "5x8", "8x4"])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_the_gradient_written_by_hand_is_autograds(loss: object, scheme: str, temperature: float) -> None:
    torch.manual_seed(0)
    network = GumbelNetwork(CodeScheme.parse(scheme), 7, batch=9, temperature=temperature)
    network.parameters.flat.normal_()
    x, weights = torch.randn(9, 7), torch.rand(9)
    inverse_noise = 1 / torch.empty(9, network.scheme.basis_vectors).exponential_()
    expected = eager_gradient(network, x, inverse_noise, loss, weights)
    for _ in range(2):  # twice, for the buffers are used again
        network.gradient_of(x, inverse_noise, loss, weights)  # type: ignore[arg-type]
        torch.testing.assert_close(network.gradient.flat, expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max()))


def test_hopeless_codewords_make_no_nan() -> None:
    network = GumbelNetwork(CodeScheme.parse("2x4"), 3, batch=2)
    network.parameters.initialize(0)
    network.parameters.alpha_bias.fill_(-1e4)
    inverse_noise = torch.full((2, 8), 1e-2)
    network.gradient_of(torch.ones(2, 3), inverse_noise, "squared", torch.ones(1))
    assert bool(torch.isfinite(network.gradient.flat).all())


def test_noise_is_exponential() -> None:
    out = np.empty((64, 4096), dtype=np.float32)
    fill_inverse_exponential(out, np.random.SFC64(1))
    E = np.sort(1 / out.astype(np.float64).ravel())
    assert np.isfinite(out).all()
    assert out.min() > 0
    # Kolmogorov-Smirnov: the distance stays below 1.95 / sqrt(n) but once in a thousand times.
    distance = np.abs(1 - np.exp(-E) - (np.arange(E.size) + 0.5) / E.size).max()
    assert distance < 1.95 / np.sqrt(E.size)


def test_every_batch_depends_on_its_iteration_alone() -> None:
    vectors = Vectors(np.arange(400, dtype=np.float32).reshape(100, 4))
    own_rows = OwnRows(vectors, np.arange(100, dtype=np.float32))

    def fed(pool: ThreadPoolExecutor, first: int) -> list[Batch]:
        device = torch.device("cpu")
        batches = Batches(own_rows, size=5, scale=0.5, width=2048, seed=[3], pool=pool, device=device)
        copies = []
        for batch in batches.between(first, 150):
            noise, weights = batch.inverse_noise.clone(), batch.weights.clone()
            copies.append(Batch(rows=batch.rows.clone(), inverse_noise=noise, weights=weights))
        return copies

    with ThreadPoolExecutor(2) as pool:
        whole, later = fed(pool, 0), fed(pool, 71)
    assert len(whole) == 150
    for batch, again in zip(whole[71:], later, strict=True):
        assert torch.equal(batch.inverse_noise, again.inverse_noise)
        assert torch.equal(batch.rows, again.rows)
        assert torch.equal(batch.weights, again.weights)
        # A row begins with four times its number, which is its weight.
        assert torch.equal(batch.weights, batch.rows[:, 0] / 4 * 0.5)
    assert len({batch.inverse_noise.numpy().tobytes() for batch in whole}) == 150
    numbers = torch.cat([batch.rows[:, 0] for batch in whole]).int() // 4
    assert (np.bincount(numbers.numpy(), minlength=100) > 0).mean() > 0.95


def test_rows_are_asked_for_where_their_block_begins() -> None:
    """So a run that goes on in the middle of a block has the rows that an unbroken one has."""
    vectors, asked = Vectors(np.ones((10, 4), dtype=np.float32)), []

    class Watched:
        def rows(self, iteration: int) -> tuple[Vectors, np.ndarray]:
            asked.append(iteration)
            return vectors, np.ones(10, dtype=np.float32)

    with ThreadPoolExecutor(1) as pool:
        batches = Batches(Watched(), size=5, scale=1, width=8, seed=[3], pool=pool, device=torch.device("cpu"))
        assert len(list(batches.between(70, 130))) == 60
    assert asked == [64, 128]


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        ("manhattan", r"loss='manhattan' is not one of squared, cosine, nor a function of two tensors"),
        (3, r"loss=3 is neither a name \(squared, cosine\) nor a function of two tensors"),
        (lambda y, x: (y - x).sum(), r"gave \(\) for 3 rows; it must give a tensor of one number a row"),
        (lambda y, x: [1.0, 2.0, 3.0], r"gave list for 3 rows"),
        (lambda y, x: (y - x).detach().sum(dim=1), r"has no slope in the reconstruction; build it of torch operations"),
    ],
)
def test_a_loss_that_cannot_be_learned_is_refused(loss: str | Callable[..., object], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        check_loss(loss)
