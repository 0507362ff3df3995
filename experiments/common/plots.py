"""matplotlib without a display, in one style for all plots of results/."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib

# Before pyplot: the machine that runs experiments has no display.
matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

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
def drawing(path: Path, *, columns: int = 1, size: tuple[float, float] = (5.0, 3.4)) -> Iterator[list[Axes]]:
    """Axes side by side, each of `size` inches; saved to `path` (.svg or .png) when the block ends."""
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(1, columns, figsize=(size[0] * columns, size[1]), squeeze=False)
        try:
            yield list(grid[0])
            path.parent.mkdir(parents=True, exist_ok=True)
            # Another process may be at the same plot.
            temporary = path.with_name(f".{os.getpid()}.{path.name}")
            figure.savefig(temporary, metadata={"Date": None} if path.suffix == ".svg" else None)
            temporary.replace(path)
        finally:
            plt.close(figure)
