"""The translation recipe, start to end, on a corpus made here: a row of every kind."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from experiments.translation.__main__ import QUICK_ROWS, main
from experiments.translation.rows import RowName
from lexicode import SettingError
from translation_samples import write_multi30k


def run(root: Path, *words: str) -> list[dict[str, Any]]:
    """The quick recipe in a folder; the rows of its results"""
    data, work, results = root / "data", root / "work", root / "results"
    if not data.exists():
        write_multi30k(data)
    main(["--quick", "--data", str(data), "--work", str(work), "--results", str(results), "--threads", "1", *words])
    rows: list[dict[str, Any]] = json.loads((results / "translation.json").read_text(encoding="utf-8"))["rows"]
    return rows


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a row of every kind has been run"""
    root = tmp_path_factory.mktemp("translation")
    run(root)
    return root


def test_a_row_of_every_kind(finished: Path) -> None:
    listed = json.loads((finished / "results/translation.json").read_text(encoding="utf-8"))["rows"]
    assert tuple(row["name"] for row in listed) == QUICK_ROWS
    rows = {row["name"]: row for row in listed}
    baseline, coded = rows["baseline"], rows["additive-8x4"]
    assert baseline["bleu"] > 20
    assert coded["vectors"] == 32
    assert coded["code_bits"] == 16
    assert coded["code_bytes"] == 2 * sum(coded["rows"])
    assert coded["file_bytes"] > coded["stored_bytes"] > coded["code_bytes"]
    assert coded["loss"] < rows["gumbel-8x4"]["loss"]
    assert rows["prune-90"]["paper_bytes"] < baseline["paper_bytes"]
    assert ["head" in row for row in listed] == [name.endswith("head") for name in QUICK_ROWS]
    assert all(len(row["translations"]) == len(baseline["references"]) == 10 for row in listed)
    assert list((finished / "work").glob("*.pt")) == []


def test_no_row_is_run_twice(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = finished / "results/translation.json"
    before = path.read_bytes()
    run(finished)
    assert path.read_bytes() == before
    assert "training" not in capsys.readouterr().out


def test_the_report_is_made_from_the_results_alone(finished: Path, tmp_path: Path) -> None:
    shutil.copy(finished / "results/translation.json", tmp_path)
    main(["--report-only", "--results", str(tmp_path)])
    text = (tmp_path / "translation.md").read_text(encoding="utf-8")
    for name in QUICK_ROWS:
        assert f"\n| {name} | 1 |" in text
    assert text.count("| source |") == 10
    assert "| IWSLT14 German to English | gumbel-64x16 | 1,024 | 256 | 1.22 | 2.11 | 29.56 |" in text
    # 250,000 codes of 16 bytes and 512 float16 codewords of 256: 4.06 MB of a dense 244.
    assert re.search(r"\| 250,000 \| 244 \| .* \| 4\.06 \(1\.7%\) \|", text)
    for plot in ("translation-bleu.svg", "translation-sizes.svg"):
        assert f"({plot})" in text
        assert (tmp_path / plot).read_text(encoding="utf-8").startswith("<?xml")


def test_a_lost_work_folder_and_codebooks_for_each(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "data", tmp_path / "data")
    shutil.copytree(finished / "results", tmp_path / "results")
    rows = run(tmp_path, "--rows", "additive-4x4-each")
    # The baseline is trained again for its tables, and its row is not written twice.
    assert [row["name"] for row in rows] == [*QUICK_ROWS, "additive-4x4-each"]
    assert rows[-1]["vectors"] == 2 * 16


def test_mistakes_end_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^experiments\.translation: row 'prune' is none of baseline, prune-90"):
        run(tmp_path, "--rows", "prune")
    (tmp_path / "data" / "train.de").unlink()
    with pytest.raises(SystemExit, match=r"data lacks train\.de of Multi30k task 1"):
        run(tmp_path)


@pytest.mark.parametrize(
    ("text", "kind", "scheme", "number"),
    [
        ("baseline", "baseline", "None", 0),
        ("prune-95", "prune", "None", 95),
        ("uniform-2", "uniform", "None", 2),
        ("gumbel-64x16", "gumbel", "64x16", 0),
        ("additive-8x256-each-head", "additive", "8x256", 0),
    ],
)
def test_names_of_rows(text: str, kind: str, scheme: str, number: int) -> None:
    name = RowName.parse(text)
    assert (name.kind, str(name.scheme), name.number) == (kind, scheme, number)
    assert (name.each, name.head) == ("each" in text, "head" in text)


def test_a_row_of_nine_bits_is_refused() -> None:
    with pytest.raises(SettingError, match=r"row 'uniform-9': 9 bits are not between 1 and 8"):
        RowName.parse("uniform-9")
