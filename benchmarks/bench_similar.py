"""most_similar on the codes beside gensim's on the dense table: 400,000 words, one thread each.

    python benchmarks/bench_similar.py         GloVe 6B, 50 dimensions, and tables of 100 and 300 made from its rows
    python benchmarks/bench_similar.py --rows 50000 --queries 5

Both are warm; each query is asked of both in turn, so that a busy machine slows both alike. Processor time is shown
beside the clock's: where they differ, others were at work. The answers are compared with brute force over decode(). The
codes are those of a quick fit, or of a file; on the widened table they only resemble a table's.
"""

from __future__ import annotations

import argparse
import os

# Before numpy is imported: one thread each.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
from gensim.models import KeyedVectors

from lexicode import CodedEmbedding, CodeScheme, Vectors
from lexicode.cli.demo import glove
from lexicode.composition import Floats
from lexicode.learners import make_learner
from lexicode.lengths import normalized
from lexicode.packing import pack

FIT_ROWS = 5_000
WARMING_QUERIES = 100
NOISE = 0.3


def widened(matrix: Floats, dim: int) -> Floats:
    """(V, 50) -> (V, dim): every row beside others of its table, with noise"""
    rng = np.random.default_rng(0)
    copies = [np.roll(matrix, 1000 * turn, axis=0) for turn in range(-(-dim // matrix.shape[1]))]
    wide = np.concatenate(copies, axis=1)[:, :dim]
    return np.ascontiguousarray(wide + NOISE * rng.standard_normal(wide.shape, dtype=np.float32))


def quick_codes(vectors: Vectors, scheme: CodeScheme) -> CodedEmbedding:
    """Codebooks learned on some rows; the codes of all the others drawn from theirs, a codebook at a time."""
    sample = make_learner("additive", scheme, effort="fast").fit(Vectors(vectors.matrix[:FIT_ROWS]))
    rng = np.random.default_rng(1)
    codes = sample.codes()
    drawn = np.stack([rng.choice(codes[:, m], size=len(vectors)) for m in range(scheme.codebooks)], axis=1)
    # Near copies of known rows, so that a row has neighbours as words have: most codes stay.
    parents = rng.integers(len(codes), size=len(vectors))
    kept = rng.random(drawn.shape) < 0.7
    packed = pack(np.where(kept, codes[parents], drawn), bits=scheme.bits)
    return CodedEmbedding(scheme=scheme, packed=packed, codebooks=sample.codebooks, words=vectors.words)


class Clock:
    """Seconds of each call, by the clock and by the processor."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.processor: list[float] = []

    def time(self, call: Callable[[], object]) -> None:
        wall, processor = time.perf_counter(), time.thread_time()
        call()
        self.wall.append(time.perf_counter() - wall)
        self.processor.append(time.thread_time() - processor)

    def shown(self) -> str:
        return (
            f"{1000 * np.median(self.wall):7.2f} ms (best {1000 * min(self.wall):.2f}), "
            f"processor {1000 * np.median(self.processor):.2f}"
        )


def compare(name: str, vectors: Vectors, coded: CodedEmbedding, queries: int) -> None:
    words = list(vectors.words or ())
    dense = KeyedVectors(vectors.dim)
    dense.add_vectors(words, vectors.matrix)
    started = time.thread_time()
    coded.most_similar(words[0])
    first = time.thread_time() - started
    dense.most_similar(words[0])
    # A table that is asked for many words keeps a dictionary of them, as gensim does, and loads numba.
    coded[words[:100]]
    for word in words[:WARMING_QUERIES]:
        coded.most_similar(word)
    rows = np.random.default_rng(2).choice(len(words), size=queries, replace=False)
    ours, theirs = Clock(), Clock()
    for row in rows:
        for clock, table in ((ours, coded), (theirs, dense)):
            clock.time(partial(most_similar, table, words[row]))
    ratios = np.median(theirs.wall) / np.median(ours.wall), np.median(theirs.processor) / np.median(ours.processor)
    print(f"{name}: {len(words):,} x {vectors.dim} at {coded.scheme}, {queries} queries")
    print(f"  gensim   {theirs.shown()}")
    print(f"  lexicode {ours.shown()}; the first query {1000 * first:.0f} ms of the processor")
    print(f"  lexicode is {ratios[0]:.2f} times as fast by the clock, {ratios[1]:.2f} by the processor")
    print(f"  largest difference to brute force over decode(): {worst_difference(coded, rows[:5]):.1e}", flush=True)


def most_similar(table: CodedEmbedding | KeyedVectors, word: str) -> object:
    return table.most_similar(word, n=10) if isinstance(table, CodedEmbedding) else table.most_similar(word, topn=10)


def worst_difference(coded: CodedEmbedding, rows: npt.NDArray[np.int64]) -> float:
    """The largest difference of a cosine found to that of the same place in a sorted scan of all rows."""
    units = normalized(coded.decode())
    worst = 0.0
    for row in rows:
        cosines = units @ units[row]
        cosines[row] = -np.inf
        best = np.sort(np.partition(cosines, -10)[-10:])[::-1]
        found = [cosine for _, cosine in coded.most_similar(int(row), 10)]
        worst = max(worst, float(np.abs(best - found).max()))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--scheme", default="32x16")
    parser.add_argument(
        "--widened", nargs="*", type=int, default=[100, 300], metavar="DIM", help="made-up wider tables"
    )
    parser.add_argument("--coded", help="a coded file of the 50-dimensional table, in the place of a quick fit")
    options = parser.parse_args()
    scheme = CodeScheme.parse(options.scheme)
    table = glove(options.rows)
    small = Vectors(table.take(np.arange(len(table))), table.words)
    coded = CodedEmbedding.load(options.coded) if options.coded else quick_codes(small, scheme)
    compare("GloVe 6B", small, coded, options.queries)
    for dim in options.widened:
        wide = Vectors(widened(small.matrix, dim), small.words)
        compare("widened", wide, quick_codes(wide, scheme), options.queries)


if __name__ == "__main__":
    main()
