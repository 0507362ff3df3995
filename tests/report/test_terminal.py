from __future__ import annotations

import pytest
from rich.console import Console

from lexicode.evaluation import Measurements
from lexicode.report import measurement_table, neighbour_table, readable_bytes, size_table

SIZES = {"original": 1_000_000, "codes": 16_000, "codebooks": 2_000, "words": 1_000, "exact": 0, "file": 20_000}


def text_of(table: object) -> str:
    console = Console(width=100)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1_260_368, "1.26 MB"), (999_600, "1 MB"), (83_356_474, "83.4 MB")],
)
def test_bytes_for_people(count: int, expected: str) -> None:
    assert readable_bytes(count) == expected


def test_size_table_shows_before_and_after() -> None:
    shown = text_of(size_table(SIZES))
    assert "1,000,000" in shown
    assert "20 kB" in shown
    assert "50.0" in shown


def test_measurements_and_neighbours_are_shown() -> None:
    measured = Measurements(
        rows=10,
        dim=3,
        scheme="2x4",
        loss=1.5,
        mean_distance=1.2,
        mean_cosine=0.9,
        neighbours_at_10=0.61,
        eigenspace_overlap=0.8,
        bytes=SIZES,
        ratio=50.0,
    )
    shown = text_of(measurement_table(measured))
    assert "1.5000" in shown
    assert "61.0%" in shown
    shown = text_of(neighbour_table({"dog": (["cat", "[red]"], ["cats"])}))
    assert "cat, [red]" in shown
    assert "cats" in shown
