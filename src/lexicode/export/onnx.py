"""A coded embedding as an ONNX model of standard operators: row numbers in, rows out. Its codes stay packed.

The graph is numpy's look-up step by step: Gather the packed rows, shift and mask the codes out of their bytes, Gather
the codewords, ReduceSum over the codebooks, which are the first axis because onnxruntime then adds 0, 1, 2, … in this
order, as numpy does. ONNX itself leaves the order of a sum to the runtime.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.errors import InputError, SettingError, require
from lexicode.exact import ExactRows
from lexicode.formats.atomic import replacing
from lexicode.version import VERSION

# BitwiseAnd came with operator set 18, whose files are of version 8.
OPERATORS = 18
FILE_VERSION = 8
MOST_BYTES = (1 << 31) - (1 << 20)
INPUT, OUTPUT = "ids", "vectors"


def write_onnx(coded: CodedEmbedding, path: str | os.PathLike[str], *, axes: int | None = None) -> None:
    """Write the model: ids, int64 of any shape -> vectors, float32 of that shape plus (dim,).

    axes: how many axes ids has. None lets it have any number, which onnxruntime takes though the letter of the standard
    asks for a number.
    """
    model = onnx_model(coded, axes=axes)
    with replacing(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def onnx_model(coded: CodedEmbedding, *, axes: int | None = None) -> Any:
    """The model as an `onnx.ModelProto`; see `write_onnx`."""
    onnx = require("onnx", extra="onnx")
    if axes is not None and axes < 0:
        raise SettingError(f"axes={axes} is not a number of axes; give 0 or more, or None for any")
    if (size := sum(coded.part_bytes.values())) > MOST_BYTES:
        raise InputError(f"the table takes {size} bytes, but an ONNX file holds at most 2 GiB")
    graph = Graph(onnx)
    _build(graph, coded)
    shape = None if axes is None else [f"axis{number}" for number in range(axes)]
    tensor = onnx.helper.make_tensor_value_info
    made = onnx.helper.make_graph(
        graph.nodes,
        "lexicode",
        [tensor(INPUT, onnx.TensorProto.INT64, shape)],
        [tensor(OUTPUT, onnx.TensorProto.FLOAT, None if shape is None else [*shape, coded.dim])],
        graph.tensors,
    )
    model = onnx.helper.make_model(
        made,
        opset_imports=[onnx.helper.make_opsetid("", OPERATORS)],
        ir_version=FILE_VERSION,
        producer_name="lexicode",
        producer_version=VERSION,
    )
    record = {"scheme": str(coded.scheme), "rows": len(coded), "dim": coded.dim, "origin": coded.origin}
    onnx.helper.set_model_props(model, {"lexicode": json.dumps(record, sort_keys=True, separators=(",", ":"))})
    return model


class Graph:
    """Nodes and tensors as they are added, each value by a short name."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []

    def add(self, operator: str, *inputs: str, output: str | None = None, **settings: Any) -> str:
        """A node of one output; the output's name."""
        name = output or f"v{len(self.nodes)}"
        self.nodes.append(self._onnx.helper.make_node(operator, inputs, [name], **settings))
        return name

    def tensor(self, values: npt.ArrayLike, dtype: npt.DTypeLike, name: str | None = None) -> str:
        """A tensor that the file holds; its name."""
        known = name or f"c{len(self.tensors)}"
        self.tensors.append(self._onnx.numpy_helper.from_array(np.array(values, dtype=dtype, order="C"), known))
        return known

    def cast(self, value: str, dtype: npt.DTypeLike) -> str:
        return self.add("Cast", value, to=self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def _build(graph: Graph, coded: CodedEmbedding) -> None:
    ids = _checked_ids(graph, len(coded))
    numbers = _codeword_numbers(graph, coded, ids)
    codewords = _codewords(graph, coded)
    rows = graph.add("ReduceSum", graph.add("Gather", codewords, numbers), graph.tensor([0], np.int64), keepdims=0)
    if coded.norms is not None and coded.norm_levels is not None:
        norms = graph.add("Gather", graph.tensor(coded.norms, np.uint8, "norms"), ids)
        levels = graph.tensor(coded.norm_levels, np.float32, "norm_levels")
        lengths = graph.add("Gather", levels, graph.cast(norms, np.int32))
        rows = graph.add("Mul", rows, graph.add("Unsqueeze", lengths, graph.tensor([1], np.int64)))
    if coded.exact is not None:
        rows = _with_exact(graph, rows, ids, coded.exact)
    shape = graph.add("Concat", graph.add("Shape", INPUT), graph.tensor([coded.dim], np.int64), axis=0)
    graph.add("Reshape", rows, shape, output=OUTPUT, allowzero=1)


def _checked_ids(graph: Graph, rows: int) -> str:
    """ids of any shape -> (n,) int64. A negative one becomes a row that is not there, which Gather refuses: on its own
    Gather would count it from the end."""
    flat = graph.add("Reshape", INPUT, graph.tensor([-1], np.int64))
    negative = graph.add("Less", flat, graph.tensor(0, np.int64))
    return graph.add("Where", negative, graph.tensor(rows, np.int64), flat)


def _codeword_numbers(graph: Graph, coded: CodedEmbedding, ids: str) -> str:
    """ids (n,) -> (M, n) int32: for each codebook m the number m * K + k of the codeword named"""
    M, K = coded.scheme.codebooks, coded.scheme.codewords
    packed = graph.add("Gather", graph.tensor(coded.packed, np.uint8, "codes"), ids)
    codes = graph.add("Transpose", graph.cast(_unpacked(graph, coded, packed), np.int32), perm=[1, 0])
    return graph.add("Add", codes, graph.tensor(np.arange(0, M * K, K)[:, None], np.int32))


def _unpacked(graph: Graph, coded: CodedEmbedding, packed: str) -> str:
    """packed (n, bytes) uint8 -> codes (n, M), uint8 or uint32. The layout of the bits is told in lexicode.packing."""
    M, bits, mask = coded.scheme.codebooks, coded.scheme.bits, coded.scheme.codewords - 1
    if bits == 8:
        return packed
    if 8 % bits == 0:
        whole = graph.add("Unsqueeze", packed, graph.tensor([2], np.int64))
        shifted = graph.add("BitShift", whole, graph.tensor(np.arange(0, 8, bits), np.uint8), direction="RIGHT")
        codes = graph.add("BitwiseAnd", shifted, graph.tensor(mask, np.uint8))
        flat = graph.add("Flatten", codes, axis=1)
        return graph.add("Slice", flat, *(graph.tensor([at], np.int64) for at in (0, M, 1)))
    positions = np.arange(0, M * bits, bits)
    last = coded.packed.shape[1] - 1
    word = ""
    # A component of at most 12 bits lies in at most three bytes; where the row ends sooner, the mask hides the rest.
    for step in range(3):
        columns = graph.tensor(np.minimum(positions // 8 + step, last), np.int32)
        piece = graph.cast(graph.add("Gather", packed, columns, axis=1), np.uint32)
        piece = graph.add("BitShift", piece, graph.tensor(8 * step, np.uint32), direction="LEFT")
        word = graph.add("BitwiseOr", word, piece) if word else piece
    shifted = graph.add("BitShift", word, graph.tensor(positions % 8, np.uint32), direction="RIGHT")
    return graph.add("BitwiseAnd", shifted, graph.tensor(mask, np.uint32))


def _codewords(graph: Graph, coded: CodedEmbedding) -> str:
    """The codewords (M * K, dim) float32. A runtime makes them once, when it loads the file: nothing here needs ids."""
    M, K, width = coded.codebooks.shape
    books = graph.tensor(coded.codebooks, coded.codebooks.dtype, "codebooks")
    if coded.codebooks.dtype != np.float32:
        books = graph.cast(books, np.float32)
    if width < coded.dim:
        # With zeros in the columns that a codebook does not cover.
        starts = graph.tensor(np.array(coded.offsets)[:, None, None], np.int64)
        places = graph.add("Add", starts, graph.tensor(np.arange(width), np.int64))
        places = graph.add("Expand", places, graph.tensor([M, K, width], np.int64))
        zeros = graph.add("Expand", graph.tensor(0, np.float32), graph.tensor([M, K, coded.dim], np.int64))
        books = graph.add("ScatterElements", zeros, places, books, axis=2)
    return graph.add("Reshape", books, graph.tensor([M * K, coded.dim], np.int64))


def _with_exact(graph: Graph, rows: str, ids: str, exact: ExactRows) -> str:
    """rows (n, dim) of ids (n,) -> the same with the exact rows in their places, found by halving"""
    known = graph.cast(graph.tensor(exact.ids, np.uint32, "exact_ids"), np.int64)
    last = len(exact.ids) - 1
    end = graph.tensor(last, np.int64)
    place = graph.add("Mul", ids, graph.tensor(0, np.int64))
    for power in reversed(range(last.bit_length())):
        probe = graph.add("Min", graph.add("Add", place, graph.tensor(1 << power, np.int64)), end)
        reached = graph.add("LessOrEqual", graph.add("Gather", known, probe), ids)
        place = graph.add("Where", reached, probe, place)
    found = graph.add("Equal", graph.add("Gather", known, place), ids)
    kept = graph.add("Gather", graph.tensor(exact.rows, exact.rows.dtype, "exact_rows"), place)
    kept = graph.cast(kept, np.float32)
    return graph.add("Where", graph.add("Unsqueeze", found, graph.tensor([1], np.int64)), kept, rows)
