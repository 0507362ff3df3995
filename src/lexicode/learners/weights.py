"""How much each row counts when codebooks are learned, and which rows are learned from."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats
from lexicode.errors import SettingError

# Word r of a text is about as frequent as 1 / (r + 2.7) (Zipf 1949; the shift is Mandelbrot's).
ZIPF = "zipf"
ZIPF_SHIFT = 2.7

Weights = str | npt.ArrayLike


def check_weights(weights: Weights | None) -> None:
    """Refuse what cannot be anyone's weights, before a table is read."""
    if isinstance(weights, str) and weights != ZIPF:
        raise SettingError(f'weights={weights!r} is not "{ZIPF}"; give that, or one number a row')


def row_weights(weights: Weights | None, rows: int) -> Floats:
    """Each row's weight, (rows,) float32, their mean one.

    >>> row_weights("zipf", 2)
    array([1.1193181, 0.8806818], dtype=float32)
    """
    if weights is None:
        return np.ones(rows, dtype=np.float32)
    if isinstance(weights, str):
        given = 1 / (np.arange(rows) + 1 + ZIPF_SHIFT)
    else:
        try:
            given = np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise SettingError("weights are not numbers; give one number a row") from None
    if given.shape != (rows,):
        raise SettingError(f"weights have shape {given.shape}, but the table has {rows} rows")
    if len(wrong := np.flatnonzero(~(np.isfinite(given) & (given >= 0)))):
        raise SettingError(f"the weight of row {wrong[0]} is {given[wrong[0]]}; weights are finite and not below zero")
    if not given.any():
        raise SettingError("all weights are zero; leave them out to count every row alike")
    # By the largest first: a sum of numbers near the end of float64's range would be infinite.
    given = given / given.max()
    return np.asarray(given / given.mean(), dtype=np.float32)


def weights_record(weights: Weights) -> str:
    """What the artefact remembers of the weights."""
    if isinstance(weights, str):
        return weights
    numbers = np.ascontiguousarray(weights, dtype="<f8")
    return f"sha256:{hashlib.sha256(numbers.tobytes()).hexdigest()}"


def heaviest(weights: Weights | None, rows: int, count: int) -> npt.NDArray[np.int64]:
    """The `count` rows of largest weight, ascending; the earlier ones where weights are equal or none are given."""
    if weights is None or isinstance(weights, str):
        return np.arange(count)
    order = np.argsort(-row_weights(weights, rows), kind="stable")
    return np.sort(order[:count])


def learning_sample(
    weights: Floats | None, rows: int, wanted: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], Floats | None]:
    """The rows to learn from, ascending, and their weights: all that have any, or `wanted` of them.

    With weights, the heavier half of the sample is the heaviest rows themselves and the other half stands for the
    rest, so that no frequent word depends on luck.
    """
    counted = np.arange(rows) if weights is None else np.flatnonzero(weights)
    if len(counted) <= wanted:
        return counted, None if weights is None else weights[counted]
    if weights is None:
        return np.sort(rng.choice(rows, size=wanted, replace=False)), None
    order = counted[np.argsort(-weights[counted], kind="stable")]
    heavy, light = order[: wanted // 2], order[wanted // 2 :]
    drawn = rng.choice(light, size=wanted - len(heavy), replace=False)
    scaled = weights.copy()
    scaled[drawn] *= np.float32(len(light) / len(drawn))
    chosen = np.sort(np.concatenate([heavy, drawn]))
    return chosen, scaled[chosen]
