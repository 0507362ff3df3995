"""The plot of BLEU against size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.ticker import LogLocator, NullLocator

from experiments.common.plots import drawing, write_notes
from experiments.common.sizes import MEBIBYTE
from experiments.translation.comparing import SeedComparison
from experiments.translation.resampling import Resampling


def draw_gains(
    rows: SeedComparison,
    families: Mapping[str, Mapping[str, str]],
    resampling: Resampling,
    path: Path,
    *,
    joined: bool = False,
) -> None:
    """What each row gains over the baseline of its seeds, by the size of its tables

    families: legend -> names of rows, each with the note beside its point; joined: by a line, a family's rows
    """
    points: list[tuple[float, float, str]] = []
    with drawing(path) as (axes,):
        for label, noted in families.items():
            names = [name for name in noted if rows.comparable(name, "baseline")]
            if not names:
                continue
            sizes = [rows.found[name][0]["paper_bytes"] / MEBIBYTE for name in names]
            gains = [rows.gain(name) for name in names]
            color = axes.plot(sizes, gains, "o-" if joined else "o", linewidth=0.8, label=label)[0].get_color()
            for name, size in zip(names, sizes, strict=True):
                if (bounds := resampling.interval(*rows.sides(name, "baseline"))) is not None:
                    axes.vlines(size, *bounds, color=color, linewidth=0.8, alpha=0.6)
            points += [(size, gain, noted[name]) for size, gain, name in zip(sizes, gains, names, strict=True)]
        axes.axhline(0, color="0.7", linewidth=0.8, zorder=0)
        axes.set(xscale="log", xlabel="both tables, MB by the paper's count", ylabel="BLEU against the baseline")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        if points:
            axes.legend(loc="lower left", bbox_to_anchor=(-0.1, 1), ncols=3, columnspacing=1, handletextpad=0.4)
        # The highest first: of two points that lie close the upper one's note is then the upper one.
        write_notes(axes, sorted(points, key=lambda point: -point[1]))
