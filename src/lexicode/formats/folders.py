"""Which kind of folder a source is, told by what lies in it; and its table."""

from __future__ import annotations

import os
from pathlib import Path

from lexicode.formats.spacy import find_spacy, read_spacy
from lexicode.formats.static import find_static, read_static
from lexicode.formats.table import Table


def is_folder(source: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder that holds a table; a folder that does not is refused as Python refuses it."""
    path = Path(source)
    return path.is_dir() and (find_spacy(path) is not None or find_static(path) is not None)


def read_folder(source: str | os.PathLike[str], *, tensor: str | None = None, limit: int | None = None) -> Table:
    path = Path(source)
    if (found := find_spacy(path)) is not None:
        return read_spacy(found, limit=limit)
    return read_static(find_static(path) or path, tensor=tensor, limit=limit)
