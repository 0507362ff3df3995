"""lexicode: embedding tables 20 to 100 times smaller.

>>> from lexicode import CodeScheme
>>> CodeScheme.parse("32x16").bytes_per_row
16
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lexicode.coded import CodedEmbedding
from lexicode.errors import InputError, LexicodeError, MissingExtraError, SettingError, UnknownWordError, require
from lexicode.scheme import CodeScheme
from lexicode.vectors import Vectors
from lexicode.version import VERSION

if TYPE_CHECKING:
    from lexicode.evaluation import Measurements, evaluate
    from lexicode.learners.additive import AdditiveLearner
    from lexicode.learners.product import ProductLearner

__version__ = VERSION

__all__ = [
    "AdditiveLearner",
    "CodeScheme",
    "CodedEmbedding",
    "InputError",
    "LexicodeError",
    "Measurements",
    "MissingExtraError",
    "ProductLearner",
    "SettingError",
    "UnknownWordError",
    "Vectors",
    "__version__",
    "evaluate",
]

# Loaded on first use, so that looking words up never waits for a compiler: name -> (module, package it needs).
_LAZY = {
    "AdditiveLearner": ("lexicode.learners.additive", "numba"),
    "ProductLearner": ("lexicode.learners.product", "threadpoolctl"),
    "Measurements": ("lexicode.evaluation", "numpy"),
    "evaluate": ("lexicode.evaluation", "numpy"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'lexicode' has no attribute {name!r}")
    module, needed = _LAZY[name]
    require(needed, extra="learn")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
