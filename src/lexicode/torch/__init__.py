"""The coded embedding as a torch module, and putting it into the models of others."""

from __future__ import annotations

from lexicode.errors import require

# Say which extra to install before the first of our own imports fails on torch.
require("torch", extra="torch")

from lexicode.torch.head import CompositionalHead  # noqa: E402
from lexicode.torch.layer import CompositionalEmbedding  # noqa: E402
from lexicode.torch.model import compress_model  # noqa: E402
from lexicode.torch.saving import load_compressed, save_compressed  # noqa: E402
from lexicode.torch.table import CompressionTable, LayerRow  # noqa: E402

__all__ = [
    "CompositionalEmbedding",
    "CompositionalHead",
    "CompressionTable",
    "LayerRow",
    "compress_model",
    "load_compressed",
    "save_compressed",
]
