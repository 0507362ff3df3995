"""CompositionalEmbedding: the coded embedding as a module, in the place of `nn.Embedding`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from lexicode.coded import CodedEmbedding
from lexicode.errors import InputError, SettingError
from lexicode.learners import make_learner
from lexicode.scheme import CodeScheme
from lexicode.torch.lookup import column_sources, joined, numbers_of, summed, summed_products, with_exact
from lexicode.vectors import Vectors
from lexicode.words import Words


class CompositionalEmbedding(nn.Module):
    """ids of any shape -> their rows: that shape plus (embedding_dim,), as `nn.Embedding` gives them.

    codebooks (M, K, width), a parameter; packed (V, bytes_per_row) uint8, a buffer that no training changes.
    Where norms are coded apart: norms (V,) uint8 into norm_levels (n,). Where rows are kept exactly: exact_ids (E,)
    int64, ascending, and exact_rows (E, dim), a parameter. With a padding_idx: padding_row (dim,), what that row gives,
    with no gradient; zeros unless the layer was made from an `nn.Embedding` whose row is not zero.
    """

    packed: Tensor
    norms: Tensor | None
    norm_levels: Tensor | None
    exact_ids: Tensor | None
    exact_rows: nn.Parameter | None
    padding_row: Tensor | None
    _columns: Tensor | None

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        scheme: CodeScheme | str,
        *,
        padding_idx: int | None = None,
        offsets: Sequence[int] | None = None,
        width: int | None = None,
        norm_levels: int = 0,
        exact_rows: int = 0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        _random: bool = True,
    ) -> None:
        """A layer of random codes and codebooks, to train or to load a state_dict into.

        offsets, width: in a product code, the first column that each codebook covers, and how many;
        norm_levels: how many levels of norms are coded apart, 0 for none; exact_rows: how many rows are kept exactly,
        the first ones until a state_dict says which
        """
        super().__init__()
        self.scheme = CodeScheme.of(scheme)
        if num_embeddings < 1 or embedding_dim < 1:
            raise SettingError(f"a layer of {num_embeddings} x {embedding_dim} has no rows or columns; give 1 or more")
        if not 0 <= norm_levels <= 256:
            raise SettingError(f"norm_levels={norm_levels} is not between 0 and 256")
        if not 0 <= exact_rows <= num_embeddings:
            raise SettingError(f"exact_rows={exact_rows} is not between 0 and the {num_embeddings} rows there are")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _checked_padding(padding_idx, num_embeddings)
        self.width = embedding_dim if width is None else width
        self.offsets = None if offsets is None else tuple(offsets)
        self._adds_whole_rows = self.width == embedding_dim
        self._check_columns()
        floats: dict[str, Any] = {"device": device, "dtype": dtype}
        M, K = self.scheme.codebooks, self.scheme.codewords
        self.codebooks = nn.Parameter(torch.empty(M, K, self.width, **floats))
        codes = torch.empty(num_embeddings, self.scheme.bytes_per_row, dtype=torch.uint8, device=device)
        self.register_buffer("packed", codes)
        self.norms = self.norm_levels = self.exact_ids = self.exact_rows = self.padding_row = self._columns = None
        if norm_levels:
            self._keep("norms", torch.zeros(num_embeddings, dtype=torch.uint8, device=device))
            self._keep("norm_levels", torch.ones(norm_levels, **floats))
        if exact_rows:
            self._keep("exact_ids", torch.arange(exact_rows, device=device))
            self.exact_rows = nn.Parameter(torch.zeros(exact_rows, embedding_dim, **floats))
        if padding_idx is not None:
            self._keep("padding_row", torch.zeros(embedding_dim, **floats))
        if not self._adds_whole_rows and self.offsets is not None:
            columns = column_sources(self.offsets, self.width, embedding_dim)
            if columns is not None:
                self._keep("_columns", columns.to(device), persistent=False)
        # A layer that is filled at once leaves the stream of random numbers as it was.
        if _random:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Random codes, and codebooks that give rows of variance one, as those of a new nn.Embedding."""
        nn.init.normal_(self.codebooks, std=self.scheme.codebooks**-0.5 if self._adds_whole_rows else 1.0)
        if self.exact_rows is not None:
            nn.init.normal_(self.exact_rows)
        self.packed.random_(0, 256)
        if used := self.scheme.bits_per_row % 8:
            # What is left of a row's last byte is zero.
            self.packed[:, -1] &= (1 << used) - 1

    def _keep(self, name: str, tensor: Tensor, *, persistent: bool = True) -> None:
        """Make a buffer of an attribute that is None in other layers; torch.export trips over buffers that are None."""
        delattr(self, name)
        self.register_buffer(name, tensor, persistent=persistent)

    def _check_columns(self) -> None:
        M, dim = self.scheme.codebooks, self.embedding_dim
        starts = (0,) * M if self.offsets is None else self.offsets
        if (
            len(starts) != M
            or not 1 <= self.width <= dim
            or min(starts) < 0
            or max(starts) + self.width > dim
            or (self.width < dim and not any(starts))
        ):
            raise SettingError(f"{M} codebooks {self.width} wide at columns {starts} do not make up {dim} columns")

    # ---- making one, and taking it back

    @classmethod
    def from_coded(
        cls,
        coded: CodedEmbedding,
        *,
        freeze: bool = True,
        padding_idx: int | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> CompositionalEmbedding:
        """A layer of the same rows. freeze: nothing in it trains, as in `nn.Embedding.from_pretrained`."""
        levels, exact = coded.norm_levels, coded.exact
        layer = cls(
            len(coded), coded.dim, coded.scheme,
            padding_idx=padding_idx, offsets=coded.offsets, width=coded.codebooks.shape[2],
            norm_levels=0 if levels is None else len(levels), exact_rows=0 if exact is None else len(exact.ids),
            device=device, dtype=dtype, _random=False,
        )  # fmt: skip
        with torch.no_grad():
            layer.codebooks.copy_(_copied(coded.codebooks))
            layer.packed.copy_(_copied(coded.packed))
            if layer.norms is not None and layer.norm_levels is not None:
                layer.norms.copy_(_copied(coded.norms))
                layer.norm_levels.copy_(_copied(levels))
            if exact is not None and layer.exact_ids is not None and layer.exact_rows is not None:
                layer.exact_ids.copy_(_copied(exact.ids.astype(np.int64)))
                layer.exact_rows.copy_(_copied(exact.rows))
        return layer.requires_grad_(not freeze)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **settings: Any) -> CompositionalEmbedding:
        """The layer of an artefact; the settings are those of `from_coded`."""
        return cls.from_coded(CodedEmbedding.load(path), **settings)

    @classmethod
    def from_embedding(
        cls,
        embedding: nn.Embedding,
        scheme: CodeScheme | str,
        *,
        learner: str = "additive",
        freeze: bool | None = None,
        **settings: Any,
    ) -> CompositionalEmbedding:
        """Learn codes for the rows of an `nn.Embedding`; the settings are the learner's.

        The device, dtype and padding_idx stay; so does whether it trains, unless `freeze` says.
        """
        check_embedding(embedding)
        coded = make_learner(learner, scheme, **settings).fit(vectors_of(embedding))
        return cls.replacing(embedding, coded, freeze=freeze)

    @classmethod
    def replacing(
        cls, embedding: nn.Embedding, coded: CodedEmbedding, *, freeze: bool | None = None
    ) -> CompositionalEmbedding:
        """A layer of `coded` with the device, dtype, mode and padding of the `nn.Embedding` that it stands for."""
        weight = embedding.weight
        layer = cls.from_coded(
            coded,
            freeze=not weight.requires_grad if freeze is None else freeze,
            padding_idx=embedding.padding_idx,
            device=weight.device,
            dtype=weight.dtype,
        )
        layer.keep_padding_row(embedding)
        return layer.train(embedding.training)

    def keep_padding_row(self, embedding: nn.Embedding) -> None:
        """Give for padding what the `nn.Embedding` gave, to the bit: it may be a start symbol as well."""
        if self.padding_row is not None and embedding.padding_idx is not None:
            self.padding_row.copy_(embedding.weight.detach()[embedding.padding_idx])

    def sharing(self, *, padding_idx: int | None) -> CompositionalEmbedding:
        """Another layer on the very same codes and codebooks, with a padding_idx of its own."""
        other = CompositionalEmbedding(
            self.num_embeddings, self.embedding_dim, self.scheme,
            padding_idx=padding_idx, offsets=self.offsets, width=self.width,
            norm_levels=0 if self.norm_levels is None else len(self.norm_levels),
            exact_rows=0 if self.exact_rows is None else len(self.exact_rows),
            device=self.codebooks.device, dtype=self.codebooks.dtype, _random=False,
        )  # fmt: skip
        other.codebooks, other.packed = self.codebooks, self.packed
        other.norms, other.norm_levels = self.norms, self.norm_levels
        other.exact_ids, other.exact_rows = self.exact_ids, self.exact_rows
        return other.train(self.training)

    def to_coded(self, words: Sequence[str] | None = None) -> CodedEmbedding:
        """The layer's rows as a coded embedding, its codebooks float16 where that holds them exactly, else float32."""
        norms, levels = self.norms, self.norm_levels
        ids, rows = self.exact_ids, self.exact_rows
        return CodedEmbedding(
            scheme=self.scheme,
            packed=self.packed.cpu().numpy().copy(),
            codebooks=_stored_array(self.codebooks),
            dim=self.embedding_dim,
            offsets=self.offsets,
            words=words if words is None or isinstance(words, Words) else Words(words),
            norms=None if norms is None else norms.cpu().numpy().copy(),
            norm_levels=None if levels is None else levels.float().cpu().numpy().copy(),
            exact_ids=None if ids is None else ids.cpu().numpy().astype(np.uint32),
            exact_rows=None if rows is None else _stored_array(rows),
        )

    # ---- using it

    def forward(self, ids: Tensor) -> Tensor:
        """ids of any shape, int32 or int64 -> that shape plus (embedding_dim,)"""
        flat = ids.reshape(-1)
        numbers = numbers_of(flat, self.packed, self.scheme)
        codewords = self.codebooks.flatten(0, 1)
        rows = summed(numbers, codewords) if self._adds_whole_rows else joined(numbers, codewords, self._columns)
        if self.norms is not None and self.norm_levels is not None:
            rows = rows * self.norm_levels[self.norms[flat].long()].unsqueeze(1)
        if self.exact_ids is not None and self.exact_rows is not None:
            rows = with_exact(rows, flat, self.exact_ids, self.exact_rows)
        if self.padding_row is not None and self.padding_idx is not None:
            rows = torch.where(flat.eq(self.padding_idx).unsqueeze(1), self.padding_row, rows)
        return rows.view(*ids.shape, self.embedding_dim)

    def logits(self, hidden: Tensor) -> Tensor:
        """hidden (..., embedding_dim) -> its product with every row, (..., num_embeddings)

        The tied output head without the table: hidden times the codewords once, then a sum of M numbers a word, or
        fewer where a byte holds several codes. The result lies in memory word by word; `.contiguous()` turns it.
        """
        if hidden.shape[-1] != self.embedding_dim:
            raise InputError(
                f"hidden vectors of {hidden.shape[-1]} numbers do not fit rows of {self.embedding_dim}; "
                "the last axis must be embedding_dim"
            )
        if hidden.numel() == 0:
            return hidden.new_empty(*hidden.shape[:-1], self.num_embeddings)
        flat = hidden.reshape(-1, self.embedding_dim)
        products = self._products(flat)
        # Autocast makes products of half precision, which sums of many, and of their gradients, would wear away.
        summands = products.float() if torch.is_autocast_enabled(flat.device.type) else products
        scores = summed_products(self.packed, summands, self.scheme).to(products.dtype)
        if self.norms is not None and self.norm_levels is not None:
            scores = scores * self.norm_levels[self.norms.long()].unsqueeze(1)
        if self.exact_ids is not None and self.exact_rows is not None:
            scores = scores.index_copy(0, self.exact_ids, (self.exact_rows @ flat.T).to(scores.dtype))
        if self.padding_row is not None:
            place = torch.tensor([self.padding_idx], device=scores.device)
            scores = scores.index_copy(0, place, (self.padding_row @ flat.T).unsqueeze(0).to(scores.dtype))
        return scores.T.view(*hidden.shape[:-1], self.num_embeddings)

    def _products(self, hidden: Tensor) -> Tensor:
        """hidden (B, dim) -> (M, K, B): each codeword times the columns that its codebook covers"""
        if self._adds_whole_rows:
            return (self.codebooks.flatten(0, 1) @ hidden.T).view(*self.codebooks.shape[:2], hidden.shape[0])
        parts = torch.stack([hidden[:, start : start + self.width] for start in self.offsets or ()])
        return torch.bmm(self.codebooks, parts.transpose(1, 2))

    @property
    def weight(self) -> Tensor:
        """The whole table, (num_embeddings, embedding_dim), composed anew at each use: look rows up instead."""
        return self(torch.arange(self.num_embeddings, device=self.packed.device))  # type: ignore[no-any-return]

    @property
    def stored_bytes(self) -> int:
        """The bytes of its codes, codebooks and exact rows as a file holds them."""
        kept = [self.packed, self.norms, self.norm_levels, self.exact_ids, self.padding_row]
        kept += [stored(parameter) for parameter in self.parameters()]
        return sum(tensor.nbytes for tensor in kept if tensor is not None)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}, scheme={self.scheme}{padding}"


