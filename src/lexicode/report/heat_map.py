"""The use of every codeword as a heat map: a line a codebook, its codewords from the most used to the least."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lexicode.evaluation.balance import CodeBalance
from lexicode.report.axes import WIDTH
from lexicode.report.markup import Markup, tag

MOST_COLUMNS, MOST_LINES = 64, 64
LEFT, TOP, RIGHT = 36, 24, 8
# Colours stand for a fourth of the fair share or less, …, the fair share, …, four times it or more.
SHADES = 9
SHADES_AN_OCTAVE = 2


def heat_map(balance: CodeBalance) -> Markup:
    """counts (M, K) as cells; codebooks and codewords too many for the page are shown by their means"""
    M, K = balance.counts.shape
    # The number of a codeword means nothing, so its place is its rank.
    order = np.argsort(-balance.counts, axis=1, kind="stable")
    ranked = np.take_along_axis(balance.counts, order, axis=1)
    lines, columns = _parts(M, MOST_LINES), _parts(K, MOST_COLUMNS)
    cell = (WIDTH - LEFT - RIGHT) / len(columns)
    height = min(max(260 / len(lines), 4.0), 16.0)
    fair = max(balance.fair_share, 1e-9)
    cells = []
    for i, line in enumerate(lines):
        for j, column in enumerate(columns):
            block = ranked[line, column]
            cells.append(
                tag(
                    "rect",
                    tag("title", _tip(line, column, block, order, fair)),
                    x=LEFT + j * cell,
                    y=TOP + i * height,
                    width=cell - (0.5 if cell > 3 else 0.0),
                    height=height - 0.5,
                    class_=_shade(block, fair),
                )
            )
    every = max(1, math.ceil(len(lines) / 16))
    numbers = [
        tag("text", str(line.start), x=LEFT - 6, y=TOP + (i + 0.5) * height + 4, class_="tick end")
        for i, line in enumerate(lines)
        if i % every == 0
    ]
    bottom = TOP + len(lines) * height
    return tag(
        "svg",
        tag("title", f"Use of {M} x {K} codewords"),
        cells,
        numbers,
        tag("text", "codebook", x=2, y=14, class_="label"),
        tag("text", "most used", x=LEFT, y=bottom + 16, class_="tick"),
        tag("text", "its codewords, by use", x=(LEFT + WIDTH - RIGHT) / 2, y=bottom + 16, class_="label middle"),
        tag("text", "least used", x=WIDTH - RIGHT, y=bottom + 16, class_="tick end"),
        viewBox=f"0 0 {WIDTH} {bottom + 24:.0f}",
        role="img",
        aria_label=f"Use of {M} x {K} codewords",
        class_="plot",
    )


def shade_legend() -> Markup:
    """What the colours mean."""
    swatches = [tag("span", class_=f"swatch shade-{i}") for i in range(SHADES)]
    dead = [tag("span", class_="swatch shade-dead"), " dead"]
    return tag(
        "p", dead, tag("span", "¼", class_="from"), swatches, " 4 times the fair share, and more", class_="legend"
    )


def _parts(count: int, most: int) -> list[slice]:
    step = math.ceil(count / most)
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def _shade(block: npt.NDArray[np.int64], fair: float) -> str:
    if not block.any():
        return "shade-dead"
    octaves = math.log2(max(float(block.mean()) / fair, 1e-9))
    return f"shade-{min(max(round(octaves * SHADES_AN_OCTAVE) + SHADES // 2, 0), SHADES - 1)}"


def _tip(line: slice, column: slice, block: npt.NDArray[np.int64], order: npt.NDArray[np.intp], fair: float) -> str:
    mean = float(block.mean())
    if block.size == 1:
        where = f"codebook {line.start}, codeword {order[line.start, column.start]}"
        return f"{where}: {int(mean):,} rows, {mean / fair:.2f} times the fair share"
    books = f"codebook {line.start}" if line.stop - line.start == 1 else f"codebooks {line.start} to {line.stop - 1}"
    dead = int((block == 0).sum())
    return (
        f"{books}, ranks {column.start + 1} to {column.stop}: {mean:,.1f} rows a codeword, {mean / fair:.2f} times the "
        f"fair share{f', {dead} dead' if dead else ''}"
    )
