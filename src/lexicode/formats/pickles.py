"""Pickles read as data: nothing that one names is ever imported or called.

Python's own unpickler walks through the file, but it knows only the operations that plain values need, and every name
in the file is looked up in a table that the caller gives; what is not in it ends the reading. So a pickle can fill
classes of ours and do nothing else.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.formats.streams import Source

# Every name that a pickle may use: (module, name) -> what stands for it.
Names = Mapping[tuple[str, str], Callable[..., Any]]

# fmt: off
OPERATIONS = (
    "PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2",
    "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8",
    "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3",
    "GLOBAL", "STACK_GLOBAL", "REDUCE", "NEWOBJ", "BUILD", "BINPUT", "LONG_BINPUT", "MEMOIZE", "BINGET", "LONG_BINGET",
)
# fmt: on
LONGEST_LINE = 1 << 10
NUMBERS = re.compile(r"[fiu][1248]")


class RefusedNameError(Exception):
    """A pickle names something that is not in the table."""


class StoredObject:
    """What stands for an object: the attributes that the pickle gives it, and no methods."""

    def __init__(self, *_: object) -> None:
        self.attributes: dict[str, Any] = {}

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise ValueError("the state of an object is no dictionary")
        self.attributes = state


class StoredType:
    """What stands for numpy's dtype."""

    def __init__(self, code: Any, *_: object) -> None:
        if not isinstance(code, str) or NUMBERS.fullmatch(code) is None:
            raise ValueError("an array of something other than numbers")
        self.code = code
        self.order = "<"

    def __setstate__(self, state: Any) -> None:
        self.order = ">" if state[1] == ">" else "<"


class StoredArray:
    """What stands for an array: checked, and made from its bytes here rather than by numpy's own way back."""

    array: npt.NDArray[Any] | None = None

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, data = state
        if not isinstance(kind, StoredType) or not isinstance(data, bytes) or not isinstance(shape, tuple):
            raise ValueError("an array that is not made of bytes")
        # reshape checks that the bytes are as many as the shape says.
        flat = np.frombuffer(data, np.dtype(kind.order + kind.code))
        self.array = flat.reshape(shape, order="F" if fortran is True else "C")


def _nothing(*_: object) -> None:
    """What stands for a class that is only ever handed to numpy's functions."""


def _no_items(*_: object) -> tuple[()]:
    """What stands for a set: nothing here has a use for one, and tuples in tuples can take for ever to hash."""
    return ()


def _as_bytes(text: Any, encoding: Any) -> bytes:
    """How the second protocol spells bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise ValueError("bytes that are not spelled as bytes are")
    return text.encode("latin-1")


NUMPY_NAMES: Names = {
    ("numpy", "ndarray"): _nothing,
    ("numpy", "dtype"): StoredType,
    ("numpy.core.multiarray", "_reconstruct"): lambda *_: StoredArray(),
    ("numpy._core.multiarray", "_reconstruct"): lambda *_: StoredArray(),
    ("_codecs", "encode"): _as_bytes,
    ("builtins", "set"): _no_items,
    ("builtins", "frozenset"): _no_items,
    ("__builtin__", "set"): _no_items,
    ("__builtin__", "frozenset"): _no_items,
}


def _put_items(reader: Any) -> None:
    items = reader.pop_mark()
    _put(reader.stack[-1], items)


def _put_item(reader: Any) -> None:
    value, key = reader.stack.pop(), reader.stack.pop()
    _put(reader.stack[-1], [key, value])


def _put(into: Any, items: list[Any]) -> None:
    """Keys and values in turn into a dictionary."""
    if not isinstance(into, dict) or not set(map(type, items[::2])) <= {str, int}:
        raise ValueError("a dictionary whose keys are neither words nor numbers")
    into.update(zip(items[::2], items[1::2], strict=True))


def _put_set(reader: Any) -> None:
    reader.pop_mark()
    reader.append(_no_items())


class _Reader(pickle._Unpickler):
    """Python's unpickler, without the operations that are not needed."""

    dispatch = {  # noqa: RUF012 (the base class has it so)
        **{getattr(pickle, name)[0]: pickle._Unpickler.dispatch[getattr(pickle, name)[0]] for name in OPERATIONS},
        pickle.SETITEM[0]: _put_item,
        pickle.SETITEMS[0]: _put_items,
        pickle.FROZENSET[0]: _put_set,
    }

    def __init__(self, file: Any, names: Names) -> None:
        super().__init__(file)
        self._names = names

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._names:
            raise RefusedNameError(f"{module}.{name}")
        return self._names[module, name]


class _Bytes:
    """A source as the file that an unpickler reads from."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.read = source.read

    def readline(self) -> bytes:
        line, found, _ = self._source.peek(LONGEST_LINE).partition(b"\n")
        return self._source.read(len(line) + len(found))


def read_pickle(source: Source, names: Names) -> Any:
    """The value that a pickle holds, of plain values and of what stands for the `names`."""
    try:
        return _Reader(_Bytes(source), {**NUMPY_NAMES, **names}).load()
    except (RefusedNameError, MemoryError):
        raise
    except Exception as error:
        # Whatever the bytes, an error of any type can come of them.
        raise source.problem(
            f"is a pickle that is damaged, or that holds more than plain values ({error!r})"
        ) from error
