"""save_compressed and load_compressed."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from torch import nn  # noqa: E402

from lexicode import InputError  # noqa: E402
from lexicode.torch import (  # noqa: E402
    CompositionalEmbedding,
    CompositionalHead,
    compress_model,
    load_compressed,
    save_compressed,
)
from lexicode.torch.record import KEY  # noqa: E402


class Small(nn.Module):
    """Tokens, a batch norm with buffers, and an output layer that may be tied."""

    def __init__(self, rows: int = 200, dim: int = 12, *, tied: bool = True, bias: bool = True) -> None:
        super().__init__()
        self.tokens = nn.Embedding(rows, dim, padding_idx=1)
        self.norm = nn.BatchNorm1d(dim)
        self.head = nn.Linear(dim, rows, bias=bias)
        if tied:
            self.head.weight = self.tokens.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.tokens(ids)))


def compressed(model: nn.Module, learner: str = "product", **settings: object) -> nn.Module:
    compress_model(model, scheme="3x8", learner=learner, **settings)
    return model.eval()


def with_layer(record: dict[str, Any], **changes: object) -> dict[str, Any]:
    return record | {"layers": {"tokens": record["layers"]["tokens"] | changes}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("learner", ["additive", "product", "normalized-product"])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("given", ["factory", "model"])
def test_round_trip(path, learner, tied, given) -> None:
    quick = {"effort": "fast"} if learner == "additive" else {}
    model = compressed(Small(tied=tied), learner, freeze=True, **quick)
    model.norm.running_mean += 3
    save_compressed(model, path)
    fresh = Small(tied=tied)
    loaded = load_compressed(fresh, path) if given == "model" else load_compressed(lambda: Small(tied=tied), path)
    assert (loaded is fresh) == (given == "model")
    assert isinstance(loaded.tokens, CompositionalEmbedding)
    assert isinstance(loaded.head, CompositionalHead) == tied
    assert not loaded.tokens.codebooks.requires_grad
    assert loaded.tokens.padding_idx == 1
    ids = torch.arange(200)
    assert torch.equal(loaded.eval()(ids), model(ids))
    assert loaded.state_dict().keys() == model.state_dict().keys()


def test_a_tied_head_is_tied_again(path) -> None:
    save_compressed(compressed(Small()), path)
    loaded = load_compressed(Small, path)
    assert loaded.head.embedding is loaded.tokens
    with safe_open(path, framework="pt") as file:
        names = list(file.keys())
        assert file.get_tensor("tokens.codebooks").dtype == torch.float16
    assert not any(name.startswith("head.embedding") for name in names)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_trained_codebooks_come_back_to_the_bit(path, dtype) -> None:
    model = compressed(Small().to(dtype))
    with torch.no_grad():
        model.tokens.codebooks.mul_(1 / 3)
    save_compressed(model, path)
    loaded = load_compressed(lambda: Small().to(dtype), path)
    assert loaded.tokens.codebooks.dtype == dtype
    assert torch.equal(loaded.tokens.codebooks, model.tokens.codebooks)


def test_a_loaded_model_trains_and_is_saved_again(path) -> None:
    save_compressed(compressed(Small()), path)
    first = path.read_bytes()
    loaded = load_compressed(Small, path)
    save_compressed(loaded, path)
    assert path.read_bytes() == first
    loaded.train()(torch.arange(30)).sum().backward()
    assert loaded.tokens.codebooks.grad.abs().sum() > 0
    again = load_compressed(loaded, path)
    assert again is loaded


def test_a_model_that_nobody_compressed(path) -> None:
    model = Small().eval()
    save_compressed(model, path)
    loaded = load_compressed(Small, path).eval()
    assert torch.equal(loaded(torch.arange(5)), model(torch.arange(5)))


def test_shared_layers_stay_shared(path) -> None:
    def build() -> nn.Module:
        shared = nn.Embedding(200, 12)
        other = nn.Embedding(200, 12, padding_idx=3)
        other.weight = shared.weight
        return nn.ModuleDict({"a": shared, "b": nn.ModuleList([shared]), "c": other})

    model = compressed(build())
    save_compressed(model, path)
    loaded = load_compressed(build, path)
    assert loaded["a"] is loaded["b"][0]
    assert loaded["a"].codebooks is loaded["c"].codebooks
    assert loaded["c"].padding_idx == 3
    for name in ("a", "c"):
        assert torch.equal(loaded[name].weight, model[name].weight)


def test_dtypes_and_views(path) -> None:
    model = compressed(Small(tied=False)).to(torch.bfloat16)
    model.register_buffer("view", torch.arange(12.0).view(3, 4).T)
    save_compressed(model, path)

    def build() -> nn.Module:
        fresh = Small(tied=False).to(torch.bfloat16)
        fresh.register_buffer("view", torch.zeros(4, 3))
        return fresh

    loaded = load_compressed(build, path)
    assert loaded.tokens.codebooks.dtype == torch.bfloat16
    assert torch.equal(loaded.view, model.view)
    assert torch.equal(loaded.tokens.weight, model.tokens.weight)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Small(201), r"the layer 'tokens' is 201 x 12 in this model, but 200 x 12 in the file"),
        (lambda: nn.Sequential(), r"the model Sequential has no layer 'tokens', which the file holds"),
        (lambda: Small(bias=False), r"the head 'head' has a bias in only one"),
        (lambda: nn.ModuleDict({"tokens": nn.Linear(1, 1)}), r"the layer 'tokens' is Linear in this model"),
    ],
)
def test_wrong_models(path, build, sentence) -> None:
    save_compressed(compressed(Small()), path)
    model = build()
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(InputError, match=sentence):
        load_compressed(model, path)
    assert model.state_dict().keys() == before.keys()
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def test_wrong_other_layers(path) -> None:
    save_compressed(compressed(Small()), path)
    model = Small()
    model.norm = nn.BatchNorm1d(13)
    with pytest.raises(InputError, match=r"tensor 'norm.weight' has the shape \(13,\) in this model, but \(12,\)"):
        load_compressed(model, path)
    model.norm = nn.LayerNorm(12)
    with pytest.raises(InputError, match=r"the file holds a tensor 'norm\.\w+' that the model Small lacks"):
        load_compressed(model, path)
    model = Small()
    model.more = nn.Linear(1, 1)
    with pytest.raises(InputError, match=r"the model Small has a tensor 'more.weight' that the file lacks"):
        load_compressed(model, path)
    assert type(model.tokens) is nn.Embedding


def test_wrong_files(path) -> None:
    with pytest.raises(FileNotFoundError):
        load_compressed(Small, path)
    path.write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"not a whole \.safetensors file"):
        load_compressed(Small, path)
    save_file({"a": torch.zeros(1)}, path)
    with pytest.raises(InputError, match="not one that save_compressed wrote"):
        load_compressed(Small, path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda record: record | {"version": 2}, "format version 2, but this lexicode reads 1"),
        (lambda record: record | {"layers": []}, "record is damaged"),
        (lambda record: {}, "record is damaged"),
        (lambda record: record | {"layers": {"tokens": {"rows": 200}}}, r"record is damaged \(TypeError.*missing"),
        (lambda record: record | {"shared": {"x": "y"}}, r"record is damaged \(no tensor 'y'\)"),
        (lambda record: record | {"heads": {"head": {"layer": "x", "bias": True}}}, r"is damaged .*no layer 'x'"),
        (lambda record: record | {"same": {"tokens": "x"}}, r"is damaged .*no layer 'x'"),
        (lambda record: with_layer(record, rows=-1), "is damaged .*a layer of -1 x 12"),
        (lambda record: with_layer(record, rows="200"), "record is damaged"),
        (lambda record: with_layer(record, dtype="int8"), r"is damaged \(KeyError\('int8'\)\)"),
        (lambda record: with_layer(record, scheme="3x9"), "is damaged .*codewords=9 is not a power of two"),
        (lambda record: with_layer(record, padding_idx=999), "is damaged .*padding_idx=999"),
    ],
)
def test_damaged_records(path, change, sentence) -> None:
    save_compressed(compressed(Small()), path)
    with safe_open(path, framework="pt") as file:
        record = json.loads(file.metadata()[KEY])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(tensors, path, metadata={KEY: json.dumps(change(record))})
    with pytest.raises(InputError, match=sentence):
        load_compressed(Small, path)


def test_what_no_file_can_hold(path) -> None:
    model = compressed(Small())
    model.register_buffer("sparse", torch.eye(3).to_sparse())
    with pytest.raises(InputError, match="sparse in the model's state_dict is no plain tensor"):
        save_compressed(model, path)
    assert not path.exists()
    lone = CompositionalHead(CompositionalEmbedding(9, 2, "2x2"))
    with pytest.raises(InputError, match="the head 0 is tied to a layer that the model does not hold"):
        save_compressed(nn.Sequential(lone), path)
    with pytest.raises(InputError, match=r"the model is itself a coded layer; layer\.to_coded\(\)\.save"):
        save_compressed(lone.embedding, path)
