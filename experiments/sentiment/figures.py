"""The plots of results/: accuracy against size, code balance, Hamming distance against cosine."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.common.plots import drawing
from experiments.common.results import Row, mean_and_spread
from experiments.sentiment.plan import MAIN
from experiments.sentiment.selecting import by_name

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
    found = by_name(rows, "accuracy", MAIN)
    if not found:
        return None
    labelled: list[tuple[int, float]] = []
    with drawing(folder / ACCURACY, size=(7.2, 4.6)) as (axes,):
        for kind, (label, colour, marker) in SERIES.items():
            points = [(name, same) for name, same in found.items() if same[0]["learner"] == kind]
            for number, (name, same) in enumerate(points):
                mean, spread = mean_and_spread([100 * row["accuracy"] for row in same])
                size = same[0]["paper_bytes"]
                axes.errorbar(
                    size, mean, yerr=spread or None, color=colour, marker=marker, capsize=2, linestyle="none",
                    label=label if number == 0 else None,
                )  # fmt: skip
                # The row's name without its learner's: 16x32, weighted-12x16, or a number of bits.
                note = name.partition("-")[2]
                crowded = any(abs(np.log10(size / other)) < 0.3 and abs(mean - at) < 0.1 for other, at in labelled)
                labelled.append((size, mean))
                below_or_above = (4, -9) if crowded else (4, 3)
                axes.annotate(note, (size, mean), xytext=below_or_above, textcoords="offset points", fontsize=6.5)
        axes.set_xscale("log")
        axes.set_xlabel("bytes by the paper's count")
        axes.set_ylabel("test accuracy, %")
        axes.legend(fontsize=7, loc="lower right")
    return ACCURACY


def draw_balance(rows: list[Row], folder: Path) -> str | None:
    """The paper's figure: how many words use each codeword, a column for each codebook."""
    described = [same[0] for same in by_name(rows, "codes", MAIN).values()]
    if not described:
        return None
    with drawing(folder / BALANCE, columns=len(described), size=(3.4, 3.0)) as all_axes:
        for axes, row in zip(all_axes, described, strict=True):
            counts = np.array(row["counts"]).T
            image = axes.imshow(counts, aspect="auto", origin="lower", cmap="viridis", vmin=0)
            axes.figure.colorbar(image, ax=axes, shrink=0.8)
            axes.set_title(f"{row['row']}: least {row['least_used']:,}")
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
