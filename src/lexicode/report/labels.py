"""Names beside points, put where they do not cover one another."""

from __future__ import annotations

from collections.abc import Sequence

from lexicode.report.markup import Markup, tag

LETTER, LINE = 8.0, 13.0
# Where a name may stand beside its point, best first: right, left, above, below, and further off.
OFFSETS = ((10, 4), (-10, 4), (0, -11), (0, 20), (10, -9), (10, 17), (-10, -9), (-10, 17), (12, -22), (12, 30))


def placed(
    points: Sequence[tuple[float, float, str, bool]], *, left: float, right: float, top: float, bottom: float
) -> list[Markup]:
    """(x, y, name, strong) -> a text for each name, within the bounds; the first are placed first"""
    # The dots themselves are in the way too.
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y, _, _ in points]
    texts = []
    for x, y, name, strong in points:
        width = LETTER * len(name)
        boxes = [_box(x + dx, y + dy, width, dx) for dx, dy in OFFSETS]
        inside = [box for box in boxes if box[0] >= left and box[2] <= right and box[1] >= top and box[3] <= bottom]
        free = [box for box in inside if not any(_overlap(box, other) for other in taken)]
        box = (free or inside or boxes)[0]
        taken.append(box)
        kind = "label strong" if strong else "label"
        texts.append(tag("text", name, x=box[0], y=box[3] - 3, class_=kind))
    return texts


def _box(x: float, y: float, width: float, dx: float) -> tuple[float, float, float, float]:
    """left, top, right, bottom of a text that stands right of, left of or centred on x"""
    start = x if dx > 0 else x - width if dx < 0 else x - width / 2
    return start, y - LINE + 3, start + width, y + 3


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
