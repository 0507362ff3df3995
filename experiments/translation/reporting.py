"""results/translation.json -> results/translation.md and its plots, the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from experiments.common.plots import drawing
from experiments.common.results import Results, Row, mean_and_spread, write_whole
from experiments.common.sizes import MEBIBYTE, code_bytes, mebibytes
from experiments.common.tables import markdown_table
from experiments.translation.datasets import DATASETS, DataSet
from experiments.translation.rows import RowName
from lexicode import CodeScheme

# Rows of a table for which sizes are worked out: ours, the paper's two, and a large vocabulary's.
VOCABULARIES = (8_000, 20_000, 40_000, 250_000)
KINDS = {
    "baseline": "dense",
    "prune": "pruned",
    "uniform": "uniform",
    "additive": "lexicode",
    "gumbel": "the paper's network",
}
FLOAT32, FLOAT16 = 4, 2


def write_report(results: Results, dataset: DataSet) -> None:
    """Markdown and plots beside the file of results, made anew from all that it holds."""
    rows = [_with_kind(row) for row in results.rows]
    stem = results.path.with_suffix("")
    quality, sizes = Path(f"{stem}-bleu.svg"), Path(f"{stem}-sizes.svg")
    _draw_quality(rows, quality)
    _draw_sizes(dataset.units, sizes)
    parts = [
        f"# Translation with coded embeddings: {dataset.title}",
        _how(dataset),
        _table(rows),
        _in_short(rows),
        f"![BLEU against size]({quality.name})",
        "## The paper's figures",
        "Section 5.3 of the paper, on other data: absolute figures are not to be compared, only what each row loses.",
        _paper_table(),
        "## Sizes for other vocabularies",
        _size_notes(dataset),
        _size_table(dataset.units),
        f"![Size against vocabulary]({sizes.name})",
        *_translations(rows),
    ]
    write_whole(results.path.with_suffix(".md"), "\n\n".join(part for part in parts if part) + "\n")


def _with_kind(row: Row) -> Row:
    return {**row, "kind": RowName.parse(row["name"]).kind}


def _named(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """name -> its rows of all seeds, names in the order in which they were finished"""
    names: dict[str, list[Row]] = {}
    for row in rows:
        names.setdefault(row["name"], []).append(row)
    return names


def _bleu(rows: list[Row]) -> str:
    mean, spread = mean_and_spread([row["bleu"] for row in rows])
    return f"{mean:.2f}" if len(rows) == 1 else f"{mean:.2f} ± {spread:.2f}"


# ---- the rows


def _how(dataset: DataSet) -> str:
    settings = dataset.training
    return (
        f"Moses tokens in lower case, {dataset.symbols:,} byte-pair pieces a language; the paper's model with "
        f"{dataset.units} units. Batches of {settings.batch_size}, Nesterov's gradient from {settings.learning_rate} "
        f"with momentum {settings.momentum} and gradients clipped at {settings.clip}, validated on smoothed BLEU every "
        f"{settings.validate_every} iterations, the rate cut by ten after {settings.patience} without improvement, the "
        f"end after {settings.cuts} cuts or {settings.max_epochs} epochs. BLEU is of tokenized text, beam 5. Tables "
        "other than the baseline's are made from the baseline's of the same seed; coded and uniform ones are fixed "
        "while the rest trains again from fresh values, pruned ones train on."
    )


def _table(rows: list[Row]) -> str:
    columns = [
        "tables", "seeds", "basis vectors", "code bits", "codes, MB", "total, MB", "of dense", "file bytes",
        "loss a row", "BLEU", "iterations", "seconds learning", "seconds training",
    ]  # fmt: skip
    dense = next((row["paper_bytes"] for row in rows if row["kind"] == "baseline"), None)
    lines = []
    for name, group in _named(rows).items():
        first = group[0]
        lines.append([
            name, len(group), f"{first['vectors']:,}", first["code_bits"], mebibytes(first["code_bytes"]),
            mebibytes(first["paper_bytes"]), None if dense is None else f"{first['paper_bytes'] / dense:.1%}",
            None if first["file_bytes"] is None else f"{first['file_bytes']:,}",
            None if first["loss"] is None else f"{first['loss']:.4f}", _bleu(group),
            round(mean_and_spread([row["iterations"] for row in group])[0]),
            round(first["learning_seconds"]) or None,
            round(mean_and_spread([row["training_seconds"] for row in group])[0]),
        ])  # fmt: skip
    note = (
        "Sizes by the paper's count: float32, compressed by numpy, words not counted, MB of 2**20 bytes. The file is "
        "lexicode's own, with float16 codebooks. One set of codebooks serves both languages, as the paper's sizes have "
        "it, but in rows that say `each`. Loss is the mean squared distance a row to the baseline's tables. Seconds "
        "are of two cores that had other work as well."
    )
    heads = [row for row in rows if "head" in row]
    if heads:
        taken = ", ".join(f"{row['name']}: {mebibytes(row['head']['paper_bytes'])} MB" for row in heads)
        note += f" The softmax is dense but in rows that say `head`; its codes take ({taken})."
    return f"{markdown_table(columns, lines)}\n\n{note}"


def _in_short(rows: list[Row]) -> str:
    """The claim, as the rows bear it out: the smallest coded tables that lose nothing."""
    groups = _named(rows)
    if "baseline" not in groups:
        return ""
    baseline, spread = mean_and_spread([row["bleu"] for row in groups["baseline"]])
    dense = groups["baseline"][0]["paper_bytes"]
    sentences = []
    for kind, label in (("gumbel", "the paper's network"), ("additive", "lexicode's learner")):
        coded = {name: group for name, group in groups.items() if group[0]["kind"] == kind and "head" not in group[0]}
        kept = {
            name: group[0]["paper_bytes"]
            for name, group in coded.items()
            if mean_and_spread([row["bleu"] for row in group])[0] >= baseline
        }
        if kept:
            name = min(kept, key=lambda each: kept[each])
            sentences.append(
                f"the smallest of {label} that loses no BLEU is {name} ({1 - kept[name] / dense:.1%} smaller)"
            )
        elif coded:
            sentences.append(f"no row of {label} reaches the baseline's BLEU")
    if not sentences:
        return ""
    plus = f" ± {spread:.2f}" if len(groups["baseline"]) > 1 else ", of one seed"
    return f"Against the baseline's {baseline:.2f}{plus}: {'; '.join(sentences)}."


def _draw_quality(rows: list[Row], path: Path) -> None:
    with drawing(path) as (axes,):
        for kind, label in KINDS.items():
            groups = [group for group in _named(rows).values() if group[0]["kind"] == kind]
            if not groups:
                continue
            sizes = [group[0]["paper_bytes"] / MEBIBYTE for group in groups]
            means = [mean_and_spread([row["bleu"] for row in group])[0] for group in groups]
            axes.plot(sizes, means, "o", label=label)
            if kind == "baseline":
                axes.axhline(means[0], color="0.7", linewidth=0.8)
            for size, mean, group in zip(sizes, means, groups, strict=True):
                axes.annotate(
                    group[0]["name"].partition("-")[2], (size, mean), (3, 3), textcoords="offset points", fontsize=7
                )
        axes.set(xscale="log", xlabel="both tables, MB by the paper's count", ylabel="BLEU")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4)


# ---- the paper beside it


def _paper_table() -> str:
    columns = ["data", "tables", "vectors", "code bits", "codes, MB", "total, MB", "BLEU"]
    lines = [
        [dataset.title, row.row, f"{row.vectors:,}", row.code_bits, row.code_size, row.total_size, f"{row.bleu:.2f}"]
        for dataset in DATASETS.values()
        for row in dataset.paper
    ]
    return markdown_table(columns, lines, left=2)


# ---- sizes by arithmetic


def _coded_bytes(rows: int, units: int, scheme: CodeScheme) -> int:
    """Codes and float16 codebooks, as lexicode stores them"""
    return code_bytes(rows, scheme) + scheme.basis_vectors * units * FLOAT16


SIZE_SCHEMES = tuple(CodeScheme.parse(text) for text in ("8x16", "16x16", "32x16", "64x16"))


def _size_notes(dataset: DataSet) -> str:
    scheme = CodeScheme.parse("32x16")
    codes, books = code_bytes(VOCABULARIES[0], scheme), scheme.basis_vectors * dataset.units * FLOAT16
    return (
        f"With {VOCABULARIES[0]:,} rows of {dataset.units} the codebooks of 32x16 weigh {books / codes:.1f} times as "
        "much as the codes: small tables gain the least. By arithmetic, codes and float16 codebooks of one table, in "
        "MB and as a share of the dense float32 table:"
    )


def _size_table(units: int) -> str:
    lines = []
    for rows in VOCABULARIES:
        dense = rows * units * FLOAT32
        sizes = [_coded_bytes(rows, units, scheme) for scheme in SIZE_SCHEMES]
        lines.append([f"{rows:,}", mebibytes(dense), *(f"{mebibytes(size)} ({size / dense:.1%})" for size in sizes)])
    return markdown_table(["rows", "dense", *map(str, SIZE_SCHEMES)], lines)


def _draw_sizes(units: int, path: Path) -> None:
    rows = [1000 * 2**power for power in range(11)]
    with drawing(path) as (axes,):
        for scheme in SIZE_SCHEMES:
            shares = [_coded_bytes(count, units, scheme) / (count * units * FLOAT32) for count in rows]
            axes.plot(rows, [100 * share for share in shares], label=str(scheme))
        for count in VOCABULARIES:
            axes.axvline(count, color="0.85", linewidth=0.8, zorder=0)
        axes.set(xscale="log", yscale="log", xlabel="rows of the table", ylabel=f"% of the dense table, {units} wide")
        axes.legend(loc="lower right")


# ---- translations


def _translations(rows: list[Row]) -> list[str]:
    """The first test sentences as each row translates them, of the baseline's first seed."""
    baseline = next((row for row in rows if row["kind"] == "baseline"), None)
    if baseline is None:
        return []
    seed = baseline["seed"]
    shown = [row for row in rows if row["seed"] == seed]
    parts = ["## Translations side by side"]
    for place, (source, reference) in enumerate(zip(baseline["sources"], baseline["references"], strict=True)):
        lines = [("source", source), ("reference", reference)]
        lines += [(row["name"], row["translations"][place]) for row in shown]
        parts.append(markdown_table(["", f"{place + 1}"], [[name, _cell(text)] for name, text in lines], left=2))
    return parts


def _cell(text: str) -> str:
    """A bar would end the table's cell."""
    return text.replace("|", "\\|")
