"""Several processes beside one with as many threads: the time of the whole command `lexicode compress`.

    python benchmarks/bench_processes.py VECTORS [--runs fast balanced gumbel] [--times 3] [--torchrun]

The two take turns, and take turns at being first, so that a busy machine slows both alike; printed is the best turn of
each and their ratio, the median of the turns' ratios, and the processor time that each used, which depends less on what
else the machine does. A ratio up to 1.00 means that several processes cost no time on one machine. --torchrun adds the
same processes started by torchrun, over gloo: it loads torch once more, one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexicode import Vectors

LEXICODE = [sys.executable, "-m", "lexicode", "compress"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "-m", "lexicode", "compress"]


@dataclass(frozen=True, kw_only=True)
class Turn:
    seconds: float
    processor_seconds: float
    loss: float


def options_of(run: str, iterations: int) -> list[str]:
    return ["--learner", "gumbel", "--iterations", str(iterations)] if run == "gumbel" else ["--effort", run]


def command(way: str, processes: int) -> list[str]:
    if way == "torchrun":
        return [*TORCHRUN[:3], f"--nproc-per-node={processes}", *TORCHRUN[3:]]
    return [*LEXICODE, "--processes", str(processes) if way == "processes" else "1"]


def take_turn(arguments: list[str]) -> Turn:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Turn(seconds=seconds, processor_seconds=used, loss=json.loads(done.stdout)["loss"])


def compare(run: str, table: Path, options: argparse.Namespace) -> None:
    ways = ["threads", "processes", *(["torchrun"] if options.torchrun else [])]
    turns: dict[str, list[Turn]] = {way: [] for way in ways}
    shared = [str(table), "-o", str(table.with_name("coded")), "--scheme", options.scheme, "--json"]
    for number in range(options.times):
        for way in ways if number % 2 == 0 else reversed(ways):
            arguments = [*command(way, options.processes), *shared, *options_of(run, options.iterations)]
            turns[way].append(take_turn(arguments))
    best = {way: min(turns[way], key=lambda turn: turn.seconds) for way in ways}
    leanest = {way: min(turn.processor_seconds for turn in turns[way]) for way in ways}
    one = best["threads"]
    for way in ways:
        pairs = [turn.seconds / other.seconds for turn, other in zip(turns[way], turns["threads"], strict=True)]
        print(
            f"{run}, {way}: {best[way].seconds:.1f} s, ratio {best[way].seconds / one.seconds:.3f}, median ratio "
            f"{statistics.median(pairs):.3f}; processor {leanest[way]:.1f} s, ratio "
            f"{leanest[way] / leanest['threads']:.3f}; loss {best[way].loss:.6f}, "
            f"ratio {best[way].loss / one.loss:.6f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", help="any file that Vectors.load reads")
    parser.add_argument("--runs", nargs="+", default=["fast", "balanced", "gumbel"], help="efforts, or gumbel")
    parser.add_argument("--scheme", default="32x16")
    parser.add_argument("--iterations", type=int, default=5000, help="of gumbel")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--torchrun", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # Mapped, as a table is that is large enough for several processes.
        table = Path(folder) / "table.npy"
        np.save(table, Vectors.load(options.vectors).matrix)
        for run in options.runs:
            compare(run, table, options)


if __name__ == "__main__":
    main()
