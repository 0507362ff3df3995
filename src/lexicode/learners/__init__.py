"""Vectors -> CodedEmbedding, one file per method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lexicode.errors import SettingError, require

if TYPE_CHECKING:
    from lexicode.learners.learner import Learner
    from lexicode.scheme import CodeScheme

LEARNERS = ("additive", "product", "normalized-product", "gumbel")


def make_learner(name: str, scheme: CodeScheme | str, **settings: Any) -> Learner:
    """A learner by the name it has on the command line."""
    if name not in LEARNERS:
        raise SettingError(f"learner {name!r} is not one of {', '.join(LEARNERS)}")
    require("threadpoolctl", extra="learn")
    if name == "gumbel":
        require("torch", extra="torch")
        from lexicode.learners.gumbel import GumbelLearner

        return GumbelLearner(scheme, **settings)
    if name == "additive":
        require("numba", extra="learn")
        from lexicode.learners.additive import AdditiveLearner

        return AdditiveLearner(scheme, **settings)
    from lexicode.learners.product import ProductLearner

    return ProductLearner(scheme, normalized=name == "normalized-product", **settings)
