"""save_compressed and load_compressed: a model with coded layers as one .safetensors file.

The file holds the model's state_dict, tensors that are the same only once, and a record of the layers that were put
in. Nothing in it is ever unpickled or run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from lexicode.errors import InputError
from lexicode.formats.atomic import replacing
from lexicode.torch.head import CompositionalHead
from lexicode.torch.layer import CompositionalEmbedding, stored
from lexicode.torch.model import put
from lexicode.torch.record import KEY, ModelRecord

Model = TypeVar("Model", bound=nn.Module)
State = dict[str, Tensor]


def save_compressed(model: nn.Module, path: str | os.PathLike[str]) -> None:
    """Write the whole model, dense layers and coded ones: whole or not at all."""
    if isinstance(model, CompositionalEmbedding):
        raise InputError("the model is itself a coded layer; layer.to_coded().save(path) writes it")
    tensors, shared = _distinct(model)
    metadata = {KEY: ModelRecord.of(model, shared).text()}
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata=metadata)


def load_compressed(model_or_factory: Model | Callable[[], Model], path: str | os.PathLike[str]) -> Model:
    """Fill a model that was built as before compression, or by a function that is given, from a saved file.

    Its embedding layers are replaced by the coded ones, in place. A model that does not fit is left as it was.
    """
    name = os.fspath(path)
    record, state = _read(path)
    model = cast(Model, model_or_factory if isinstance(model_or_factory, nn.Module) else model_or_factory())
    layers = _made_layers(name, model, record)
    replaced: dict[str, nn.Module] = {**layers, **_made_heads(name, model, record, layers)}
    _check_state(name, model, state, replaced)
    for place, module in replaced.items():
        put(model, place, module)
    model.load_state_dict(state)
    return model


def _distinct(model: nn.Module) -> tuple[State, dict[str, str]]:
    """Each tensor once, on the CPU, and the names of those that are the same as another: name -> its first name"""
    halved = {
        f"{name}.{of_layer}".lstrip(".")
        for name, module in model.named_modules(remove_duplicate=False)
        if isinstance(module, CompositionalEmbedding)
        for of_layer, _ in module.named_parameters()
    }
    tensors: State = {}
    shared: dict[str, str] = {}
    first: dict[tuple[Any, ...], str] = {}
    for name, value in model.state_dict().items():
        if not isinstance(value, Tensor) or value.layout != torch.strided or value.is_quantized:
            raise InputError(f"{name} in the model's state_dict is no plain tensor, and safetensors cannot hold it")
        same = (value.device, value.data_ptr(), value.dtype, value.shape, value.stride())
        if value.numel() and same in first:
            shared[name] = first[same]
            continue
        first[same] = name
        kept = stored(value) if name in halved else value
        # Two views of one memory are two tensors in the file; a copy makes them so.
        tensors[name] = kept.detach().cpu().contiguous().clone()
    return tensors, shared


def _read(path: str | os.PathLike[str]) -> tuple[ModelRecord, State]:
    name = os.fspath(path)
    # Open it first: Python's own errors for a missing file or a directory are the clear ones.
    with Path(path).open("rb"):
        pass
    try:
        with safe_open(name, framework="pt") as file:
            record = ModelRecord.parse(name, (file.metadata() or {}).get(KEY))
            state = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (it is no mapping)
    except SafetensorError as error:
        raise InputError(f"{name}: not a whole .safetensors file ({error}); it was cut short or damaged") from None
    for alias, first in record.shared.items():
        if first not in state:
            raise InputError(f"{name}: its {KEY!r} record is damaged (no tensor {first!r})")
        state[alias] = state[first]
    return record, state


def _made_layers(name: str, model: nn.Module, record: ModelRecord) -> dict[str, CompositionalEmbedding]:
    """The coded layers, still to be filled, for the places that the record names."""
    layers: dict[str, CompositionalEmbedding] = {}
    # Those that share the codes of another come after it.
    for place, entry in sorted(record.layers.items(), key=lambda item: item[1].shares is not None):
        held = _submodule(name, model, place)
        if not isinstance(held, (nn.Embedding, CompositionalEmbedding)):
            raise InputError(
                f"{name}: the layer {place!r} is {type(held).__name__} in this model, but a coded embedding in the file"
            )
        if (held.num_embeddings, held.embedding_dim) != (entry.rows, entry.dim):
            raise InputError(
                f"{name}: the layer {place!r} is {held.num_embeddings} x {held.embedding_dim} in this model, "
                f"but {entry.rows} x {entry.dim} in the file"
            )
        if entry.shares is not None:
            layer = layers[entry.shares].sharing(padding_idx=entry.padding_idx)
        else:
            layer = entry.make(held.weight.device if isinstance(held, nn.Embedding) else held.packed.device)
        layers[place] = layer.train(held.training)
    for place, first in record.same.items():
        _submodule(name, model, place)
        layers[place] = layers[first]
    return layers


def _made_heads(
    name: str, model: nn.Module, record: ModelRecord, layers: dict[str, CompositionalEmbedding]
) -> dict[str, CompositionalHead]:
    heads = {}
    for place, entry in record.heads.items():
        held = _submodule(name, model, place)
        if not isinstance(held, (nn.Linear, CompositionalHead)):
            raise InputError(
                f"{name}: the layer {place!r} is {type(held).__name__} in this model, but a tied head in the file"
            )
        if (held.bias is not None) != entry.bias:
            raise InputError(f"{name}: the head {place!r} has a bias in only one of the model and the file")
        heads[place] = CompositionalHead(layers[entry.layer], held.bias).train(held.training)
    return heads


def _submodule(name: str, model: nn.Module, place: str) -> nn.Module:
    try:
        return model.get_submodule(place)
    except AttributeError:
        raise InputError(
            f"{name}: the model {type(model).__name__} has no layer {place!r}, which the file holds; "
            "build the model that was compressed"
        ) from None


def _check_state(name: str, model: nn.Module, state: State, replaced: dict[str, nn.Module]) -> None:
    """Find the first tensor that does not fit before anything is changed."""
    inside = tuple(f"{place}." for place in replaced)
    expected = {key: value for key, value in model.state_dict().items() if not key.startswith(inside)}
    for place, module in replaced.items():
        expected |= {f"{place}.{key}": value for key, value in module.state_dict().items()}
    for key, value in expected.items():
        if key not in state:
            raise InputError(f"{name}: the model {type(model).__name__} has a tensor {key!r} that the file lacks")
        if value.shape != state[key].shape:
            raise InputError(
                f"{name}: the tensor {key!r} has the shape {tuple(value.shape)} in this model, "
                f"but {tuple(state[key].shape)} in the file"
            )
    if extra := [key for key in state if key not in expected]:
        raise InputError(f"{name}: the file holds a tensor {extra[0]!r} that the model {type(model).__name__} lacks")
