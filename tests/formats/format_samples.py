"""One small table in every format that lexicode reads, made without lexicode."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save as save_safetensors

WORDS = ["the", "Käse", "日本", "-0.5"]
# Eighths, so that text, float16 and bfloat16 hold them exactly.
MATRIX = np.array([[0.5, -1.25, 2.0], [0.0, 3.5, -0.125], [1.0, 1.5, 2.5], [-4.0, 0.25, 8.0]], dtype=np.float32)


def as_text(*, header: bool, line_end: str = "\n") -> bytes:
    lines = [f"{len(MATRIX)} {MATRIX.shape[1]}"] if header else []
    lines += [word + " " + " ".join(map(str, row.tolist())) for word, row in zip(WORDS, MATRIX, strict=True)]
    return "".join(line + line_end for line in lines).encode()


def as_word2vec_binary(*, line_end: bytes = b"\n") -> bytes:
    rows = [word.encode() + b" " + row.tobytes() + line_end for word, row in zip(WORDS, MATRIX, strict=True)]
    return b"4 3\n" + b"".join(rows)


def as_fasttext_binary(*, version: int = 12, quantized: bool = False, longest: int = 0, labels: int = 0) -> bytes:
    """A model without n-grams, where a word's vector is its input row."""
    dim = MATRIX.shape[1]
    settings = (dim, 5, 5, 1, 5, 1, 1, 2, 0, 0, longest, 100)
    entries = [*WORDS, *(f"__label__{n}" for n in range(labels))]
    parts = [
        struct.pack("<ii", 793712314, version),
        struct.pack("<12id", *settings, 1e-4),
        struct.pack("<iiiqq", len(entries), len(WORDS), labels, 100, -1),
        *(word.encode() + b"\0" + struct.pack("<qb", 10, row >= len(WORDS)) for row, word in enumerate(entries)),
        struct.pack("<?qq", quantized, len(MATRIX), dim),
        MATRIX.tobytes(),
        struct.pack("<?qq", False, len(MATRIX), dim),
        MATRIX.tobytes(),
    ]
    return b"".join(parts)


def as_npy(array: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def as_npz(**arrays: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def as_zip(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def utf8(words: list[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(words).encode(), dtype=np.uint8)


WITH_WORDS: dict[str, bytes] = {
    "glove": as_text(header=False),
    "word2vec text": as_text(header=True),
    "fastText vec": as_text(header=True, line_end=" \r\n"),
    "word2vec binary": as_word2vec_binary(),
    "word2vec binary of Google": as_word2vec_binary(line_end=b""),
    "fastText bin": as_fasttext_binary(),
    "npz": as_npz(vectors=MATRIX, words=utf8(WORDS)),
    "npz of strings": as_npz(table=MATRIX, words=np.array(WORDS)),
}
WITHOUT_WORDS: dict[str, bytes] = {
    "npy": as_npy(MATRIX),
    "npy in Fortran order": as_npy(np.asfortranarray(MATRIX)),
    "npy of big-endian float64": as_npy(MATRIX.astype(">f8")),
    "npz": as_npz(anything=MATRIX),
    "safetensors": save_safetensors({"embedding": MATRIX}),
}
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda data: as_zip(**{"table": data}),
    "gz in zip": lambda data: as_zip(**{"__MACOSX/x": b"", "README.md": b"", "folder/t": gzip.compress(data)}),
    "zip in gz": lambda data: gzip.compress(as_zip(**{"table": data})),
}
