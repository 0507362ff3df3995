"""results/translation.json -> results/translation.md and its plots, the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from experiments.common.comparing import with_spread
from experiments.common.results import Results, Row, mean_and_spread, write_whole
from experiments.common.sizes import FLOAT32_BYTES, mebibytes
from experiments.common.tables import markdown_table
from experiments.translation.comparing import compared, listed
from experiments.translation.datasets import DATASETS, DataSet
from experiments.translation.drawing import draw_gains
from experiments.translation.model import READOUT
from experiments.translation.outputs import Outputs
from experiments.translation.precision import PRECISIONS
from experiments.translation.resampling import Resampling
from experiments.translation.rows import RowName
from experiments.translation.swapping import swapped_section
from experiments.translation.verdict import verdict
from experiments.translation.vocabularies import draw_sizes, size_notes, size_table

KINDS = {
    "baseline": "dense",
    "fixed": "dense, fixed",
    "prune": "pruned",
    "uniform": "uniform",
    "additive": "lexicode",
    "gumbel": "the paper's network",
}


def write_report(results: Results, dataset: DataSet) -> None:
    """Markdown and plots beside the file of results, made anew from all that it holds."""
    place = {name: number for number, name in enumerate(dataset.rows)}
    both = [_with_kind(row) for row in results.rows]
    both.sort(key=lambda row: (place.get(row["name"], len(place)), row["seed"]))
    rows = [row for row in both if not RowName.parse(row["name"]).swapped]
    stem = results.path.with_suffix("")
    quality, swapped, sizes = (Path(f"{stem}-{part}.svg") for part in ("bleu", "swapped", "sizes"))
    resampling = Resampling(Outputs(results.path))
    draw_gains(compared(_named(rows)), _by_kind(rows), resampling, quality)
    draw_sizes(dataset.units, sizes)
    parts = [
        f"# Translation with coded embeddings: {dataset.title}",
        _how(dataset, rows, results.path.name),
        _table(rows) if rows else "",
        verdict(_named(rows), resampling),
        f"![BLEU against size]({quality.name})",
        "Bars, where a row's whole translations are kept: the square brackets above.",
        *swapped_section(_named(both), resampling, swapped),
        "## The paper's figures",
        _paper_notes(dataset),
        _paper_table(),
        "## Sizes for other vocabularies",
        size_notes(dataset, rows),
        size_table(dataset.units),
        f"![Size against vocabulary]({sizes.name})",
        *_translations(rows),
    ]
    write_whole(results.path.with_suffix(".md"), "\n\n".join(part for part in parts if part) + "\n")


def _with_kind(row: Row) -> Row:
    return {**row, "kind": RowName.parse(row["name"]).kind}


def _named(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """name -> its rows of all seeds"""
    names: dict[str, list[Row]] = {}
    for row in rows:
        names.setdefault(row["name"], []).append(row)
    return names


def _by_kind(rows: Iterable[Row]) -> dict[str, dict[str, str]]:
    """What a row is called in a plot's legend, and beside its point"""
    return {
        label: {row["name"]: row["name"].partition("-")[2] for row in rows if row["kind"] == kind}
        for kind, label in KINDS.items()
    }


# ---- the rows


def _how(dataset: DataSet, rows: list[Row], file: str) -> str:
    settings = dataset.training
    occurring = f" (tables of {' and '.join(f'{count:,}' for count in rows[0]['rows'])} rows)" if rows else ""
    command = "python -m experiments.translation --data DIR"
    if dataset.name != next(iter(DATASETS)):
        command += f" --dataset {dataset.name}"
    return (
        f"Moses tokens in lower case, {dataset.symbols:,} byte-pair pieces a language{occurring}; the paper's model "
        f"with {dataset.units} units. Batches of {settings.batch_size}, Nesterov's gradient from "
        f"{settings.learning_rate} with momentum {settings.momentum} and gradients clipped at {settings.clip}, "
        f"validated on smoothed BLEU every {settings.validate_every} iterations, the rate cut by ten after "
        f"{settings.patience} without improvement, the end after {settings.cuts} cuts or {settings.max_epochs} epochs. "
        "BLEU is of tokenized text, beam 5. Tables other than the baseline's are made from the baseline's of the same "
        "seed; coded and uniform ones are fixed while the rest trains again from fresh values, pruned ones train on. "
        f"Made by `{command}`; {file} has each row's commit."
    )


