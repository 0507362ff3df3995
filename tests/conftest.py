"""Small tables that several tests share."""

from __future__ import annotations

import numpy as np
import pytest

from lexicode import Vectors


@pytest.fixture(scope="session")
def clustered() -> Vectors:
    """600 words around 12 centers in 10 dimensions: structure that a code can find."""
    rng = np.random.default_rng(11)
    centers = rng.normal(size=(12, 10)) * 3
    matrix = centers[rng.integers(12, size=600)] + rng.normal(size=(600, 10))
    return Vectors(matrix.astype(np.float32), [f"word{i}" for i in range(600)])
