"""Tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from lexicode.evaluation import Measurements, Similarity


def readable_bytes(count: int) -> str:
    """1260368 -> '1.26 MB': decimal units, three digits."""
    size, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 999.5:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} B" if unit == "B" else f"{size:.3g} {unit}"


def size_table(sizes: Mapping[str, int]) -> Table:
    """Bytes before and after. `sizes` has the keys of Measurements.bytes."""
    table = Table(title="Size", title_justify="left", show_edge=False)
    table.add_column("part")
    table.add_column("bytes", justify="right")
    table.add_column("", justify="right")
    rows = [("before: float32 and words", "original")]
    rows += [("codes", "codes"), ("codebooks", "codebooks"), ("words", "words")]
    rows += [("rows kept as they are", "exact")] if sizes["exact"] else []
    rows += [("after: the file", "file")]
    for label, key in rows:
        strong = "bold" if key in ("original", "file") else None
        table.add_row(label, f"{sizes[key]:,}", readable_bytes(sizes[key]), style=strong)
    table.add_row("times smaller", f"{sizes['original'] / sizes['file']:.1f}", "", style="bold")
    return table


def measurement_table(measured: Measurements) -> Table:
    """How near the coded table is to the original."""
    table = Table(title="Error", title_justify="left", show_edge=False)
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_row("loss (mean squared distance a row)", f"{measured.loss:.4f}")
    table.add_row("mean distance", f"{measured.mean_distance:.4f}")
    table.add_row("mean cosine", f"{measured.mean_cosine:.4f}")
    table.add_row("neighbours kept, of the nearest 10", f"{measured.neighbours_at_10:.1%}")
    table.add_row("eigenspace overlap", f"{measured.eigenspace_overlap:.4f}")
    return table


def similarity_table(judged: Sequence[tuple[Similarity, Similarity]]) -> Table:
    """(before, after) for each benchmark: how well the cosines agree with people's scores."""
    table = Table(title="Similarity to people's scores (Spearman)", title_justify="left", show_edge=False)
    table.add_column("benchmark")
    for column in ("pairs", "unknown", "before", "after"):
        table.add_column(column, justify="right")
    for before, after in judged:
        shown = ["-" if each.spearman is None else f"{each.spearman:.4f}" for each in (before, after)]
        table.add_row(Text(before.name), str(before.pairs), str(before.pairs - before.known), *shown)
    return table


def neighbour_table(neighbours: Mapping[str, tuple[Sequence[str], Sequence[str]]]) -> Table:
    """word -> (its neighbours before, its neighbours after)"""
    table = Table(title="Neighbours", title_justify="left", show_edge=False)
    for column in ("word", "before", "after"):
        table.add_column(column)
    for word, (before, after) in neighbours.items():
        # Text, because a word such as "[red]" would be taken for markup.
        table.add_row(Text(word), Text(", ".join(before)), Text(", ".join(after)))
    return table
