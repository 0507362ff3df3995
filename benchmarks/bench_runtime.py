"""What it takes to load a coded file and look one word up: time and memory beyond Python with numpy.

    python benchmarks/bench_runtime.py FILE [WORD]

Each run is a process of its own that imports numpy first; the best and the median of several runs count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

RUNS = 9
MEASURE = """
import json, resource, sys, time
import numpy
unit = 1 if sys.platform == "darwin" else 1024
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
{body}
seconds = time.perf_counter() - started
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
print(json.dumps([seconds, grown]))
"""
BODIES = {
    "import": "import lexicode",
    "import, load, one word": "from lexicode import CodedEmbedding\nCodedEmbedding.load({file!r})[{word!r}]",
    "import, load, neighbours": (
        "from lexicode import CodedEmbedding\nCodedEmbedding.load({file!r}).most_similar({word!r})"
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("word", nargs="?", default="coffee")
    options = parser.parse_args()
    print(f"{'':26} {'best ms':>8} {'median ms':>10} {'MB':>7}")
    for name, body in BODIES.items():
        program = MEASURE.format(body=body.format(file=options.file, word=options.word))
        runs = [
            json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
            for _ in range(RUNS)
        ]
        seconds, grown = zip(*runs, strict=True)
        print(f"{name:26} {min(seconds) * 1000:8.1f} {statistics.median(seconds) * 1000:10.1f} {max(grown) / 1e6:7.1f}")


if __name__ == "__main__":
    main()
