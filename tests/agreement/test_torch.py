"""The torch layer gives numpy's rows, and a dense layer's gradients and logits."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from coded_samples import random_coded  # noqa: E402
from lexicode import CodedEmbedding, CodeScheme, ProductLearner, Vectors  # noqa: E402
from lexicode.packing import pack  # noqa: E402
from lexicode.torch import CompositionalEmbedding  # noqa: E402

ROWS = 70
SCHEMES = (
    "1x2", "9x2", "5x4", "7x8", "3x16", "32x16", "4x32", "9x64", "5x128", "64x256", "3x512", "5x1024", "7x2048",
    "3x4096",
)  # fmt: skip


def product_coded(dim: int, codebooks: int, *, normalized: bool) -> CodedEmbedding:
    matrix = np.random.default_rng(5).normal(size=(ROWS, dim)).astype(np.float32)
    return ProductLearner(f"{codebooks}x8", normalized=normalized).fit(Vectors(matrix))


def overlapping_coded() -> CodedEmbedding:
    """Three codebooks on every column or two: more than the product learner ever makes."""
    scheme = CodeScheme.parse("4x8")
    rng = np.random.default_rng(6)
    codes = rng.integers(8, size=(ROWS, 4))
    codebooks = rng.normal(size=(4, 8, 5)).astype(np.float32)
    return CodedEmbedding(scheme=scheme, packed=pack(codes, bits=3), codebooks=codebooks, dim=7, offsets=(2, 0, 1, 2))


def samples() -> dict[str, CodedEmbedding]:
    made = {
        f"{scheme} {dtype} {dim}": random_coded(scheme, ROWS, dim, dtype=dtype, words=False)
        for scheme in SCHEMES
        for dtype, dim in (("float16", 7), ("float32", 33))
    }
    for dim, codebooks in ((10, 3), (8, 4), (17, 5), (6, 1)):
        for normalized in (False, True):
            name = f"product {codebooks}x8 {dim}{' norms' if normalized else ''}"
            made[name] = product_coded(dim, codebooks, normalized=normalized)
    made["overlapping"] = overlapping_coded()
    return made


SAMPLES = samples()


def test_the_sweep_covers_what_it_should() -> None:
    assert len(SAMPLES) == 2 * 14 + 8 + 1
    assert sum(coded.offsets is not None for coded in SAMPLES.values()) == 9
    assert sum(coded.norms is not None for coded in SAMPLES.values()) == 4


@pytest.mark.parametrize("name", SAMPLES)
def test_rows_are_numpys_to_the_bit(name: str) -> None:
    coded = SAMPLES[name]
    layer = CompositionalEmbedding.from_coded(coded)
    ids = np.random.default_rng(1).integers(ROWS, size=(4, 9))
    np.testing.assert_array_equal(layer(torch.from_numpy(ids)).numpy(), coded.lookup(ids))


@pytest.mark.parametrize("name", SAMPLES)
def test_logits_are_the_dense_products(name: str) -> None:
    coded = SAMPLES[name]
    layer = CompositionalEmbedding.from_coded(coded, dtype=torch.float64)
    hidden = torch.randn(2, 3, coded.dim, dtype=torch.float64)
    dense = torch.from_numpy(coded.decode()).double()
    torch.testing.assert_close(layer.logits(hidden), hidden @ dense.T, rtol=0, atol=3e-5)


@pytest.mark.parametrize("padding_idx", [None, 4])
@pytest.mark.parametrize("name", ["32x16 float32 33", "7x8 float16 7", "product 3x8 10 norms", "overlapping"])
def test_gradients_are_the_dense_layers(name: str, padding_idx: int | None) -> None:
    coded = SAMPLES[name]
    layer = CompositionalEmbedding.from_coded(coded, freeze=False, padding_idx=padding_idx)
    # The same sum spelled out: a selector (V, M * K) of codewords, spread over the columns that each covers.
    M, K, width = coded.codebooks.shape
    selector = torch.nn.functional.one_hot(torch.from_numpy(coded.codes().astype(np.int64)), K).float()
    books = torch.from_numpy(coded.codebooks.astype(np.float32)).requires_grad_()
    spread = torch.zeros(M, K, coded.dim)
    for m, start in enumerate(coded.offsets or (0,) * M):
        spread[m, :, start : start + width] = books[m]
    table = torch.einsum("vmk,mkd->vd", selector, spread)
    if coded.norms is not None:
        table = table * torch.from_numpy(coded.norm_levels[coded.norms])[:, None]
    ids = torch.randint(0, ROWS, (5, 8))
    ids[0, 0] = 4
    pull = torch.randn(5, 8, coded.dim)
    dense = torch.nn.functional.embedding(ids, table, padding_idx=padding_idx)
    (dense * pull).sum().backward()
    (layer(ids) * pull).sum().backward()
    torch.testing.assert_close(layer.codebooks.grad, books.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("name", ["3x16 float16 7", "4x32 float16 7", "product 3x8 10 norms"])
def test_gradients_of_logits(name: str, batch: int) -> None:
    layer = CompositionalEmbedding.from_coded(SAMPLES[name], freeze=False, dtype=torch.float64)
    hidden = torch.randn(batch, layer.embedding_dim, dtype=torch.float64, requires_grad=True)
    pull = torch.randn(batch, ROWS, dtype=torch.float64)

    def gradients(logits: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad((logits * pull).sum(), (hidden, layer.codebooks))

    for ours, dense in zip(gradients(layer.logits(hidden)), gradients(hidden @ layer.weight.T), strict=True):
        torch.testing.assert_close(ours, dense)
