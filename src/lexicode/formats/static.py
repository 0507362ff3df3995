"""Folders of model2vec and of sentence-transformers' StaticEmbedding: `model.safetensors` and `tokenizer.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from lexicode.errors import InputError
from lexicode.formats.json_files import read_json
from lexicode.formats.streams import open_source
from lexicode.formats.table import Table
from lexicode.formats.tensors import read_safetensors
from lexicode.formats.wordlists import row_of
from lexicode.words import Words

TABLE, TOKENIZER, MODULES = "model.safetensors", "tokenizer.json", "modules.json"
MODULE = "StaticEmbedding"
# As sentence-transformers and as model2vec call it.
TENSORS = ("embedding.weight", "embeddings")


def find_static(folder: Path) -> Path | None:
    """The folder that holds a table and its tokenizer: this one, or its module's own; None if there is none."""
    modules = folder / MODULES
    kinds = _kinds(modules) if modules.is_file() else {}
    if MODULE in kinds:
        place = kinds[MODULE]
        if place.is_absolute() or ".." in place.parts:
            raise InputError(f"{modules}: the module {MODULE} points outside its folder, at {place}")
        return folder / place
    if (folder / TABLE).is_file() and (folder / TOKENIZER).is_file():
        return folder
    if kinds:
        raise InputError(f"{folder}: a model of {', '.join(kinds)}; only that of a {MODULE} is a table of tokens")
    return None


def _kinds(modules: Path) -> dict[str, Path]:
    """The kinds of a model's modules, and where each lies."""
    try:
        return {str(entry["type"]).rpartition(".")[2]: Path(str(entry["path"])) for entry in read_json(modules)}
    except (TypeError, KeyError):
        raise InputError(f"{modules}: is no list of modules: it is damaged") from None


def read_static(folder: Path, *, tensor: str | None = None, limit: int | None = None) -> Table:
    """The tokens' vectors as the model uses them, and the tokens as words."""
    path = folder / TABLE
    try:
        with safe_open(path, framework="numpy") as file:
            held = set(file.keys())
            mapping, weights = (file.get_tensor(key) if key in held else None for key in ("mapping", "weights"))
    except (SafetensorError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not a whole .safetensors file ({error}); it was cut short or damaged") from None
    name = tensor or next((name for name in TENSORS if name in held), None)
    with open_source(path) as source:
        matrix = read_safetensors(source, tensor=name).matrix
    if name == "embeddings":
        matrix = _folded(path, matrix, mapping, weights)
    words = _tokens(folder / TOKENIZER, len(matrix))
    return Table(words=words, matrix=matrix[:limit], place=row_of)


def _folded(
    path: Path,
    matrix: npt.NDArray[np.floating[Any]],
    mapping: npt.NDArray[Any] | None,
    weights: npt.NDArray[Any] | None,
) -> npt.NDArray[np.floating[Any]]:
    """matrix (rows, dim), mapping (V,) to its rows, weights (V,) -> (V, dim), what model2vec takes the mean of"""
    if mapping is not None:
        named = mapping if mapping.ndim == 1 and mapping.dtype.kind in "iu" else np.array([-1])
        if not ((named >= 0) & (named < len(matrix))).all():
            raise InputError(f"{path}: its mapping does not name rows of its {len(matrix)} embeddings")
        matrix = matrix[mapping]
    if weights is not None:
        if weights.shape != (len(matrix),) or weights.dtype.kind != "f":
            raise InputError(f"{path}: its weights {weights.shape} are not one number for each of {len(matrix)} tokens")
        matrix = np.asarray(matrix, dtype=np.float32) * weights[:, None].astype(np.float32)
    return matrix


def _tokens(path: Path, rows: int) -> Words:
    """The token of each row, in order."""
    content = read_json(path)
    try:
        vocabulary = content["model"]["vocab"]
        # A unigram model lists pairs of a token and its score.
        numbered = (
            [(token, row) for row, (token, _) in enumerate(vocabulary)]
            if isinstance(vocabulary, list)
            else list(vocabulary.items())
        )
        numbered += [(entry["content"], entry["id"]) for entry in content.get("added_tokens") or []]
        tokens: dict[int, str] = {row: token for token, row in numbered}
    except (AttributeError, TypeError, ValueError, KeyError):
        raise InputError(f"{path}: has no vocabulary of a WordLevel, WordPiece, BPE or Unigram model") from None
    missing = next((row for row in range(rows) if row not in tokens), None)
    if missing is not None or len(tokens) > rows:
        lacking = f"no token has the number {missing}" if missing is not None else f"it has {len(tokens)} tokens"
        raise InputError(f"{path}: {lacking}, but the table has {rows} rows; {TABLE} itself is read without words")
    try:
        return Words(tokens[row] for row in range(rows))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
