"""The sentiment recipe, start to end, on reviews made here: every kind of row, both forms of the data."""

from __future__ import annotations

import doctest
import gzip
import importlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.sentiment.__main__ import main, options
from experiments.sentiment.plan import chosen, quick_plan, whole_plan
from experiments.sentiment.recipe import label_of
from experiments.sentiment.reviews import Corpus, load_corpus, tokenized, tokens_of
from experiments.sentiment.rows import RowName
from experiments.sentiment.training import Training, batches_of
from experiments.sentiment.verdict import verdict
from lexicode import InputError, SettingError, Vectors
from sentiment_samples import BAD, GOOD, PLAIN


def run(folder: Path, place: Path, *more: str, data: str = "lines") -> list[dict[str, Any]]:
    """One quick run; the rows that are in the results then."""
    small, other = str(folder / "small.txt"), str(folder / "other.txt")
    main(
        ["--data", str(folder / data), "--vectors", small, "--second", other, "--work", str(place / "work"),
         "--results", str(place / "results"), "--threads", "1", "--quick", *more]
    )  # fmt: skip
    text = (place / "results" / "sentiment.json").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)["rows"]
    return rows


@pytest.fixture(scope="module")
def finished(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place of a quick run of the whole plan."""
    place = tmp_path_factory.mktemp("finished")
    run(folder, place)
    return place


# ---- the whole recipe


def test_every_kind_of_row(finished: Path) -> None:
    rows = json.loads((finished / "results" / "sentiment.json").read_text(encoding="utf-8"))["rows"]
    assert len(rows) == len(quick_plan()) == 14
    for row in rows:
        assert row["vectors"] == ("small" if row["table"] == "main" else "other")
        assert row["words"] == len(GOOD) + len(BAD) + len(PLAIN) + 2
        assert row["seconds"] > 0
        if row["kind"] == "accuracy":
            # Hardly trained, but on words that tell good from bad at once.
            assert row["accuracy"] > 0.55
            assert row["paper_bytes"] > 0
    found = {row["name"]: row for row in rows if row["seed"] == 1}
    assert found["baseline on small"]["paper_accuracy"] == 87.18
    assert found["baseline on small"]["loss"] == 0
    assert found["prune-80 on small"]["paper_megabytes"] == 21.0
    assert found["gumbel-4x8 on small"]["iterations"] == 300
    assert found["loss:additive-8x8 on small"]["loss"] < found["additive-4x8 on small"]["loss"]
    assert found["loss:gumbel-8x8 on small"]["paper_loss"] == 29.1
    assert np.sum(found["codes:gumbel-8x8 on small"]["counts"]) == 8 * found["baseline on small"]["words"]


def test_the_report_has_its_tables_and_plots(finished: Path) -> None:
    text = (finished / "results" / "sentiment.md").read_text(encoding="utf-8")
    for part in (
        "| baseline | 384 |", "| gumbel-4x8 | 12 |", "paper: accuracy", "\n## Reconstruction loss", "\\* (29.1) |",
        "* fewer iterations than the paper's 200,000, by a limit of time: 8x8 300",
        "| binary 128x2: as many bits | 256 | 128 | 128 |", "\n## What the codes look like", "\n## The second table",
        "(2 seeds)", "by nltk's word rules", "![](sentiment-accuracy.svg)",
    ):  # fmt: skip
        assert part in text
    for name in ("sentiment-accuracy.svg", "sentiment-balance.svg", "sentiment-hamming.svg"):
        assert (finished / "results" / name).stat().st_size > 5000


def accuracy(name: str, seed: int, value: float) -> dict[str, Any]:
    """A row of the main table, of a size below a hundredth of the baseline's where it is coded."""
    size = 1000 if name.startswith("baseline") else 8
    return {"kind": "accuracy", "table": "main", "row": name, "seed": seed, "accuracy": value,
            "learner": name.partition("-")[0], "paper_bytes": size, "stored_bytes": size}  # fmt: skip


def test_differences_from_the_baseline_have_their_standard_error() -> None:
    text = verdict([accuracy("baseline", 1, 0.87), accuracy("baseline", 2, 0.88), accuracy("uniform-1", 1, 0.86)])
    # Seeds one percent apart have a standard deviation of 0.71; the error is that times sqrt(1 + 1/2).
    assert "uniform-1: 86.00 % (one seed), -1.50 against the baseline (standard error 0.87)," in text
    alone = verdict([accuracy("baseline", 1, 0.87), accuracy("uniform-1", 1, 0.86)])
    assert "uniform-1: 86.00 % (one seed), -1.00 against the baseline, " in alone


def test_what_trains_is_compared_with_the_table_that_trains() -> None:
    rows = [accuracy("baseline", 1, 0.87), accuracy("baseline-tuned", 1, 0.89)]
    text = verdict([*rows, accuracy("additive-tuned-12x16", 1, 0.88), accuracy("additive-12x16", 1, 0.86)])
    assert "additive-tuned-12x16: 88.00 % (one seed), +1.00 against the baseline, -1.00 against baseline-t" in text
    assert "additive-12x16: 86.00 % (one seed), -1.00 against the baseline; " in text
    assert "Of 1 rows with fixed codes, NPQ's among them, 1 are below their baseline." in text


def test_losses_are_compared_where_the_network_came_to_its_end() -> None:
    def loss(learner: str, scheme: str, value: float, iterations: int | None = None) -> dict[str, Any]:
        return {"kind": "loss", "table": "main", "row": f"{learner}-{scheme}", "seed": 1, "scheme": scheme,
                "loss": value, "iterations": iterations}  # fmt: skip

    pairs = [loss("gumbel", "8x8", 10.0, 200_000), loss("additive", "8x8", 8.0)]
    pairs += [loss("gumbel", "16x8", 8.0, 200_000), loss("additive", "16x8", 9.0)]
    pairs += [loss("gumbel", "64x64", 9.0, 5_000), loss("additive", "64x64", 1.0)]
    text = verdict([accuracy("baseline", 1, 0.87), *pairs])
    assert (
        "of 2 schemes lexicode's learner has the lower loss in 1, by 20 to 20 %. "
        "The network was stopped before its end in 64x64." in text
    )


def test_rows_that_exist_are_not_run_again(folder: Path, finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (finished / "results" / "sentiment.json").read_bytes()
    run(folder, finished)
    assert (finished / "results" / "sentiment.json").read_bytes() == before
    assert "epoch" not in capsys.readouterr().out


def test_the_report_alone(finished: Path, tmp_path: Path) -> None:
    text = (finished / "results" / "sentiment.json").read_text(encoding="utf-8")
    (tmp_path / "sentiment.json").write_text(text, encoding="utf-8")
    main(["--report-only", "--results", str(tmp_path)])
    assert (tmp_path / "sentiment.md").read_bytes() == (finished / "results" / "sentiment.md").read_bytes()
    assert (tmp_path / "sentiment-accuracy.svg").read_bytes() == (
        finished / "results" / "sentiment-accuracy.svg"
    ).read_bytes()


def test_rows_and_seeds_by_name_on_folders(folder: Path, tmp_path: Path) -> None:
    rows = run(folder, tmp_path, "--rows", "uniform-[1-4]", "uniform-8", "--seeds", "5", data="folders")
    assert [(row["row"], row["seed"]) for row in rows] == [("uniform-2", 5), ("uniform-8", 5)]
    assert rows[0]["loss"] > rows[1]["loss"] > 0


def test_missing_data_is_told_in_a_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"neither imdb_train\.jsonl\.gz nor the folders aclImdb/train/pos and neg"):
        run(folder, tmp_path, data="nowhere")
    with pytest.raises(SystemExit, match="the published vectors are not there; name a file with --vectors"):
        main(["--data", str(folder / "lines"), "--quick"])


def test_what_cannot_be_run_is_told_before_anything_is(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"row 'basline' is none of baseline"):
        run(folder, tmp_path, "--rows", "baseline", "basline")
    with pytest.raises(SystemExit, match="seed -1 is less than 0"):
        run(folder, tmp_path, "--seeds", "-1")
    assert not (tmp_path / "results").exists()


def test_rows_of_other_vectors_are_kept_apart(folder: Path, finished: Path) -> None:
    before = (finished / "results" / "sentiment.json").read_bytes()
    with pytest.raises(
        SystemExit, match=r"sentiment\.json has rows of small, and these are other; name another folder"
    ):
        run(folder, finished, "--vectors", str(folder / "other.txt"))
    assert (finished / "results" / "sentiment.json").read_bytes() == before


def test_quick_rows_do_not_stand_among_real_ones(tmp_path: Path) -> None:
    quick, real = (options(["--data", str(tmp_path), *more]) for more in (["--quick"], []))
    assert quick.results != real.results
    assert quick.work != real.work


# ---- reviews


def test_both_forms_of_the_data_are_one(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    other = load_corpus(folder / "folders", Vectors.load(folder / "small.txt"), work=tmp_path)

    def texts(one: Corpus) -> list[tuple[int, list[int]]]:
        parts = [one.train, one.validation]
        listed = [
            (int(part.labels[i]), part.take(np.array([i])).ids.tolist()) for part in parts for i in range(len(part))
        ]
        return sorted(listed)

    assert texts(other) == texts(corpus)
    assert sorted(other.vectors.words or ()) == sorted(corpus.vectors.words or ())


def test_of_processes_that_begin_together_one_tokenizes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []

    def slowly(text: str) -> list[str]:
        texts.append(text)
        time.sleep(0.001)
        return tokens_of(text)

    monkeypatch.setattr("experiments.sentiment.reviews.tokens_of", slowly)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: list(tokenized(folder / "lines", "train", tmp_path)), range(4)))
    assert len(texts) == len(found[0])
    assert all(each == found[0] for each in found)