def _table(rows: list[Row]) -> str:
    columns = [
        "tables", "seeds", "basis vectors", "code bits", "codes, MB", "total, MB", "of dense", "file bytes",
        "loss a row", "BLEU", "against the baseline", "iterations", "seconds learning", "seconds training",
    ]  # fmt: skip
    groups = _named(rows)
    beside = compared(groups)
    dense = next((row["paper_bytes"] for row in rows if row["kind"] == "baseline"), None)
    lines = []
    for name, group in groups.items():
        first = group[0]
        gain = beside.gain(name) if name != "baseline" and beside.comparable(name, "baseline") else None
        lines.append([
            name, ", ".join(str(row["seed"]) for row in group), f"{first['vectors']:,}", first["code_bits"],
            mebibytes(first["code_bytes"]),
            mebibytes(first["paper_bytes"]), None if dense is None else f"{first['paper_bytes'] / dense:.1%}",
            f"{first['file_bytes'] or first['stored_bytes'] or first['paper_bytes']:,}",
            None if first["loss"] is None else f"{_mean(group, 'loss'):.4f}",
            with_spread(beside.values(name), digits=2), None if gain is None else f"{gain:+.2f}",
            round(_mean(group, "iterations")),
            round(_mean(group, "learning_seconds")) or None,
            round(_mean(group, "training_seconds")),
        ])  # fmt: skip
    note = (
        "Sizes by the paper's count: float32, compressed by numpy (codebooks as they are: ours are float16 values, and "
        "would compress better than the paper's), words not counted, MB of 2**20 bytes. The file is lexicode's own, "
        "with float16 codebooks (dense tables: float32 as they are; uniform ones: their bits, packed; pruned ones: "
        "scipy's compressed csc_matrix). One set of codebooks serves both languages, as the paper's sizes have it, but "
        "in rows that say `each`. Loss is the mean squared distance a row to the baseline's tables. BLEU is compared "
        f"with the baseline's of the same seeds{_precisions(rows)}. Seconds are of {_threads(rows)}, and of machines "
        "that had other work as well."
    )
    if any("head" in row for row in rows):
        size = mebibytes(READOUT * rows[0]["rows"][1] * FLOAT32_BYTES)
        note += f" The softmax is dense, {size} MB, but in rows that say `head`."
    return f"{markdown_table(columns, lines)}\n\n{note}{_mixed(rows)}"


def _mean(group: list[Row], column: str) -> float:
    return mean_and_spread([row[column] for row in group])[0]


def _threads(rows: list[Row]) -> str:
    counts = sorted({row["threads"] for row in rows})
    return f"{' or '.join(map(str, counts))} thread{'' if counts == [1] else 's'}"


def _precisions(rows: list[Row]) -> str:
    """What the products were made in where it is not float32; rows older than the choice are of float32"""
    others = {_precision_of(row) for row in rows} - {PRECISIONS[0]}
    told = [(name, sorted({row["seed"] for row in rows if _precision_of(row) == name})) for name in sorted(others)]
    return "".join(
        f"; seed{'s' if len(seeds) > 1 else ''} {listed(map(str, seeds))} trained with products in {name} "
        f"(`--precision {name}`)"
        for name, seeds in told
    )


def _precision_of(row: Row) -> str:
    precision: str = row.get("precision", PRECISIONS[0])
    return precision


def _mixed(rows: list[Row]) -> str:
    """Rows of one seed whose tables come from different trainings of the baseline."""
    names = []
    for seed in sorted({row["seed"] for row in rows}):
        own = [row for row in rows if row["seed"] == seed]
        first = own[0].get("baseline")
        names += [f"{row['name']} ({seed})" for row in own if row.get("baseline") != first]
    if not names:
        return ""
    return (
        " The baseline was trained again, to other values, for the tables of some rows (name and seed): "
        f"{', '.join(names)}."
    )


# ---- the paper beside it


def _paper_notes(dataset: DataSet) -> str:
    if dataset.paper:
        return f"Section 5.3 of the paper; its {dataset.title} is the data of the rows above."
    return "Section 5.3 of the paper, on other data: absolute figures are not to be compared, only what each row loses."


def _paper_table() -> str:
    columns = ["data", "tables", "vectors", "code bits", "codes, MB", "total, MB", "BLEU"]
    lines = [
        [dataset.title, row.row, f"{row.vectors:,}", row.code_bits, row.code_size, row.total_size, f"{row.bleu:.2f}"]
        for dataset in DATASETS.values()
        for row in dataset.paper
    ]
    return markdown_table(columns, lines, left=2)


# ---- translations


def _translations(rows: list[Row]) -> list[str]:
    """The first test sentences as each row's first seed translates them."""
    baseline = next((row for row in rows if row["kind"] == "baseline"), None)
    if baseline is None:
        return []
    shown = [group[0] for group in _named(rows).values()]
    parts = ["## Translations side by side"]
    for place, (source, reference) in enumerate(zip(baseline["sources"], baseline["references"], strict=True)):
        lines = [("source", source), ("reference", reference)]
        lines += [(_label(row, baseline["seed"]), row["translations"][place]) for row in shown]
        parts.append(markdown_table(["", f"{place + 1}"], [[name, _cell(text)] for name, text in lines], left=2))
    return parts


def _label(row: Row, usual: int) -> str:
    return str(row["name"]) if row["seed"] == usual else f"{row['name']}, seed {row['seed']}"


def _cell(text: str) -> str:
    """A bar would end the table's cell."""
    return text.replace("|", "\\|")
