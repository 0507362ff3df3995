"""Axes of a plot: numbers to places, and the round numbers that are written beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lexicode.report.markup import Markup, joined, tag

WIDTH, HEIGHT = 400, 270
LEFT, RIGHT, TOP, BOTTOM = 48, 14, 30, 44


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Numbers from `low` to `high` on places from `start` to `stop`; log: equal ratios are equal steps.

    >>> Scale(low=0, high=10, start=100, stop=200).place(5)
    150.0
    """

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def place(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.stop - self.start)

    def ticks(self) -> list[float]:
        return log_ticks(self.low, self.high) if self.log else linear_ticks(self.low, self.high)


def linear_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from low to high, about so many

    >>> linear_ticks(0, 10)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((power * unit for unit in (1, 2, 5, 10)), key=lambda size: abs(math.log(size / rough)))
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between; where these are fewer than three, equal steps"""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [unit * 10.0**power for power in powers for unit in (1, 2, 5)]
    inside = [value for value in found if low * 0.999 <= value <= high * 1.001]
    if len(inside) > 7:
        inside = [value for value in inside if math.isclose(math.log10(value) % 1, 0, abs_tol=1e-6)]
    return inside if len(inside) >= 3 else [tick for tick in linear_ticks(low, high) if tick > 0]


def short(value: float) -> str:
    """A number for an axis: 1500 -> 1,500; 0.05 -> 0.05; 2000000 -> 2 M"""
    if abs(value) >= 1e6 and value % 1e5 == 0:
        return f"{value / 1e6:g} M"
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    return f"{value:.3g}"


def frame(
    x: Scale, y: Scale, *, title: str, x_label: str, y_label: str, inside: Sequence[Markup], x_ticks: bool = True
) -> Markup:
    """A plot: its axes with their units, its title, and what is drawn inside. Without `x_ticks` what stands inside
    names its own places."""
    lines = [
        tag("line", x1=float(x.start), x2=float(x.stop), y1=y.place(tick), y2=y.place(tick), class_="grid")
        for tick in y.ticks()
    ]
    numbers = [tag("text", short(tick), x=x.start - 7, y=y.place(tick) + 4, class_="tick end") for tick in y.ticks()]
    numbers += [
        tag("text", short(tick), x=x.place(tick), y=y.start + 16, class_="tick middle") for tick in x.ticks() if x_ticks
    ]
    labels = [
        tag("text", x_label, x=(x.start + x.stop) / 2, y=HEIGHT - 6, class_="label middle"),
        tag("text", y_label, x=2, y=14, class_="label"),
    ]
    return tag(
        "svg",
        tag("title", title),
        lines,
        tag("line", x1=float(x.start), x2=float(x.stop), y1=y.start, y2=y.start, class_="axis"),
        joined(inside),
        numbers,
        labels,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=title,
        class_="plot",
    )


def across(low: float, high: float) -> Scale:
    """The horizontal axis of a plot."""
    return Scale(low=low, high=high, start=LEFT, stop=WIDTH - RIGHT)


def upward(low: float, high: float, *, log: bool = False) -> Scale:
    """The vertical axis of a plot, from its foot."""
    return Scale(low=low, high=high, start=HEIGHT - BOTTOM, stop=TOP, log=log)
