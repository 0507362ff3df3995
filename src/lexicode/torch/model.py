"""compress_model: find a model's embedding layers, code them, and put the coded layers in their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from lexicode.coded import CodedEmbedding
from lexicode.errors import SettingError
from lexicode.learners import make_learner
from lexicode.learners.progress import OnProgress
from lexicode.scheme import CodeScheme
from lexicode.torch.head import CompositionalHead
from lexicode.torch.layer import CompositionalEmbedding, check_embedding, stored, vectors_of
from lexicode.torch.table import CompressionTable, LayerRow


@dataclass(kw_only=True)
class TableUses:
    """One weight (V, dim) and where it is used: the embedding layers that hold it, linear layers tied to it, others."""

    weight: Tensor
    embeddings: dict[str, nn.Embedding] = field(default_factory=dict)
    heads: dict[str, nn.Linear] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return next(iter(self.embeddings))

    @property
    def embedding(self) -> nn.Embedding:
        return self.embeddings[self.name]

    @property
    def shape(self) -> tuple[int, int]:
        return self.embedding.num_embeddings, self.embedding.embedding_dim


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A table's codes and their loss."""

    coded: CodedEmbedding
    loss: float


def compress_model(
    model: nn.Module,
    *,
    scheme: CodeScheme | str | None = None,
    budget: int | None = None,
    layers: Sequence[str] | None = None,
    learner: str = "additive",
    freeze: bool | None = None,
    on_progress: OnProgress | None = None,
    **settings: Any,
) -> CompressionTable:
    """Code the `nn.Embedding` layers of a model, which is changed in place; the table says what became of each.

    scheme    one scheme for all of them, or
    budget    the bytes that they may take together, shared out by their size; the best scheme is chosen for each
    layers    the names of the layers to code; without them, every layer that becomes smaller by it
    learner   by its name on the command line, with its settings as further keywords
    freeze    whether the codebooks stop training; without it, they train where the layer's weight did

    Tied weights stay tied: layers that share a weight share its codes, and a linear output layer becomes a
    `CompositionalHead`, which computes its logits from the same codes. An error leaves the model as it was.
    """
    if (scheme is None) == (budget is None):
        raise SettingError("give either a scheme or a budget of bytes, such as scheme='32x16' or budget=2_000_000")
    if isinstance(model, nn.Embedding):
        raise SettingError("the model is itself an nn.Embedding; use CompositionalEmbedding.from_embedding")
    # Settings that are wrong, and packages that are missing, are found before any work.
    make_learner(learner, scheme or "1x2", **settings)
    found = find_tables(model)
    tables = _chosen(model, found, layers)
    bytes_before = model_bytes(model)
    wanted = _schemes(tables, scheme, budget, learner, settings, skip_small=layers is None)
    learned: dict[str, Learned] = {}
    for table in tables:
        chosen = wanted[table.name]
        if isinstance(chosen, CodeScheme):
            fitting = make_learner(learner, chosen, **settings)
            coded = fitting.fit(vectors_of(table.embedding), on_progress)
            learned[table.name] = Learned(coded=coded, loss=fitting.loss)
    # Everything that can fail has been done; only now is the model touched.
    rows = []
    for table in found:
        if table.name in learned:
            rows.append(_replace(model, table, learned[table.name], freeze))
        else:
            rows.append(_left_dense(table.name, table.embedding, str(wanted.get(table.name, "left dense: not named"))))
    for name, module in model.named_modules():
        if isinstance(module, nn.Embedding) and type(module) is not nn.Embedding:
            rows.append(_left_dense(name, module, f"left dense: {type(module).__name__}, with a way of its own"))
    return CompressionTable(rows=tuple(rows), bytes_before=bytes_before, bytes_after=model_bytes(model))


def find_tables(model: nn.Module) -> list[TableUses]:
    """Every weight of an `nn.Embedding`, in the model's order, with all the places that use it."""
    found: dict[int, TableUses] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        # A subclass may do something else with its rows; it keeps them.
        if type(module) is nn.Embedding:
            uses = found.setdefault(id(module.weight), TableUses(weight=module.weight))
            uses.embeddings[name] = module
    for name, module in model.named_modules(remove_duplicate=False):
        for attribute, parameter in module.named_parameters(recurse=False):
            uses_of = found.get(id(parameter))
            if uses_of is None or type(module) is nn.Embedding:
                continue
            if type(module) is nn.Linear and attribute == "weight":
                uses_of.heads[name] = module
            else:
                uses_of.others.append(f"{name}.{attribute}".lstrip("."))
    return list(found.values())


def model_bytes(model: nn.Module) -> int:
    """The bytes of a model's tensors as a file holds them, each counted once."""
    total, seen = 0, set()
    for tensor in _tensors(model):
        if id(tensor) not in seen:
            seen.add(id(tensor))
            total += tensor.nbytes
    for module in model.modules():
        if isinstance(module, CompositionalEmbedding) and id(module.codebooks) in seen:
            seen.remove(id(module.codebooks))
            total -= sum(parameter.nbytes - stored(parameter).nbytes for parameter in module.parameters())
    return total


