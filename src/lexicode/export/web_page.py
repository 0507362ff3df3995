"""A coded embedding inside one web page that needs no server: a word explorer with neighbours and analogies."""

from __future__ import annotations

import base64
import re
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from lexicode.coded import CodedEmbedding
from lexicode.formats.atomic import replacing
from lexicode.version import VERSION

# Marks in page.html -> the files that take their places; lexicode.js is a link to js/, which wheels hold as a file.
PARTS = {"style": "page.css", "module": "lexicode.js", "suggestions": "suggestions.js", "script": "page.js"}


def write_web_page(target: Path, coded: CodedEmbedding) -> None:
    """Write the page, whole or not at all."""
    folder = files(__package__) / "page"
    parts = {mark: (folder / name).read_text(encoding="utf-8") for mark, name in PARTS.items()}
    parts |= {"version": VERSION, "artefact": base64.b64encode(_artefact(coded)).decode("ascii")}
    template = (folder / "page.html").read_text(encoding="utf-8")
    page = re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], template)
    with replacing(target) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def _artefact(coded: CodedEmbedding) -> bytes:
    """The bytes of the file that `save` writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.safetensors"
        coded.save(path)
        return path.read_bytes()
