"""The artefact's file: named arrays and one JSON record in a .safetensors file. See docs/format.md."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save, save_file

from lexicode.errors import InputError
from lexicode.formats.atomic import replacing

NAME = "lexicode"
VERSION = 1
# One key: safetensors writes its keys in no fixed order, and the same table must give the same bytes.
KEY = "lexicode"

DTYPES = {"U8": np.uint8, "U32": np.uint32, "F16": np.float16, "F32": np.float32}
TENSORS = {"codes", "codebooks", "words", "norms", "norm_levels", "exact_ids", "exact_rows"}

Arrays = dict[str, npt.NDArray[Any]]
Record = dict[str, Any]


def write_artefact(path: str | os.PathLike[str], record: Record, arrays: Arrays) -> None:
    """Write the arrays and the record, whole or not at all."""
    contiguous, metadata = _prepared(record, arrays)
    with replacing(path) as temporary:
        try:
            save_file(contiguous, temporary, metadata=metadata)
        except SafetensorError as error:
            raise OSError(errno.EIO, f"could not be written ({error})", os.fspath(path)) from None


def artefact_bytes(record: Record, arrays: Arrays) -> int:
    """How large the file would be."""
    contiguous, metadata = _prepared(record, arrays)
    return len(save(contiguous, metadata=metadata))


def _prepared(record: Record, arrays: Arrays) -> tuple[Arrays, dict[str, str]]:
    full = {"format": NAME, "version": VERSION, **record}
    text = json.dumps(full, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, {KEY: text}


def read_artefact(path: str | os.PathLike[str]) -> tuple[Record, Arrays]:
    """The record, and the arrays as read-only memory maps."""
    name = os.fspath(path)
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        raise InputError(f"{name}: not a regular file, so it cannot be mapped")
    # Open it first: Python's own errors for a missing file or a directory are the clear ones.
    with Path(path).open("rb"):
        pass
    try:
        with safe_open(name, framework="numpy") as file:
            metadata = file.metadata() or {}
    except SafetensorError as error:
        raise InputError(f"{name}: not a whole .safetensors file ({error}); it was cut short or damaged") from None
    if KEY not in metadata:
        raise InputError(f"{name}: a .safetensors file, but not one that lexicode wrote; compress it first")
    record = _parse(name, metadata[KEY])
    return record, _map_arrays(name)


def _parse(name: str, text: str) -> Record:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or record.get("format") != NAME or type(record.get("version")) is not int:
        raise InputError(f"{name}: its {KEY!r} record is damaged")
    if record["version"] < 1:
        raise InputError(f"{name}: format version {record['version']}; the first was 1")
    if record["version"] > VERSION:
        raise InputError(
            f"{name}: format version {record['version']}, but this lexicode reads up to {VERSION}; "
            "pip install -U lexicode"
        )
    return record


def _map_arrays(name: str) -> Arrays:
    """Map each tensor. safe_open has checked that the header and the file's length agree."""
    with Path(name).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    arrays: Arrays = {}
    for tensor, entry in header.items():
        if tensor == "__metadata__":
            continue
        if tensor not in TENSORS:
            raise InputError(f"{name}: unknown tensor {tensor!r}; a newer lexicode may read it")
        if entry["dtype"] not in DTYPES:
            raise InputError(f"{name}: tensor {tensor!r} has dtype {entry['dtype']}, not one of {', '.join(DTYPES)}")
        dtype, shape = DTYPES[entry["dtype"]], tuple(entry["shape"])
        start = 8 + length + entry["data_offsets"][0]
        if 0 in shape:
            # An empty file region cannot be mapped.
            arrays[tensor] = np.empty(shape, dtype=dtype)
        else:
            arrays[tensor] = np.memmap(name, dtype=dtype, mode="r", offset=start, shape=shape)
    return arrays
