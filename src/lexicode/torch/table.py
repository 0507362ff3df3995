"""What `compress_model` did, layer by layer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

HEADER = ("layer", "shape", "scheme", "bytes before", "after", "loss", "")


@dataclass(frozen=True, kw_only=True)
class LayerRow:
    """One embedding layer. scheme and loss (mean squared distance a row) are None for a layer that was left dense.

    bytes_after counts what a file holds; note says what became of tied weights, or why the layer was left dense.
    """

    name: str
    shape: tuple[int, int]
    scheme: str | None
    bytes_before: int
    bytes_after: int
    loss: float | None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class CompressionTable:
    """One row for each embedding layer; the bytes before and after are those of the whole model's tensors."""

    rows: tuple[LayerRow, ...]
    bytes_before: int
    bytes_after: int

    @property
    def ratio(self) -> float:
        """How many times smaller the whole model is."""
        return self.bytes_before / self.bytes_after

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio}

    def __str__(self) -> str:
        cells = [HEADER, *(_cells(row) for row in self.rows)]
        cells.append(("whole model", "", "", f"{self.bytes_before:,}", f"{self.bytes_after:,}", "", ""))
        widths = [max(len(line[column]) for line in cells) for column in range(len(HEADER))]
        return "\n".join(_line(line, widths) for line in cells)


def _cells(row: LayerRow) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.shape[0]} x {row.shape[1]}",
        row.scheme or "dense",
        f"{row.bytes_before:,}",
        f"{row.bytes_after:,}",
        "" if row.loss is None else f"{row.loss:.4g}",
        row.note,
    )


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    """Names and notes to the left, numbers to the right."""
    numbers = range(3, 6)
    padded = [
        cell.rjust(width) if column in numbers else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()
