"""`lexicode info`: what a file holds and how it was made."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from lexicode.cli import options
from lexicode.cli.console import show, show_json
from lexicode.coded import CodedEmbedding
from lexicode.report import readable_bytes

EXAMPLE = options.example(
    """
$ lexicode info glove.safetensors
glove.safetensors
rows                400,000
dim                 50
scheme              32x16
bits per row        128
codebook dtype      float16
bytes of the file   8.3 MB
learner             additive
...
"""
)


def command(file: options.CodedFile, json: options.Json = False) -> None:
    """Show what a coded file holds and how it was made."""
    coded = CodedEmbedding.load(file)
    sizes = coded.part_bytes | {"file": Path(file).stat().st_size}
    facts = {
        "rows": len(coded),
        "dim": coded.dim,
        "scheme": str(coded.scheme),
        "bits_per_row": coded.scheme.bits_per_row,
        "codebook_dtype": str(coded.codebooks.dtype),
        "has_words": coded.words is not None,
        "has_norms": coded.norms is not None,
        "exact_rows": 0 if coded.exact is None else len(coded.exact.ids),
    }
    if json:
        show_json({"file": file, **facts, "bytes": sizes, "origin": coded.origin})
        return
    table = Table(show_header=False, show_edge=False, title=file, title_justify="left")
    table.add_column()
    table.add_column(overflow="fold")
    for key, value in facts.items():
        table.add_row(key.replace("_", " "), _readable(value))
    for part, size in sizes.items():
        table.add_row(f"bytes of {part}" if part != "file" else "bytes of the file", readable_bytes(size))
    for key, value in coded.origin.items():
        table.add_row(key, ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value))
    show(table)


def _readable(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
