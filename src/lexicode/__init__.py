"""lexicode: embedding tables 20 to 100 times smaller.

>>> from lexicode import CodeScheme
>>> CodeScheme.parse("32x16").bytes_per_row
16
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lexicode.coded import CodedEmbedding
from lexicode.errors import (
    InputError,
    LearningError,
    LexicodeError,
    MissingExtraError,
    SettingError,
    UnknownWordError,
    require,
)
from lexicode.scheme import CodeScheme
from lexicode.version import VERSION

if TYPE_CHECKING:
    from lexicode.evaluation import Measurements, evaluate
    from lexicode.learners.additive import AdditiveLearner
    from lexicode.learners.gumbel import GumbelLearner
    from lexicode.learners.product import ProductLearner
    from lexicode.vectors import Vectors

__version__ = VERSION

__all__ = [
    "AdditiveLearner",
    "CodeScheme",
    "CodedEmbedding",
    "GumbelLearner",
    "InputError",
    "LearningError",
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

# Loaded on first use, so that looking words up never waits for a compiler: name -> (module, what it needs, its extra).
_LAZY = {
    "AdditiveLearner": ("lexicode.learners.additive", "numba", "learn"),
    "GumbelLearner": ("lexicode.learners.gumbel", "torch", "torch"),
    "ProductLearner": ("lexicode.learners.product", "threadpoolctl", "learn"),
    "Vectors": ("lexicode.vectors", None, ""),
    "Measurements": ("lexicode.evaluation", None, ""),
    "evaluate": ("lexicode.evaluation", None, ""),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'lexicode' has no attribute {name!r}")
    module, needed, extra = _LAZY[name]
    if needed is not None:
        require(needed, extra=extra)
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
