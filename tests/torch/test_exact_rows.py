"""Rows that are kept exactly, in the layer, its head, its file and its graphs."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from torch import nn  # noqa: E402

from agreement.artefacts import random_artefact  # noqa: E402
from lexicode import CodedEmbedding, SettingError  # noqa: E402
from lexicode.torch import (  # noqa: E402
    CompositionalEmbedding,
    CompositionalHead,
    load_compressed,
    lookup,
    save_compressed,
)
from lexicode.torch.record import KEY  # noqa: E402

ROWS, DIM = 70, 6


@pytest.fixture
def coded() -> CodedEmbedding:
    return random_artefact("4x16", DIM, exact="float16")


@pytest.fixture
def layer(coded: CodedEmbedding) -> CompositionalEmbedding:
    return CompositionalEmbedding.from_coded(coded)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(ROWS, DIM)
        self.head = nn.Linear(DIM, ROWS, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.tokens(ids))


def coded_model(layer: CompositionalEmbedding) -> Tied:
    model = Tied()
    model.tokens = layer
    model.head = CompositionalHead(layer)
    return model


def test_exact_rows_are_the_rows_whatever_their_codes(coded, layer) -> None:
    ids = torch.from_numpy(coded.exact.ids.astype(np.int64))
    assert torch.equal(layer(ids), torch.from_numpy(coded.exact.rows.astype(np.float32)))
    assert torch.equal(layer(ids.int()), layer(ids))
    before = layer(torch.arange(ROWS))
    layer.packed[ids] ^= 1
    assert torch.equal(layer(torch.arange(ROWS)), before)


def test_there_and_back(coded, layer) -> None:
    back = layer.to_coded()
    np.testing.assert_array_equal(back.exact.ids, coded.exact.ids)
    np.testing.assert_array_equal(back.exact.rows, coded.exact.rows)
    assert (back.exact.ids.dtype, back.exact.rows.dtype) == (np.uint32, np.float16)
    np.testing.assert_array_equal(back.decode(), coded.decode())
    with torch.no_grad():
        layer.exact_rows += 1e-4
    assert layer.to_coded().exact.rows.dtype == np.float32


def test_they_train_where_the_codebooks_do(coded, layer) -> None:
    assert not layer.exact_rows.requires_grad
    trained = CompositionalEmbedding.from_coded(coded, freeze=False, padding_idx=0)
    trained(torch.arange(ROWS)).sum().backward()
    # Row 0 is exact and the padding: as padding it gives zeros and learns nothing.
    expected = torch.ones(len(coded.exact.ids), DIM)
    expected[0] = 0
    assert torch.equal(trained.exact_rows.grad, expected)
    assert trained(torch.tensor(0)).eq(0).all()


def test_copies_and_state_dicts(coded, layer) -> None:
    ids = torch.arange(ROWS)
    assert torch.equal(copy.deepcopy(layer)(ids), layer(ids))
    other = CompositionalEmbedding(ROWS, DIM, "4x16", exact_rows=len(coded.exact.ids))
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(ids), layer(ids))
    shared = layer.sharing(padding_idx=5)
    assert shared.exact_rows is layer.exact_rows
    assert torch.equal(shared(ids[6:]), layer(ids[6:]))
    halves = copy.deepcopy(layer).to(torch.float16)
    assert halves.exact_ids.dtype == torch.int64
    assert halves.exact_rows.dtype == torch.float16


def test_bytes_are_those_of_the_file(layer) -> None:
    exact = len(layer.exact_ids) * (8 + 2 * DIM)
    assert layer.stored_bytes == ROWS * 2 + 4 * 16 * DIM * 2 + exact


@pytest.mark.parametrize("wrong", [-1, ROWS + 1])
def test_more_exact_rows_than_rows_are_refused(wrong: int) -> None:
    with pytest.raises(SettingError, match=f"exact_rows={wrong} is not between 0 and the {ROWS} rows there are"):
        CompositionalEmbedding(ROWS, DIM, "4x16", exact_rows=wrong)


def test_a_model_to_a_file_and_back(tmp_path: Path, layer) -> None:
    model = coded_model(layer)
    save_compressed(model, tmp_path / "model")
    loaded = load_compressed(Tied, tmp_path / "model")
    ids = torch.arange(ROWS)
    assert torch.equal(loaded(ids), model(ids))
    assert not loaded.tokens.exact_rows.requires_grad
    with safe_open(tmp_path / "model", framework="pt") as file:
        assert file.get_tensor("tokens.exact_rows").dtype == torch.float16


def test_a_file_from_before_there_were_exact_rows(tmp_path: Path) -> None:
    model = coded_model(CompositionalEmbedding(ROWS, DIM, "4x16"))
    save_compressed(model, tmp_path / "new")
    with safe_open(tmp_path / "new", framework="pt") as file:
        record = json.loads(file.metadata()[KEY])
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (it is no mapping)
    del record["layers"]["tokens"]["exact_rows"]
    save_file(tensors, tmp_path / "old", metadata={KEY: json.dumps(record)})
    ids = torch.arange(ROWS)
    assert torch.equal(load_compressed(Tied, tmp_path / "old")(ids), model(ids))


def test_graphs(coded, layer) -> None:
    torch._dynamo.reset()
    ids, hidden = torch.randint(0, ROWS, (4, 5)), torch.randn(3, DIM)
    ids[0, :2] = torch.tensor([0, ROWS - 1])
    assert torch.equal(torch.compile(layer, fullgraph=True, backend="aot_eager")(ids), layer(ids))
    logits = torch.compile(layer.logits, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(logits(hidden), layer.logits(hidden))
    sizes = {"ids": {0: torch.export.Dim("batch"), 1: torch.export.Dim("length")}}
    program = torch.export.export(layer.eval(), (ids,), dynamic_shapes=sizes)
    others = torch.arange(ROWS).view(2, -1)
    assert torch.equal(program.module()(others), layer(others))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 31, 33])
def test_both_ways_of_finding_agree(count: int) -> None:
    ascending = torch.randperm(100)[:count].sort().values
    ids = torch.arange(100)
    found = {}
    for find in (lookup.sorted_places, lookup.halving_places):
        places = find(ids, ascending)
        assert 0 <= int(places.min()) <= int(places.max()) < count
        found[find] = [int(place) if ascending[place] == row else None for row, place in enumerate(places)]
    expected = [ascending.tolist().index(row) if row in ascending else None for row in range(100)]
    assert list(found.values()) == [expected, expected]
