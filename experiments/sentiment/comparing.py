"""The accuracy of the rows, in percent, compared."""

from __future__ import annotations

from experiments.common.comparing import Comparison, pooled_spread
from experiments.common.results import Row
from experiments.sentiment.plan import MAIN, SECOND
from experiments.sentiment.selecting import by_name


def percent(row: Row) -> float:
    return float(100 * row["accuracy"])


def seed_spread(rows: list[Row]) -> float | None:
    """The standard deviation of accuracy between seeds of one row, pooled over both tables."""
    groups = [same for table in (MAIN, SECOND) for same in by_name(rows, "accuracy", table).values()]
    return pooled_spread([percent(row) for row in same] for same in groups)


def compared(rows: list[Row], table: str) -> Comparison:
    """The accuracy rows of a table"""
    found = by_name(rows, "accuracy", table)
    return Comparison(found=found, value=percent, unit=" %", spread=seed_spread(rows))
