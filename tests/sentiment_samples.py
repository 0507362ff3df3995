"""Film reviews and word vectors in which good and bad words lie apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

GOOD = [f"good{number}" for number in range(12)]
BAD = [f"bad{number}" for number in range(12)]
PLAIN = [f"plain{number}" for number in range(40)]
DIM = 12


def reviews(split: int, count: int = 100) -> Iterator[tuple[int, str]]:
    """Half of them have good words in them, the others bad ones."""
    rng = np.random.default_rng(split)
    for number in range(count):
        label = number % 2
        words = [
            *rng.choice(GOOD if label else BAD, size=6),
            *rng.choice(PLAIN, size=int(rng.integers(4, 40))),
            "unknown",
        ]
        rng.shuffle(words)
        yield label, " ".join(words).capitalize() + ".<br /><br />The end."


def write_vectors(path: Path) -> None:
    """Good and bad words lie apart in the first column; a word that no review has is among them."""
    rng = np.random.default_rng(9)
    words = [*GOOD, *BAD, *PLAIN, "the", "end", "absent"]
    matrix = rng.normal(size=(len(words), DIM))
    matrix[: len(GOOD), 0] += 4
    matrix[len(GOOD) : len(GOOD) + len(BAD), 0] -= 4
    lines = [" ".join([word, *(f"{value:.5f}" for value in row)]) for word, row in zip(words, matrix, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
