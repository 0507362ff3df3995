"""Lengths and directions of rows: lengths may be coded apart from the codes, as one of up to 256 levels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.encoding import nearest


def normalized(block: Floats) -> Floats:
    """block (n, dim) -> rows of length one; a row of zeros stays zero"""
    lengths = np.linalg.norm(block, axis=1, keepdims=True)
    return np.divide(block, np.where(lengths > 0, lengths, 1), dtype=np.float32)


def scales(block: Floats, directions: Floats) -> Floats:
    """block, directions (n, dim) -> (n,) float32: the lengths that bring directions nearest to the rows"""
    squares = np.einsum("nd,nd->n", directions, directions)
    # A direction that points away from its row serves it best at length zero.
    products = np.maximum(np.einsum("nd,nd->n", block, directions), 0)
    best: Floats = np.divide(products, squares, out=np.zeros_like(products), where=squares > 0)
    return best


def nearest_levels(lengths: Floats, levels: Floats) -> npt.NDArray[np.uint8]:
    """lengths (n,), levels (up to 256,) -> the index of each length's nearest level, (n,) uint8"""
    return nearest(lengths[:, None], levels[:, None]).astype(np.uint8)
