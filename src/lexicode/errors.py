"""Everything that lexicode raises on purpose, so that one `except LexicodeError` catches it.

LexicodeError
├── SettingError       a setting that breaks a rule, found before any work is done  (ValueError)
├── InputError         a file or an array that cannot be used; says where           (ValueError)
├── UnknownWordError   a word that the vocabulary lacks; offers close spellings     (KeyError)
├── LearningError      a learner that cannot go on: it diverged, or lost a process  (RuntimeError)
└── MissingExtraError  an optional package is absent; names the pip line            (ImportError)

A missing file, a directory in a file's place or a refused permission stays Python's own OSError.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any


class LexicodeError(Exception):
    """The root of lexicode's errors."""


class SettingError(LexicodeError, ValueError):
    """A setting that breaks a rule."""


class InputError(LexicodeError, ValueError):
    """A file or an array that cannot be used."""


class UnknownWordError(LexicodeError, KeyError):
    """A word that the vocabulary lacks."""

    def __init__(self, word: str, close: Sequence[str] = ()) -> None:
        self.word = word
        self.close = tuple(close)
        super().__init__(word, self.close)

    def __str__(self) -> str:
        # KeyError would print the repr of its argument; people want the sentence.
        hint = f"; close spellings: {', '.join(self.close)}" if self.close else ""
        return f"{self.word!r} is not in the vocabulary{hint}"


class LearningError(LexicodeError, RuntimeError):
    """A learner that cannot go on."""


class MissingExtraError(LexicodeError, ImportError):
    """An optional package is absent."""


def require(module: str, *, extra: str) -> Any:
    """Import `module`, or say which extra of lexicode brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(f"this needs {package}: pip install 'lexicode[{extra}]'") from error
