"""The sentiment recipe, start to end, on reviews made here: every kind of row, both forms of the data."""

from __future__ import annotations

import doctest
import gzip
import importlib
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from experiments.common.sizes import sizes_of
from experiments.sentiment.__main__ import main, options
from experiments.sentiment.aiming import STRETCH, Aim
from experiments.sentiment.plan import chosen, quick_plan, whole_plan
from experiments.sentiment.recipe import label_of
from experiments.sentiment.reviews import Corpus, load_corpus, tokenized, tokens_of
from experiments.sentiment.rows import Learning, RowName, make_layer, trained_layer
from experiments.sentiment.training import Training, batches_of, judge, train
from lexicode import CodedEmbedding, CodeScheme, InputError, SettingError, Vectors
from lexicode.packing import pack
from lexicode.torch import CompositionalEmbedding

GOOD = [f"good{number}" for number in range(12)]
BAD = [f"bad{number}" for number in range(12)]
PLAIN = [f"plain{number}" for number in range(40)]
DIM = 12


def reviews(split: int, count: int = 100) -> Iterator[tuple[int, str]]:
    """Half of them have good words in them, the others bad ones."""
    rng = np.random.default_rng(split)
    for number in range(count):
        label = number % 2
        words = [
            *rng.choice(GOOD if label else BAD, size=6),
            *rng.choice(PLAIN, size=int(rng.integers(4, 40))),
            "unknown",
        ]
        rng.shuffle(words)
        yield label, " ".join(words).capitalize() + ".<br /><br />The end."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """lines/ has the reviews as imdb_*.jsonl.gz, folders/ the same as aclImdb; small.txt and other.txt are vectors."""
    root = tmp_path_factory.mktemp("sentiment")
    (root / "lines").mkdir()
    for split, name in enumerate(("train", "test")):
        with gzip.open(root / "lines" / f"imdb_{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            for number, (label, text) in enumerate(reviews(split)):
                file.write(json.dumps({"label": label, "text": text}) + "\n")
                place = root / "folders" / "aclImdb" / name / ("pos" if label else "neg")
                place.mkdir(parents=True, exist_ok=True)
                (place / f"{number}_5.txt").write_text(text, encoding="utf-8")
    _write_vectors(root / "small.txt")
    _write_vectors(root / "other.txt")
    return root


def _write_vectors(path: Path) -> None:
    """Good and bad words lie apart in the first column; a word that no review has is among them."""
    rng = np.random.default_rng(9)
    words = [*GOOD, *BAD, *PLAIN, "the", "end", "absent"]
    matrix = rng.normal(size=(len(words), DIM))
    matrix[: len(GOOD), 0] += 4
    matrix[len(GOOD) : len(GOOD) + len(BAD), 0] -= 4
    lines = [" ".join([word, *(f"{value:.5f}" for value in row)]) for word, row in zip(words, matrix, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


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


@pytest.fixture(scope="module")
def corpus(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return load_corpus(folder / "lines", Vectors.load(folder / "small.txt"), work=tmp_path_factory.mktemp("work"))


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


# ---- training

SMALL = Training(units=8, epochs=10, learning_rate=2e-2, batch_size=8, seed=1)


def fixed(corpus: Corpus) -> nn.Embedding:
    return nn.Embedding.from_pretrained(torch.from_numpy(corpus.vectors.take(np.arange(len(corpus.vectors)))))


def test_the_model_learns(corpus: Corpus, tmp_path: Path) -> None:
    embedding = fixed(corpus)
    before = embedding.weight.clone()
    trained, _ = train(embedding, corpus, SMALL, state=tmp_path / "state.pt")
    assert trained.test_accuracy > 0.9
    assert trained.best_loss == min(trained.validation_losses)
    assert trained.best_epoch == 1 + int(np.argmin(trained.validation_losses))
    assert torch.equal(embedding.weight, before)


class KilledError(Exception):
    pass


@pytest.mark.parametrize("row", ["baseline", "prune-80", "baseline-tuned", "additive-tuned-4x8"])
def test_a_row_that_was_killed_goes_on(corpus: Corpus, tmp_path: Path, row: str) -> None:
    name = RowName.parse(row)
    settings = Training(units=4, epochs=4, learning_rate=1e-2, batch_size=16, seed=3, zeros=name.zeros)

    def layer() -> nn.Module:
        return make_layer(name, corpus, Learning(effort="fast", threads=1), work=tmp_path, log=print).embedding

    def kill(line: str) -> None:
        if "epoch 2:" in line:
            raise KilledError

    whole, model = train(layer(), corpus, settings, state=tmp_path / "whole.pt")
    with pytest.raises(KilledError):
        train(layer(), corpus, settings, state=tmp_path / "broken.pt", log=kill)
    lines: list[str] = []
    resumed, other = train(layer(), corpus, settings, state=tmp_path / "broken.pt", log=lines.append)
    assert lines[0] == "  goes on after epoch 2"
    assert resumed.validation_losses == whole.validation_losses
    assert resumed.test_accuracy == whole.test_accuracy
    for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_a_row_does_not_go_on_with_another_table(corpus: Corpus, tmp_path: Path) -> None:
    def kill(line: str) -> None:
        if "epoch 1:" in line:
            raise KilledError

    lines: list[str] = []
    with pytest.raises(KilledError):
        train(fixed(corpus), corpus, SMALL, state=tmp_path / "state.pt", log=kill)
    with pytest.raises(KilledError):
        train(nn.Embedding(len(corpus.vectors), DIM), corpus, SMALL, state=tmp_path / "state.pt", log=kill)
    train(fixed(corpus), corpus, SMALL, state=tmp_path / "state.pt", log=lines.append)
    assert lines[0].startswith("  epoch 1:")


def test_a_pruned_table_trains_and_keeps_its_zeros(corpus: Corpus, tmp_path: Path) -> None:
    layer = make_layer(RowName.parse("prune-80"), corpus, Learning(), work=tmp_path, log=print)
    before = corpus.vectors.take(np.arange(len(corpus.vectors)))
    settings = Training(units=4, epochs=6, learning_rate=1e-2, batch_size=16, zeros=0.8)
    trained, model = train(layer.embedding, corpus, settings, state=tmp_path / "state.pt")
    table = model.embedding.weight.detach().numpy()
    assert (table == 0).sum() == round(0.8 * table.size)
    assert np.abs((table - before)[table != 0]).max() > 0.01
    assert trained.best_epoch >= 4


def test_a_dense_table_trains_and_is_counted_dense(corpus: Corpus, tmp_path: Path) -> None:
    name = RowName.parse("baseline-tuned")
    layer = make_layer(name, corpus, Learning(), work=tmp_path, log=print)
    before = corpus.vectors.take(np.arange(len(corpus.vectors)))
    settings = Training(units=4, epochs=2, learning_rate=1e-2, batch_size=16)
    train(layer.embedding, corpus, settings, state=tmp_path / "state.pt")
    after = trained_layer(layer, name, corpus)
    table = layer.embedding.weight.detach().numpy()
    assert after.sizes is not None
    assert after.sizes.stored_bytes == before.nbytes
    assert after.loss == pytest.approx(np.square(table - before).sum(axis=1).mean(), rel=1e-5)
    assert after.loss > 1e-4


def test_the_layer_and_its_decoded_table_train_alike(corpus: Corpus, tmp_path: Path) -> None:
    settings = Training(units=4, epochs=2, learning_rate=1e-2, batch_size=16)
    layer = make_layer(
        RowName.parse("additive-weighted-exact3-4x8"),
        corpus,
        Learning(effort="fast", threads=1),
        work=tmp_path,
        log=print,
    )
    decoded = layer.learned.coded.decode() if layer.learned else None
    coded, _ = train(layer.embedding, corpus, settings, state=tmp_path / "coded.pt")
    plain, _ = train(
        nn.Embedding.from_pretrained(torch.from_numpy(decoded)), corpus, settings, state=tmp_path / "plain.pt"
    )
    assert coded.validation_losses == pytest.approx(plain.validation_losses, rel=1e-4)


def test_tuned_codebooks_train_and_are_judged_as_the_file_has_them(corpus: Corpus, tmp_path: Path) -> None:
    learning = Learning(effort="fast", threads=1)
    layer = make_layer(RowName.parse("additive-tuned-4x8"), corpus, learning, work=tmp_path, log=print)
    assert layer.learned is not None
    assert layer.sizes is None
    settings = Training(units=4, epochs=2, learning_rate=1e-2, batch_size=16)
    trained, model = train(layer.embedding, corpus, settings, state=tmp_path / "state.pt")
    tuned, before = layer.embedding.to_coded(), layer.learned.coded
    np.testing.assert_array_equal(tuned.packed, before.packed)
    assert np.abs(tuned.codebooks.astype(np.float32) - before.codebooks).max() > 0.01
    model.embedding = CompositionalEmbedding.from_coded(tuned)
    assert judge(model, corpus.test) == (trained.test_loss, trained.test_accuracy)
    after = trained_layer(layer, RowName.parse("additive-tuned-4x8"), corpus)
    assert after.sizes is not None
    assert after.sizes.stored_bytes == sizes_of(before).stored_bytes
    assert after.loss is not None
    assert after.loss > 0


@pytest.mark.parametrize("row", ["additive-scaled-2x4", "additive-weighted-scaled-exact3-2x4"])
def test_scaled_rows_vary_as_the_vectors_do(corpus: Corpus, tmp_path: Path, row: str) -> None:
    learning = Learning(effort="fast", threads=1)
    plain, scaled = (
        make_layer(RowName.parse(name), corpus, learning, work=tmp_path, log=print).learned
        for name in (row.replace("-scaled", ""), row)
    )
    assert plain is not None
    assert scaled is not None
    table = corpus.vectors.take(np.arange(len(corpus.vectors)))
    before, after = plain.coded.decode(), scaled.coded.decode()
    weights = np.sqrt(corpus.counts + 1.0) if "weighted" in row else np.ones(len(table))
    spreads = [
        np.average(np.square(each - np.average(each, axis=0, weights=weights)).sum(axis=1), weights=weights)
        for each in (table, before, after)
    ]
    assert spreads[1] < 0.9 * spreads[0]
    kept = [] if plain.coded.exact is None else plain.coded.exact.ids
    np.testing.assert_array_equal(after[kept], before[kept])
    if "exact" not in row:
        assert spreads[2] == pytest.approx(spreads[0], rel=1e-3)
        np.testing.assert_allclose(after.mean(axis=0), before.mean(axis=0), atol=2e-3)
    assert sizes_of(scaled.coded).paper_bytes == sizes_of(plain.coded).paper_bytes


# ---- aiming at the labels


def test_an_aim_finds_what_tells_the_labels_apart(corpus: Corpus) -> None:
    direction = Aim.at_labels(corpus).direction
    assert np.linalg.norm(direction) == pytest.approx(1)
    words = list(corpus.vectors.words or [])
    along = dict(zip(words, corpus.vectors.take(np.arange(len(words))) @ direction, strict=True))
    good, bad = (np.mean([along[word] for word in words if word in along]) for words in (GOOD, BAD))
    plain = [along[word] for word in PLAIN if word in along]
    assert good > np.quantile(plain, 0.9)
    assert bad < np.quantile(plain, 0.1)


def test_what_is_stretched_and_shrunk_back_is_as_before(corpus: Corpus) -> None:
    aim = Aim.at_labels(corpus)
    table = corpus.vectors.take(np.arange(len(corpus.vectors)))
    stretched = aim.stretch(corpus.vectors)
    along = stretched.take(np.arange(len(table))) @ aim.direction
    np.testing.assert_allclose(along, STRETCH * (table @ aim.direction), rtol=1e-4, atol=1e-5)
    # One codebook with a codeword for each of the first 64 rows stands for them as they are.
    coded = CodedEmbedding(
        scheme=CodeScheme(codebooks=1, codewords=64),
        packed=pack(np.arange(64, dtype=np.uint8)[:, np.newaxis], bits=6),
        codebooks=stretched.take(np.arange(64))[np.newaxis],
        exact_ids=np.array([5], dtype=np.uint32),
        exact_rows=stretched.take(np.array([5])),
    )
    np.testing.assert_allclose(aim.shrink_back(coded).decode(), table[:64], rtol=1e-4, atol=1e-5)


def test_aimed_codes_keep_the_direction_best(corpus: Corpus, tmp_path: Path) -> None:
    direction = Aim.at_labels(corpus).direction
    errors = []
    for row in ("additive-weighted-4x4", "additive-weighted-aimed-4x4"):
        learning = Learning(effort="fast", threads=1)
        layer = make_layer(RowName.parse(row), corpus, learning, work=tmp_path, log=print)
        assert layer.learned is not None
        difference = layer.learned.coded.decode() - corpus.vectors.take(np.arange(len(corpus.vectors)))
        errors.append(float(np.square(difference @ direction).mean()))
    assert errors[1] < 0.3 * errors[0]


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
