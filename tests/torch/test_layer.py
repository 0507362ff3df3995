"""CompositionalEmbedding in nn.Embedding's place."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from coded_samples import random_coded  # noqa: E402
from lexicode import CodedEmbedding, InputError, SettingError, Vectors  # noqa: E402
from lexicode.torch import CompositionalEmbedding  # noqa: E402


@pytest.fixture
def coded() -> CodedEmbedding:
    return random_coded("4x16", 30, 6)


@pytest.fixture
def layer(coded: CodedEmbedding) -> CompositionalEmbedding:
    return CompositionalEmbedding.from_coded(coded)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 0), (2, 3, 4)])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_shapes_are_nn_embeddings(layer, shape, dtype) -> None:
    ids = torch.randint(0, 30, shape, dtype=dtype)
    rows, dense = layer(ids), nn.Embedding(30, 6)(ids)
    assert rows.shape == dense.shape
    assert rows.dtype == dense.dtype
    assert (layer.num_embeddings, layer.embedding_dim, layer.padding_idx) == (30, 6, None)


@pytest.mark.parametrize("shape", [(6,), (0, 6), (5, 6), (2, 3, 6)])
def test_shapes_of_logits(layer, shape) -> None:
    assert layer.logits(torch.randn(shape)).shape == (*shape[:-1], 30)


def test_logits_refuse_another_width(layer) -> None:
    with pytest.raises(InputError, match="hidden vectors of 5 numbers do not fit rows of 6"):
        layer.logits(torch.randn(2, 5))


@pytest.mark.parametrize("wrong", [30, -1])
def test_ids_outside_the_table(layer, wrong) -> None:
    with pytest.raises(IndexError, match="out of range"):
        layer(torch.tensor([0, wrong]))


def test_a_new_layer_is_random_and_trains() -> None:
    torch.manual_seed(0)
    layer = CompositionalEmbedding(2000, 16, "5x8")
    assert layer.codebooks.requires_grad
    assert repr(layer) == "CompositionalEmbedding(2000, 16, scheme=5x8)"
    # 15 bits fill two bytes but for one, which stays zero.
    assert int(layer.packed[:, -1].max()) < 128
    assert len(layer.packed.unique(dim=0)) > 1500
    assert layer.weight.std().item() == pytest.approx(1, abs=0.15)


def test_training_moves_codebooks_and_not_codes() -> None:
    torch.manual_seed(0)
    layer = CompositionalEmbedding(20, 4, "3x4")
    codes, target = layer.packed.clone(), torch.randn(20, 4)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(50):
        optimizer.zero_grad()
        loss = (layer(torch.arange(20)) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert torch.equal(layer.packed, codes)


def test_freezing_is_from_pretraineds(coded) -> None:
    assert not CompositionalEmbedding.from_coded(coded).codebooks.requires_grad
    assert CompositionalEmbedding.from_coded(coded, freeze=False).codebooks.requires_grad


def test_padding_gives_zeros_and_no_gradient(coded) -> None:
    layer = CompositionalEmbedding.from_coded(coded, freeze=False, padding_idx=-1)
    assert layer.padding_idx == 29
    ids = torch.tensor([[29, 3], [29, 29]])
    rows = layer(ids)
    assert rows[ids == 29].eq(0).all()
    np.testing.assert_array_equal(rows[0, 1].detach().numpy(), coded.vector(3))
    rows[ids == 29].sum().backward()
    assert layer.codebooks.grad is not None
    assert layer.codebooks.grad.eq(0).all()
    assert layer.logits(torch.randn(2, 6))[:, 29].eq(0).all()


def test_padding_outside_the_table(coded) -> None:
    with pytest.raises(SettingError, match="padding_idx=30 is not in a table of 30 rows"):
        CompositionalEmbedding.from_coded(coded, padding_idx=30)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"num_embeddings": 0}, "a layer of 0 x 6 has no rows or columns"),
        ({"scheme": "4x12"}, "codewords=12 is not a power of two"),
        ({"width": 3}, r"4 codebooks 3 wide at columns \(0, 0, 0, 0\) do not make up 6 columns"),
        ({"width": 3, "offsets": (0, 1, 2)}, r"4 codebooks 3 wide at columns \(0, 1, 2\) do not"),
        ({"width": 3, "offsets": (0, 1, 2, 4)}, r"at columns \(0, 1, 2, 4\) do not make up 6 columns"),
        ({"norm_levels": 257}, "norm_levels=257 is not between 0 and 256"),
    ],
)
def test_what_is_refused(settings, sentence) -> None:
    with pytest.raises(SettingError, match=sentence):
        CompositionalEmbedding(**{"num_embeddings": 30, "embedding_dim": 6, "scheme": "4x16"} | settings)


def test_files_round_trip(coded, tmp_path) -> None:
    path, again = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    coded.origin = {}
    coded.save(path)
    layer = CompositionalEmbedding.from_file(path, padding_idx=2)
    assert layer.padding_idx == 2
    layer.to_coded(coded.words).save(again)
    assert again.read_bytes() == path.read_bytes()


def test_codebooks_that_float16_cannot_hold_stay_float32(layer) -> None:
    assert layer.to_coded().codebooks.dtype == np.float16
    with torch.no_grad():
        layer.codebooks.mul_(1 / 3)
    coded = layer.to_coded([f"w{i}" for i in range(30)])
    assert coded.codebooks.dtype == np.float32
    np.testing.assert_array_equal(coded["w7"], layer(torch.tensor(7)).numpy())


def test_making_a_layer_of_codes_draws_no_random_numbers(coded) -> None:
    before = torch.get_rng_state()
    CompositionalEmbedding.from_coded(coded, padding_idx=1).sharing(padding_idx=2)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_coded_embedding_is_a_copy(layer) -> None:
    coded = layer.to_coded()
    before = coded.decode()
    layer.packed.zero_()
    np.testing.assert_array_equal(coded.decode(), before)


def test_learning_from_an_embedding(clustered: Vectors) -> None:
    dense = nn.Embedding.from_pretrained(torch.from_numpy(clustered.matrix), freeze=False, padding_idx=1).eval()
    layer = CompositionalEmbedding.from_embedding(dense, "5x16", learner="product", seed=3)
    assert layer.codebooks.requires_grad
    assert not layer.training
    assert layer.padding_idx == 1
    # Padding keeps its row to the bit: here it is no zero.
    assert torch.equal(layer(torch.tensor(1)), dense.weight[1])
    near = (layer.weight - dense.weight).square().sum(1).mean()
    assert near < 0.2 * dense.weight.var(0).sum()
    frozen = CompositionalEmbedding.from_embedding(dense, "5x16", learner="product", freeze=True)
    assert not frozen.codebooks.requires_grad


def test_an_embedding_of_halves(clustered: Vectors) -> None:
    dense = nn.Embedding.from_pretrained(torch.from_numpy(clustered.matrix)).to(torch.bfloat16)
    layer = CompositionalEmbedding.from_embedding(dense, "5x16", learner="product")
    assert layer(torch.tensor([1])).dtype == torch.bfloat16


@pytest.mark.parametrize("setting", [{"max_norm": 2.0}, {"scale_grad_by_freq": True}])
def test_embeddings_that_do_more_are_refused(setting) -> None:
    with pytest.raises(SettingError, match=f"{next(iter(setting))}="):
        CompositionalEmbedding.from_embedding(nn.Embedding(9, 4, **setting), "2x2")


@pytest.mark.parametrize("settings", [{}, {"padding_idx": 0}, {"width": 2, "offsets": (0, 2, 4, 4), "norm_levels": 9}])
def test_state_dict_round_trips(settings) -> None:
    layer = CompositionalEmbedding(30, 6, "4x16", **settings)
    other = CompositionalEmbedding(30, 6, "4x16", **settings)
    assert not torch.equal(layer.weight, other.weight)
    other.load_state_dict(layer.state_dict())
    assert torch.equal(layer.weight, other.weight)
    with pytest.raises(RuntimeError, match="size mismatch for packed"):
        CompositionalEmbedding(31, 6, "4x16", **settings).load_state_dict(layer.state_dict())


def test_deepcopy_is_apart(layer) -> None:
    twin = copy.deepcopy(layer)
    assert torch.equal(twin.weight, layer.weight)
    with torch.no_grad():
        twin.codebooks.zero_()
    assert not torch.equal(twin.weight, layer.weight)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_dtypes(coded, dtype) -> None:
    layer = CompositionalEmbedding.from_coded(coded, freeze=False, padding_idx=3).to("cpu", dtype)
    assert layer.packed.dtype == torch.uint8
    rows = layer(torch.arange(30))
    assert rows.dtype == dtype
    rows.sum().backward()
    expected = torch.from_numpy(coded.decode())
    expected[3] = 0
    torch.testing.assert_close(rows.double(), expected.double(), rtol=0.02, atol=0.05)


def test_autocast_leaves_rows_as_nn_embedding_does(layer) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert layer(torch.arange(3)).dtype == nn.Embedding(3, 2)(torch.arange(3)).dtype


def test_autocast_logits() -> None:
    """In a process of its own: on some processors bfloat16 products die unless told which instructions to use."""
    program = """
