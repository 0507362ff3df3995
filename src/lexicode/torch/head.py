"""CompositionalHead: an output layer tied to a coded embedding, in the place of `nn.Linear`."""

from __future__ import annotations

from torch import Tensor, nn

from lexicode.torch.layer import CompositionalEmbedding


class CompositionalHead(nn.Module):
    """hidden (..., dim) -> (..., num_embeddings): `embedding.logits(hidden)` plus the bias, if there is one."""

    def __init__(self, embedding: CompositionalEmbedding, bias: nn.Parameter | None = None) -> None:
        super().__init__()
        self.embedding = embedding
        self.bias = bias

    @property
    def in_features(self) -> int:
        return self.embedding.embedding_dim

    @property
    def out_features(self) -> int:
        return self.embedding.num_embeddings

    @property
    def weight(self) -> Tensor:
        """The embedding's whole table, composed anew at each use."""
        return self.embedding.weight

    def forward(self, hidden: Tensor) -> Tensor:
        scores = self.embedding.logits(hidden)
        return scores if self.bias is None else scores + self.bias

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
