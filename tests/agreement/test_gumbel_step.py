"""One training step of the network against the paper's equations, written down in numpy as they stand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch

from lexicode.learners.gumbel_network import GumbelNetwork
from lexicode.scheme import CodeScheme

M, K, DIM, BATCH = 3, 4, 5, 6
HIDDEN = M * K // 2
SHAPES = ((HIDDEN, DIM), (HIDDEN,), (M, K, HIDDEN), (M, K), (M, K, DIM))

Floats = npt.NDArray[np.float64]


def paper_loss(
    theta: Floats, b: Floats, theta2: Floats, b2: Floats, A: Floats, x: Floats, G: Floats, tau: float
) -> float:
    """Equations 2 to 6: x (n, DIM), G (n, M, K) Gumbel noise -> the mean squared distance a row"""
    total = 0.0
    for row, noise in zip(x, G, strict=True):
        h = np.tanh(theta @ row + b)
        reconstruction = np.zeros(DIM)
        for i in range(M):
            alpha = np.log(1 + np.exp(theta2[i] @ h + b2[i]))
            scores = np.exp((np.log(alpha) + noise[i]) / tau)
            d = scores / scores.sum()
            reconstruction += A[i].T @ d
        total += np.square(reconstruction - row).sum()
    return total / len(x)


def slopes(parameters: list[Floats], x: Floats, G: Floats, tau: float) -> list[Floats]:
    """The derivative of the loss in every number of every parameter, by central differences."""
    found = []
    for parameter in parameters:
        slope = np.empty_like(parameter)
        for index in np.ndindex(parameter.shape):
            kept, step = parameter[index], 1e-5
            parameter[index] = kept + step
            above = paper_loss(*parameters, x, G, tau)
            parameter[index] = kept - step
            below = paper_loss(*parameters, x, G, tau)
            parameter[index] = kept
            slope[index] = (above - below) / (2 * step)
        found.append(slope)
    return found


def in_network_order(parameters: list[Floats]) -> Floats:
    """One flat array, codewords numbered k * M + m."""
    theta, b, theta2, b2, A = parameters
    return np.concatenate([part.ravel() for part in (theta, b, theta2.swapaxes(0, 1), b2.T, A.swapaxes(0, 1))])


@pytest.mark.parametrize("tau", [1.0, 0.5, 2.0])
def test_one_step_is_the_papers(tau: float) -> None:
    rng = np.random.default_rng(4)
    parameters = [rng.normal(size=shape) for shape in SHAPES]
    x, E = rng.normal(size=(BATCH, DIM)), rng.exponential(size=(BATCH, M, K))
    expected = in_network_order(slopes(parameters, x, -np.log(E), tau))

    network = GumbelNetwork(CodeScheme(codebooks=M, codewords=K), DIM, batch=BATCH, temperature=tau)
    before = in_network_order(parameters)
    network.parameters.flat.copy_(torch.from_numpy(before))
    inverse_noise = torch.from_numpy((1 / E).swapaxes(1, 2).reshape(BATCH, K * M)).float()
    rows = torch.from_numpy(x).float()
    network.gradient_of(rows, inverse_noise, "squared", torch.full((1,), 1 / BATCH))
    np.testing.assert_allclose(network.gradient.flat.numpy(), expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())

    # Adam's first step (Kingma and Ba, algorithm 1), where both moments are corrected to the gradient itself.
    network.step(learning_rate=0.01)
    moved = before - 0.01 * expected / (np.abs(expected) + 1e-8)
    clear = np.abs(expected) > 1e-3
    assert clear.mean() > 0.9
    np.testing.assert_allclose(network.parameters.flat.numpy()[clear], moved[clear], rtol=0, atol=1e-4)


def test_later_steps_are_adams() -> None:
    network = GumbelNetwork(CodeScheme.parse("2x4"), 3, batch=2)
    network.parameters.initialize(0)
    rng = np.random.default_rng(5)
    value = network.parameters.flat.numpy().astype(np.float64)
    m, v = np.zeros_like(value), np.zeros_like(value)
    for t in range(1, 6):
        g = rng.normal(size=value.shape)
        network.gradient.flat.copy_(torch.from_numpy(g))
        network.step(learning_rate=0.1)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        value -= 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(network.parameters.flat.numpy(), value, atol=1e-5)
    assert network.steps_taken == 5


def test_codes_are_the_argmax_without_noise_and_rows_are_their_sum() -> None:
    rng = np.random.default_rng(6)
    theta, b, theta2, b2, A = parameters = [rng.normal(size=shape) for shape in SHAPES]
    network = GumbelNetwork(CodeScheme(codebooks=M, codewords=K), DIM, batch=1)
    network.parameters.flat.copy_(torch.from_numpy(in_network_order(parameters)))
    x = rng.normal(size=(50, DIM))
    h = np.tanh(x @ theta.T + b)
    codes = np.stack([np.argmax(h @ theta2[i].T + b2[i], axis=1) for i in range(M)], axis=1)
    found = network.encode(torch.from_numpy(x).float())
    np.testing.assert_array_equal(found, codes)
    rows = sum(A[i][codes[:, i]] for i in range(M))
    np.testing.assert_allclose(network.compose(torch.from_numpy(codes)).numpy(), rows, rtol=1e-4, atol=1e-5)
