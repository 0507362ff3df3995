"""A coded embedding as a plain table, or as the original tool's pair of files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from lexicode.coded import CodedEmbedding
from lexicode.composition import Floats
from lexicode.errors import InputError, SettingError
from lexicode.export.gensim import write_keyed_vectors
from lexicode.export.onnx import write_onnx
from lexicode.export.spacy import write_spacy
from lexicode.export.static import write_static
from lexicode.export.web_page import write_web_page
from lexicode.formats.atomic import check_folder, check_target
from lexicode.formats.original import write_original_codes
from lexicode.formats.writing import write_npy, write_word2vec_binary, write_word2vec_text, write_words

# Format name -> the endings that imply it.
FORMATS = {
    "word2vec": (".txt", ".vec"),
    "word2vec-binary": (".bin",),
    "npy": (".npy",),
    "original": (".codes", ".codebook.npy"),
    "onnx": (".onnx",),
    "gensim": (".kv",),
    # Folders, which have no ending.
    "spacy": (),
    "static": (),
    "web-page": (".html", ".htm"),
}
FOLDERS = ("spacy", "static")


def export_format(path: str | os.PathLike[str], name: str | None = None) -> str:
    """The format asked for by name, or the one that the path's ending implies."""
    if name is not None:
        if name not in FORMATS:
            raise SettingError(f"format {name!r} is not one of {', '.join(FORMATS)}")
        return name
    text = os.fspath(path).lower()
    implied = [
        (len(ending), known) for known, endings in FORMATS.items() for ending in endings if text.endswith(ending)
    ]
    if not implied:
        endings = ", ".join(ending for group in FORMATS.values() for ending in group)
        raise SettingError(f"{os.fspath(path)}: no format ends like this; end it with {endings} or name the format")
    return max(implied)[1]


def check_export(path: str | os.PathLike[str], name: str) -> None:
    """Refuse a path that cannot become a file, or a folder, of this format; ask before work is done."""
    if name in FOLDERS:
        check_folder(path)
    else:
        check_target(path)


def export(coded: CodedEmbedding, path: str | os.PathLike[str], *, format: str | None = None) -> list[Path]:
    """Write `coded` in another format; the files that were written."""
    chosen = export_format(path, format)
    target = Path(path)
    if chosen == "original":
        return _export_original(coded, target)
    if chosen == "web-page":
        write_web_page(target, coded)
        return [target]
    if chosen in ("npy", "onnx"):
        if chosen == "npy":
            write_npy(target, coded.blocks(), len(coded), coded.dim)
        else:
            write_onnx(coded, target)
        if coded.words is None:
            return [target]
        companion = target.with_suffix(".words.txt")
        write_words(companion, coded.words)
        return [target, companion]
    # The other formats have a word in every row; a table of ids gets its row numbers.
    words = coded.words if coded.words is not None else [str(row) for row in range(len(coded))]
    if chosen == "gensim":
        return write_keyed_vectors(coded, words, target)
    if chosen in FOLDERS:
        write_folder = write_spacy if chosen == "spacy" else write_static
        write_folder(coded, words, target)
        return sorted(path for path in target.rglob("*") if path.is_file())
    write = write_word2vec_text if chosen == "word2vec" else write_word2vec_binary
    write(target, words, coded.blocks(), len(coded), coded.dim)
    return [target]


def _export_original(coded: CodedEmbedding, target: Path) -> list[Path]:
    if coded.norms is not None:
        raise InputError("norms that are coded apart have no place in the original tool's files")
    if coded.exact is not None:
        raise InputError("rows that are kept exactly have no place in the original tool's files")
    prefix = target.with_name(target.name.removesuffix(".codes").removesuffix(".codebook.npy"))
    write_original_codes(prefix, coded.codes(), _whole_codebooks(coded))
    written = [prefix.with_name(prefix.name + ending) for ending in (".codes", ".codebook.npy")]
    if coded.words is not None:
        written.append(prefix.with_name(prefix.name + ".words.txt"))
        write_words(written[-1], coded.words)
    return written


def _whole_codebooks(coded: CodedEmbedding) -> Floats:
    """codebooks (M, K, dim) float32: those of a product code with zeros in the columns they do not cover"""
    M, K, width = coded.codebooks.shape
    whole = np.zeros((M, K, coded.dim), dtype=np.float32)
    for m, start in enumerate(coded.offsets or (0,) * M):
        whole[m, :, start : start + width] = coded.codebooks[m]
    return whole
