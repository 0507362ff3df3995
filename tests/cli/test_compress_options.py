"""compress: weights, directions, rows that are kept, and time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli_runner import Run
from lexicode import CodedEmbedding, Vectors


def test_weights_from_a_rule_or_a_file(run: Run, glove: Path, tmp_path: Path, clustered: Vectors) -> None:
    counts = tmp_path / "counts.txt"
    counts.write_text("\n".join(f"word{i}\t{1000 if i < 10 else 1}" for i in reversed(range(600))), encoding="utf-8")
    plain = ("compress", glove, "--scheme", "3x8", "--effort", "fast")
    errors = {}
    for name, options in {"none": (), "zipf": ("--weights", "zipf"), "file": ("--weights", counts)}.items():
        done = run(*plain, "-o", tmp_path / name, *options)
        assert done.code == 0, done.err
        table = CodedEmbedding.load(tmp_path / name).decode()
        errors[name] = np.square(clustered.matrix - table).sum(axis=1)[:10].mean()
    assert errors["zipf"] < errors["none"]
    assert errors["file"] < 0.5 * errors["none"]
    assert CodedEmbedding.load(tmp_path / "zipf").origin["settings"]["weights"] == "zipf"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1\n2\n", "holds 2 weights, but the table has 600 rows"),
        ("word0 many\n", "line 1: 'many' is not a number"),
        ("cow 3\n", "has none of the table's words"),
        ("x\n", "line 1: 'x' is not a number"),
        ("-1\n" * 600, "the weight of row 0 is -1.0"),
    ],
)
def test_weights_that_do_not_fit(run: Run, glove: Path, tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "w").write_text(text, encoding="utf-8")
    done = run("compress", glove, "-o", tmp_path / "out", "--scheme", "3x8", "--weights", tmp_path / "w")
    assert done.code != 0
    assert sentence in done.err
    assert not (tmp_path / "out").exists()


def test_rows_kept_and_lengths_apart(run: Run, glove: Path, tmp_path: Path, clustered: Vectors) -> None:
    out = tmp_path / "out"
    done = run(
        "compress", glove, "-o", out, "--scheme", "3x8", "--effort", "fast", "--exact", "5", "--loss", "cosine",
        "--max-error", "3",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "rows kept as they are" in done.out
    coded = CodedEmbedding.load(out)
    distances = np.linalg.norm(clustered.matrix - coded.decode(), axis=1)
    assert np.array_equal(coded.decode()[:5], clustered.matrix[:5])
    assert distances.max() <= 3
    told = json.loads(run("info", out, "--json").out)
    assert told["exact_rows"] >= 5
    assert told["has_norms"] is True


def test_time_instead_of_an_effort(run: Run, glove: Path, tmp_path: Path) -> None:
    plain = ("compress", glove, "-o", tmp_path / "out", "--scheme", "3x8")
    assert run(*plain, "--time", "0.2s").code == 0
    assert CodedEmbedding.load(tmp_path / "out").origin["settings"]["time"] == 0.2
    for options, sentence in {
        ("--time", "soon"): "--time 'soon' is not a time; write 60s, 5m or 1h",
        ("--time", "1m", "--effort", "fast"): "--effort and --time exclude one another",
        ("--time", "1m", "--learner", "product"): "--time is for --learner additive",
    }.items():
        done = run(*plain, *options)
        assert done.code != 0
        assert sentence in done.err


def test_codebooks_learned_on_some_rows(run: Run, glove: Path, tmp_path: Path) -> None:
    plain = ("compress", glove, "-o", tmp_path / "out", "--scheme", "3x8")
    assert run(*plain, "--sample-rows", "20").code == 0
    assert CodedEmbedding.load(tmp_path / "out").origin["settings"]["sample_rows"] == 20
    done = run(*plain, "--sample-rows", "20", "--learner", "product")
    assert done.code != 0
    assert "--sample-rows is for --learner additive, not for product" in done.err
