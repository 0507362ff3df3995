"""matplotlib without a display, in one style for all plots of results/."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib

# Before pyplot: the machine that runs experiments has no display.
matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

STYLE = {
    "figure.dpi": 110,
    "savefig.bbox": "tight",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.fonttype": "path",
    # The same plot gives the same bytes, so that a rerun changes nothing in the repository.
    "svg.hashsalt": "lexicode",
}


@contextmanager
def drawing(
    path: Path, *, rows: int = 1, columns: int = 1, size: tuple[float, float] = (5.0, 3.4)
) -> Iterator[list[Axes]]:
    """Axes row by row, each of `size` inches; saved to `path` (.svg or .png) when the block ends."""
    inches = (size[0] * columns, size[1] * rows)
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(rows, columns, figsize=inches, squeeze=False, layout="constrained")
        try:
            yield list(grid.flat)
            path.parent.mkdir(parents=True, exist_ok=True)
            # Another process may be at the same plot.
            temporary = path.with_name(f".{os.getpid()}.{path.name}")
            figure.savefig(temporary, metadata={"Date": None} if path.suffix == ".svg" else None)
            temporary.replace(path)
        finally:
            plt.close(figure)


# Offsets in points, and which end of the note lies there.
PLACES = ((5, 3, "left"), (5, -8, "left"), (-5, 3, "right"), (-5, -8, "right"), (5, 11, "left"), (5, -16, "left"))
POINT_RADIUS = 3.0


def write_notes(axes: Axes, notes: Sequence[tuple[float, float, str]]) -> None:
    """Beside each point (x, y) its note, where it covers no axis, point or other note if there is such a place.

    Call it when all is drawn: it depends on the axes' limits.
    """
    axes.figure.draw_without_rendering()
    frame = axes.get_window_extent()
    taken = [_around(axes, x, y) for x, y, _ in notes]
    for x, y, text in notes:
        for right, up, end in PLACES:
            note = axes.annotate(text, (x, y), (right, up), textcoords="offset points", fontsize=6.5, ha=end)
            box = note.get_window_extent()
            if box.x0 > frame.x0 and not any(box.overlaps(other) for other in taken):
                break
            note.remove()
        else:
            right, up, end = PLACES[0]
            note = axes.annotate(text, (x, y), (right, up), textcoords="offset points", fontsize=6.5, ha=end)
            box = note.get_window_extent()
        taken.append(box)


def _around(axes: Axes, x: float, y: float) -> Bbox:
    across, up = axes.transData.transform((x, y))
    return Bbox.from_extents(across - POINT_RADIUS, up - POINT_RADIUS, across + POINT_RADIUS, up + POINT_RADIUS)
