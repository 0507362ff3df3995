"""The ONNX model of a coded file beside numpy's look-up: size, time to load, time a row.

    python benchmarks/bench_onnx.py FILE

Both look up the same random rows in turn, one thread each, and the median of the rounds counts.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime

from lexicode import CodedEmbedding
from lexicode.export.onnx import write_onnx

ROUNDS = 15
COUNTS = (1, 64, 6400)


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    file = parser.parse_args().file
    coded = CodedEmbedding.load(file)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.onnx"
        write_onnx(coded, path)
        print(f"{coded}: {Path(file).stat().st_size:,} bytes, of which {coded.part_bytes['words']:,} are words")
        print(f"ONNX: {path.stat().st_size:,} bytes")
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        started = time.perf_counter()
        session = onnxruntime.InferenceSession(path, settings)
        print(f"session made in {time.perf_counter() - started:.3f} s")
    print(f"{'rows':>6} {'numpy µs a row':>15} {'ONNX':>8} {'ratio':>6}")
    rng = np.random.default_rng(0)
    for count in COUNTS:
        ids = rng.integers(len(coded), size=count)
        if not np.array_equal(session.run(None, {"ids": ids})[0], coded.lookup(ids)):
            raise SystemExit("the rows differ")
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(seconds(lambda ids=ids: coded.lookup(ids)))
            theirs.append(seconds(lambda ids=ids: session.run(None, {"ids": ids})))
        numpy_time, onnx_time = statistics.median(ours) / count * 1e6, statistics.median(theirs) / count * 1e6
        print(f"{count:6} {numpy_time:15.2f} {onnx_time:8.2f} {onnx_time / numpy_time:6.2f}")


if __name__ == "__main__":
    main()
