"""Matrices whose size a file only promises: memory is taken as rows arrive, never before."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.formats.streams import STEP, Source


class GrowingRows:
    """Blocks (n, dim) gathered into one array (V, dim) of the first block's dtype."""

    def __init__(self) -> None:
        self._array: npt.NDArray[Any] | None = None
        self._filled = 0

    def __len__(self) -> int:
        return self._filled

    def append(self, block: npt.NDArray[Any]) -> None:
        if self._array is None:
            self._array = np.empty((0, block.shape[1]), dtype=block.dtype)
        needed = self._filled + len(block)
        if needed > len(self._array):
            # resize stretches the memory where it lies; joining a list of blocks would hold everything twice.
            self._array.resize((needed + needed // 16, block.shape[1]), refcheck=False)
        self._array[self._filled : needed] = block
        self._filled = needed

    def finish(self) -> npt.NDArray[Any]:
        """The rows; at least one block must have come."""
        if self._array is None:
            raise ValueError("no block was appended")
        self._array.resize((self._filled, self._array.shape[1]), refcheck=False)
        return self._array


def read_matrix(
    source: Source,
    shape: tuple[int, int],
    dtype: npt.DTypeLike,
    *,
    fortran: bool = False,
    limit: int | None = None,
) -> npt.NDArray[Any]:
    """The next numbers of a source, up to `limit` rows of (V, dim): mapped from a plain file, else read."""
    rows, dim = shape
    if rows < 1 or dim < 1:
        raise source.problem(f"holds a matrix of {rows} rows and {dim} columns; at least one of each is needed")
    kind = np.dtype(dtype)
    if source.path is not None:
        left = source.size - source.offset
        if rows * dim * kind.itemsize > left:
            raise _broken_promise(source, shape, kind, left)
        order = "F" if fortran else "C"
        mapped = np.memmap(source.path, kind, "r", offset=source.offset, shape=shape, order=order)  # type: ignore[call-overload]
        return mapped[:limit]  # type: ignore[no-any-return]
    wanted = rows if limit is None or fortran else min(rows, limit)
    # Read flat: a row, whose length is a promise too, may be longer than all there is.
    numbers = GrowingRows()
    step = max(1, STEP // kind.itemsize)
    while len(numbers) < wanted * dim:
        size = min(step, wanted * dim - len(numbers)) * kind.itemsize
        data = source.read(size)
        if len(data) < size:
            raise _broken_promise(source, shape, kind, len(numbers) * kind.itemsize + len(data))
        numbers.append(np.frombuffer(data, kind).reshape(-1, 1))
    flat = numbers.finish()
    return flat.reshape(dim, rows).T[:limit] if fortran else flat.reshape(wanted, dim)


def _broken_promise(source: Source, shape: tuple[int, int], dtype: np.dtype[Any], held: int) -> Exception:
    rows, dim = shape
    promised = rows * dim * dtype.itemsize
    return source.problem(
        f"promises {rows} rows of {dim} numbers ({promised} bytes) but holds {held} bytes: it was cut short"
    )
