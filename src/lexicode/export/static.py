"""A coded embedding as a folder that model2vec and sentence-transformers load: a table and a tokenizer of its words."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from lexicode.coded import CodedEmbedding
from lexicode.errors import InputError, require
from lexicode.formats.atomic import making_folder

UNKNOWN = "[UNK]"
# What the tokenizer's splitting at spaces and punctuation leaves whole.
WHOLE = re.compile(r"\w+|[^\w\s]+")
MODULES = [{"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]


def write_static(coded: CodedEmbedding, words: Sequence[str], folder: str | os.PathLike[str]) -> None:
    """Write the folder. Words that the table lacks get one more row, of zeros, unless it has a row called [UNK]."""
    listed = list(words)
    if "" in listed:
        raise InputError(f"row {listed.index('')}: the word is empty, which no tokenizer can find")
    tokenizer = _tokenizer(listed)
    matrix = coded.decode()
    if UNKNOWN not in listed:
        matrix = np.concatenate([matrix, np.zeros((1, coded.dim), dtype=np.float32)])
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": coded.dim,
        "normalize": False,
        "embedding_dtype": "float32",
    }
    with making_folder(folder) as temporary:
        save_file({"embeddings": matrix}, temporary / "model.safetensors")
        tokenizer.save(str(temporary / "tokenizer.json"), pretty=False)
        _write_json(temporary / "config.json", config)
        _write_json(temporary / "modules.json", MODULES)


def _tokenizer(words: list[str]) -> Any:
    """A tokenizer whose token of number i is word i, and which finds every one of them in a text."""
    tokenizers = require("tokenizers", extra="interop")
    vocabulary = {word: row for row, word in enumerate(words)}
    vocabulary.setdefault(UNKNOWN, len(words))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    if all(word == word.lower() for word in words):
        tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    # Words such as e-mail and new york are looked for before a text is split.
    split = [word for word in words if WHOLE.fullmatch(word) is None]
    tokenizer.add_tokens([tokenizers.AddedToken(word, single_word=True, normalized=True) for word in split])
    return tokenizer


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