def _tensors(model: nn.Module) -> Iterator[Tensor]:
    """What a state_dict holds: the parameters, and the buffers that are kept."""
    for module in model.modules():
        yield from module.parameters(recurse=False)
        for name, buffer in module.named_buffers(recurse=False):
            if name not in module._non_persistent_buffers_set:
                yield buffer


def _chosen(model: nn.Module, found: list[TableUses], layers: Sequence[str] | None) -> list[TableUses]:
    known = {name: table for table in found for name in table.embeddings}
    if isinstance(layers, str):
        raise SettingError(f"layers={layers!r} is one name; give a list of names")
    if layers is None:
        chosen = found
    else:
        modules = dict(model.named_modules(remove_duplicate=False))
        for name in layers:
            if name not in known and name in modules:
                raise SettingError(f"the layer {name!r} is {type(modules[name]).__name__}, not a plain nn.Embedding")
            if name not in known:
                raise SettingError(f"the model has no layer {name!r}; its embeddings: {', '.join(known) or 'none'}")
        wanted = {known[name].name for name in layers}
        chosen = [table for table in found if table.name in wanted]
    if not chosen:
        raise SettingError("the model has no nn.Embedding to compress")
    for table in chosen:
        for embedding in table.embeddings.values():
            check_embedding(embedding)
    return chosen


def _schemes(
    tables: list[TableUses],
    scheme: CodeScheme | str | None,
    budget: int | None,
    learner: str,
    settings: dict[str, Any],
    *,
    skip_small: bool,
) -> dict[str, CodeScheme | str]:
    """A scheme for each table, or the reason why it stays dense."""
    from lexicode.learners.choosing import choose_scheme, file_bytes

    codebook_dtype = str(settings.get("codebook_dtype", "float16"))
    total = sum(table.weight.numel() for table in tables)
    wanted: dict[str, CodeScheme | str] = {}
    for table in tables:
        rows, dim = table.shape
        if budget is not None:
            share = budget * table.weight.numel() // total
            try:
                chosen = choose_scheme(vectors_of(table.embedding), share, learner=learner, **settings)
            except SettingError as error:
                if not skip_small:
                    raise SettingError(f"the layer {table.name!r}: {error}") from None
                wanted[table.name] = f"left dense: no scheme fits its {share:,} bytes of the budget"
                continue
        else:
            chosen = CodeScheme.of(scheme or "")
        size = file_bytes(chosen, rows, dim, learner=learner, codebook_dtype=codebook_dtype)
        too_small = skip_small and size >= table.weight.nbytes
        wanted[table.name] = "left dense: its codes would be larger" if too_small else chosen
    if not any(isinstance(chosen, CodeScheme) for chosen in wanted.values()):
        reasons = "; ".join(f"{name} {reason}" for name, reason in wanted.items())
        raise SettingError(f"no layer would become smaller ({reasons}); try another scheme or a larger budget")
    return wanted


def _replace(model: nn.Module, table: TableUses, learned: Learned, freeze: bool | None) -> LayerRow:
    before = table.weight.nbytes
    layer = CompositionalEmbedding.replacing(table.embedding, learned.coded, freeze=freeze)
    made = {table.embedding.padding_idx: layer}
    for name, embedding in table.embeddings.items():
        padding = embedding.padding_idx
        if padding not in made:
            made[padding] = layer.sharing(padding_idx=padding)
            made[padding].keep_padding_row(embedding)
        put(model, name, made[padding])
    for name, linear in table.heads.items():
        put(model, name, CompositionalHead(layer, linear.bias).train(linear.training))
    notes = [f"shared with {name}" for name in list(table.embeddings)[1:]]
    notes += [f"tied head {name}: by logits on the codes" for name in table.heads]
    notes += [f"{name} holds the same weight: left dense, no longer tied" for name in table.others]
    return LayerRow(
        name=table.name,
        shape=table.shape,
        scheme=str(learned.coded.scheme),
        bytes_before=before,
        bytes_after=layer.stored_bytes + (before if table.others else 0),
        loss=learned.loss,
        note="; ".join(notes),
    )


def _left_dense(name: str, embedding: nn.Embedding, reason: str) -> LayerRow:
    size, shape = embedding.weight.nbytes, (embedding.num_embeddings, embedding.embedding_dim)
    return LayerRow(name=name, shape=shape, scheme=None, bytes_before=size, bytes_after=size, loss=None, note=reason)


def put(model: nn.Module, name: str, module: nn.Module) -> None:
    """Set the submodule of this dotted name."""
    parent, _, attribute = name.rpartition(".")
    setattr(model.get_submodule(parent), attribute, module)
