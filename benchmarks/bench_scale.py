"""Does cost grow linearly with rows? The same learner on tables of growing size, and on one larger than memory.

    python benchmarks/bench_scale.py VECTORS [--rows 78000 341000 2000000] [--effort fast] [--folder FOLDER]
    python benchmarks/bench_scale.py --mapped 8000000x128 [--effort fast] [--folder FOLDER]

Tables are drawn from the rows of VECTORS with noise of a tenth of each column's spread, or, mapped, are made of
random clusters; they are written to FOLDER as .npy, and compressed by the command line in a process of its own, whose
largest resident memory is reported. Rows a second are those of the whole run; encoding is the part in which every row
is given its code.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lexicode import Vectors

BLOCK = 65_536
NOISE = 0.1
CLUSTERS = 20_000


def draw(matrix: npt.NDArray[np.float32], rows: int, path: Path) -> None:
    """A table of `rows` rows of the matrix (n, dim) with noise: all of them first, then some again."""
    rng = np.random.default_rng(rows)
    spread = matrix.std(axis=0) * np.float32(NOISE)
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, matrix.shape[1]))
    for start in range(0, rows, BLOCK):
        wanted = np.arange(start, min(start + BLOCK, rows))
        source = np.where(wanted < len(matrix), wanted, rng.integers(len(matrix), size=len(wanted)))
        noise = rng.standard_normal((len(wanted), matrix.shape[1]), dtype=np.float32)
        table[wanted] = matrix[source] + noise * spread
    table.flush()


def clusters(dim: int) -> npt.NDArray[np.float32]:
    """Centers whose columns differ in weight, as those of real tables do"""
    rng = np.random.default_rng(dim)
    return rng.standard_normal((CLUSTERS, dim), dtype=np.float32) * np.linspace(1.5, 0.3, dim, dtype=np.float32)


def compress(path: Path, scheme: str, effort: str, threads: int) -> dict[str, float]:
    """Seconds of learning and of encoding, the loss on the sample and on all rows, and the largest resident memory"""
    child = [sys.executable, __file__, "--child", str(path), "--schemes", scheme, "--effort", effort]
    done = subprocess.run([*child, "--threads", str(threads)], check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def child(path: str, scheme: str, effort: str, threads: int) -> None:
    from lexicode import AdditiveLearner
    from lexicode.learners.progress import Progress

    AdditiveLearner(scheme, effort="fast").fit(Vectors(np.random.default_rng(0).normal(size=(2000, 8))))
    marks: dict[str, float] = {}
    sample_loss = 0.0

    def note(progress: Progress) -> None:
        nonlocal sample_loss
        marks[progress.stage] = time.perf_counter()
        if progress.stage == "learning":
            sample_loss = progress.loss or 0.0

    started = time.perf_counter()
    vectors = Vectors.load(path)
    learner = AdditiveLearner(scheme, effort=effort, threads=threads)
    began = time.perf_counter()
    coded = learner.fit(vectors, note)
    coded.save(path + ".coded")
    print(
        json.dumps(
            {
                "rows": len(vectors),
                "seconds": time.perf_counter() - started,
                "learning": marks["learning"] - began,
                "encoding": marks["encoding"] - marks["learning"],
                "sample_loss": sample_loss,
                "loss": learner.loss,
                "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", nargs="?")
    parser.add_argument("--rows", nargs="+", type=int, default=[78_000, 341_000, 2_000_000])
    parser.add_argument("--mapped", help="rows x columns of a table that is made on disk: 8000000x128")
    parser.add_argument("--schemes", default="32x16")
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("build"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.schemes, options.effort, options.threads)
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.mapped:
        rows, dim = (int(part) for part in options.mapped.split("x"))
        matrix, wanted = clusters(dim), [rows]
    elif options.vectors:
        table = Vectors.load(options.vectors)
        matrix, wanted = table.take(np.arange(len(table))), options.rows
    else:
        parser.error("give a table, or --mapped")
    print(f"{options.schemes}, {options.effort}, {options.threads} threads")
    titles = ["rows", "seconds", "rows/s", "learning", "encoding", "sample", "all", "peak"]
    print(" ".join(f"{title:>9}" for title in titles))
    for rows in wanted:
        path = options.folder / f"scale-{rows}x{matrix.shape[1]}.npy"
        draw(matrix, rows, path)
        told = compress(path, options.schemes, options.effort, options.threads)
        path.unlink()
        Path(f"{path}.coded").unlink()
        print(
            f"{rows:9,} {told['seconds']:9.1f} {rows / told['seconds']:9.0f} {told['learning']:8.1f}s "
            f"{rows / told['encoding']:7.0f}/s {told['sample_loss']:9.3f} {told['loss']:9.3f} "
            f"{told['peak_bytes'] / 1e6:6.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
