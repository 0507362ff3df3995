"""Options that several verbs share."""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated

import typer

from lexicode.coded import CodedEmbedding
from lexicode.errors import InputError


class Duplicates(str, Enum):
    error = "error"
    first = "first"


class Spaces(str, Enum):
    error = "error"
    keep = "keep"


READABLE = (
    "GloVe, word2vec, fastText, .npy, .npz, .safetensors, PyTorch or gensim's .kv; also gz, bz2, xz, zip; "
    "a folder of spaCy, model2vec or StaticEmbedding; - is standard input."
)
VectorFile = Annotated[
    str,
    typer.Argument(
        metavar="VECTORS",
        show_default=False,
        help=READABLE,
    ),
]
CodedFile = Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="A file that lexicode made.")]
WordsFile = Annotated[str | None, typer.Option("--words", metavar="FILE", help="The rows' words, one a line.")]
Tensor = Annotated[
    str | None, typer.Option("--tensor", metavar="NAME", help="Which tensor of a .safetensors, .npz or PyTorch file.")
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Read the first N rows only.")]
OnDuplicates = Annotated[
    Duplicates, typer.Option("--duplicates", help="A word that stands twice: an error, or keep the first.")
]
OnSpaces = Annotated[Spaces, typer.Option("--spaces", help="A word with spaces in a text file: an error, or keep it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON with stable keys.")]


def example(text: str) -> str:
    r"""A help page's last lines, kept as they are (click's \b mark forbids it to fill paragraphs)."""
    paragraphs = text.strip("\n").split("\n\n")
    return "\n\n".join("\b\n" + paragraph for paragraph in ["Example:", *paragraphs])


def row_or_word(coded: CodedEmbedding, text: str) -> str | int:
    """A word of a table that has words; a row number of one that has none."""
    if coded.words is not None:
        return text
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise InputError(f"this table has no words, and {text!r} is no row number")
    if int(text) >= len(coded):
        raise InputError(f"row {text} is not in a table of {len(coded)} rows")
    return int(text)
