"""`lexicode evaluate`: how good a coded file is."""

from __future__ import annotations

from typing import Annotated

import typer

from lexicode.cli import options
from lexicode.cli.console import show, show_json
from lexicode.coded import CodedEmbedding
from lexicode.evaluation import Similarity, evaluate, similarity
from lexicode.evaluation.similarity import read_benchmark
from lexicode.report import measurement_table, similarity_table, size_table
from lexicode.vectors import Vectors

EXAMPLE = options.example(
    """
$ lexicode evaluate glove.6B.50d.txt glove.safetensors
loss (mean squared distance a row)   0.7572
mean distance                        0.8493
mean cosine                          0.9819
neighbours kept, of the nearest 10    58.7%
eigenspace overlap                   0.8381
...

$ lexicode evaluate glove.840B.300d.txt glove.safetensors --similarity SimLex-999.txt --similarity WordSim-353.txt
...
 benchmark     pairs   unknown   before    after
 SimLex-999      999         7   0.4087   0.3701
 WordSim-353     353        14   0.7504   0.6938
"""
)

SimilarityFiles = Annotated[
    list[str],
    typer.Option(
        "--similarity",
        metavar="FILE",
        show_default=False,
        help="Lines of word, word, people's score: compare the cosines with the scores. May be given several times.",
    ),
]


def command(
    vectors: options.VectorFile,
    file: options.CodedFile,
    words: options.WordsFile = None,
    tensor: options.Tensor = None,
    limit: options.Limit = None,
    duplicates: options.OnDuplicates = options.Duplicates.error,
    spaces: options.OnSpaces = options.Spaces.error,
    similarity_files: SimilarityFiles = [],  # noqa: B006 (typer reads the default, nobody changes it)
    json: options.Json = False,
) -> None:
    """Compare a coded file with the vectors it was made from."""
    benchmarks = [read_benchmark(path) for path in similarity_files]
    coded = CodedEmbedding.load(file)
    table = Vectors.load(
        vectors, words=words, tensor=tensor, limit=limit, duplicates=duplicates.value, spaces=spaces.value
    )
    judged = [(similarity(table, benchmark), similarity(coded, benchmark)) for benchmark in benchmarks]
    measured = evaluate(table, coded)
    if json:
        extra = {"similarity": [_as_dict(*both) for both in judged]} if judged else {}
        show_json(measured.as_dict() | extra)
        return
    show(size_table(measured.bytes), "", measurement_table(measured))
    if judged:
        show("", similarity_table(judged))


def _as_dict(before: Similarity, after: Similarity) -> dict[str, object]:
    counts = {"name": before.name, "pairs": before.pairs, "unknown": before.pairs - before.known}
    return {**counts, "before": before.spearman, "after": after.spearman}
