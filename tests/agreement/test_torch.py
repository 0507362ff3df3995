"""The torch layer gives numpy's rows, and a dense layer's gradients and logits."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from agreement.artefacts import COVERED, artefacts, covered  # noqa: E402
from lexicode.torch import CompositionalEmbedding  # noqa: E402

SAMPLES = artefacts()


def test_the_sweep_covers_what_it_should() -> None:
    assert covered() == COVERED


@pytest.mark.parametrize("name", SAMPLES)
def test_rows_are_numpys_to_the_bit(name: str) -> None:
    coded = SAMPLES[name]
    layer = CompositionalEmbedding.from_coded(coded)
    ids = np.random.default_rng(1).integers(len(coded), size=(4, 9))
    np.testing.assert_array_equal(layer(torch.from_numpy(ids)).numpy(), coded.lookup(ids))


@pytest.mark.parametrize("name", SAMPLES)
def test_logits_are_the_dense_products(name: str) -> None:
    coded = SAMPLES[name]
    layer = CompositionalEmbedding.from_coded(coded, dtype=torch.float64)
    hidden = torch.randn(2, 3, coded.dim, dtype=torch.float64)
    dense = torch.from_numpy(coded.decode()).double()
    torch.testing.assert_close(layer.logits(hidden), hidden @ dense.T, rtol=1e-6, atol=3e-5)


@pytest.mark.parametrize("padding_idx", [None, 4])
@pytest.mark.parametrize(
    "name",
    [
        "32x16 float32 33 words", "7x8 float16 7", "product 3x8 10 norms", "overlapping", "7x8 exact float32",
        "overlapping norms exact",
    ],
)  # fmt: skip
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
    exact = None
    if coded.exact is not None:
        exact = torch.from_numpy(coded.exact.rows.astype(np.float32)).requires_grad_()
        table = table.index_copy(0, torch.from_numpy(coded.exact.ids.astype(np.int64)), exact)
    ids = torch.randint(0, len(coded), (5, 8))
    # The padding, and the first and last rows, which are exact where any is.
    ids[0, :3] = torch.tensor([4, 0, len(coded) - 1])
    pull = torch.randn(5, 8, coded.dim)
    dense = torch.nn.functional.embedding(ids, table, padding_idx=padding_idx)
    (dense * pull).sum().backward()
    (layer(ids) * pull).sum().backward()
    torch.testing.assert_close(layer.codebooks.grad, books.grad, rtol=1e-4, atol=1e-4)
    if exact is not None:
        torch.testing.assert_close(layer.exact_rows.grad, exact.grad)
        assert exact.grad.abs().sum() > 0


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("name", ["3x16 float16 7", "4x32 float16 7", "product 3x8 10 norms", "7x8 exact float16"])
def test_gradients_of_logits(name: str, batch: int) -> None:
    layer = CompositionalEmbedding.from_coded(SAMPLES[name], freeze=False, dtype=torch.float64)
    hidden = torch.randn(batch, layer.embedding_dim, dtype=torch.float64, requires_grad=True)
    pull = torch.randn(batch, layer.num_embeddings, dtype=torch.float64)

    def gradients(logits: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad((logits * pull).sum(), (hidden, *layer.parameters()))

    for ours, dense in zip(gradients(layer.logits(hidden)), gradients(hidden @ layer.weight.T), strict=True):
        torch.testing.assert_close(ours, dense)
