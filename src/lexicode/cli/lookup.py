"""`lexicode lookup`: words -> vectors."""

from __future__ import annotations

from typing import Annotated

import typer

from lexicode.cli import options
from lexicode.cli.console import show_json
from lexicode.coded import CodedEmbedding

EXAMPLE = options.example(
    """
$ lexicode lookup glove.safetensors dog --codes
dog 0 0 11 6 4 4 5 0 11 11 6 12 3 10 1 3 7 7 15 6 7 2 10 11 1 1 1 12 2 11 14 2
"""
)


def command(
    file: options.CodedFile,
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words, or row numbers of a table of ids.")],
    codes: Annotated[bool, typer.Option("--codes", help="Print the codes, not the vectors.")] = False,
    json: options.Json = False,
) -> None:
    """Print the vectors (or codes) of words, a line each, as a word2vec text file has them."""
    coded = CodedEmbedding.load(file)
    keys = [options.row_or_word(coded, word) for word in words]
    rows = [coded.codes(key) if codes else coded.vector(key) for key in keys]
    if json:
        kind = "code" if codes else "vector"
        show_json([{"word": word, kind: row.tolist()} for word, row in zip(words, rows, strict=True)])
        return
    for word, row in zip(words, rows, strict=True):
        typer.echo(" ".join([word, *(str(number) for number in row)]))
