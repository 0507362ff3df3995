"""results/learners.json -> loss against bits a row, a panel for each table, as SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, ScalarFormatter

from learners.methods import METHODS
from learners.results import Results

mpl.use("Agg")

# color, marker, line: ours in one warm hue, faiss's in blues, nanopq's in greens, what learns nothing in greys.
STYLES = {
    "fast": ("#f4a259", "o", "-"),
    "balanced": ("#e4572e", "o", "-"),
    "thorough": ("#a4161a", "o", "-"),
    "product": ("#c9893b", "^", ":"),
    "gumbel": ("#b5838d", "D", ":"),
    "faiss-lsq": ("#1d3557", "s", "-"),
    "faiss-rq": ("#457b9d", "s", "-"),
    "faiss-plsq": ("#5e60ce", "s", "-"),
    "faiss-opq": ("#4ea8de", "v", "-"),
    "faiss-pq": ("#90caf9", "v", "-"),
    "nanopq": ("#2d6a4f", "P", ":"),
    "nanopq-opq": ("#74c69d", "P", ":"),
    "uniform": ("#6c757d", "X", "--"),
    "pca-int8": ("#adb5bd", "d", "--"),
    "kmeans": ("#343a40", "*", "--"),
}
SIZE, TALL = 5.4, 5.0
RC = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e9ecef",
    "svg.hashsalt": "lexicode",
}


def plot(results: Results, target: Path) -> None:
    """Write target.svg and target.png; the same results give the same SVG."""
    # A table has its panel once a method that knows the scheme has been measured on it.
    coded = {row["table"] for row in results.rows if row["scheme"] and "loss" in row}
    tables = [name for name in results.tables if name in coded]
    if not tables:
        return
    with mpl.rc_context(RC):
        figure, panels = plt.subplots(1, len(tables), figsize=(SIZE * len(tables) + 2.6, TALL), squeeze=False)
        handles: dict[str, Any] = {}
        for panel, table in zip(panels[0], tables, strict=True):
            handles |= _panel(panel, results, table)
        panels[0][0].set_ylabel("loss: mean squared distance a row")
        figure.legend(handles.values(), handles.keys(), loc="center right", frameon=False, fontsize=9)
        figure.tight_layout(rect=(0, 0, 1 - 2.5 / figure.get_figwidth(), 1))
        figure.savefig(target.with_suffix(".svg"), metadata={"Date": None})
        figure.savefig(target.with_suffix(".png"), dpi=160)
        plt.close(figure)


def _panel(panel: Axes, results: Results, table: str) -> dict[str, Any]:
    """One table's series; label -> its handle"""
    facts = results.tables[table]
    series = _series(results, table)
    coded = [point for name, points in series.items() if name != "uniform" for point in points]
    lowest, highest = min(loss for _, loss in coded), facts["gaussian"][0][1]
    low, high = (bound(bits for bits, _ in coded) for bound in (min, max))
    handles: dict[str, Any] = {}
    curve = np.array(facts["gaussian"])
    (handles["Gaussian reference"],) = panel.plot(*curve.T, color="black", linewidth=1, linestyle=(0, (5, 3)))
    for name, points in series.items():
        color, marker, line = STYLES[name]
        label = METHODS[name].title if name in METHODS else "uniform, 1 to 8 bits a value"
        own = name in METHODS and METHODS[name].family == "lexicode"
        (handles[label],) = panel.plot(
            *zip(*points, strict=True),
            color=color,
            marker=marker,
            linestyle=line,
            linewidth=2 if own else 1.2,
            markersize=6.5 if own else 5.5,
            zorder=4 if own else 3,
        )
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xlim(low / 1.25, high * 1.25)
    panel.set_ylim(lowest / 1.35, highest * 1.1)
    for axis, values in ((panel.xaxis, (32, 48, 64, 96, 128, 192, 256, 384, 512, 1024)), (panel.yaxis, None)):
        axis.set_major_locator(FixedLocator(values or _round_steps(lowest / 1.35, highest)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_formatter(NullFormatter())
    panel.set_title(f"{table}: {facts['rows']:,} x {facts['dim']}")
    panel.set_xlabel("bits a row on disk, codebooks counted")
    return handles


def _series(results: Results, table: str) -> dict[str, list[tuple[float, float]]]:
    """method -> its (bits a row, loss), ascending; the uniform ones are one series; float16 lies off the scale"""
    rows = results.tables[table]["rows"]
    series: dict[str, list[tuple[float, float]]] = {name: [] for name in STYLES}
    for row in results.rows:
        name = row["method"].partition("-")[0] if row["method"].startswith("uniform") else row["method"]
        if row["table"] == table and "loss" in row and name in series:
            series[name].append((8 * row["bytes"] / rows, row["loss"]))
    return {name: sorted(points) for name, points in series.items() if points}


def _round_steps(low: float, high: float) -> list[float]:
    """1, 2, 3, 5 of every power of ten within the range"""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    steps = [float(f"{digit * 10.0**power:.3g}") for power in powers for digit in (1, 1.5, 2, 3, 4, 5, 7)]
    return [step for step in steps if low <= step <= high * 1.1]
