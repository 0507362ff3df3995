"""What a saved model's file says of its coded layers, as JSON in the file's metadata."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import torch
from torch import nn

from lexicode.errors import InputError, SettingError
from lexicode.torch.head import CompositionalHead
from lexicode.torch.layer import CompositionalEmbedding
from lexicode.version import VERSION as LIBRARY

KEY = "lexicode_model"
VERSION = 1
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True, kw_only=True)
class LayerRecord:
    """All that it takes to make a layer for a state_dict; `shares` names the layer whose codes it uses, if any."""

    rows: int
    dim: int
    scheme: str
    offsets: list[int] | None
    width: int
    norm_levels: int
    padding_idx: int | None
    dtype: str
    trains: bool
    shares: str | None
    # Files from before there were exact rows do not say.
    exact_rows: int = 0

    @classmethod
    def of(cls, layer: CompositionalEmbedding, *, shares: str | None) -> LayerRecord:
        return cls(
            rows=layer.num_embeddings,
            dim=layer.embedding_dim,
            scheme=str(layer.scheme),
            offsets=None if layer.offsets is None else list(layer.offsets),
            width=layer.width,
            norm_levels=0 if layer.norm_levels is None else len(layer.norm_levels),
            padding_idx=layer.padding_idx,
            dtype=str(layer.codebooks.dtype).removeprefix("torch."),
            trains=layer.codebooks.requires_grad,
            shares=shares,
            exact_rows=0 if layer.exact_rows is None else len(layer.exact_rows),
        )

    def make(self, device: torch.device) -> CompositionalEmbedding:
        """The layer, to be filled."""
        layer = CompositionalEmbedding(
            self.rows, self.dim, self.scheme,
            padding_idx=self.padding_idx, offsets=self.offsets, width=self.width, norm_levels=self.norm_levels,
            exact_rows=self.exact_rows, device=device, dtype=DTYPES[self.dtype], _random=False,
        )  # fmt: skip
        return layer.requires_grad_(self.trains)


@dataclass(frozen=True, kw_only=True)
class HeadRecord:
    """A tied head: the layer that it uses, and whether it adds a bias."""

    layer: str
    bias: bool


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """layers and heads by the names of their places; same: further places of a layer -> its first place;
    shared: names of tensors that are the same as another -> the name under which the file holds it"""

    layers: dict[str, LayerRecord]
    same: dict[str, str]
    heads: dict[str, HeadRecord]
    shared: dict[str, str]

    @classmethod
    def of(cls, model: nn.Module, shared: dict[str, str]) -> ModelRecord:
        layers: dict[str, LayerRecord] = {}
        same: dict[str, str] = {}
        heads: dict[str, HeadRecord] = {}
        places: dict[int, str] = {}
        owners: dict[int, str] = {}
        modules = dict(model.named_modules(remove_duplicate=False))
        inside = tuple(f"{name}." for name, module in modules.items() if isinstance(module, CompositionalHead))
        for name, module in modules.items():
            if not isinstance(module, CompositionalEmbedding) or name.startswith(inside):
                continue
            first = places.setdefault(id(module), name)
            if first != name:
                same[name] = first
                continue
            owner = owners.setdefault(id(module.codebooks), name)
            layers[name] = LayerRecord.of(module, shares=None if owner == name else owner)
        for name, module in modules.items():
            if isinstance(module, CompositionalHead):
                if id(module.embedding) not in places:
                    raise InputError(f"the head {name} is tied to a layer that the model does not hold; put it in")
                heads[name] = HeadRecord(layer=places[id(module.embedding)], bias=module.bias is not None)
        return cls(layers=layers, same=same, heads=heads, shared=shared)

    def text(self) -> str:
        full = {"version": VERSION, "library": LIBRARY, **asdict(self)}
        return json.dumps(full, sort_keys=True, separators=(",", ":"))

    @classmethod
    def parse(cls, name: str, text: str | None) -> ModelRecord:
        """The record of the file `name`, checked: its layers can be made, and what they point to is there."""
        if text is None:
            raise InputError(f"{name}: a .safetensors file, but not one that save_compressed wrote")
        try:
            full = json.loads(text)
            if full["version"] != VERSION:
                raise InputError(
                    f"{name}: format version {full['version']}, but this lexicode reads {VERSION}; "
                    "pip install -U lexicode"
                )
            record = cls(
                layers={place: LayerRecord(**entry) for place, entry in full["layers"].items()},
                same=dict(full["same"]),
                heads={place: HeadRecord(**entry) for place, entry in full["heads"].items()},
                shared=dict(full["shared"]),
            )
            record._check()
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{name}: its {KEY!r} record is damaged ({error!r})") from None
        return record

    def _check(self) -> None:
        used = [*self.same.values(), *(head.layer for head in self.heads.values())]
        used += [layer.shares for layer in self.layers.values() if layer.shares is not None]
        if missing := [place for place in used if place not in self.layers]:
            raise ValueError(f"no layer {missing[0]!r}")
        for layer in self.layers.values():
            # On no device, making a layer costs nothing and checks all its numbers.
            try:
                layer.make(torch.device("meta"))
            except (SettingError, RuntimeError) as error:
                raise ValueError(str(error)) from None
