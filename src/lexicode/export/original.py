"""The original tool's `.codes` and `.codebook.npy` -> a coded embedding."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from lexicode.coded import CodedEmbedding
from lexicode.errors import InputError
from lexicode.formats.original import read_original_codes
from lexicode.formats.wordlists import read_words
from lexicode.packing import pack
from lexicode.scheme import CodeScheme
from lexicode.version import VERSION
from lexicode.words import first_duplicate


def from_original(
    path: str | os.PathLike[str], *, words: str | os.PathLike[str] | None = None, codebook_dtype: str = "float16"
) -> CodedEmbedding:
    """Either of the two files, or their common prefix. A number of codewords that is no power of two is filled up
    with codewords of zeros that no code names."""
    codes, codebooks = read_original_codes(path)
    M, K, dim = codebooks.shape
    scheme = CodeScheme(codebooks=M, codewords=max(2, 1 << (K - 1).bit_length()))
    filled = np.zeros((M, scheme.codewords, dim), dtype=np.float32)
    filled[:, :K] = codebooks
    if codebook_dtype == "float16" and np.abs(filled).max() > np.finfo(np.float16).max:
        raise InputError(
            f"{os.fspath(path)}: a codeword is too large for float16 codebooks; use codebook_dtype float32"
        )
    listed = read_words(words) if words is not None else None
    if listed is not None and (found := first_duplicate(listed)) is not None:
        row, earlier = found
        raise InputError(
            f"{os.fspath(words or '')}: line {row + 1}: the word {listed[row]!r} stands already at line {earlier + 1}"
        )
    return CodedEmbedding(
        scheme=scheme,
        packed=pack(codes, bits=scheme.bits),
        codebooks=filled.astype(codebook_dtype),
        words=listed,
        origin={"learner": "original", "settings": {}, "source": {"file": Path(path).name}, "library": VERSION},
    )
