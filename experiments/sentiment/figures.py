"""The plots of results/: accuracy against size, code balance, Hamming distance against cosine."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.common.plots import drawing
from experiments.common.results import Row, mean_and_spread
from experiments.sentiment.plan import MAIN

ACCURACY, BALANCE, HAMMING = "sentiment-accuracy.svg", "sentiment-balance.svg", "sentiment-hamming.svg"
SERIES = {
    "baseline": ("baseline", "k", "*"),
    "gumbel": ("the paper's network", "C0", "o"),
    "additive": ("lexicode, additive", "C3", "s"),
    "npq": ("NPQ", "C2", "^"),
    "uniform": ("uniform bits", "C1", "D"),
    "prune": ("pruned", "C7", "v"),
}


def draw_accuracy(rows: list[Row], folder: Path) -> str | None:
    """Each row of the main table, the mean over its seeds, against its bytes by the paper's count."""
    rows = [row for row in rows if row["kind"] == "accuracy" and row["table"] == MAIN]
    if not rows:
        return None
    with drawing(folder / ACCURACY, size=(6.4, 3.8)) as (axes,):
        for kind, (label, colour, marker) in SERIES.items():
            points: dict[str, list[Row]] = {}
            for row in rows:
                if row["learner"] == kind:
                    points.setdefault(row["row"], []).append(row)
            for number, (name, same) in enumerate(points.items()):
                mean, spread = mean_and_spread([100 * row["accuracy"] for row in same])
                size = same[0]["paper_bytes"]
                axes.errorbar(
                    size, mean, yerr=spread or None, color=colour, marker=marker, capsize=2, linestyle="none",
                    label=label if number == 0 else None,
                )  # fmt: skip
                # The row's name without its learner's: 16x32, weighted-12x16, or a number of bits.
                note = name.partition("-")[2]
                axes.annotate(note, (size, mean), xytext=(4, 3), textcoords="offset points", fontsize=6.5)
        axes.set_xscale("log")
        axes.set_xlabel("bytes by the paper's count")
        axes.set_ylabel("test accuracy, %")
        axes.legend(fontsize=7, loc="lower right")
    return ACCURACY


def draw_balance(rows: list[Row], folder: Path) -> str | None:
    """The paper's figure: how many words use each codeword, a column for each codebook."""
    rows = [row for row in rows if row["kind"] == "codes"]
    if not rows:
        return None
    with drawing(folder / BALANCE, columns=len(rows), size=(3.4, 3.0)) as all_axes:
        for axes, row in zip(all_axes, rows, strict=True):
            counts = np.array(row["counts"]).T
            image = axes.imshow(counts, aspect="auto", origin="lower", cmap="viridis", vmin=0)
            axes.figure.colorbar(image, ax=axes, shrink=0.8)
            axes.set_title(f"{row['row']}: least {row['least_used']:,}")
            axes.set_xlabel("codebook")
            axes.set_ylabel("codeword")
    return BALANCE


def draw_hamming(rows: list[Row], folder: Path) -> str | None:
    """The mean part of the code that differs, by the cosine of the two words; tenth to ninetieth percentile."""
    rows = [row for row in rows if row["kind"] == "codes"]
    if not rows:
        return None
    with drawing(folder / HAMMING, size=(5.6, 3.6)) as (axes,):
        for number, row in enumerate(rows):
            codebooks = len(row["counts"])
            bins = row["hamming"]["bins"]
            cosine = [each["cosine"] for each in bins]
            colour, line = f"C{number // 2}", "-" if row["learner"] == "gumbel" else "--"
            means = [each["mean"] / codebooks for each in bins]
            axes.plot(cosine, means, label=row["row"], color=colour, linestyle=line)
            axes.fill_between(
                cosine,
                [each["low"] / codebooks for each in bins],
                [each["high"] / codebooks for each in bins],
                color=colour,
                alpha=0.08,
            )
        axes.set_xlabel("cosine of the two words")
        axes.set_ylabel("part of the code that differs")
        axes.legend(fontsize=7, loc="upper right")
    return HAMMING
