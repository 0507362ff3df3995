"""safetensors files: one matrix of them, memory-mapped where numpy has its dtype."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.formats.growing import GrowingRows, read_matrix
from lexicode.formats.streams import STEP, Source
from lexicode.formats.table import Table
from lexicode.formats.wordlists import row_of

LONGEST_HEADER = 100_000_000
# numpy has no bfloat16: its bits are the upper half of a float32.
BFLOAT16 = "BF16"
DTYPES = {"F16": "<f2", BFLOAT16: "<u2", "F32": "<f4", "F64": "<f8"}


@dataclass(frozen=True, kw_only=True)
class TensorHeader:
    """One tensor's entry in the file's header; start and stop are bytes behind the header."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int

    @property
    def is_matrix(self) -> bool:
        return len(self.shape) == 2 and self.dtype in DTYPES

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


def starts_like_safetensors(start: bytes) -> bool:
    """Eight bytes of length, then JSON; any text would say a length beyond all bounds."""
    return start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= LONGEST_HEADER


def read_safetensors(source: Source, *, tensor: str | None = None, limit: int | None = None) -> Table:
    """The matrix called `tensor`, or the only float matrix. The file holds no words."""
    headers = _read_headers(source)
    name = _chosen(source, headers, tensor)
    header = headers[name]
    rows, dim = header.shape
    dtype = np.dtype(DTYPES[header.dtype])
    if header.stop - header.start != rows * dim * dtype.itemsize:
        raise source.problem(f"gives {header.stop - header.start} bytes to the tensor {name} {header}: it is damaged")
    source.skip(header.start, f"the data before the tensor {name!r}")
    matrix = read_matrix(source, (rows, dim), dtype, limit=limit)
    return Table(words=None, matrix=_widened(matrix) if header.dtype == BFLOAT16 else matrix, place=row_of)


def _chosen(source: Source, headers: dict[str, TensorHeader], tensor: str | None) -> str:
    matrices = [name for name, header in headers.items() if header.is_matrix]
    if tensor in matrices or (tensor is None and len(matrices) == 1):
        return tensor or matrices[0]
    if tensor in headers:
        raise source.problem(f"the tensor {tensor} is {headers[tensor]}; a matrix of F16, BF16, F32 or F64 is expected")
    listed = ", ".join(f"{name} {headers[name]}" for name in matrices[:20]) or "none"
    missing = f"has no tensor {tensor!r}" if tensor is not None else "does not say which tensor to read"
    raise source.problem(f"{missing}; its float matrices, to be named with tensor= (--tensor): {listed}")


def _read_headers(source: Source) -> dict[str, TensorHeader]:
    size = int.from_bytes(source.read_exactly(8, "the header"), "little")
    text = source.read_exactly(size, "the header")
    try:
        fields = json.loads(text)
        return {
            name: _checked(entry["dtype"], entry["shape"], *entry["data_offsets"])
            for name, entry in fields.items()
            if name != "__metadata__"
        }
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise source.problem("has a safetensors header that makes no sense: it is damaged") from error


def _checked(dtype: Any, shape: Any, start: Any, stop: Any) -> TensorHeader:
    sizes = [*shape, start, stop]
    if not isinstance(dtype, str) or not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError("a size is no number of things")
    return TensorHeader(dtype=dtype, shape=tuple(shape), start=start, stop=stop)


def _widened(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """bits (V, dim) uint16 of bfloat16 -> (V, dim) float32"""
    rows = max(1, STEP // bits.shape[1])
    matrix = GrowingRows()
    for start in range(0, len(bits), rows):
        matrix.append((bits[start : start + rows].astype(np.uint32) << np.uint32(16)).view(np.float32))
    return matrix.finish()
