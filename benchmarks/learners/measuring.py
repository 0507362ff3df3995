"""One method on one table, in a process of its own: the memory is the method's, and nobody else's threads are up.

    python -m learners.measuring '{"table": …, "method": "faiss-lsq", "scheme": "32x16", "threads": 2, …}'

prints the row as JSON. Time is that of training and of encoding every row; what is imported or compiled on first use is
used on a small table before. Memory is the process's highest, and what it grew by beyond the table and the libraries.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from learners.coding import Matrix, Task, UnfitError
from learners.methods import METHODS
from learners.tables import TableFile
from lexicode import CodeScheme, Vectors
from lexicode.evaluation.neighbours import QUERIES, QUERY_SEED, nearest_rows
from lexicode.evaluation.similarity import similarity
from lexicode.lengths import normalized
from memory import highest_resident

# Tables begin with their most frequent words.
FREQUENT_ROWS = 1000
WARM_ROWS = 300
BLOCK_ROWS = 8192


def main() -> None:
    order = json.loads(sys.argv[1])
    _fix_threads(order["threads"])
    with threadpool_limits(limits=order["threads"]):
        row = measure(order)
    # The libraries may print; the row is the last line.
    print(json.dumps(row), flush=True)


def _fix_threads(threads: int) -> None:
    """The environment has said it already; libraries that ask the machine are told once more."""
    import faiss

    faiss.omp_set_num_threads(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def measure(order: dict[str, Any]) -> dict[str, Any]:
    entry = METHODS[order["method"]]
    method = entry.method()
    scheme, threads = CodeScheme.parse(order["scheme"]), order["threads"]
    vectors = TableFile(**order["table"]).load()
    if not entry.asked:
        warm = CodeScheme.parse("4x16" if scheme.bits <= 8 else "2x512")
        method(Task(vectors=Vectors(vectors.matrix[:WARM_ROWS]), scheme=warm, threads=threads))
    memory = Memory()
    started = time.perf_counter()
    try:
        outcome = method(Task(vectors=vectors, scheme=scheme, threads=threads))
    except UnfitError as reason:
        return {"unfit": str(reason)}
    seconds = time.perf_counter() - started
    peak, grown = memory.read()
    decoded = np.ascontiguousarray(outcome.decode(), dtype=np.float32)
    return {
        "setup": outcome.setup,
        "bytes": outcome.bytes,
        "loss": loss(vectors.matrix, decoded),
        "frequent_loss": loss(vectors.matrix[:FREQUENT_ROWS], decoded[:FREQUENT_ROWS]),
        "cosine": mean_cosine(vectors.matrix, decoded),
        "neighbours": neighbours_kept(vectors, decoded),
        "spearman": spearmans(vectors, decoded, order["similarity"]),
        "seconds": round(seconds, 3),
        "peak_bytes": peak,
        "grown_bytes": grown,
    }


class Memory:
    """The process's highest resident size from here on."""

    def __init__(self) -> None:
        # Linux forgets the highest size so far when told to; elsewhere it stays that of the whole process.
        reset = Path("/proc/self/clear_refs")
        if reset.exists():
            reset.write_text("5")
        self.before = highest_resident()

    def read(self) -> tuple[int, int]:
        """(highest, and what it grew by), in bytes"""
        highest = highest_resident()
        return highest, highest - self.before


def loss(matrix: Matrix, decoded: Matrix) -> float:
    """The mean squared distance of the rows."""
    starts = range(0, len(matrix), BLOCK_ROWS)
    total = sum(
        np.square(matrix[at : at + BLOCK_ROWS].astype(np.float64) - decoded[at : at + BLOCK_ROWS]).sum()
        for at in starts
    )
    return float(total / len(matrix))


def mean_cosine(matrix: Matrix, decoded: Matrix) -> float:
    return float(np.einsum("nd,nd->n", normalized(matrix), normalized(decoded)).mean(dtype=np.float64))


def neighbours_kept(vectors: Vectors, decoded: Matrix, n: int = 10) -> float:
    """As `lexicode evaluate` has it: how many of a row's ten nearest rows stay so, for the same sampled rows."""
    rng = np.random.default_rng(QUERY_SEED)
    rows = np.sort(rng.choice(len(vectors), size=min(QUERIES, len(vectors)), replace=False))
    found = [
        nearest_rows(table.blocks(), normalized(table.take(rows)), rows, n) for table in (vectors, Vectors(decoded))
    ]
    return float(np.mean([len(np.intersect1d(a, b)) for a, b in zip(*found, strict=True)]) / n)


def spearmans(vectors: Vectors, decoded: Matrix, files: list[str]) -> dict[str, float | None]:
    """benchmark -> Spearman's correlation with people's scores; nothing for a table without words"""
    if vectors.words is None:
        return {}
    judged = [similarity(Vectors(decoded, vectors.words), file) for file in files]
    return {each.name: each.spearman for each in judged}


if __name__ == "__main__":
    main()
