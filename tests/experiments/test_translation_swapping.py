"""What the report says of rows that were put into the trained model as they are, from rows made up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.translation.outputs import Outputs
from experiments.translation.resampling import Resampling
from experiments.translation.swapping import CURVES, swapped_section

NO_OUTPUTS = Resampling(Outputs(Path("nowhere/translation.json")))


def row(name: str, bleu: float, paper_bytes: int, *, seed: int = 1, loss: float = 0.5, **more: Any) -> dict[str, Any]:
    """loss: weighted; the other is twice that"""
    return {
        "name": name, "seed": seed, "bleu": bleu, "paper_bytes": paper_bytes, "loss": 2 * loss, "weighted_loss": loss,
        "baseline": f"tables of seed {seed}", **more,
    }  # fmt: skip


def told(folder: Path, *rows: dict[str, Any], resampling: Resampling = NO_OUTPUTS) -> list[str]:
    found: dict[str, list[dict[str, Any]]] = {}
    for each in rows:
        found.setdefault(each["name"], []).append(each)
    return "\n".join(swapped_section(found, resampling, folder / "swapped.svg")).split("\n")


def sentences(folder: Path, *rows: dict[str, Any]) -> list[str]:
    return [line for line in told(folder, *rows) if line.startswith("- ")]


BASELINES = [row("baseline", 40.0, 2**20), row("baseline", 42.0, 2**19, seed=2)]


def test_nothing_is_said_without_swapped_rows_or_their_baseline(tmp_path: Path) -> None:
    assert told(tmp_path, *BASELINES, row("additive-4x4", 39, 2**16)) == [""]
    assert told(tmp_path, row("additive-4x4-swapped", 39, 2**16)) == [""]
    assert told(tmp_path, BASELINES[0], row("additive-4x4-swapped", 39, 2**16, seed=2)) == [""]
    assert not (tmp_path / "swapped.svg").exists()


def test_rows_stand_from_the_largest_to_the_smallest_beside_the_baseline_of_their_seeds(tmp_path: Path) -> None:
    lines = told(
        tmp_path,
        *BASELINES,
        row("additive-4x4-swapped", 41.0, 2**16, seed=2),
        row("uniform-2-swapped", 39.5, 2**17),
        row("uniform-2-swapped", 41.996, 2**16, seed=2, loss=1.0),
        row("additive-4x4", 12.0, 2**16),
    )
    table = [line for line in lines if line.startswith("| ") and "---" not in line]
    assert table[1:] == [
        "| uniform-2 | 1, 2 | 12.5% | 1.5000 | 0.7500 | 39.50, 42.00 | -0.50, +0.00 |",
        "| additive-4x4 | 2 | 12.5% | 1.0000 | 0.5000 | 41.00 | -1.00 |",
    ]
    assert (tmp_path / "swapped.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_both_learners_are_compared_where_both_coded_the_same_tables(tmp_path: Path) -> None:
    rows = [
        row("gumbel-4x4-swapped", 36.0, 2**16, loss=0.9),
        row("additive-4x4-swapped", 39.0, 2**16, loss=0.6),
        row("additive-4x4-swapped", 20.0, 2**16, loss=0.1, seed=2),
        row("gumbel-8x4-swapped", 36.0, 2**17),
        row("additive-8x4-swapped", 36.0, 2**17, seed=2),
    ]
    assert sentences(tmp_path, *BASELINES, *rows) == [
        "- additive-4x4 beside gumbel-4x4: +3.00 BLEU with seed 1, 0.6000 against 0.9000 in weighted loss."
    ]


def test_weighted_codes_are_compared_with_their_own_kind(tmp_path: Path) -> None:
    rows = [
        row(f"{kind}-{scheme}-swapped", bleu + seed, 2**16, seed=seed, loss=loss)
        for kind in ("additive", "gumbel")
        for scheme, bleu, loss in (("4x4", 36.0, 0.9), ("weighted-4x4", 38.0, 0.7))
        for seed in (1, 2)
    ]
    found = sentences(tmp_path, *BASELINES, *rows)
    assert found[2:] == [
        f"- {kind}-weighted-4x4 beside {kind}-4x4: +2.00, +2.00 BLEU with seeds 1 and 2, "
        "0.7000 against 0.9000 in weighted loss."
        for kind in ("additive", "gumbel")
    ]
    assert [line.partition(":")[0] for line in found[:2]] == [
        "- additive-4x4 beside gumbel-4x4",
        "- additive-weighted-4x4 beside gumbel-weighted-4x4",
    ]


def test_a_row_around_another_training_of_the_baseline_is_left_out(tmp_path: Path) -> None:
    rows = [row("additive-4x4-swapped", 39, 2**16), row("additive-4x4-swapped", 12, 2**16, seed=2, baseline="another")]
    lines = told(tmp_path, *BASELINES, *rows)
    assert "| additive-4x4 | 1 | 6.2% | 1.0000 | 0.5000 | 39.00 | -1.00 |" in lines
    (left,) = (line for line in lines if line.startswith("- Left out"))
    assert left.endswith("is not that of the baseline above (name and seed): additive-4x4-swapped (2).")


@pytest.mark.filterwarnings("error")
def test_the_plot_holds_all_curves_and_needs_none(tmp_path: Path) -> None:
    lines = told(tmp_path, *BASELINES, row("additive-4x4-head-swapped", 39, 2**16))
    assert lines[-1].startswith("| additive-4x4-head")
    assert not (tmp_path / "swapped.svg").exists()
    kinds = [f"{kind}-weighted" if weighted else kind for kind, weighted in CURVES.values()]
    names = [f"{kind}-2-swapped" if kind == "uniform" else f"{kind}-4x4-swapped" for kind in kinds]
    rows = [row(name, 40 - place, 2**16 - place) for place, name in enumerate(names)]
    assert len(rows) == 5
    assert "![BLEU against size, nothing trained again](swapped.svg)" in told(tmp_path, BASELINES[0], *rows)
    assert (tmp_path / "swapped.svg").exists()


def test_bounds_come_from_whole_translations(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path / "translation.json")
    right = [f"the small dog number {number} runs over the grass" for number in range(40)]
    outputs.write("reference", right)
    outputs.write("baseline-1", right)
    outputs.write("additive-4x4-swapped-1", [*right[:20], *(line.replace("dog", "cat") for line in right[20:])])
    lines = told(tmp_path, BASELINES[0], row("additive-4x4-swapped", 38.0, 2**16), resampling=Resampling(outputs))
    (line,) = (line for line in lines if line.startswith("| additive-4x4"))
    low, high = (float(bound) for bound in line.partition("[")[2].partition("]")[0].split(","))
    assert -60 < low < high < 0
