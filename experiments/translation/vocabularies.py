"""What a table takes as codes, by arithmetic, for the vocabularies that users have."""

from __future__ import annotations

from pathlib import Path

from experiments.common.plots import drawing
from experiments.common.results import Row
from experiments.common.sizes import FLOAT32_BYTES, code_bytes, mebibytes
from experiments.common.tables import markdown_table
from experiments.translation.datasets import DataSet
from lexicode import CodeScheme

# Rows of a table: ours, the paper's two, and a large vocabulary's.
VOCABULARIES = (8_000, 20_000, 40_000, 250_000)
SCHEMES = tuple(CodeScheme.parse(text) for text in ("8x16", "16x16", "32x16", "64x16"))
FLOAT16_BYTES = 2


def _coded_bytes(rows: int, units: int, scheme: CodeScheme) -> int:
    """Codes and float16 codebooks, as lexicode stores them"""
    return code_bytes(rows, scheme) + scheme.basis_vectors * units * FLOAT16_BYTES


def size_notes(dataset: DataSet, rows: list[Row]) -> str:
    scheme = CodeScheme.parse("32x16")
    codes, books = code_bytes(dataset.symbols, scheme), scheme.basis_vectors * dataset.units * FLOAT16_BYTES
    shared = next((row for row in rows if row["name"] == f"additive-{scheme}"), None)
    above = ""
    if shared is not None:
        part = mebibytes(shared["paper_bytes"] - shared["code_bytes"])
        above = f"Of additive-{scheme}'s {mebibytes(shared['paper_bytes'])} MB above, codebooks are {part}. "
    return (
        f"{above}One table of {dataset.symbols:,} rows of {dataset.units} with codebooks of its own: at {scheme} these "
        f"weigh {books / codes:.1f} times as much as the codes, even as float16 (shared by both languages, as above, "
        "half of that). Small tables gain the least. By arithmetic, codes and float16 codebooks of one table, in MB "
        "and as a share of the dense float32 table:"
    )


def size_table(units: int) -> str:
    lines = []
    for rows in VOCABULARIES:
        dense = rows * units * FLOAT32_BYTES
        sizes = [_coded_bytes(rows, units, scheme) for scheme in SCHEMES]
        lines.append([f"{rows:,}", mebibytes(dense), *(f"{mebibytes(size)} ({size / dense:.1%})" for size in sizes)])
    return markdown_table(["rows", "dense", *map(str, SCHEMES)], lines)


def draw_sizes(units: int, path: Path) -> None:
    rows = [1000 * 2**power for power in range(11)]
    with drawing(path) as (axes,):
        for scheme in SCHEMES:
            shares = [_coded_bytes(count, units, scheme) / (count * units * FLOAT32_BYTES) for count in rows]
            axes.plot(rows, [100 * share for share in shares], label=str(scheme))
        for count in VOCABULARIES:
            axes.axvline(count, color="0.85", linewidth=0.8, zorder=0)
        axes.set(xscale="log", yscale="log", xlabel="rows of the table", ylabel=f"% of the dense table, {units} wide")
        axes.legend(loc="upper right")
