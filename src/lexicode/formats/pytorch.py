"""PyTorch's own files, as `torch.save` writes them: a matrix of a state_dict. Weights only: objects are refused.

Torch itself reads them, with an unpickler that builds tensors and plain containers and nothing else. It is imported
here alone, and only when such a file is met.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping
from typing import Any
from zipfile import ZipFile

from lexicode.errors import LexicodeError, require
from lexicode.formats.streams import PYTORCH_MEMBER, STEP, Source
from lexicode.formats.table import Table
from lexicode.formats.wordlists import row_of

# The files of torch before 1.6 begin with this number, pickled: 0x1950a86a20f9469cfc6c.
LEGACY_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


def holds_pytorch(archive: ZipFile) -> bool:
    """Whether a zip is one of torch's."""
    return any(name.endswith(PYTORCH_MEMBER) for name in archive.namelist())


def read_pytorch(source: Source, *, tensor: str | None = None, limit: int | None = None) -> Table:
    """The matrix called `tensor`, or the only float matrix. The file holds no words."""
    tensors = dict(_named_tensors(_load(source)))
    name = _chosen(source, tensors, tensor)
    matrix = tensors[name].detach()[:limit]
    torch = require("torch", extra="torch")
    if matrix.dtype == torch.bfloat16:
        # numpy has no bfloat16.
        matrix = matrix.float()
    return Table(words=None, matrix=matrix.contiguous().numpy(), place=row_of)


def _load(source: Source) -> Any:
    torch = require("torch", extra="torch")
    # Torch can map a plain file in its present format only.
    mapped = source.path is not None and source.archive is not None
    file = str(source.path) if source.path is not None else _kept(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(file, map_location="cpu", weights_only=True, mmap=mapped)
    except (LexicodeError, MemoryError):
        raise
    except Exception as error:
        # Damage shows itself as an error of any type; torch's sentences for objects advise to run them.
        if "weights_only" in str(error) or "Weights only" in str(error):
            raise source.problem(
                "holds Python objects, which only unpickling could read; save the model's state_dict() instead"
            ) from error
        raise source.problem("is a PyTorch file that torch cannot read: it is damaged") from error


def _kept(source: Source) -> Any:
    """What comes in order as a file that can be searched."""
    if source.archive is not None and source.archive.fp is not None:
        source.archive.fp.seek(0)
        return source.archive.fp
    kept = io.BytesIO()
    while part := source.read(STEP):
        kept.write(part)
    kept.seek(0)
    return kept


def _named_tensors(content: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every tensor, by the path of its keys joined with dots; checkpoints keep a state_dict inside a dict."""
    torch = require("torch", extra="torch")
    if isinstance(content, torch.Tensor):
        yield prefix or "tensor", content
    elif isinstance(content, Mapping) and depth < 16:
        for key, value in content.items():
            yield from _named_tensors(value, f"{prefix}.{key}" if prefix else str(key), depth + 1)


def _chosen(source: Source, tensors: dict[str, Any], tensor: str | None) -> str:
    matrices = [name for name, value in tensors.items() if _is_matrix(value)]
    if tensor in matrices or (tensor is None and len(matrices) == 1):
        return tensor or matrices[0]
    if tensor in tensors:
        raise source.problem(f"the tensor {tensor} is {_shown(tensors[tensor])}; a matrix of floats is expected")
    listed = ", ".join(f"{name} {_shown(tensors[name])}" for name in matrices[:20]) or "none"
    missing = f"has no tensor {tensor!r}" if tensor is not None else "does not say which tensor to read"
    raise source.problem(f"{missing}; its float matrices, to be named with tensor= (--tensor): {listed}")


def _is_matrix(tensor: Any) -> bool:
    torch = require("torch", extra="torch")
    floats = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    return tensor.ndim == 2 and tensor.dtype in floats and tensor.layout == torch.strided


def _shown(tensor: Any) -> str:
    layout = str(tensor.layout).removeprefix("torch.").replace("strided", "")
    return f"{layout} {str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}".lstrip()
