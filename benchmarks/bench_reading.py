"""How fast and how lean word2vec text is read, beside gensim.

    python benchmarks/bench_reading.py             a made-up table of 100,000 x 100
    python benchmarks/bench_reading.py glove.txt   a file of yours, word2vec text (with its line `rows dim`)

Each reader runs in a process of its own, several times; the best time counts. Memory is the growth of the
process's peak over what the imports took, as a multiple of the float32 matrix.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REPEATS = 3
MEASURE = """
import json, resource, sys, time
{imports}
path = sys.argv[1]
unit = 1 if sys.platform == "darwin" else 1024
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
rows, dim = {read}
seconds = time.perf_counter() - start
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
print(json.dumps(dict(seconds=seconds, memory=grown / (4 * rows * dim), rows=rows, dim=dim)))
"""
READERS = {
    "lexicode": MEASURE.format(imports="from lexicode.vectors import Vectors", read="Vectors.load(path).matrix.shape"),
    "gensim": MEASURE.format(
        imports="from gensim.models import KeyedVectors",
        read="KeyedVectors.load_word2vec_format(path).vectors.shape",
    ),
}


def measure(program: str, path: Path) -> dict[str, float]:
    """The quickest of several runs, each in a fresh process."""
    runs = []
    for _ in range(REPEATS):
        done = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True)
        runs.append(json.loads(done.stdout))
    return min(runs, key=lambda run: run["seconds"])


def make_table(path: Path, rows: int, dim: int) -> None:
    """Random numbers with five decimals, as GloVe's files have them."""
    random = np.random.default_rng(0)
    with path.open("w") as file:
        file.write(f"{rows} {dim}\n")
        for row in range(rows):
            file.write(f"word{row} " + " ".join(f"{x:.5f}" for x in random.normal(size=dim).tolist()) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.path
        if path is None:
            path = Path(folder) / "random.txt"
            make_table(path, rows=100_000, dim=100)
        results = {name: measure(program, path) for name, program in READERS.items()}
    for name, run in results.items():
        print(
            f"{name:10} {run['rows']:.0f} x {run['dim']:.0f}: {run['seconds']:6.2f} s,"
            f" peak memory {run['memory']:.2f} x the matrix"
        )
    print(f"lexicode is {results['gensim']['seconds'] / results['lexicode']['seconds']:.1f} times as fast")


if __name__ == "__main__":
    main()
