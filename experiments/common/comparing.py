"""Rows of results beside one another: means over seeds, and how much of a difference may be luck."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from experiments.common.results import Row, mean_and_spread


def pooled_spread(groups: Iterable[Sequence[float]], *, least_degrees: int = 1) -> float | None:
    """The standard deviation within groups, over all that have several values; None if it has too few degrees of
    freedom.

    >>> pooled_spread([[1.0, 3.0], [7.0], [10.0, 12.0]])
    1.4142135623730951
    """
    several = [values for values in groups if len(values) > 1]
    degrees = [len(values) - 1 for values in several]
    if sum(degrees) < least_degrees:
        return None
    squares = sum(degree * mean_and_spread(values)[1] ** 2 for degree, values in zip(degrees, several, strict=True))
    return float((squares / sum(degrees)) ** 0.5)


def with_spread(values: Sequence[float], *, digits: int) -> str:
    """`87.33 ± 0.32`, or the value alone if there is but one"""
    mean, spread = mean_and_spread(values)
    return f"{mean:.{digits}f} ± {spread:.{digits}f}" if len(values) > 1 else f"{mean:.{digits}f}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The rows of a table, in words.

    found: name -> its rows of all seeds; value: what is compared of a row; unit: what is written behind it;
    spread: the standard deviation between seeds, None if it is not known
    """

    found: Mapping[str, list[Row]]
    value: Callable[[Row], float]
    unit: str = ""
    spread: float | None = None

    def values(self, name: str) -> list[float]:
        return [self.value(row) for row in self.found[name]]

    def mean(self, name: str) -> float:
        return mean_and_spread(self.values(name))[0]

    def figures(self, name: str) -> str:
        """`87.33 % ± 0.32 (3 seeds)`"""
        mean, spread = mean_and_spread(self.values(name))
        seeds = len(self.found[name])
        return (
            f"{mean:.2f}{self.unit} ± {spread:.2f} ({seeds} seeds)"
            if seeds > 1
            else f"{mean:.2f}{self.unit} (one seed)"
        )

    def sides(self, name: str, reference: str) -> tuple[list[Row], list[Row]]:
        """The rows whose means are compared"""
        return self.found[name], self.found[reference]

    def gain(self, name: str, reference: str = "baseline") -> float:
        """The difference from the reference's mean"""
        own, other = (mean_and_spread([self.value(row) for row in side])[0] for side in self.sides(name, reference))
        return own - other

    def against(self, name: str, reference: str = "baseline") -> str:
        """The gain and, if a seed's spread is known, the standard error of it."""
        label = f"{self.gain(name, reference):+.2f} against {'the baseline' if reference == 'baseline' else reference}"
        error = self.standard_error(name, reference)
        return label if error is None else f"{label} (standard error {error:.2f})"

    def standard_error(self, name: str, reference: str = "baseline") -> float | None:
        if self.spread is None:
            return None
        own, other = self.sides(name, reference)
        return float(self.spread * (1 / len(own) + 1 / len(other)) ** 0.5)
