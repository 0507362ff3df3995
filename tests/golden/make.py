"""Made the golden files of format version 1, once each. None is made again: what they hold must load for ever."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from lexicode import CodedEmbedding, CodeScheme
from lexicode.packing import pack
from lexicode.words import Words

FOLDER = Path(__file__).parent
WORDS = ["the", "naïve", "日本", "🦊", "a b"]


def coded(scheme: str, dim: int, dtype: str, **more: object) -> CodedEmbedding:
    parsed = CodeScheme.parse(scheme)
    rng = np.random.default_rng(2018)
    width = more.pop("width", dim)
    codes = rng.integers(parsed.codewords, size=(5, parsed.codebooks))
    codebooks = rng.normal(size=(parsed.codebooks, parsed.codewords, width)).astype(dtype)
    packed = pack(codes, bits=parsed.bits)
    return CodedEmbedding(scheme=parsed, packed=packed, codebooks=codebooks, dim=dim, **more)  # type: ignore[arg-type]


def main() -> None:
    files = {
        "v1-4x16-float16-words": coded("4x16", 3, "float16", words=Words(WORDS), origin={"learner": "additive"}),
        "v1-5x8-float32-ids": coded("5x8", 7, "float32"),
        "v1-2x512-float16-ids": coded("2x512", 2, "float16"),
        "v1-3x4-product-norms": coded(
            "3x4",
            5,
            "float16",
            width=2,
            offsets=(0, 2, 3),
            words=Words(WORDS),
            norms=np.array([0, 2, 1, 1, 0], dtype=np.uint8),
            norm_levels=np.array([0.5, 2.0, 8.0], dtype=np.float32),
        ),
        "v1-4x16-float16-exact": coded(
            "4x16",
            3,
            "float16",
            words=Words(WORDS),
            exact_ids=np.array([0, 3], dtype=np.uint32),
            exact_rows=np.array([[0.1, -0.2, 1e-3], [3e4, 5.0, 0.0]], dtype=np.float32),
        ),
    }
    for name, embedding in files.items():
        if (FOLDER / f"{name}.json").exists():
            continue
        embedding.save(FOLDER / f"{name}.safetensors")
        expected = {"codes": embedding.codes().tolist(), "rows": embedding.decode().tolist()}
        expected["words"] = None if embedding.words is None else list(embedding.words)
        (FOLDER / f"{name}.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
