"""lexicode and its rivals on the same rows: bytes, loss, neighbours, similarity, time and memory, side by side.

    python benchmarks/bench_learners.py                               the demo extra's GloVe 6B, 50 dimensions
    python benchmarks/bench_learners.py VECTORS --schemes 32x16 --rows faiss-lsq fast balanced
    python benchmarks/bench_learners.py --table 'GloVe 6B 100 d=FILE' --table 'GloVe 840B 300 d=FILE' \\
        --similarity FOLDER

Every method runs in a process of its own, one after the other, with its threads fixed. Each row is written to
results/learners.json as soon as it is known, and learners.md, .svg and .png are made from it; a row that is there is
not run again, unless --again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from learners.markdown import markdown
from learners.methods import BASE, METHODS
from learners.plot import plot
from learners.results import Results, Row
from learners.tables import TableFile, facts
from lexicode import CodeScheme
from origin import HERE, commit, told_command

SCHEMES = ("8x64", "16x32", "32x16", "64x8")
# Every library that starts threads of its own reads one of these before it is imported.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def main() -> None:
    options = parsed()
    results = Results(Path(options.results) / "learners.json")
    if not options.report_only:
        tables = [TableFile.parse(text, options.limit) for text in [*options.vectors, *options.table]]
        for table in tables or [TableFile.demo(options.limit)]:
            results.describe(table.name, facts(table.load()))
            run_table(table, options, results)
    report(results)
    print((results.path.with_suffix(".md")).read_text(encoding="utf-8"))


def parsed() -> argparse.Namespace:
    names = "\n".join(f"  {name:12} {entry.title}" for name, entry in METHODS.items())
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"rows:\n{names}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors", nargs="*", help="vector files")
    parser.add_argument("--table", action="append", default=[], metavar="NAME=FILE", help="a vector file with its name")
    parser.add_argument("--limit", type=int, help="the first so many rows of each table")
    parser.add_argument("--schemes", nargs="+", default=list(SCHEMES), metavar="MxK")
    parser.add_argument("--rows", nargs="+", choices=list(METHODS), metavar="ROW", help="by name; all but the slowest")
    parser.add_argument("--similarity", nargs="+", default=[], metavar="PATH", help="files of word pairs, or folders")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="run rows that are there already")
    parser.add_argument("--results", default=str(HERE.parent / "results"), metavar="FOLDER")
    parser.add_argument("--report-only", action="store_true", help="run nothing, make the report anew")
    options = parser.parse_args()
    options.schemes = [str(CodeScheme.parse(scheme)) for scheme in options.schemes]
    options.rows = options.rows or [name for name, entry in METHODS.items() if not entry.asked]
    return options


def run_table(table: TableFile, options: argparse.Namespace, results: Results) -> None:
    """All rows that are wanted of one table, those that know no scheme first."""
    wanted = [("", name) for name in options.rows if not METHODS[name].per_scheme]
    wanted += [(scheme, name) for scheme in options.schemes for name in options.rows if METHODS[name].per_scheme]
    for scheme, name in wanted:
        if results.find(table.name, scheme, name) is None or options.again:
            row = run(table, scheme, name, options)
            results.add(row)
            report(results)
            print(told(row, results.find(table.name, scheme, BASE)), flush=True)


def run(table: TableFile, scheme: str, name: str, options: argparse.Namespace) -> Row:
    order = {
        "table": asdict(table),
        "method": name,
        "scheme": scheme or SCHEMES[0],
        "threads": options.threads,
        "similarity": similarity_files(options.similarity),
    }
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    paths = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": paths}
    environment |= dict.fromkeys(THREAD_VARIABLES, str(options.threads))
    command = [sys.executable, "-m", "learners.measuring", json.dumps(order)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{table.name}, {scheme}, {name}: failed with status {done.returncode}")
    return {
        "table": table.name,
        "scheme": scheme,
        "method": name,
        **json.loads(done.stdout.splitlines()[-1]),
        "threads": options.threads,
        # How busy the machine was: figures of a busy one are no figures.
        "load": load,
        "machine": machine(),
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        "command": told_command(),
    }


def similarity_files(paths: list[str]) -> list[str]:
    files = [file for path in map(Path, paths) for file in (sorted(path.glob("*.txt")) if path.is_dir() else [path])]
    return [str(file) for file in files]


def told(row: Row, base: Row | None) -> str:
    """A line for the terminal, with ratios to faiss's LocalSearchQuantizer where it has been run."""
    start = f"{row['table']:24} {row['scheme']:6} {METHODS[row['method']].title:28}"
    if "unfit" in row:
        return f"{start} {row['unfit']}"
    line = f"{start} {row['bytes']:>11,} bytes  loss {row['loss']:<10.4g} {row['seconds']:8.1f} s"
    if base is None or "loss" not in base:
        return line
    return f"{line}  of faiss's {row['loss'] / base['loss']:.3f}, {row['seconds'] / base['seconds']:.3f}"


def report(results: Results) -> None:
    results.path.with_suffix(".md").write_text(markdown(results), encoding="utf-8")
    plot(results, results.path)


def machine() -> str:
    """The processor, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
