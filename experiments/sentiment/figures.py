"""The plots of results/: accuracy against size, code balance, Hamming distance against cosine."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.common.plots import drawing, write_notes
from experiments.common.results import Row, mean_and_spread
from experiments.sentiment.plan import LEARNERS, MAIN, quick_plan, whole_plan
from experiments.sentiment.selecting import by_name

ACCURACY, BALANCE, HAMMING = "sentiment-accuracy.svg", "sentiment-balance.svg", "sentiment-hamming.svg"
PLANNED = {task.row for task in (*whole_plan(), *quick_plan())}
SERIES = {
    "baseline": ("baseline", "k", "*"),
    "gumbel": ("the paper's network", "C0", "o"),
    "additive": ("lexicode, additive", "C3", "s"),
    "npq": ("NPQ", "C2", "^"),
    "uniform": ("uniform bits", "C1", "D"),
    "prune": ("pruned", "C7", "v"),
}


def draw_accuracy(rows: list[Row], folder: Path) -> str | None:
    """Each row of the main table that is planned, the mean over its seeds, against its bytes by the paper's count."""
    found = {name: same for name, same in by_name(rows, "accuracy", MAIN).items() if name in PLANNED}
    if not found:
        return None
    notes = []
    with drawing(folder / ACCURACY, size=(7.2, 4.6)) as (axes,):
        for kind, (label, colour, marker) in SERIES.items():
            points = [(name, same) for name, same in found.items() if same[0]["learner"] == kind]
            for number, (name, same) in enumerate(points):
                mean, spread = mean_and_spread([100 * row["accuracy"] for row in same])
                size = same[0]["paper_bytes"]
                axes.errorbar(
                    size, mean, yerr=spread or None, color=colour, marker=marker, markersize=5, capsize=2, alpha=0.8,
                    linestyle="none", label=label if number == 0 else None,
                )  # fmt: skip
                # The row's name without its learner's: 16x32, weighted-12x16, or a number of bits.
                notes.append((size, mean, name.partition("-")[2]))
        axes.set_xscale("log")
        # Room for the long names of the smallest.
        axes.set_xlim(left=min(size for size, _, _ in notes) / 4)
        axes.set_xlabel("bytes by the paper's count")
        axes.set_ylabel("test accuracy, %")
        axes.legend(fontsize=7, loc="lower right")
        write_notes(axes, notes)
    return ACCURACY


def draw_balance(rows: list[Row], folder: Path) -> str | None:
    """The paper's figure: how many words use each codeword, a column for each codebook."""
    described = [same[0] for same in by_name(rows, "codes", MAIN).values()]
    if not described:
        return None
    # A learner has a row of its own, a scheme a column.
    described.sort(key=lambda row: LEARNERS.index(row["learner"]))
    rows_of_plots = len({row["learner"] for row in described})
    columns = -(-len(described) // rows_of_plots)
    with drawing(folder / BALANCE, rows=rows_of_plots, columns=columns, size=(3.2, 2.6)) as all_axes:
        for axes in all_axes[len(described) :]:
            axes.set_axis_off()
        for axes, row in zip(all_axes, described, strict=False):
            counts = np.array(row["counts"]).T
            image = axes.imshow(counts, aspect="auto", origin="lower", cmap="viridis", vmin=0)
            axes.figure.colorbar(image, ax=axes, shrink=0.8)
            axes.set_title(f"{row['row']}: least {row['least_used']:,}")
            for axis in (axes.xaxis, axes.yaxis):
                axis.get_major_locator().set_params(integer=True)
            axes.set_xlabel("codebook")
            axes.set_ylabel("codeword")
    return BALANCE


def draw_hamming(rows: list[Row], folder: Path) -> str | None:
    """The mean part of the code that differs, by the cosine of the two words; tenth to ninetieth percentile."""
    described = [same[0] for same in by_name(rows, "codes", MAIN).values()]
    if not described:
        return None
    schemes = list(dict.fromkeys(row["scheme"] for row in described))
    with drawing(folder / HAMMING, size=(5.6, 3.6)) as (axes,):
        for row in described:
            codebooks = len(row["counts"])
            bins = row["hamming"]["bins"]
            cosine = [each["cosine"] for each in bins]
            colour, line = f"C{schemes.index(row['scheme'])}", "-" if row["learner"] == "gumbel" else "--"
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
