"""What the results say of rows that were put into the trained model as they are."""

from __future__ import annotations

from pathlib import Path

from experiments.common.comparing import with_spread
from experiments.common.results import Row, mean_and_spread
from experiments.common.tables import markdown_table
from experiments.translation.comparing import SeedComparison, listed
from experiments.translation.drawing import draw_gains
from experiments.translation.resampling import COVERED, SAMPLES, Resampling
from experiments.translation.rows import RowName

SUFFIX = "-swapped"
# Curves of the plot: kind and whether weighted
CURVES = {
    "lexicode, weighted": ("additive", True),
    "lexicode": ("additive", False),
    "network, weighted": ("gumbel", True),
    "the paper's network": ("gumbel", False),
    "uniform": ("uniform", False),
}
BASELINE = "baseline"


def swapped_section(groups: dict[str, list[Row]], resampling: Resampling, plot: Path) -> list[str]:
    """Heading, table, sentences and plot; nothing where there is no such row beside a baseline.

    groups: name -> its rows of all seeds, trained ones too
    """
    found = {name: group for name, group in groups.items() if name == BASELINE or RowName.parse(name).swapped}
    rows = SeedComparison(found=found, value=lambda row: float(row["bleu"]))
    names = [name for name in found if name != BASELINE and rows.comparable(name, BASELINE)]
    if not names:
        return []
    # From the largest file to the smallest
    names.sort(key=lambda name: (-int(found[name][0]["paper_bytes"]), name))
    draw_gains(rows, _families(names), resampling, plot, joined=True)
    return [
        "## Without training again",
        _how(),
        _table(names, rows, resampling),
        "\n".join(f"- {sentence}" for sentence in _pairs(names, rows, resampling)),
        f"![BLEU against size, nothing trained again]({plot.name})",
    ]


def _families(names: list[str]) -> dict[str, dict[str, str]]:
    """The curves of codes that serve both tables and leave the softmax dense: name -> scheme or bits"""
    families: dict[str, dict[str, str]] = {label: {} for label in CURVES}
    for text in names:
        name = RowName.parse(text)
        if not name.head and not name.each:
            (label,) = (label for label, curve in CURVES.items() if curve == (name.kind, name.weighted))
            families[label][text] = str(name.scheme) if name.scheme else f"{name.number} bits"
    return families


def _how() -> str:
    return (
        "Codes put into the baseline's trained model as they are, which is what shrinking a model that one has comes "
        "to. Here a loss is that of the codes alone: all rows of a seed have the very same model around them, so no "
        "luck of training is in a difference, and what chance is left in it is that of the test's sentences (in square "
        f"brackets: between which bounds {COVERED} % of {SAMPLES:,} resamplings of them have it)."
    )


def _table(names: list[str], rows: SeedComparison, resampling: Resampling) -> str:
    columns = ["tables", "seeds", "of dense", "loss a row", "BLEU", "against the baseline"]
    lines = []
    for name in names:
        group, dense = rows.found[name], rows.found[BASELINE][0]["paper_bytes"]
        loss = mean_and_spread([row["loss"] for row in group])[0]
        lines.append([
            name.removesuffix(SUFFIX), ", ".join(str(row["seed"]) for row in group),
            f"{group[0]['paper_bytes'] / dense:.1%}", f"{loss:.4f}", with_spread(rows.values(name), digits=2),
            _gain(name, BASELINE, rows, resampling),
        ])  # fmt: skip
    return markdown_table(columns, lines)


def _gain(name: str, reference: str, rows: SeedComparison, resampling: Resampling) -> str:
    told, bounds = f"{rows.gain(name, reference):+.2f}", resampling.interval(*rows.sides(name, reference))
    return told if bounds is None else f"{told} [{bounds[0]:+.2f}, {bounds[1]:+.2f}]"


def _pairs(names: list[str], rows: SeedComparison, resampling: Resampling) -> list[str]:
    """Lexicode's codes beside the network's of the same scheme"""
    lines = []
    for network in names:
        own = network.replace("gumbel", "additive")
        if own == network or own not in names or not rows.comparable(own, network):
            continue
        ours, theirs = rows.sides(own, network)
        seeds = listed(str(row["seed"]) for row in ours)
        losses = [mean_and_spread([row["loss"] for row in side])[0] for side in (ours, theirs)]
        lines.append(
            f"{own.removesuffix(SUFFIX)} beside {network.removesuffix(SUFFIX)} with "
            f"{'seeds' if len(ours) > 1 else 'seed'} {seeds}: {_gain(own, network, rows, resampling)} BLEU, "
            f"{losses[0]:.4f} against {losses[1]:.4f} in loss a row."
        )
    return lines
