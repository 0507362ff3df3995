"""The plot of BLEU against size."""

from __future__ import annotations

from pathlib import Path

from experiments.common.plots import drawing, write_notes
from experiments.common.results import Row
from experiments.common.sizes import MEBIBYTE
from experiments.translation.comparing import compared
from experiments.translation.resampling import Resampling

KINDS = {
    "baseline": "dense",
    "fixed": "dense, fixed",
    "prune": "pruned",
    "uniform": "uniform",
    "additive": "lexicode",
    "gumbel": "the paper's network",
}


def draw_quality(groups: dict[str, list[Row]], resampling: Resampling, path: Path) -> None:
    """What each row gains over the baseline of its seeds, by the size of its tables"""
    beside = compared(groups)
    notes: list[tuple[float, float, str]] = []
    with drawing(path) as (axes,):
        for kind, label in KINDS.items():
            names = [
                name
                for name, group in groups.items()
                if group[0]["kind"] == kind and beside.comparable(name, "baseline")
            ]
            if not names:
                continue
            sizes = [groups[name][0]["paper_bytes"] / MEBIBYTE for name in names]
            gains = [beside.gain(name) for name in names]
            color = axes.plot(sizes, gains, "o", label=label)[0].get_color()
            for name, size in zip(names, sizes, strict=True):
                if (bounds := resampling.interval(*beside.sides(name, "baseline"))) is not None:
                    axes.vlines(size, *bounds, color=color, linewidth=0.8, alpha=0.6)
            notes += [
                (size, gain, name.partition("-")[2].removesuffix("-swapped"))
                for size, gain, name in zip(sizes, gains, names, strict=True)
            ]
        axes.axhline(0, color="0.7", linewidth=0.8, zorder=0)
        axes.set(xscale="log", xlabel="both tables, MB by the paper's count", ylabel="BLEU against the baseline")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
        # The highest first: of two points that lie close the upper one's note is then the upper one.
        write_notes(axes, sorted(notes, key=lambda note: -note[1]))
