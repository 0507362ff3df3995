"""`lexicode report`, and the pages of `compress --report` and `demo`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli_runner import Run
from lexicode import Vectors
from lexicode.cli import demo


def test_compress_then_report(run: Run, glove: Path, tmp_path: Path) -> None:
    table, page, curve = tmp_path / "table.safetensors", tmp_path / "first.html", tmp_path / "curve.json"
    done = run(
        "compress", glove, "-o", table, "--scheme", "4x8", "--effort", "fast", "--report", page, "--curve", curve
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert f"{page}: " in done.out
    assert done.out.rstrip().endswith("open it in a browser")
    assert "Learning curve" in page.read_text(encoding="utf-8")

    pairs = tmp_path / "pairs.txt"
    pairs.write_text("".join(f"word{i}\tword{i + 1}\t{i % 7}\n" for i in range(50)) + "word1 nowhere 3\n")
    second = tmp_path / "second.html"
    arguments = ("--similarity", pairs, "--curve", curve, "--trial-seconds", "0", "--json")
    told = json.loads(run("report", glove, table, "-o", second, *arguments).out)
    text = second.read_text(encoding="utf-8")
    assert told["measurements"]["bytes"]["file"] == table.stat().st_size
    assert told["similarity"] == [
        {"name": "pairs", "pairs": 51, "known": 50, "before": pytest.approx(told["similarity"][0]["before"]),
         "after": pytest.approx(told["similarity"][0]["after"])}
    ]  # fmt: skip
    assert f"{told['similarity'][0]['after']:.3f}" in text
    assert f"{told['measurements']['loss']:.4f}" in text
    assert told["curve"]["losses"]["loss"] == json.loads(curve.read_text())
    assert "Learning curve" in text

    done = run("report", glove, table, "-o", second, "--trial-seconds", "0")
    assert done.code == 0
    assert done.out.startswith(f"{second}: ")
    assert "lexicode report --curve FILE" in second.read_text(encoding="utf-8")


def test_json_alone_writes_no_page(run: Run, glove: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.safetensors"
    run("compress", glove, "-o", table, "--scheme", "4x8", "--effort", "fast")
    told = json.loads(run("report", glove, table, "--json", "--trial-seconds", "0").out)
    assert {"measurements", "balance", "explorer", "bands", "reference"} <= set(told)
    assert [path.name for path in tmp_path.iterdir()] == ["table.safetensors"]


def test_mistakes_are_one_sentence(run: Run, glove: Path, tmp_path: Path) -> None:
    table, page = tmp_path / "table.safetensors", tmp_path / "r.html"
    run("compress", glove, "-o", table, "--scheme", "2x4", "--effort", "fast")
    np.save(tmp_path / "other.npy", np.ones((3, 2), dtype=np.float32))
    (tmp_path / "curve.json").write_text("oops")
    for arguments, sentence in (
        (("report", glove, table), "name the page (-o report.html), or ask for --json"),
        (("report", glove, table, "-o", page, "--trial-seconds", "-1"), "--trial-seconds -1 is not between 0 and 3600"),
        (("report", glove, table, "-o", page, "--curve", tmp_path / "curve.json"), "curve.json: not a JSON list"),
        (("report", glove, table, "-o", glove), "is both read and written"),
        (("report", glove, table, "-o", table), "is both read and written"),
        (("report", glove, table, "-o", tmp_path / "no" / "r.html"), "no such directory"),
        (("report", tmp_path / "other.npy", table, "-o", page), "not the same table"),
        (("report", glove, glove, "-o", page), "cut short or damaged"),
        (("compress", glove, "-o", page, "--report", page), "is written twice"),
        (("compress", glove, "-o", table, "--report", page, "--processes", "2"), "run lexicode report on the file"),
        (("compress", "a.codes", "-o", table, "--report", page), "--report needs the vectors"),
    ):
        done = run(*arguments)
        assert done.code == 2, sentence
        assert sentence in done.err
        assert len(done.err.splitlines()) == 1
        assert not page.exists()


def test_help_ends_with_an_example(run: Run) -> None:
    tail = run("report", "--help").out.split("Example:")[1]
    assert "$ lexicode report" in tail
    assert "open it in a browser" in tail


def test_the_demo_writes_its_report(
    run: Run, clustered: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "glove", lambda limit: clustered)
    done = run("demo", "-o", tmp_path / "demo", "--scheme", "4x8", "--effort", "fast")
    assert done.code == 0
    page = tmp_path / "demo" / "report.html"
    assert f"{page}: " in done.out
    assert "Learning curve" in page.read_text(encoding="utf-8")
