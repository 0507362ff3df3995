"""What the report says of rows that were put into the trained model as they are, from rows made up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.translation.outputs import Outputs
from experiments.translation.resampling import Resampling
from experiments.translation.swapping import swapped_section

NO_OUTPUTS = Resampling(Outputs(Path("nowhere/translation.json")))


def row(name: str, bleu: float, paper_bytes: int, *, seed: int = 1, loss: float = 0.5) -> dict[str, Any]:
    kind = name.partition("-")[0]
    return {"name": name, "kind": kind, "seed": seed, "bleu": bleu, "paper_bytes": paper_bytes, "loss": loss}


def told(folder: Path, *rows: dict[str, Any], resampling: Resampling = NO_OUTPUTS) -> str:
    found: dict[str, list[dict[str, Any]]] = {}
    for each in rows:
        found.setdefault(each["name"], []).append(each)
    return "\n".join(swapped_section(found, resampling, folder / "swapped.svg"))


BASELINES = [row("baseline", 40.0, 2**20), row("baseline", 42.0, 2**20, seed=2)]


def test_nothing_is_said_without_swapped_rows_or_their_baseline(tmp_path: Path) -> None:
    assert told(tmp_path, *BASELINES, row("additive-4x4", 39, 2**16)) == ""
    assert told(tmp_path, row("additive-4x4-swapped", 39, 2**16)) == ""
    assert told(tmp_path, BASELINES[0], row("additive-4x4-swapped", 39, 2**16, seed=2)) == ""
    assert not (tmp_path / "swapped.svg").exists()


def test_rows_stand_from_the_largest_to_the_smallest_beside_the_baseline_of_their_seeds(tmp_path: Path) -> None:
    text = told(
        tmp_path,
        *BASELINES,
        row("additive-4x4-swapped", 41.0, 2**16, seed=2),
        row("uniform-2-swapped", 39.5, 2**17),
        row("uniform-2-swapped", 41.0, 2**17, seed=2),
        row("additive-4x4", 12.0, 2**16),
    )
    lines = [line for line in text.split("\n") if line.startswith("| ") and "---" not in line]
    assert lines[1:] == [
        "| uniform-2 | 1, 2 | 12.5% | 0.5000 | 40.25 ± 1.06 | -0.75 |",
        "| additive-4x4 | 2 | 6.2% | 0.5000 | 41.00 | -1.00 |",
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
    lines = [line for line in told(tmp_path, *BASELINES, *rows).split("\n") if line.startswith("- ")]
    assert lines == ["- additive-4x4 beside gumbel-4x4 with seed 1: +3.00 BLEU, 0.6000 against 0.9000 in loss a row."]


def test_bounds_come_from_whole_translations(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path / "translation.json")
    right = [f"the small dog number {number} runs over the grass" for number in range(40)]
    outputs.write("reference", right)
    outputs.write("baseline-1", right)
    outputs.write("additive-4x4-swapped-1", [*right[:20], *(line.replace("dog", "cat") for line in right[20:])])
    text = told(
        tmp_path, BASELINES[0], row("additive-4x4-swapped", 38.0, 2**16), resampling=Resampling(outputs)
    )  # fmt: skip
    (line,) = (line for line in text.split("\n") if line.startswith("| additive-4x4"))
    low, high = (float(bound) for bound in line.partition("[")[2].partition("]")[0].split(","))
    assert -60 < low < high < 0
