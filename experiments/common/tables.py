"""Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, left: int = 1) -> str:
    """A table whose first `left` columns are text and the others numbers; None is shown as `-`.

    >>> print(markdown_table(["row", "loss"], [["baseline", None], ["16x32", 20.4]]))
    | row | loss |
    | --- | ---: |
    | baseline | - |
    | 16x32 | 20.4 |
    """
    rule = ["---" if place < left else "---:" for place in range(len(columns))]
    cells = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in [list(columns), rule, *cells])