def test_other_reviews_are_tokenized_anew(folder: Path, tmp_path: Path) -> None:
    whole = list(tokenized(folder / "lines", "train", tmp_path))
    few = list(tokenized(folder / "lines", "train", tmp_path, most=10))
    assert len(few) == 10
    assert {label for label, _ in few} == {0, 1}
    assert all(review in whole for review in few)
    assert list(tokenized(folder / "lines", "test", tmp_path)) != whole


def test_the_vocabulary_is_what_both_have(corpus: Corpus) -> None:
    words = list(corpus.vectors.words or ())
    assert "absent" not in words
    assert "unknown" not in words
    assert "the" in words
    assert len(corpus.train) + len(corpus.validation) == len(corpus.test) == 100
    assert corpus.counts.sum() == corpus.train.lengths.sum() + corpus.validation.lengths.sum()
    assert 0.5 < corpus.known < 1


def test_tokens_follow_nltks_rules() -> None:
    assert tokens_of("Isn't it? (Yes.) U.S. films cost $5,000...<br /><br />Really!") == [
        "is", "n't", "it", "?", "(", "yes", ".", ")", "u.s", ".", "films", "cost", "$", "5,000", "...", "really", "!",
    ]  # fmt: skip


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "imdb_train.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write('{"label": 1, "text": "fine"}\n{"label": 1}\n')
    with pytest.raises(InputError, match=r"imdb_train\.jsonl\.gz: line 2: no"):
        load_corpus(tmp_path, Vectors(np.eye(2), ["fine", "bad"]), work=tmp_path)


