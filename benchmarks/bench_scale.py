"""Does cost grow linearly with rows? The same learner on tables of growing size, and on one larger than memory.

    python benchmarks/bench_scale.py VECTORS [VECTORS ...] [--rows 2000000] [--effort fast] [--folder FOLDER]
    python benchmarks/bench_scale.py --mapped 8000000x128 [--effort fast] [--folder FOLDER]

The tables are taken as they are; then come tables of --rows rows, drawn from those of the last one with noise of a
tenth of each column's spread, and, mapped, one made of random clusters. Each is written to FOLDER as .npy and learned
from there in a process of its own, whose largest resident memory is reported. Rows a second are those of the whole run;
encoding is the part in which every row is given its code. Lines are kept in results/scale.json, and scale.md is made
from it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode import CodeScheme, Vectors
from memory import highest_resident
from origin import commit, told_command

BLOCK = 65_536
NOISE = 0.1
CLUSTERS = 20_000
HEAD = """# Scale

Rows a second are those of the whole run. Unless they are learned on all rows (`--all-rows`), codebooks are learned on
at most 100,000, so a larger table costs less a row; encoding is the part that touches every row. The table is a
memory-mapped file; peak is the largest resident memory of the process, Python and its libraries included.

| table | scheme, effort | learned on | seconds | rows/s | learning | encoding, rows/s | loss on these | on all | peak |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


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


def compress(path: Path, options: argparse.Namespace) -> dict[str, float]:
    """Seconds of learning and of encoding, the loss on the sample and on all rows, and the largest resident memory"""
    child = [sys.executable, __file__, "--child", str(path), "--scheme", options.scheme, "--effort", options.effort]
    child += ["--threads", str(options.threads), *(["--all-rows"] if options.all_rows else [])]
    done = subprocess.run(child, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def child(options: argparse.Namespace) -> None:
    from lexicode import AdditiveLearner
    from lexicode.learners.additive import MIN_SAMPLE, SAMPLE_ROWS_PER_CODEWORD
    from lexicode.learners.progress import Progress

    AdditiveLearner(options.scheme, effort="fast").fit(Vectors(np.random.default_rng(0).normal(size=(2000, 8))))
    marks: dict[str, float] = {}
    sample_loss = 0.0

    def note(progress: Progress) -> None:
        nonlocal sample_loss
        marks[progress.stage] = time.perf_counter()
        if progress.stage == "learning":
            sample_loss = progress.loss or 0.0

    started = time.perf_counter()
    vectors = Vectors.load(options.child)
    usual = max(MIN_SAMPLE, SAMPLE_ROWS_PER_CODEWORD * CodeScheme.parse(options.scheme).basis_vectors)
    sample_rows = len(vectors) if options.all_rows else min(len(vectors), usual)
    learner = AdditiveLearner(options.scheme, effort=options.effort, threads=options.threads, sample_rows=sample_rows)
    began = time.perf_counter()
    coded = learner.fit(vectors, note)
    coded.save(options.child + ".coded")
    print(
        json.dumps(
            {
                "rows": len(vectors),
                "sample_rows": sample_rows,
                "seconds": time.perf_counter() - started,
                "learning": marks["learning"] - began,
                "encoding": marks["encoding"] - marks["learning"],
                "sample_loss": sample_loss,
                "loss": learner.loss,
                "peak_bytes": highest_resident(),
            }
        )
    )


def row(line: dict[str, Any]) -> str:
    return (
        f"| {line['table']} | {line['scheme']}, {line['effort']} | {line['sample_rows']:,} | {line['seconds']:.1f} "
        f"| {line['rows'] / line['seconds']:,.0f} | {line['learning']:.1f} s | {line['rows'] / line['encoding']:,.0f} "
        f"| {line['sample_loss']:.3f} | {line['loss']:.3f} | {line['peak_bytes'] / 1e6:,.0f} MB |"
    )


def keep(line: dict[str, Any], results: Path) -> None:
    """Put the line in the place of an earlier one of its table and settings, and write both files."""
    path = results / "scale.json"
    lines = json.loads(path.read_text()) if path.exists() else []
    same = ("table", "scheme", "effort", "threads", "sample_rows")
    lines = [each for each in lines if any(each[name] != line[name] for name in same)] + [line]
    path.write_text(json.dumps(lines, indent=1) + "\n")
    told = [HEAD, *map(row, lines), "\nMade by, at these commits:\n"]
    told += [f"- {each['commit']}, {each['date']}: `{each['command']}`" for each in lines]
    (results / "scale.md").write_text("\n".join(told) + "\n")
    print(row(line), flush=True)


def measure(name: str, path: Path, options: argparse.Namespace) -> None:
    told = compress(path, options)
    path.unlink()
    Path(f"{path}.coded").unlink()
    line = {
        "table": name,
        "scheme": options.scheme,
        "effort": options.effort,
        "threads": options.threads,
        **told,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        "command": told_command(),
    }
    keep(line, options.results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", nargs="*", help="vector files, or NAME=FILE")
    parser.add_argument("--rows", nargs="+", type=int, default=[], help="of tables drawn from the last file's rows")
    parser.add_argument("--mapped", help="rows x columns of a table that is made on disk: 8000000x128")
    parser.add_argument("--scheme", default="32x16")
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--all-rows", action="store_true", help="learn codebooks on all rows, not on a sample")
    parser.add_argument("--folder", type=Path, default=Path("build"))
    parser.add_argument("--results", type=Path, default=Path(__file__).parent.parent / "results")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    if not options.vectors and not options.mapped:
        parser.error("give a table, or --mapped")
    options.folder.mkdir(parents=True, exist_ok=True)
    path, matrix = options.folder / "scale.npy", np.empty((0, 0), dtype=np.float32)
    for text in options.vectors:
        name, _, file = text.rpartition("=")
        table = Vectors.load(file)
        matrix = table.take(np.arange(len(table)))
        np.save(path, matrix)
        measure(f"{name or Path(file).name}: {len(matrix):,} x {matrix.shape[1]}", path, options)
    for rows in options.rows:
        draw(matrix, rows, path)
        measure(f"drawn from it: {rows:,} x {matrix.shape[1]}", path, options)
    if options.mapped:
        rows, dim = (int(part) for part in options.mapped.split("x"))
        draw(clusters(dim), rows, path)
        measure(f"clusters: {rows:,} x {dim}", path, options)


if __name__ == "__main__":
    main()
