"""k-means in numpy: what product quantization learns each of its codebooks with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.encoding import BLOCK_SCORES, nearest

ITERATIONS = 25


def kmeans(points: Floats, K: int, rng: np.random.Generator, iterations: int = ITERATIONS) -> Floats:
    """points (n, width) float32 -> centers (K, width) float32; with fewer points than K, some centers repeat"""
    n = len(points)
    centers = points[rng.choice(n, size=K, replace=n < K)]
    for _ in range(iterations):
        labels = nearest_in_blocks(points, centers)
        counts = np.bincount(labels, minlength=K)
        sums = np.stack([np.bincount(labels, weights=column, minlength=K) for column in points.T], axis=1)
        moved = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
        if len(empty := np.flatnonzero(counts == 0)):
            # A center that lost all its points starts again at the points that are worst served.
            distances = np.square(points - centers[labels]).sum(axis=1)
            farthest = np.argsort(-distances, kind="stable")[: len(empty)]
            moved[empty] = points[np.resize(farthest, len(empty))]
        if np.array_equal(moved, centers):
            break
        centers = moved
    return centers


def nearest_in_blocks(points: Floats, centers: Floats) -> npt.NDArray[np.intp]:
    """`nearest`, a block of points at a time, so that the distances never fill the memory."""
    rows = max(1, BLOCK_SCORES // len(centers))
    return np.concatenate([nearest(points[at : at + rows], centers) for at in range(0, len(points), rows)])
