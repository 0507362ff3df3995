"""Section 6 of the paper: what codes look like, how evenly they are used, and whether like words have like codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from lexicode import CodedEmbedding, Vectors

EXAMPLES = ("dog", "cat", "penguin", "go", "went", "gone")
SHARED_GROUPS = 8
SHARED_WORDS = 9
RANDOM_PAIRS = 200_000
NEAR_WORDS = 2000
NEIGHBOURS = 50
BINS = np.linspace(-0.2, 1.0, 25)

Integers = npt.NDArray[np.integer[Any]]


def describe(vectors: Vectors, coded: CodedEmbedding, *, seed: int = 0) -> dict[str, Any]:
    """All figures of section 6 for one table, as JSON can hold them."""
    codes = coded.codes()
    counts = usage(codes, coded.scheme.codewords)
    return {
        "examples": {word: coded.codes(word).tolist() for word in EXAMPLES if word in coded},
        "shared": shared_codes(codes, list(coded.words or ())),
        "rows_that_share": rows_that_share(codes),
        "counts": counts.tolist(),
        "least_used": int(counts.min()),
        "hamming": hamming_and_cosine(vectors, codes, np.random.default_rng(seed)),
    }


def usage(codes: Integers, codewords: int) -> Integers:
    """codes (V, M) -> how many rows use each codeword, (M, K)

    >>> usage(np.array([[0, 1], [0, 0], [1, 1]]), 2)
    array([[2, 1],
           [1, 2]])
    """
    return np.stack([np.bincount(column, minlength=codewords) for column in codes.T])


def rows_that_share(codes: Integers) -> int:
    """How many rows have a code that another row has too."""
    _, counts = np.unique(codes, axis=0, return_counts=True)
    return int(counts[counts > 1].sum())


def shared_codes(codes: Integers, words: list[str]) -> list[dict[str, Any]]:
    """The codes that most words share, and the first of these words in the table's order."""
    distinct, place, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    groups = []
    for number in np.argsort(-counts, kind="stable")[:SHARED_GROUPS]:
        if counts[number] < 2 or not words:
            break
        rows = np.flatnonzero(place.ravel() == number)
        groups.append(
            {
                "code": distinct[number].tolist(),
                "count": int(counts[number]),
                "words": [words[row] for row in rows[:SHARED_WORDS]],
            }
        )
    return groups


def hamming_and_cosine(vectors: Vectors, codes: Integers, rng: np.random.Generator) -> dict[str, Any]:
    """How the Hamming distance of two codes follows the cosine of their words.

    The paper says that it does. Measured by Spearman's rank correlation with the cosine distance: over random pairs of
    words, and over pairs of near ones (some words with each of their nearest neighbours).
    """
    table = vectors.take(np.arange(len(vectors)))
    unit = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    random_pairs = rng.integers(0, len(codes), size=(RANDOM_PAIRS, 2))
    random_pairs = random_pairs[random_pairs[:, 0] != random_pairs[:, 1]]
    near_pairs = nearest_pairs(unit, rng)
    result: dict[str, Any] = {}
    cosines, distances = [], []
    for name, pairs in (("random", random_pairs), ("near", near_pairs)):
        cosine = np.einsum("nd,nd->n", unit[pairs[:, 0]], unit[pairs[:, 1]])
        distance = (codes[pairs[:, 0]] != codes[pairs[:, 1]]).sum(axis=1)
        result[f"{name}_rank_correlation"] = float(spearmanr(1 - cosine, distance).statistic)
        cosines.append(cosine)
        distances.append(distance)
    result["bins"] = binned(np.concatenate(cosines), np.concatenate(distances))
    return result


def nearest_pairs(unit: npt.NDArray[np.float32], rng: np.random.Generator) -> Integers:
    """unit (V, dim), rows of length one -> pairs (n, 2) of some rows with each of their nearest"""
    chosen = rng.choice(len(unit), size=min(NEAR_WORDS, len(unit)), replace=False)
    count = min(NEIGHBOURS, len(unit) - 1)
    pairs = []
    for start in range(0, len(chosen), 256):
        rows = chosen[start : start + 256]
        cosines = unit[rows] @ unit.T
        cosines[np.arange(len(rows)), rows] = -np.inf
        nearest = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        pairs.append(np.stack([np.repeat(rows, count), nearest.ravel()], axis=1))
    return np.concatenate(pairs)


def binned(cosine: npt.NDArray[np.float32], distance: Integers) -> list[dict[str, float]]:
    """The distance's mean and tenth and ninetieth percentile by the pair's cosine; bins of few pairs are left out."""
    place = np.digitize(cosine, BINS)
    found = []
    for number in range(1, len(BINS)):
        inside = distance[place == number]
        if len(inside) >= 20:
            low, high = np.percentile(inside, [10, 90])
            middle = (BINS[number - 1] + BINS[number]) / 2
            figures = {"cosine": middle, "mean": inside.mean(), "low": low, "high": high}
            found.append({name: round(float(value), 4) for name, value in figures.items()})
    return found
