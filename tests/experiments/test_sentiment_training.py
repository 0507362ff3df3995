"""Training on every kind of row: going on after a kill, what trains and what stays, aimed and scaled codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from experiments.common.sizes import sizes_of
from experiments.sentiment.aiming import STRETCH, Aim
from experiments.sentiment.reviews import Corpus
from experiments.sentiment.rows import Learning, RowName, make_layer, trained_layer
from experiments.sentiment.training import Training, judge, train
from lexicode import CodedEmbedding, CodeScheme
from lexicode.packing import pack
from lexicode.torch import CompositionalEmbedding
from sentiment_samples import BAD, DIM, GOOD, PLAIN

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
