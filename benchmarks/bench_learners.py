"""lexicode beside faiss on the same rows: the loss and the time of each, and their ratios to faiss.

    python benchmarks/bench_learners.py VECTORS [--schemes 32x16] [--efforts fast balanced] [--threads 2]

Loss is the mean squared distance on all rows; time is training plus encoding of all rows. Numba's compilation is
left out (a small table is learned first). Both use the same number of threads, one after the other.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import faiss
import numpy as np
import numpy.typing as npt

from lexicode import AdditiveLearner, CodeScheme, ProductLearner, Vectors
from lexicode.learners.additive import EFFORTS

Matrix = npt.NDArray[np.float32]


def timed(run: Callable[[], Matrix], matrix: Matrix) -> tuple[float, float]:
    """(loss, seconds) of a method that returns the table as it is after coding."""
    started = time.perf_counter()
    decoded = run()
    seconds = time.perf_counter() - started
    return float(np.square(matrix - decoded).sum(axis=1, dtype=np.float64).mean()), seconds


def faiss_local_search(matrix: Matrix, scheme: CodeScheme) -> Matrix:
    quantizer = faiss.LocalSearchQuantizer(matrix.shape[1], scheme.codebooks, scheme.bits)
    quantizer.train(matrix)
    return quantizer.decode(quantizer.compute_codes(matrix))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors")
    parser.add_argument("--schemes", nargs="+", default=["32x16"])
    parser.add_argument("--efforts", nargs="+", default=["fast", "balanced"], choices=list(EFFORTS))
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()

    vectors = Vectors.load(options.vectors)
    matrix = vectors.take(np.arange(len(vectors)))
    faiss.omp_set_num_threads(options.threads)
    AdditiveLearner("4x16", effort="fast").fit(Vectors(matrix[:500]))

    print(f"{len(matrix):,} rows x {matrix.shape[1]}, {options.threads} threads")
    print(f"{'scheme':8} {'method':24} {'loss':>9} {'seconds':>9} {'loss/faiss':>11} {'time/faiss':>11}")
    for text in options.schemes:
        scheme = CodeScheme.parse(text)
        methods: dict[str, Callable[[], Matrix]] = {"faiss LocalSearch": lambda s=scheme: faiss_local_search(matrix, s)}
        for effort in options.efforts:
            learner = AdditiveLearner(scheme, effort=effort, threads=options.threads)
            methods[f"lexicode {effort}"] = lambda each=learner: each.fit(vectors).decode()
        if scheme.codebooks <= matrix.shape[1]:
            product = ProductLearner(scheme, threads=options.threads)
            methods["lexicode product"] = lambda each=product: each.fit(vectors).decode()
        base: tuple[float, float] | None = None
        for name, run in methods.items():
            loss, seconds = timed(run, matrix)
            base = base or (loss, seconds)
            ratios = f"{loss / base[0]:11.3f} {seconds / base[1]:11.3f}"
            print(f"{text:8} {name:24} {loss:9.4f} {seconds:9.1f} {ratios}", flush=True)


if __name__ == "__main__":
    main()
