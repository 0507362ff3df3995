"""`lexicode evaluate`: how good a coded file is."""

from __future__ import annotations

from lexicode.cli import options
from lexicode.cli.console import show, show_json
from lexicode.coded import CodedEmbedding
from lexicode.evaluation import evaluate
from lexicode.report import measurement_table, size_table
from lexicode.vectors import Vectors

EXAMPLE = options.example(
    """
$ lexicode evaluate glove.6B.50d.txt glove.safetensors
loss (mean squared distance a row)   0.9029
mean distance                        0.9280
mean cosine                          0.9785
neighbours kept, of the nearest 10    55.6%
eigenspace overlap                   0.8316
...
"""
)


def command(
    vectors: options.VectorFile,
    file: options.CodedFile,
    words: options.WordsFile = None,
    tensor: options.Tensor = None,
    limit: options.Limit = None,
    duplicates: options.OnDuplicates = options.Duplicates.error,
    spaces: options.OnSpaces = options.Spaces.error,
    json: options.Json = False,
) -> None:
    """Compare a coded file with the vectors it was made from."""
    coded = CodedEmbedding.load(file)
    table = Vectors.load(
        vectors, words=words, tensor=tensor, limit=limit, duplicates=duplicates.value, spaces=spaces.value
    )
    measured = evaluate(table, coded)
    if json:
        show_json(measured.as_dict())
    else:
        show(size_table(measured.bytes), "", measurement_table(measured))
