"""The paper's network: iterations a second of GumbelLearner beside a plain eager PyTorch loop of the same network.

    python benchmarks/bench_gumbel.py [--threads 2] [--scheme 32x16] [--dims 100 300] [--iterations 300]

Both train on the same random table with the same batch size and learning rate. They take turns, a few hundred
iterations at a time, so that a busy machine slows both alike; printed is the median turn of each, and their ratio.
The eager loop runs with denormals flushed too, unless --denormals is given.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn

from lexicode import Vectors
from lexicode.learners.gumbel_batches import Batches
from lexicode.learners.gumbel_network import GumbelNetwork
from lexicode.learners.gumbel_supply import OwnRows
from lexicode.scheme import CodeScheme

ROWS, BATCH, RATE = 75_000, 128, 1e-4


class EagerNetwork(nn.Module):
    """The network as one writes it down: modules, autograd, noise by two logarithms."""

    def __init__(self, scheme: CodeScheme, dim: int) -> None:
        super().__init__()
        MK = scheme.basis_vectors
        self.shape = (scheme.codebooks, scheme.codewords)
        self.hidden, self.alpha = nn.Linear(dim, MK // 2), nn.Linear(MK // 2, MK)
        self.codewords = nn.Parameter(torch.empty(MK, dim).uniform_(-0.01, 0.01))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        alpha = nn.functional.softplus(self.alpha(torch.tanh(self.hidden(x))))
        noise = -torch.log(-torch.log(torch.rand_like(alpha) + 1e-20) + 1e-20)
        scores = (torch.log(alpha + 1e-20) + noise).view(len(x), *self.shape)
        return torch.softmax(scores, dim=-1).view(len(x), -1) @ self.codewords


def eager_loop(table: torch.Tensor, scheme: CodeScheme) -> Callable[[int], None]:
    network = EagerNetwork(scheme, table.shape[1])
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)

    def run(iterations: int) -> None:
        for _ in range(iterations):
            x = table[torch.randint(len(table), (BATCH,))]
            loss = (network(x) - x).square().sum(dim=1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return run


def our_loop(table: torch.Tensor, scheme: CodeScheme, pool: ThreadPoolExecutor) -> Callable[[int], None]:
    """What GumbelLearner does between two validations."""
    network = GumbelNetwork(scheme, table.shape[1], batch=BATCH)
    network.parameters.initialize(0)
    rows = OwnRows(Vectors(table.numpy()), np.ones(len(table), dtype=np.float32))
    batches = Batches(
        rows, size=BATCH, scale=1 / BATCH, width=scheme.basis_vectors, seed=[0], pool=pool, device=network.device
    )

    def run(iterations: int) -> None:
        for batch in batches.between(network.steps_taken, network.steps_taken + iterations):
            network.gradient_of(batch.rows, batch.inverse_noise, "squared", batch.weights)
            network.step(RATE)

    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--scheme", default="32x16")
    parser.add_argument("--dims", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--iterations", type=int, default=300, help="of a turn")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--denormals", action="store_true", help="let the eager loop meet denormal numbers")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    scheme = CodeScheme.parse(options.scheme)
    print(f"torch {torch.__version__}, {options.threads} threads, scheme {scheme}, batches of {BATCH}")
    for dim in options.dims:
        table = torch.from_numpy(np.random.default_rng(0).normal(size=(ROWS, dim)).astype(np.float32))
        with ThreadPoolExecutor(options.threads) as pool:
            loops = {"eager": eager_loop(table, scheme), "ours": our_loop(table, scheme, pool)}
            speeds: dict[str, list[float]] = {name: [] for name in loops}
            for turn in range(options.turns + 1):
                for name, run in loops.items():
                    torch.set_flush_denormal(name == "ours" or not options.denormals)
                    began = time.perf_counter()
                    run(options.iterations if turn else 30)
                    if turn:
                        speeds[name].append(options.iterations / (time.perf_counter() - began))
        eager, ours = statistics.median(speeds["eager"]), statistics.median(speeds["ours"])
        print(f"{dim} columns: eager {eager:.0f}, ours {ours:.0f} iterations a second; ratio {ours / eager:.2f}")


if __name__ == "__main__":
    main()
