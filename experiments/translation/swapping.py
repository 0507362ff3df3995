"""What the results say of rows that were put into the trained model as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from experiments.common.results import Row, mean_and_spread
from experiments.common.tables import markdown_table
from experiments.translation.comparing import SeedComparison, compared, listed
from experiments.translation.drawing import draw_gains
from experiments.translation.resampling import COVERED, SAMPLES, Resampling
from experiments.translation.rows import RowName

SUFFIX = "-swapped"
# Curves of the plot: kind and whether weighted
CURVES = {
    "lexicode, weighted": ("additive", True),
    "lexicode": ("additive", False),
    "network, weighted": ("gumbel", True),
    "network": ("gumbel", False),
    "uniform": ("uniform", False),
}


def swapped_section(groups: dict[str, list[Row]], resampling: Resampling, plot: Path) -> list[str]:
    """Heading, table, sentences and plot; nothing where there is no such row beside its own baseline.

    groups: name -> its rows of all seeds, trained ones too
    """
    trained = {_model_of(row) for row in groups.get("baseline", ())}
    rows = [row for name, group in groups.items() if RowName.parse(name).swapped for row in group]
    own = [row for row in rows if _model_of(row) in trained]
    if not own:
        return []
    # From the largest tables to the smallest
    own.sort(key=lambda row: (-int(row["paper_bytes"]), row["name"], row["seed"]))
    found: dict[str, list[Row]] = {}
    for row in own:
        found.setdefault(row["name"], []).append(row)
    names = list(found)
    telling = _Telling(compared({"baseline": groups["baseline"], **found}), resampling)
    sentences = [*telling.learners(names), *telling.weights(names)]
    if left := [f"{row['name']} ({row['seed']})" for row in rows if row not in own]:
        sentences.append(
            f"Left out, for the model around them is not that of the baseline above (name and seed): {', '.join(left)}."
        )
    parts = ["## Without training again", HOW, telling.table(names), "\n".join(f"- {line}" for line in sentences)]
    if families := telling.families(names):
        draw_gains(telling.rows, families, resampling, plot, joined=True)
        parts += [
            f"![BLEU against size, nothing trained again]({plot.name})",
            "Means of the seeds that all have; bars as above.",
        ]
    return [part for part in parts if part]


def _model_of(row: Row) -> tuple[int, str | None]:
    """Which training of which seed's baseline a row comes from"""
    return row["seed"], row.get("baseline")


HOW = (
    "Tables put into the baseline's trained model as they are, which is what shrinking a model that one has comes to. "
    "Within a seed all but the tables is the same, so that no second training's luck is in a difference; how much a "
    "model suffers differs from one to the next, which the seeds' own figures show. In square brackets, for these very "
    f"models: between which bounds {COVERED} % of {SAMPLES:,} resamplings of the test's sentences have the difference; "
    "of so many some leave zero out by chance. In `weighted` codes a row counts by the square root of how often "
    "training looks it up. Weighted loss is the mean squared distance when rows count like that, loss that of all rows "
    "alike. `head` rows have the softmax coded too, which sizes and losses leave out."
)


@dataclass(frozen=True)
class _Telling:
    rows: SeedComparison
    resampling: Resampling

    def table(self, names: list[str]) -> str:
        columns = ["tables", "seeds", "of dense", "loss", "weighted loss", "BLEU", "against the baseline"]
        lines = []
        for name in names:
            own, base = self.rows.sides(name, "baseline")
            lines.append([
                name.removesuffix(SUFFIX), ", ".join(str(row["seed"]) for row in own),
                f"{_mean(own, 'paper_bytes') / _mean(base, 'paper_bytes'):.1%}",
                f"{_mean(own, 'loss'):.4f}", f"{_mean(own, 'weighted_loss'):.4f}",
                ", ".join(f"{row['bleu']:.2f}" for row in own), self._by_seed(name, "baseline"),
            ])  # fmt: skip
        return markdown_table(columns, lines)

    def learners(self, names: list[str]) -> list[str]:
        """Lexicode's codes beside the network's of the same tables and scheme"""
        return self._pairs([(name.replace("gumbel", "additive"), name) for name in names if "gumbel" in name])

    def weights(self, names: list[str]) -> list[str]:
        """Codes that care for frequent pieces beside those that do not"""
        return self._pairs([(name, name.replace("-weighted", "")) for name in names if RowName.parse(name).weighted])

    def _pairs(self, pairs: list[tuple[str, str]]) -> list[str]:
        lines = []
        for name, other in pairs:
            if name not in self.rows.found or not self.rows.comparable(name, other):
                continue
            sides = self.rows.sides(name, other)
            seeds = listed(str(row["seed"]) for row in sides[0])
            losses = " against ".join(f"{_mean(side, 'weighted_loss'):.4f}" for side in sides)
            lines.append(
                f"{name.removesuffix(SUFFIX)} beside {other.removesuffix(SUFFIX)}: {self._by_seed(name, other)} BLEU "
                f"with seed{'s' if len(sides[0]) > 1 else ''} {seeds}, {losses} in weighted loss."
            )
        return lines

    def _by_seed(self, name: str, reference: str) -> str:
        """`-1.02 [-1.67, -0.42], -2.50 [-3.31, -1.65]`"""
        told = []
        for row, other in zip(*self.rows.sides(name, reference), strict=True):
            # Not "-0.00"
            gain = round(row["bleu"] - other["bleu"], 2) + 0.0
            told.append(f"{gain:+.2f}{self.resampling.bracket([row], [other])}")
        return ", ".join(told)

    def families(self, names: list[str]) -> dict[str, dict[str, str]]:
        """The plot's curves: codes that serve both tables, leave the softmax dense and have all seeds; name -> note"""
        seeds = {row["seed"] for name in names for row in self.rows.found[name]}
        families: dict[str, dict[str, str]] = {}
        for text in names:
            name = RowName.parse(text)
            if name.head or name.each or {row["seed"] for row in self.rows.found[text]} != seeds:
                continue
            (label,) = (label for label, curve in CURVES.items() if curve == (name.kind, name.weighted))
            # The network's points lie above and below lexicode's of the same scheme.
            note = "" if name.kind == "gumbel" else str(name.scheme or f"{name.number} bits")
            families.setdefault(label, {})[text] = note
        return {label: families[label] for label in CURVES if label in families}


def _mean(group: list[Row], column: str) -> float:
    return mean_and_spread([row[column] for row in group])[0]
