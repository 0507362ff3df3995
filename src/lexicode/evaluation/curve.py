"""The learning curve as it can be drawn: one or more losses over rounds or iterations."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lexicode.errors import InputError

STEPS = ("iteration", "round", "step")


@dataclass(frozen=True, kw_only=True)
class Curve:
    """unit: what `steps` counts, such as round; losses: name -> the loss at each step"""

    unit: str
    steps: tuple[int, ...]
    losses: dict[str, tuple[float, ...]]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def curve_of(points: Sequence[Any]) -> Curve | None:
    """A learner's curve, or the JSON of it: numbers, one a round, or records with an iteration and losses. None where
    there are fewer than two points: a learner of one pass has no curve.

    >>> curve_of([4.0, 3.5]).losses
    {'loss': (4.0, 3.5)}
    """
    if not isinstance(points, (list, tuple)):
        raise InputError("a learning curve is a JSON list, as `lexicode compress --curve` writes it")
    listed: list[Any] = [point if isinstance(point, (int, float, dict)) else point.as_dict() for point in points]
    if len(listed) < 2:
        return None
    if all(_is_number(point) for point in listed):
        return Curve(unit="round", steps=tuple(range(1, len(listed) + 1)), losses={"loss": tuple(map(float, listed))})
    first = listed[0]
    unit = next((name for name in STEPS if isinstance(first, dict) and name in first), None)
    names = [name for name in first if name.endswith("loss")] if isinstance(first, dict) else []
    for number, point in enumerate(listed):
        if unit is None or not names or not isinstance(point, dict):
            raise InputError(f"point {number} of the learning curve has no number of its step and no loss")
        if not all(_is_number(point.get(name)) for name in (unit, *names)):
            raise InputError(f"point {number} of the learning curve lacks a finite {unit} or loss")
    return Curve(
        unit=str(unit),
        steps=tuple(int(point[unit]) for point in listed),
        losses={name.replace("_", " "): tuple(float(point[name]) for point in listed) for name in names},
    )


def read_curve(path: str | os.PathLike[str]) -> Curve | None:
    """The file that `lexicode compress --curve` writes."""
    try:
        return curve_of(json.loads(Path(path).read_text(encoding="utf-8")))
    except (InputError, ValueError, AttributeError) as error:
        reason = error if isinstance(error, InputError) else "not a JSON list of numbers or records"
        raise InputError(f"{os.fspath(path)}: {reason}") from None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
