"""Who takes part, by name, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from learners.coding import Method


@dataclass(frozen=True, kw_only=True)
class Entry:
    """title: as tables and plots call it. family: whose it is. place: module and function (and its argument), imported
    only where it runs. per_scheme: whether the scheme changes anything. asked: runs only where it is named."""

    title: str
    family: str
    place: tuple[str, ...] | tuple[str, str, int | str]
    per_scheme: bool = True
    asked: bool = False

    def method(self) -> Method:
        module, function, *arguments = self.place
        found = getattr(import_module(f"learners.{module}"), str(function))
        # A method that has variants is made by a function.
        return found(*arguments) if arguments or module == "own" else found


def _plain(title: str, *place: str | int, per_scheme: bool = False) -> Entry:
    return Entry(title=title, family="plain", place=("plain", *place), per_scheme=per_scheme)


def _rival(title: str, function: str) -> Entry:
    return Entry(title=title, family=title.split()[0], place=("rivals", function))


def _own(title: str, *place: str | float, asked: bool = False) -> Entry:
    return Entry(title=f"lexicode {title}", family="lexicode", place=("own", *place), asked=asked)


BASE = "faiss-lsq"
METHODS = {
    "float32": _plain("float32", "whole"),
    "float16": _plain("float16", "half"),
    **{f"uniform-{bits}": _plain(f"uniform, {bits}-bit values", "uniform", bits) for bits in (8, 4, 2, 1)},
    "pca-int8": _plain("PCA + int8", "principal", per_scheme=True),
    "kmeans": _plain("k-means on rows", "clustered_rows", per_scheme=True),
    "faiss-pq": _rival("faiss PQ", "product"),
    "faiss-opq": _rival("faiss OPQ + PQ", "rotated_product"),
    "faiss-rq": _rival("faiss ResidualQuantizer", "residual"),
    BASE: _rival("faiss LocalSearchQuantizer", "local_search"),
    "faiss-plsq": _rival("faiss ProductLocalSearch", "product_local_search"),
    "nanopq": _rival("nanopq PQ", "nanopq_product"),
    "nanopq-opq": _rival("nanopq OPQ", "nanopq_rotated"),
    "product": _own("product", "product"),
    "fast": _own("fast", "additive", "fast"),
    "balanced": _own("balanced", "additive", "balanced"),
    "thorough": _own("thorough", "additive", "thorough"),
    "zipf": _own("balanced, Zipf weights", "weighted"),
    "cosine": _own("balanced, cosine", "directions"),
    "exact-1000": Entry(title="lexicode balanced, 1,000 rows exact", family="lexicode", place=("own", "kept", 1000)),
    "max-error": _own("balanced, no row further than 0.6 lengths", "limited", 0.6),
    "gumbel": _own("gumbel (the paper's)", "gumbel", asked=True),
}