def stored(values: Tensor) -> Tensor:
    """Codebooks or exact rows as a file holds them: as float16 where that changes no value."""
    full = values.detach()
    small = full.to(torch.float16)
    return small if torch.equal(small.to(full.dtype), full) else full


def _stored_array(values: Tensor) -> npt.NDArray[Any]:
    """The same for a coded embedding: float16 or float32"""
    kept = stored(values).cpu()
    return (kept if kept.dtype == torch.float16 else kept.float()).numpy().copy()


def check_embedding(embedding: nn.Embedding) -> None:
    """Refuse what a coded layer would silently do otherwise."""
    if embedding.max_norm is not None:
        raise SettingError(
            f"max_norm={embedding.max_norm} rescales rows as they are looked up, and codes cannot; "
            "rescale the table and set max_norm to None"
        )
    if embedding.scale_grad_by_freq:
        raise SettingError("scale_grad_by_freq=True has no meaning for codewords that rows share; set it to False")


def vectors_of(embedding: nn.Embedding) -> Vectors:
    """The rows of an `nn.Embedding` for a learner."""
    return Vectors(embedding.weight.detach().float().cpu().numpy(), source="nn.Embedding")


def _copied(array: npt.NDArray[Any] | None) -> Tensor:
    # A memory map is read-only, which torch has no notion of.
    return torch.from_numpy(np.array(array))


def _checked_padding(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise SettingError(f"padding_idx={padding_idx} is not in a table of {rows} rows")
    return padding_idx % rows
