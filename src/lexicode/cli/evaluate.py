"""`lexicode evaluate`: how good a coded file is."""

from __future__ import annotations

from lexicode.cli import options
from lexicode.cli.console import show, show_json
from lexicode.coded import CodedEmbedding
from lexicode.evaluation import evaluate
from lexicode.report import measurement_table, size_table
from lexicode.vectors import Vectors

EXAMPLE = options.example("")


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
