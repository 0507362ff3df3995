"""HTML and SVG that cannot be broken by a word: whatever is not markup already is escaped.

>>> tag("p", "1 < 2 & ", tag("b", "<script>"), class_="note")
'<p class="note">1 &lt; 2 &amp; <b>&lt;script&gt;</b></p>'
"""

from __future__ import annotations

import html
from collections.abc import Iterable

VOID = frozenset({"br", "img", "input", "meta"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | Iterable["Child"] | None


def tag(name: str, *children: Child, **attributes: object) -> Markup:
    """An element. `class_` is class, an underscore is a dash; None and False leave an attribute out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Markup:
    """Children one after another: markup as it is, text escaped, None left out."""
    parts = []
    for child in children:
        if isinstance(child, Markup):
            parts.append(str(child))
        elif isinstance(child, str):
            parts.append(html.escape(child))
        elif child is not None:
            parts.append(joined(child))
    return Markup("".join(parts))


def word(text: str) -> Markup:
    """A word of the vocabulary, kept apart from the direction of the text around it; a blank one is made visible."""
    shown = text if text.strip() else repr(text)
    return tag("bdi", shown, class_="word")


def _plain(value: object) -> str:
    # A tenth of a pixel is finer than any screen.
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
