"""lexicode's learners."""

from __future__ import annotations

import numpy as np

from learners.coding import Method, Outcome, Task, UnfitError
from lexicode import CodedEmbedding, SettingError
from lexicode.learners import make_learner


def additive(effort: str) -> Method:
    """AdditiveLearner at an effort"""
    return _method("additive", effort=effort)


def weighted() -> Method:
    """Frequent words count for more, by their rank"""
    return _method("additive", weights="zipf")


def directions() -> Method:
    """The cosine counts; lengths are coded apart, in a byte more"""
    return _method("additive", loss="cosine")


def kept(rows: int) -> Method:
    """The first rows are kept as they are"""
    return _method("additive", exact=rows)


def limited(share: float) -> Method:
    """Rows that their codes would put further off than a share of the mean length are kept as they are"""

    def method(task: Task) -> Outcome:
        limit = share * float(np.linalg.norm(task.vectors.matrix, axis=1).mean())
        return _method("additive", max_error=round(limit, 3))(task)

    return method


def product() -> Method:
    """ProductLearner"""
    return _method("product")


def gumbel() -> Method:
    """GumbelLearner, the paper's network with the paper's settings"""
    return _method("gumbel")


def _method(name: str, **settings: object) -> Method:
    def method(task: Task) -> Outcome:
        try:
            learner = make_learner(name, task.scheme, threads=task.threads, **settings)
            coded: CodedEmbedding = learner.fit(task.vectors)
        except SettingError as error:
            raise UnfitError(str(error)) from None
        sizes = coded.part_bytes
        told = ", ".join([str(task.scheme), *(str(value) for value in settings.values())])
        return Outcome(bytes=sum(sizes.values()) - sizes["words"], setup=told, decode=coded.decode)

    return method
