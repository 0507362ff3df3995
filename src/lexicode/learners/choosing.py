"""A budget of bytes -> the scheme of the lowest error that fits it, the whole file counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from lexicode.errors import SettingError
from lexicode.learners import make_learner
from lexicode.learners.additive import MAX_BASIS_VECTORS
from lexicode.learners.learner import Learner
from lexicode.scheme import MAX_CODEBOOKS, CodeScheme
from lexicode.vectors import Vectors
from lexicode.words import compress_words

# The safetensors header and the record of how the file was made.
HEADER_BYTES = 1024
NORM_BYTES = 256 * 4
# Wider codes gain little on real tables and learn slowly; ask for them by --scheme.
CODEWORDS = (2, 4, 8, 16, 32, 64, 128, 256)
# A scheme of far fewer bits than another that fits as well is never the better one, so it is not tried.
WORTH_TRYING = 0.75
TRIAL_ROWS = 10_000
# Learners whose codebooks cover all columns, and the settings that they share.
WHOLE_ROWS = ("additive", "gumbel")
COMMON = ("seed", "codebook_dtype", "threads", "loss")


def choose_scheme(vectors: Vectors, budget: int, *, learner: str = "additive", **settings: Any) -> CodeScheme:
    """Try, on a sample of the rows, each scheme that fills the budget; return the one of the lowest loss."""
    if settings.get("max_error") is not None:
        raise SettingError("a budget does not go with max_error: how many rows it keeps is known in the end only")
    fitting = schemes_that_fit(
        vectors,
        budget,
        learner=learner,
        codebook_dtype=settings.get("codebook_dtype", "float16"),
        apart=_apart_bytes(vectors, settings),
    )
    most = max(scheme.bits_per_row for scheme in fitting)
    worth = [scheme for scheme in fitting if scheme.bits_per_row >= WORTH_TRYING * most]
    if len(worth) == 1:
        return worth[0]
    rng = np.random.default_rng(settings.get("seed", 0))
    rows = min(len(vectors), TRIAL_ROWS)
    sample = Vectors(vectors.take(np.sort(rng.choice(len(vectors), size=rows, replace=False))))
    losses = {}
    for scheme in worth:
        trial = _trial(learner, scheme, settings)
        trial.fit(sample)
        losses[scheme] = trial.loss
    return min(worth, key=lambda scheme: losses[scheme])


def _apart_bytes(vectors: Vectors, settings: dict[str, Any]) -> int:
    """What rows that are kept as they are take, and lengths that are coded apart."""
    exact: int = min(settings.get("exact", 0), len(vectors)) * 4 * (1 + vectors.dim)
    lengths = len(vectors) + NORM_BYTES if settings.get("loss") == "cosine" else 0
    return exact + lengths


def _trial(learner: str, scheme: CodeScheme, settings: dict[str, Any]) -> Learner:
    """A learner that is quick. The paper's network is not, so the additive learner ranks the schemes for it."""
    if learner in WHOLE_ROWS:
        common = {name: value for name, value in settings.items() if name in COMMON}
        if callable(common.get("loss")):
            del common["loss"]
        return make_learner("additive", scheme, effort="fast", **common)
    return make_learner(learner, scheme, **{**settings, "exact": 0})


def schemes_that_fit(
    vectors: Vectors, budget: int, *, learner: str, codebook_dtype: str, apart: int = 0
) -> list[CodeScheme]:
    """For each width of code, the most codebooks whose file, `apart` bytes of other things in it, fits the budget."""
    words = compress_words(vectors.words).nbytes if vectors.words is not None else 0
    most = MAX_CODEBOOKS if learner in WHOLE_ROWS else min(MAX_CODEBOOKS, vectors.dim)
    # More codewords than rows could only repeat the rows.
    most_codewords = min(MAX_BASIS_VECTORS, max(len(vectors), 2))
    fitting, smallest = [], None
    for K in CODEWORDS:
        for M in range(most, 0, -1):
            scheme = CodeScheme(codebooks=M, codewords=K)
            size = (
                words
                + apart
                + file_bytes(scheme, len(vectors), vectors.dim, learner=learner, codebook_dtype=codebook_dtype)
            )
            smallest = size if smallest is None else min(smallest, size)
            if size <= budget and scheme.basis_vectors <= most_codewords:
                fitting.append(scheme)
                break
    if not fitting:
        raise SettingError(
            f"a budget of {budget:,} bytes is too small: the smallest file is {smallest:,} bytes, "
            f"{words:,} of them for the words" + (f", {apart:,} for what is kept apart" if apart else "")
        )
    return fitting


def file_bytes(scheme: CodeScheme, rows: int, dim: int, *, learner: str, codebook_dtype: str) -> int:
    """The file's size without its words."""
    width = dim if learner in WHOLE_ROWS else -(-dim // scheme.codebooks)
    codebooks = scheme.basis_vectors * width * np.dtype(codebook_dtype).itemsize
    norms = rows + NORM_BYTES if learner == "normalized-product" else 0
    # A product code's record names the first column of each codebook.
    offsets = 0 if learner in WHOLE_ROWS else scheme.codebooks * (len(str(dim)) + 1)
    return HEADER_BYTES + offsets + rows * scheme.bytes_per_row + codebooks + norms
