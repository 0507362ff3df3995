"""The pieces that the page's sections are put together from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lexicode.report.markup import Child, Markup, tag, word


def card(title: str, *content: Child, note: str | None = None, wide: bool = False) -> Markup:
    """A titled box; a wide one takes both columns."""
    told = tag("p", note, class_="note") if note else None
    return tag("div", tag("h3", title), *content, told, class_="card whole" if wide else "card")


def cards(*boxes: Child) -> Markup:
    return tag("div", *boxes, class_="cards")


def tile(number: str, name: str, meaning: str) -> Markup:
    """One large number."""
    parts = (("number", number), ("name", name), ("quiet", meaning))
    return tag("div", [tag("span", text, class_=kind) for kind, text in parts], class_="tile")


def table(heads: Sequence[str], lines: Iterable[Iterable[Child]]) -> Markup:
    """A table that scrolls by itself where it is too wide for the screen."""
    head = tag("tr", [tag("th", name) for name in heads])
    body = [tag("tr", [tag("td", cell) for cell in line]) for line in lines]
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="wide")


def meter(share: float) -> Markup:
    """A thin bar, filled to `share` of its length."""
    filled = f"width:{min(max(share, 0), 1):.0%}"
    return tag("span", tag("span", style=filled), class_="meter")


def ask(name: str, row: int) -> Markup:
    """A word that opens itself in the explorer."""
    return tag("button", word(name), type="button", data_row=row, class_="ask")
