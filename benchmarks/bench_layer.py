"""CompositionalEmbedding beside a dense nn.Embedding and a plain gather-and-sum of the same codes.

    python benchmarks/bench_layer.py                      400,000 x 300 at 32x16, 6,400 random ids, two threads
    python benchmarks/bench_layer.py --rows 50000 --scheme 64x256

Every competitor runs once in each round, so that a busy machine slows them all alike. Two figures are shown, that of
the median round and that of the best one: on an idle machine they agree, on a busy one the median is mostly the
scheduler's. The ratios are what to read.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from lexicode.scheme import CodeScheme
from lexicode.torch import CompositionalEmbedding
from lexicode.torch.lookup import unpacked

BATCHES = (1, 8, 64)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Seconds a call: of the median round and of the best one."""

    median: float
    best: float

    def over(self, other: Timing) -> str:
        """How many times the other's time this one takes."""
        return f"{self.median / other.median:.2f} times (best rounds {self.best / other.best:.2f})"

    def shown(self, unit: float) -> str:
        return f"{self.median / unit:.3g} (best {self.best / unit:.3g})"


def timed(competitors: dict[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Each has its turn in every round."""
    times: dict[str, list[float]] = {name: [] for name in competitors}
    for step in range(rounds + 2):
        for name, call in competitors.items():
            start = time.perf_counter()
            call()
            # The first rounds fault memory in.
            if step >= 2:
                times[name].append(time.perf_counter() - start)
    return {name: Timing(median=float(np.median(all)), best=min(all)) for name, all in times.items()}


def gather_and_sum(layer: CompositionalEmbedding, ids: Tensor) -> Tensor:
    """What one writes first: every codeword gathered, then summed."""
    codes = unpacked(layer.packed[ids], layer.scheme).long()
    return layer.codebooks[torch.arange(layer.scheme.codebooks), codes].sum(1)


def bench_forward(layer: CompositionalEmbedding, dense: nn.Embedding, count: int, rounds: int) -> None:
    ids = torch.randint(0, layer.num_embeddings, (count,))
    with torch.no_grad():
        took = timed(
            {
                "dense nn.Embedding": lambda: dense(ids),
                "CompositionalEmbedding": lambda: layer(ids),
                "gather and sum": lambda: gather_and_sum(layer, ids),
            },
            rounds,
        )
    print(f"forward, {count:,} random ids, microseconds a word:")
    for name, timing in took.items():
        print(f"  {name:24} {timing.shown(count * 1e-6)}")
    print(f"  coded takes the dense layer's time {took['CompositionalEmbedding'].over(took['dense nn.Embedding'])}")
    print(f"  gather and sum takes the coded layer's {took['gather and sum'].over(took['CompositionalEmbedding'])}")


def bench_training(layer: CompositionalEmbedding, dense: nn.Embedding, count: int, rounds: int) -> None:
    ids = torch.randint(0, layer.num_embeddings, (count,))
    layer.codebooks.requires_grad_(True)

    def step(module: nn.Module) -> None:
        module.zero_grad()
        module(ids).sum().backward()

    took = timed({"dense": lambda: step(dense), "coded": lambda: step(layer)}, rounds)
    layer.codebooks.requires_grad_(False)
    dense.zero_grad()
    print(f"forward and backward, {count:,} random ids, milliseconds:")
    print(f"  dense {took['dense'].shown(1e-3)}, coded {took['coded'].shown(1e-3)}")
    print(f"  dense takes the coded layer's time {took['dense'].over(took['coded'])}")


def bench_memory(layer: CompositionalEmbedding, dense: nn.Embedding) -> None:
    held = sum(tensor.nbytes for tensor in (*layer.parameters(), *layer.buffers()))
    print(f"memory: dense {dense.weight.nbytes:,} bytes, coded {held:,}: 1/{dense.weight.nbytes / held:.1f}")


def bench_logits(layer: CompositionalEmbedding, dense: nn.Embedding, rounds: int) -> None:
    print("logits, hidden x all rows, milliseconds (coded as it lies in memory, and turned by .contiguous()):")
    for batch in BATCHES:
        hidden = torch.randn(batch, layer.embedding_dim)
        with torch.no_grad():
            took = timed(
                {
                    "dense": lambda hidden=hidden: hidden @ dense.weight.T,
                    "coded": lambda hidden=hidden: layer.logits(hidden),
                    "turned": lambda hidden=hidden: layer.logits(hidden).contiguous(),
                },
                rounds,
            )
        print(f"  batch {batch}: " + ", ".join(f"{name} {timing.shown(1e-3)}" for name, timing in took.items()))
        print(f"    dense takes the coded time {took['dense'].over(took['coded'])}, ", end="")
        print(f"the turned {took['dense'].over(took['turned'])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--scheme", default="32x16")
    parser.add_argument("--ids", type=int, default=6_400)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    scheme = CodeScheme.parse(arguments.scheme)
    print(f"{arguments.rows:,} x {arguments.dim} at {scheme}, float32, {arguments.threads} threads")
    layer = CompositionalEmbedding(arguments.rows, arguments.dim, scheme).requires_grad_(False)
    dense = nn.Embedding(arguments.rows, arguments.dim)
    bench_memory(layer, dense)
    bench_forward(layer, dense, arguments.ids, arguments.rounds)
    bench_training(layer, dense, arguments.ids, rounds=5)
    bench_logits(layer, dense, max(5, arguments.rounds // 3))


if __name__ == "__main__":
    main()
