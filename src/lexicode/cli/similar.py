"""`lexicode similar`: a word's nearest neighbours."""

from __future__ import annotations

from typing import Annotated

import typer

from lexicode.cli import options
from lexicode.cli.console import show_json
from lexicode.coded import CodedEmbedding

EXAMPLE = options.example(
    """
$ lexicode similar glove.safetensors coffee -n 5
0.8304  wine
0.8129  drink
0.8105  drinks
0.8100  sugar
0.7887  beer
"""
)


def command(
    file: options.CodedFile,
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word, or a row number of a table of ids.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many neighbours.")] = 10,
    json: options.Json = False,
) -> None:
    """Show the words nearest to a word, by cosine, computed on the codes."""
    coded = CodedEmbedding.load(file)
    found = coded.most_similar(options.row_or_word(coded, word), n)
    if json:
        neighbours = [{"word": neighbour, "cosine": cosine} for neighbour, cosine in found]
        show_json({"word": word, "neighbours": neighbours})
        return
    for neighbour, cosine in found:
        typer.echo(f"{cosine:.4f}  {neighbour}")
