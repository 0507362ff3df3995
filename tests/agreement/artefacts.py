"""The artefacts on which every runtime is held to numpy's rows: torch, ONNX and JavaScript use this one sweep."""

from __future__ import annotations

from functools import cache

import numpy as np

from lexicode import CodedEmbedding, CodeScheme, ProductLearner, Vectors
from lexicode.packing import pack
from lexicode.words import Words

ROWS = 70
# Every width of a code from 1 to 12 bits; few codebooks and many; rows that fill their last byte and rows that do not.
SCHEMES = (
    "1x2", "9x2", "5x4", "7x8", "3x16", "32x16", "4x32", "9x64", "5x128", "64x256", "3x512", "5x1024", "7x2048",
    "3x4096",
)  # fmt: skip
# Words that a reader of text may trip over.
ODD_WORDS = ("日本", "naïve", "🦊", "a b", "", "\u2028", "\ufeffmark", "'", "\\", "\x1f")
EXACT_DTYPES = ("float16", "float32")


def random_artefact(
    scheme: str,
    dim: int,
    *,
    dtype: str = "float16",
    words: bool = False,
    exact: str | None = None,
    offsets: tuple[int, ...] | None = None,
    width: int | None = None,
    levels: int = 0,
    rows: int = ROWS,
    seed: int = 0,
) -> CodedEmbedding:
    """Random codes and codebooks; exact: the dtype of exact rows, if any; levels: of norms coded apart"""
    parsed = CodeScheme.parse(scheme)
    rng = np.random.default_rng(seed)
    codes = rng.integers(parsed.codewords, size=(rows, parsed.codebooks))
    codebooks = rng.normal(size=(parsed.codebooks, parsed.codewords, width or dim)).astype(dtype)
    # The first row, the last, and some between.
    exact_ids = np.unique(np.r_[0, rng.integers(rows, size=5), rows - 1]).astype(np.uint32)
    names = [*ODD_WORDS, *(f"w{row}" for row in range(len(ODD_WORDS), rows))]
    return CodedEmbedding(
        scheme=parsed,
        packed=pack(codes, bits=parsed.bits),
        codebooks=codebooks,
        dim=dim,
        offsets=offsets,
        words=Words(names) if words else None,
        norms=rng.integers(levels, size=rows).astype(np.uint8) if levels else None,
        norm_levels=rng.uniform(0, 9, size=levels).astype(np.float32) if levels else None,
        exact_ids=None if exact is None else exact_ids,
        exact_rows=None if exact is None else rng.normal(size=(len(exact_ids), dim)).astype(exact),
    )


def learned_product(dim: int, codebooks: int, *, normalized: bool) -> CodedEmbedding:
    """Codebooks on columns of their own, as the product learner makes them; with norms coded apart, or without"""
    matrix = np.random.default_rng(5).normal(size=(ROWS, dim)).astype(np.float32)
    return ProductLearner(f"{codebooks}x8", normalized=normalized).fit(Vectors(matrix))


def every_half() -> CodedEmbedding:
    """One codebook that holds every finite float16 there is: 256 codewords of 248 numbers."""
    bits = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    codebooks = bits[np.isfinite(bits)].reshape(1, 256, 248)
    codes = np.arange(256, dtype=np.uint8)[:, None]
    return CodedEmbedding(scheme=CodeScheme.parse("1x256"), packed=codes, codebooks=codebooks)


@cache
def artefacts() -> dict[str, CodedEmbedding]:
    """The sweep, by names that say what is in each."""
    made = {
        f"{scheme} {dtype} {dim}{' words' if words else ''}": random_artefact(scheme, dim, dtype=dtype, words=words)
        for scheme in SCHEMES
        for dtype, dim, words in (("float16", 7, False), ("float32", 33, True))
    }
    for scheme in ("1x2", "3x16", "7x8", "32x16", "64x256", "7x2048"):
        for exact in EXACT_DTYPES:
            made[f"{scheme} exact {exact}"] = random_artefact(scheme, 13, words=True, exact=exact)
    for dim, codebooks in ((10, 3), (8, 4), (17, 5), (6, 1)):
        for normalized in (False, True):
            name = f"product {codebooks}x8 {dim}{' norms' if normalized else ''}"
            made[name] = learned_product(dim, codebooks, normalized=normalized)
    # More than the product learner ever makes: three codebooks on every column or two, and a column that none covers.
    made["overlapping"] = random_artefact("4x8", 7, dtype="float32", offsets=(2, 0, 1, 2), width=5)
    made["overlapping norms exact"] = random_artefact(
        "4x8", 9, offsets=(2, 0, 1, 2), width=5, levels=11, exact="float32", words=True
    )
    made["norms"] = random_artefact("5x16", 11, levels=256, words=True)
    made["every half"] = every_half()
    made["one row, one column"] = random_artefact("3x4", 1, rows=1)
    return made


# What the sweep must cover, so that a runtime's test can say so.
COVERED = {"artefacts": 53, "words": 28, "exact": 13, "offsets": 10, "norms": 6, "float32": 15}


def covered() -> dict[str, int]:
    sweep = artefacts().values()
    return {
        "artefacts": len(sweep),
        "words": sum(coded.words is not None for coded in sweep),
        "exact": sum(coded.exact is not None for coded in sweep),
        "offsets": sum(coded.offsets is not None for coded in sweep),
        "norms": sum(coded.norms is not None for coded in sweep),
        "float32": sum(coded.codebooks.dtype == np.float32 for coded in sweep),
    }
