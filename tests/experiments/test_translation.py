"""The translation recipe, start to end, on a corpus made here: a row of every kind."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from experiments.common.claims import claimed
from experiments.translation import precision
from experiments.translation.__main__ import QUICK_ROWS, main
from experiments.translation.batches import make_batch
from experiments.translation.model import READOUT, Translator, dense_embedding
from experiments.translation.outputs import Outputs
from experiments.translation.recipe import swapped
from experiments.translation.rows import CodeSettings, Layers, RowName, as_in_file, coded_layers, uniform_layers
from experiments.translation.scoring import tokenized_bleu
from experiments.translation.segmenting import END, START
from lexicode import SettingError
from translation_samples import small_data, write_multi30k


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
    # Fixed tables of another model do well, but for the network's: it has hardly learned.
    trained = [row for row in listed if not row["name"].endswith("swapped")]
    assert all(row["bleu"] > 15 for row in trained if not row["name"].startswith("gumbel"))
    assert len({row["baseline"] for row in listed}) == 1
    # Tables of the baseline's size that do not train.
    assert (rows["fixed"]["paper_bytes"], rows["fixed"]["loss"]) == (baseline["paper_bytes"], None)
    assert coded["learning"] == {"effort": "fast"}
    assert all(row["seconds"] >= row["training_seconds"] for row in listed)
    assert ["head" in row for row in listed] == ["-head" in name for name in QUICK_ROWS]
    assert all(len(row["translations"]) == len(baseline["references"]) == 10 for row in listed)
    assert list((finished / "work").glob("**/*.pt")) == []


def test_swapped_rows_are_the_baseline_with_other_tables(finished: Path) -> None:
    listed = json.loads((finished / "results/translation.json").read_text(encoding="utf-8"))["rows"]
    rows = {row["name"]: row for row in listed}
    swapped = [row for row in listed if row["name"].endswith("swapped")]
    assert {(row["iterations"], row["training_seconds"], len(row["curve"])) for row in swapped} == {(0, 0.0, 0)}
    # The same codes as those of the row that trained.
    for name in ("additive-8x4", "gumbel-8x4"):
        assert rows[f"{name}-swapped"]["loss"] == rows[name]["loss"]
    assert rows["additive-weighted-8x4-head-swapped"]["loss"] > rows["additive-8x4"]["loss"]
    assert rows["additive-weighted-8x4-head-swapped"]["weighted_loss"] < rows["additive-8x4"]["weighted_loss"]
    # Eight bits a value change next to nothing; random tables would leave nothing.
    assert rows["uniform-8-swapped"]["bleu"] == pytest.approx(rows["baseline"]["bleu"], abs=2)
    assert rows["uniform-8-swapped"]["validation"] == pytest.approx(rows["baseline"]["validation"], abs=2)
    text = (finished / "results/translation.md").read_text(encoding="utf-8")
    retrained, _, after = text.partition("## Without training again")
    section, _, rest = after.partition("## The paper's figures")
    assert "swapped" not in retrained + rest
    assert set(re.findall(r"^\| (\S+) \| 1 \|", section, flags=re.MULTILINE)) == {
        name.removesuffix("-swapped") for name in QUICK_ROWS if name.endswith("-swapped")
    }
    assert re.search(r"\n- additive-8x4 beside gumbel-8x4: [+-]\d+\.\d\d \[.*\] BLEU with seed 1, ", section)
    assert re.search(r"\n- gumbel-weighted-8x4 beside gumbel-8x4: ", section)
    assert (finished / "results/translation-swapped.svg").exists()


def test_whole_translations_lie_beside_the_results(finished: Path) -> None:
    listed = json.loads((finished / "results/translation.json").read_text(encoding="utf-8"))["rows"]
    outputs = Outputs(finished / "results/translation.json")
    references = outputs.read("reference")
    assert references is not None
    for row in listed:
        lines = outputs.read(f"{row['name']}-1")
        assert lines is not None
        assert lines[:10] == row["translations"]
        assert tokenized_bleu(lines, references) == row["bleu"]
    assert outputs.read("baseline-2") is None


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
        if not name.endswith("swapped"):
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
    assert rows[-1]["baseline"] == rows[0]["baseline"]


def test_a_baseline_of_other_data_is_not_taken(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "work", tmp_path / "work")
    write_multi30k(tmp_path / "data")
    for language in ("de", "en"):
        path = tmp_path / "data" / f"train.{language}"
        path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:300]), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"baseline-1\.safetensors is of a baseline with other settings or data"):
        run(tmp_path, "--rows", "uniform-3")


def test_a_row_that_another_process_is_at_is_left_to_it(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with claimed(finished / "work" / "multi30k" / "claims" / "uniform-3-1"):
        rows = run(finished, "--rows", "uniform-3")
    assert all(row["name"] != "uniform-3" for row in rows)
    assert "training" not in capsys.readouterr().out


def test_a_baseline_that_was_trained_elsewhere_is_told(finished: Path, tmp_path: Path) -> None:
    rows = json.loads((finished / "results/translation.json").read_text(encoding="utf-8"))["rows"]
    assert "was trained again" not in (finished / "results/translation.md").read_text(encoding="utf-8")
    rows[2]["baseline"] = "another"
    (tmp_path / "translation.json").write_text(json.dumps({"rows": rows}), encoding="utf-8")
    main(["--report-only", "--results", str(tmp_path)])
    assert f"(name and seed): {QUICK_ROWS[2]} (1)." in (tmp_path / "translation.md").read_text(encoding="utf-8")


def test_seeds_and_precisions_are_told(finished: Path, tmp_path: Path) -> None:
    rows = json.loads((finished / "results/translation.json").read_text(encoding="utf-8"))["rows"]
    assert {row["precision"] for row in rows} == {"float32"}
    again = {"seed": 2, "precision": "bfloat16"}
    # Rows from before there was a choice say nothing of it.
    del rows[1]["precision"]
    rows += [{**rows[0], **again}, {**rows[1], **again, "name": "uniform-3"}]
    (tmp_path / "translation.json").write_text(json.dumps({"rows": rows}), encoding="utf-8")
    main(["--report-only", "--results", str(tmp_path)])
    text = (tmp_path / "translation.md").read_text(encoding="utf-8")
    assert "\n| baseline | 1, 2 |" in text
    assert "of the same seeds; seed 2 trained with products in bfloat16 (`--precision bfloat16`). Seconds" in text
    assert text.count("\n| uniform-3, seed 2 | ") == 10
    assert text.count("\n| fixed | ") == 11


def test_a_processor_that_dies_of_bfloat16_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "TRIAL", "import os; os.abort()")
    precision.check_precision("float32")
    with pytest.raises(SettingError, match=r"products in bfloat16 fail on this machine \(exit -6\); take --precision"):
        precision.check_precision("bfloat16")


# ---- what stands in the tables' place


@pytest.fixture(scope="module")
def tables() -> list[npt.NDArray[np.float32]]:
    """Source, target and head, of 30, 20 and 20 rows"""
    rng = np.random.default_rng(8)
    return [rng.normal(size=shape).astype(np.float32) for shape in ((30, 8), (20, 8), (20, 12))]


def equal_counts(tables: list[npt.NDArray[np.float32]]) -> list[npt.NDArray[np.int64]]:
    """Of source and target"""
    return [np.ones(len(table), dtype=np.int64) for table in tables[:2]]


def coded(
    name: RowName,
    tables: list[npt.NDArray[np.float32]],
    work: Path,
    counts: list[npt.NDArray[np.int64]] | None = None,
) -> Layers:
    settings, counts = CodeSettings(effort="fast"), counts or equal_counts(tables)
    return coded_layers(name, *tables, counts=counts, seed=1, settings=settings, work=work, log=print)


@pytest.mark.parametrize("text", ["additive-4x4", "additive-4x4-each", "additive-4x16"])
def test_layers_are_the_rows_of_their_own_table(
    text: str, tables: list[npt.NDArray[np.float32]], tmp_path: Path
) -> None:
    layers = coded(RowName.parse(text), tables, tmp_path)
    errors = []
    for layer, table in zip((layers.source, layers.target), tables, strict=False):
        rows = layer(torch.arange(len(table))).detach().numpy()
        errors.append(np.square(rows - table).sum(axis=1))
        # A row of the other table, or another row, would be twice as far away as none.
        assert errors[-1].mean() < 0.8 * np.square(table).sum(axis=1).mean()
        assert not any(parameter.requires_grad for parameter in layer.parameters())
    assert np.concatenate(errors).mean() == pytest.approx(layers.loss, rel=1e-4)


@pytest.mark.parametrize("text", ["additive-weighted-2x4", "additive-weighted-2x4-each"])
def test_weighted_codes_care_for_rows_that_training_looks_up(
    text: str, tables: list[npt.NDArray[np.float32]], tmp_path: Path
) -> None:
    counts = [np.where(np.arange(len(table)) < 8, 1_000_000, 0) for table in tables[:2]]
    layers = coded(RowName.parse(text), tables, tmp_path, counts)
    plain = coded(RowName.parse(text.replace("weighted-", "")), tables, tmp_path, counts)

    def error(made: Layers) -> float:
        rows = [layer(torch.arange(8)).numpy() for layer in (made.source, made.target)]
        return float(np.mean([np.square(row - table[:8]).sum() for row, table in zip(rows, tables, strict=False)]))

    assert error(layers) < 0.8 * error(plain)
    assert layers.loss > plain.loss
    # 16 of the 50 rows count a thousand times as much as the others.
    assert layers.weighted_loss == pytest.approx(2 * error(layers) / 16, rel=0.05)


@pytest.mark.parametrize("text", ["additive-2x4-swapped", "additive-2x4-head-swapped", "gumbel-2x4-each-swapped"])
def test_a_swapped_model_has_other_tables_and_nothing_else(
    text: str, tables: list[npt.NDArray[np.float32]], tmp_path: Path
) -> None:
    head = np.random.default_rng(9).normal(size=(20, READOUT)).astype(np.float32)
    layers = coded(RowName.parse(text), [*tables[:2], head], tmp_path)
    model = Translator(dense_embedding(30, 8), dense_embedding(20, 8), 20, 8)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    after = swapped(model, layers)
    assert torch.equal(after.source_embedding(torch.arange(30)), layers.source(torch.arange(30)))
    assert torch.equal(after.target_embedding(torch.arange(20)), layers.target(torch.arange(20)))
    exchanged = ("source_embedding.", "target_embedding.", "head." if layers.head else "source_embedding.")
    rest = {name: value for name, value in after.state_dict().items() if not name.startswith(exchanged)}
    assert rest.keys() == {name for name in before if not name.startswith(exchanged)}
    assert all(torch.equal(value, before[name]) for name, value in rest.items())
    if layers.head is not None:
        hidden = torch.randn(3, READOUT)
        expected = hidden @ layers.head.embedding.weight.T + before["head.bias"]
        torch.testing.assert_close(after.head(hidden), expected, atol=1e-4, rtol=1e-4)


def test_counts_are_how_often_an_epoch_looks_each_row_up(tmp_path: Path) -> None:
    data = small_data(tmp_path)
    batch = make_batch(data.train.sources, data.train.targets)
    source, target = data.counts
    looked_up = torch.cat([row[:length] for row, length in zip(batch.source, batch.lengths, strict=True)])
    np.testing.assert_array_equal(source, np.bincount(looked_up, minlength=len(data.source)))
    np.testing.assert_array_equal(target, np.bincount(batch.feedback, minlength=len(data.target)))
    assert (target[START], target[END]) == (len(data.train.targets), 0)


def test_uniform_layers_are_rounded_tables(tables: list[npt.NDArray[np.float32]]) -> None:
    layers = uniform_layers(8, *tables[:2], equal_counts(tables))
    for layer, table in zip((layers.source, layers.target), tables, strict=False):
        np.testing.assert_allclose(layer.weight.numpy(), table, atol=0.03)
        assert not layer.weight.requires_grad


def test_a_head_is_judged_and_counted_as_its_file_has_it(tables: list[npt.NDArray[np.float32]], tmp_path: Path) -> None:
    layers = coded(RowName.parse("additive-4x4-head"), tables, tmp_path)
    assert layers.head is not None
    assert layers.head_sizes is None
    with torch.no_grad():
        layers.head.embedding.codebooks += 1e-5
    after = as_in_file(layers)
    assert after.head_sizes is not None
    # 20 codes of a byte and 16 float16 codewords of 12.
    assert after.head_sizes.stored_bytes == 20 + 16 * 12 * 2
    assert torch.equal(layers.head.embedding.codebooks, layers.head.embedding.codebooks.half().float())


def test_mistakes_end_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^experiments\.translation: row 'prune' is none of baseline, fixed"):
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
        ("additive-weighted-16x16-each-swapped", "additive", "16x16", 0),
        ("gumbel-weighted-16x16-head-swapped", "gumbel", "16x16", 0),
        ("uniform-2-swapped", "uniform", "None", 2),
    ],
)
def test_names_of_rows(text: str, kind: str, scheme: str, number: int) -> None:
    name = RowName.parse(text)
    assert (name.kind, str(name.scheme), name.number) == (kind, scheme, number)
    flags = ("weighted", "each", "head", "swapped")
    assert [getattr(name, flag) for flag in flags] == [flag in text for flag in flags]


@pytest.mark.parametrize(
    "text", ["baseline-swapped", "prune-90-swapped", "additive-8x4-swapped-head", "uniform-2-head"]
)
def test_names_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(SettingError, match=f"row '{text}' is none of baseline, fixed"):
        RowName.parse(text)


def test_a_row_of_nine_bits_is_refused() -> None:
    with pytest.raises(SettingError, match=r"row 'uniform-9': 9 bits are not between 1 and 8"):
        RowName.parse("uniform-9")