import torch
from lexicode.torch import CompositionalEmbedding
layer = CompositionalEmbedding(50, 32, "4x16")
hidden = torch.randn(3, 32)
with torch.autocast("cpu", dtype=torch.bfloat16):
    scores = layer.logits(hidden)
assert scores.dtype == torch.bfloat16, scores.dtype
assert (scores - layer.logits(hidden)).abs().max() < 0.5
# Gradients that are large at one row and small at many: sums in bfloat16 would lose the small ones.
layer, found = CompositionalEmbedding(4000, 32, "8x4"), []
weights = torch.full((3, 4000), 1e-3)
weights[:, 0] = -1
for enabled in (False, True):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
        scores = layer.logits(hidden)
    found.append(torch.autograd.grad((scores * weights).sum(), layer.codebooks)[0])
torch.testing.assert_close(found[1], found[0], rtol=0.02, atol=0.02)
print("well")
"""
    environment = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE", "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout == "well\n", done.stderr


def test_compiles_to_one_graph(coded) -> None:
    torch._dynamo.reset()
    layer = CompositionalEmbedding.from_coded(coded, freeze=False, padding_idx=3)
    ids, hidden = torch.randint(0, 30, (4, 5)), torch.randn(3, 6)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    rows = compiled(ids)
    assert torch.equal(rows, layer(ids))
    rows.sum().backward()
    assert layer.codebooks.grad.abs().sum() > 0
    logits = torch.compile(layer.logits, fullgraph=True, backend="aot_eager")
    for some in (hidden, hidden[0]):
        torch.testing.assert_close(logits(some), layer.logits(some))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("scheme", ["4x16", "3x8", "3x256", "2x1024"])
def test_compiles_by_inductor(scheme) -> None:
    torch._dynamo.reset()
    layer = CompositionalEmbedding.from_coded(random_coded(scheme, 30, 6), padding_idx=3)
    ids = torch.randint(0, 30, (4, 5))
    assert torch.equal(torch.compile(layer, fullgraph=True)(ids), layer(ids))


@pytest.mark.parametrize("settings", [{}, {"padding_idx": 0}, {"width": 2, "offsets": (0, 2, 4, 4), "norm_levels": 9}])
def test_exports_with_free_sizes(settings) -> None:
    layer = CompositionalEmbedding(30, 6, "4x16", **settings).eval()
    sizes = {"ids": {0: torch.export.Dim("batch"), 1: torch.export.Dim("length")}}
    program = torch.export.export(layer, (torch.randint(0, 30, (4, 5)),), dynamic_shapes=sizes)
    ids = torch.randint(0, 30, (2, 9))
    assert torch.equal(program.module()(ids), layer(ids))


def test_data_parallel(layer) -> None:
    ids = torch.randint(0, 30, (4, 5))
    assert torch.equal(nn.DataParallel(layer)(ids), layer(ids))


def test_layers_that_share(layer) -> None:
    other = layer.sharing(padding_idx=5)
    assert other.codebooks is layer.codebooks
    assert other.packed is layer.packed
    assert other(torch.tensor(5)).eq(0).all()
    assert torch.equal(other(torch.tensor(6)), layer(torch.tensor(6)))


def test_memory_is_the_codes_and_codebooks() -> None:
    layer = CompositionalEmbedding(1000, 300, "32x16")
    held = sum(tensor.nbytes for tensor in (*layer.parameters(), *layer.buffers()))
    assert held == 1000 * 16 + 32 * 16 * 300 * 4
    assert layer.stored_bytes == held


def test_without_torch_the_pip_line_is_named() -> None:
    program = """
import sys
sys.modules["torch"] = None
try:
    import lexicode.torch
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "this needs torch: pip install 'lexicode[torch]'\n"


def test_the_public_names_are_these() -> None:
    import lexicode.torch

    assert sorted(lexicode.torch.__all__) == [
        "CompositionalEmbedding",
        "CompositionalHead",
        "CompressionTable",
        "LayerRow",
        "compress_model",
        "load_compressed",
        "save_compressed",
    ]
    assert Path(lexicode.torch.__file__).parent.name == "torch"
