"""`lexicode export`: a coded file for other tools."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from lexicode.cli import options
from lexicode.cli.console import show, show_json
from lexicode.coded import CodedEmbedding
from lexicode.errors import SettingError
from lexicode.export import FORMATS, check_export, export, export_format
from lexicode.report import readable_bytes

EXAMPLE = options.example(
    """
$ lexicode export glove.safetensors -o small.bin
small.bin: 83.8 MB

$ lexicode export glove.safetensors -o table.onnx
table.onnx: 6.45 MB
table.words.txt: 3.36 MB
"""
)

Format = Enum("Format", {name: name for name in FORMATS}, type=str)  # type: ignore[misc]


def command(
    file: options.CodedFile,
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Its ending names the format.")],
    format: Annotated[Format | None, typer.Option(help="The format, where the ending does not say.")] = None,
    json: options.Json = False,
) -> None:
    """Write a coded file as word2vec text (.txt, .vec) or binary (.bin), .npy, the original tool's .codes, a web page
    (.html), an ONNX model (.onnx), gensim's KeyedVectors (.kv), or a folder: --format spacy, or --format static for
    model2vec and sentence-transformers."""
    name = export_format(output, None if format is None else str(format.value))
    check_export(output, name)
    if Path(output).exists() and Path(output).samefile(file):
        raise SettingError(f"{output} is both read and written; name another file to write")
    written = export(CodedEmbedding.load(file), output, format=name)
    sizes = {str(path): path.stat().st_size for path in written}
    if json:
        show_json({"format": name, "files": sizes})
    else:
        show(*(f"{path}: {readable_bytes(size)}" for path, size in sizes.items()))
