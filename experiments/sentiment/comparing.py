"""Rows of one table beside one another: means over seeds, and how much of a difference may be luck."""

from __future__ import annotations

from experiments.common.results import Row, mean_and_spread
from experiments.sentiment.plan import MAIN, SECOND
from experiments.sentiment.selecting import by_name


def seed_spread(rows: list[Row]) -> float | None:
    """The standard deviation of accuracy, in percent, between seeds of one row, pooled over all rows of several."""
    groups = [same for table in (MAIN, SECOND) for same in by_name(rows, "accuracy", table).values() if len(same) > 1]
    if not groups:
        return None
    spreads = [mean_and_spread([100 * row["accuracy"] for row in same])[1] for same in groups]
    degrees = [len(same) - 1 for same in groups]
    squares = sum(degree * spread**2 for degree, spread in zip(degrees, spreads, strict=True))
    return float((squares / sum(degrees)) ** 0.5)


class Comparison:
    """The accuracy rows of a table by name, in words."""

    def __init__(self, rows: list[Row], table: str) -> None:
        self.found = by_name(rows, "accuracy", table)
        self.spread = seed_spread(rows)

    def mean(self, name: str) -> float:
        return mean_and_spread([100 * row["accuracy"] for row in self.found[name]])[0]

    def figures(self, name: str) -> str:
        """`87.33 % ± 0.32 (3 seeds)`"""
        same = self.found[name]
        mean, spread = mean_and_spread([100 * row["accuracy"] for row in same])
        return f"{mean:.2f} % ± {spread:.2f} ({len(same)} seeds)" if len(same) > 1 else f"{mean:.2f} % (one seed)"

    def against(self, name: str, reference: str = "baseline") -> str:
        """The difference from the reference's mean and, if a seed's spread is known, the standard error of it."""
        label = f"{self.mean(name) - self.mean(reference):+.2f} against the {reference}"
        if self.spread is None:
            return label
        seeds = len(self.found[name]), len(self.found[reference])
        return f"{label} (standard error {self.spread * (1 / seeds[0] + 1 / seeds[1]) ** 0.5:.2f})"
