"""compress_model: what is replaced, what stays, and what the table says."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from lexicode import SettingError  # noqa: E402
from lexicode.torch import CompositionalEmbedding, CompositionalHead, compress_model  # noqa: E402

QUICK = {"scheme": "4x8", "learner": "product"}


class Language(nn.Module):
    """A language model in small: tokens, places, and an output layer that may be tied to the tokens."""

    def __init__(self, *, tied: bool = False, bias: bool = True) -> None:
        super().__init__()
        self.tokens = nn.Embedding(300, 16, padding_idx=0)
        self.places = nn.Embedding(4, 16)
        self.body = nn.Sequential(nn.Linear(16, 16), nn.Tanh())
        self.head = nn.Linear(16, 300, bias=bias)
        if tied:
            self.head.weight = self.tokens.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(self.tokens(ids) + self.places(torch.arange(ids.shape[-1]))))


class Scaled(nn.Embedding):
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return super().forward(ids) * 2


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def test_the_table() -> None:
    model = Language().eval()
    table = compress_model(model, **QUICK)
    assert [(row.name, row.shape, row.scheme) for row in table.rows] == [
        ("tokens", (300, 16), "4x8"),
        ("places", (4, 16), None),
    ]
    tokens = table.rows[0]
    # 2 bytes of code a row, codebooks of 4 x 8 x 4 float16, and the padding's own row.
    assert (tokens.bytes_before, tokens.bytes_after) == (300 * 16 * 4, 300 * 2 + 4 * 8 * 4 * 2 + 16 * 4)
    assert table.rows[1].note == "left dense: its codes would be larger"
    assert table.bytes_before - table.bytes_after == tokens.bytes_before - tokens.bytes_after
    dense_bytes = sum(p.nbytes for p in Language().parameters())
    assert table.bytes_before == dense_bytes
    assert table.as_dict()["ratio"] == table.bytes_before / table.bytes_after
    lines = str(table).splitlines()
    assert lines[0].split() == ["layer", "shape", "scheme", "bytes", "before", "after", "loss"]
    assert lines[1].startswith("tokens       300 x 16  4x8           19,200")
    assert lines[2].endswith("left dense: its codes would be larger")
    assert lines[3].split() == ["whole", "model", f"{table.bytes_before:,}", f"{table.bytes_after:,}"]


def test_the_loss_is_that_of_the_layer() -> None:
    model = Language()
    before = model.tokens.weight.detach().clone()
    table = compress_model(model, **QUICK)
    # But for the padding, which the learner counts and the layer keeps to the bit.
    errors = (model.tokens.weight - before).square().sum(1)
    assert table.rows[0].loss == pytest.approx(errors.mean().item(), rel=0.02)
    assert errors[0] == 0


def test_the_model_runs_and_trains_on() -> None:
    model = Language().eval()
    compress_model(model, **QUICK)
    assert isinstance(model.tokens, CompositionalEmbedding)
    assert not model.tokens.training
    assert type(model.head) is nn.Linear
    model(torch.randint(0, 300, (2, 4))).sum().backward()
    assert model.tokens.codebooks.grad.abs().sum() > 0


@pytest.mark.parametrize("bias", [True, False])
def test_a_tied_head_stays_tied(bias) -> None:
    model = Language(tied=True, bias=bias)
    table = compress_model(model, **QUICK)
    assert isinstance(model.head, CompositionalHead)
    assert model.head.embedding is model.tokens
    assert (model.head.in_features, model.head.out_features) == (16, 300)
    assert table.rows[0].note == "tied head head: by logits on the codes"
    hidden = torch.randn(2, 3, 16)
    expected = nn.functional.linear(hidden, model.head.weight, model.head.bias)
    torch.testing.assert_close(model.head(hidden), expected)
    # The codebooks are counted once, though the state_dict names them twice.
    assert sum(p is model.tokens.codebooks for p in model.parameters()) == 1
    assert table.bytes_before - table.bytes_after == table.rows[0].bytes_before - table.rows[0].bytes_after


def test_the_head_of_padding_is_the_padding_row() -> None:
    model = Language(tied=True, bias=False)
    with torch.no_grad():
        model.tokens.weight[0] = 1.0
    compress_model(model, **QUICK)
    hidden = torch.randn(5, 16)
    torch.testing.assert_close(model.head(hidden)[:, 0], hidden.sum(1))


def test_one_layer_in_two_places() -> None:
    shared = nn.Embedding(300, 16)
    model = nn.ModuleDict({"encoder": nn.ModuleList([shared]), "decoder": nn.Sequential(shared)})
    table = compress_model(model, **QUICK)
    assert model["encoder"][0] is model["decoder"][0]
    assert isinstance(model["encoder"][0], CompositionalEmbedding)
    assert [(row.name, row.note) for row in table.rows] == [("encoder.0", "shared with decoder.0")]


def test_two_layers_of_one_weight() -> None:
    model = nn.ModuleDict({"a": nn.Embedding(300, 16), "b": nn.Embedding(300, 16, padding_idx=7)})
    model["b"].weight = model["a"].weight
    row_of_padding = model["a"].weight[7].detach().clone()
    table = compress_model(model, **QUICK)
    assert model["a"].codebooks is model["b"].codebooks
    assert (model["a"].padding_idx, model["b"].padding_idx) == (None, 7)
    assert torch.equal(model["b"](torch.tensor(7)), row_of_padding)
    assert len(table.rows) == 1


def test_a_weight_that_something_else_holds_is_left_there() -> None:
    model = Language()
    model.body.register_parameter("copy", model.tokens.weight)
    table = compress_model(model, **QUICK)
    assert table.rows[0].note == "body.copy holds the same weight: left dense, no longer tied"
    assert table.bytes_after > table.bytes_before
    assert table.rows[0].bytes_after == table.rows[0].bytes_before + model.tokens.stored_bytes


def test_a_subclass_keeps_its_way() -> None:
    model = nn.Sequential(nn.Embedding(300, 16), Scaled(300, 16))
    table = compress_model(model, **QUICK)
    assert type(model[1]) is Scaled
    assert table.rows[1].note == "left dense: Scaled, with a way of its own"
    with pytest.raises(SettingError, match=r"the layer '1' is Scaled, not a plain nn\.Embedding"):
        compress_model(model, layers=["1"], **QUICK)


def test_layers_by_name() -> None:
    model = nn.ModuleDict({"a": nn.Embedding(300, 16), "b": nn.Embedding(300, 16), "c": nn.Embedding(4, 16)})
    table = compress_model(model, layers=["b", "c"], **QUICK)
    assert [row.scheme for row in table.rows] == [None, "4x8", "4x8"]
    assert table.rows[0].note == "left dense: not named"
    # Asked for by name, a layer is coded even where that makes it larger.
    assert table.rows[2].bytes_after > table.rows[2].bytes_before


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "give either a scheme or a budget"),
        ({"scheme": "4x8", "budget": 9999}, "give either a scheme or a budget"),
        ({"scheme": "4x9"}, "codewords=9 is not a power of two"),
        ({"scheme": "4x8", "learner": "magic"}, "learner 'magic' is not one of"),
        ({"scheme": "4x8", "layers": ["toks"]}, "the model has no layer 'toks'; its embeddings: tokens, places"),
        ({"scheme": "4x8", "layers": ["body"]}, "the layer 'body' is Sequential, not a plain nn.Embedding"),
        ({"scheme": "4x8", "layers": "tokens"}, "layers='tokens' is one name; give a list"),
        ({"scheme": "64x256"}, "no layer would become smaller"),
        ({"budget": 500}, "no layer would become smaller .*no scheme fits its 493 bytes of the budget"),
        ({"budget": 500, "layers": ["tokens"]}, "the layer 'tokens': a budget of 500 bytes is too small"),
        ({"scheme": "32x8", "learner": "product"}, "32 codebooks cannot share 16 columns"),
    ],
)
def test_what_is_refused(settings, sentence) -> None:
    model = Language()
    with pytest.raises(SettingError, match=sentence):
        compress_model(model, **settings)
    assert type(model.tokens) is nn.Embedding


def test_models_without_embeddings_are_refused() -> None:
    with pytest.raises(SettingError, match=r"the model has no nn\.Embedding to compress"):
        compress_model(nn.Linear(2, 2), **QUICK)
    with pytest.raises(SettingError, match=r"use CompositionalEmbedding\.from_embedding"):
        compress_model(nn.Embedding(9, 2), **QUICK)
    with pytest.raises(SettingError, match=r"max_norm=1\.0 rescales rows"):
        compress_model(nn.Sequential(nn.Embedding(300, 16, max_norm=1.0)), **QUICK)


def test_an_error_in_a_later_layer_leaves_the_model_as_it_was() -> None:
    model = nn.ModuleDict({"a": nn.Embedding(300, 16), "b": nn.Embedding(300, 16)})
    with torch.no_grad():
        model["b"].weight[3, 2] = float("nan")
    with pytest.raises(ValueError, match=r"row 3: the value nan of column 2 is not a finite number"):
        compress_model(model, **QUICK)
    assert type(model["a"]) is nn.Embedding


def test_a_budget_is_kept() -> None:
    model = Language()
    seen = []
    table = compress_model(model, budget=3000, learner="product", on_progress=seen.append)
    assert table.rows[0].scheme is not None
    assert table.rows[0].bytes_after <= 3000
    assert table.rows[1].note.startswith("left dense: no scheme fits its")
    assert seen


def test_the_additive_learner_is_the_default() -> None:
    model = Language()
    product = compress_model(Language(), scheme="4x8", learner="product").rows[0].loss
    table = compress_model(model, scheme="4x8", effort="fast", seed=1, freeze=True)
    assert table.rows[0].loss < product
    assert not model.tokens.codebooks.requires_grad