def test_batches_hold_every_review_once(corpus: Corpus) -> None:
    for rng in (None, np.random.default_rng(1)):
        batches = list(batches_of(corpus.train, 7, rng))
        assert sum(len(batch.labels) for batch in batches) == len(corpus.train)
        assert sum(sum(batch.running) for batch in batches) == len(corpus.train.ids)
        for batch in batches:
            assert batch.running == sorted(batch.running, reverse=True)


# ---- names


@pytest.mark.parametrize("name", ["codes", "plan", "recipe", "reviews", "rows"])
def test_the_examples_in_the_docstrings_hold(name: str) -> None:
    done = doctest.testmod(importlib.import_module(f"experiments.sentiment.{name}"))
    assert done.attempted > 0
    assert done.failed == 0


def test_the_plan_has_every_row_once() -> None:
    plan = whole_plan()
    assert len(set(plan)) == len(plan)
    assert plan[0].row == "baseline"
    assert sum(task.kind == "loss" for task in plan) == 2 * (16 + 2)
    for task in plan:
        RowName.parse(task.row)


def test_rows_are_chosen_by_pattern_and_kind() -> None:
    assert {task.row for task in chosen(whole_plan(), ["loss:gumbel-*x64"], None)} == {
        "gumbel-8x64", "gumbel-16x64", "gumbel-32x64", "gumbel-64x64",
    }  # fmt: skip
    assert [(task.row, task.seed) for task in chosen(whole_plan(), ["prune-80"], [4, 5])] == [
        ("prune-80", 4),
        ("prune-80", 5),
    ]
    # A row that the plan does not have is made all the same.
    assert [task.row for task in chosen(whole_plan(), ["additive-thorough-8x32"], None)] == ["additive-thorough-8x32"]


def test_a_name_that_is_no_row_is_refused() -> None:
    with pytest.raises(SettingError, match=r"row 'basline' is none of baseline, prune-80"):
        RowName.parse("basline")
    with pytest.raises(SettingError, match="codewords=12 is not a power of two; try 8 or 16"):
        RowName.parse("additive-4x12")
    with pytest.raises(
        SettingError,
        match="row 'npq-weighted-4x16': effort, weighted, aimed, scaled, tuned and exact go with additive alone",
    ):
        RowName.parse("npq-weighted-4x16")


def test_labels_tell_tables_apart() -> None:
    assert label_of(Path("a/glove840B_300d_33860.f32.npz")) == "glove840B_300d_33860"
    assert label_of(Path("glove.42B.300d.txt.gz")) == "glove.42B.300d"


def test_settings_are_checked() -> None:
    with pytest.raises(SettingError, match="epochs=0 is less than 1"):
        Training(epochs=0)
    with pytest.raises(SettingError, match=r"zeros=1\.0 is not a fraction between 0 and 1"):
        Training(zeros=1.0)
    with pytest.raises(SettingError, match="clip=0 is not a number above zero"):
        Training(clip=0)
