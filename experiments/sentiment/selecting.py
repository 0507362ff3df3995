"""Rows of the results as the report wants them: of one kind and table, under their names, in the plan's order."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.common.results import Row
from experiments.sentiment.plan import whole_plan


def by_name(rows: Iterable[Row], kind: str, table: str) -> dict[str, list[Row]]:
    """Rows of all seeds together, under the row's name; names that the plan does not have come last."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["kind"] == kind and row["table"] == table:
            found.setdefault(row["row"], []).append(row)
    planned = list(dict.fromkeys(task.row for task in whole_plan() if task.kind == kind))
    order = sorted(found, key=lambda name: planned.index(name) if name in planned else len(planned))
    return {name: sorted(found[name], key=lambda row: int(row["seed"])) for name in order}
