"""The report's plots as SVG. Colours are the page's style's, so that light, dark and print have their own; every mark
has a `title`, which browsers show on hover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexicode.evaluation.curve import Curve
from lexicode.evaluation.findings import Reference
from lexicode.evaluation.row_errors import Band, Histogram
from lexicode.evaluation.trials import Trials
from lexicode.report.axes import LEFT, RIGHT, TOP, WIDTH, Scale, across, frame, upward
from lexicode.report.labels import placed
from lexicode.report.markup import Markup, tag
from lexicode.report.terminal import readable_bytes

PARTS = {
    "codes": "codes",
    "codebooks": "codebooks",
    "words": "words",
    "exact": "exact rows",
    "header": "header",
}
BAR_LEFT, BAR_HEIGHT = 8, 26
LOSS = "loss (mean squared distance a row)"
MOST_DOTS, MOST_TIPS = 60, 200


def size_bars(sizes: Mapping[str, int]) -> Markup:
    """The table before, the file after on the same scale, and the file enlarged, by its parts."""
    width, biggest = WIDTH - 2 * BAR_LEFT, max(sizes["original"], sizes["file"], 1)
    parts = {name: sizes.get(name, 0) for name in PARTS if name != "header"}
    parts["header"] = sizes["file"] - sum(parts.values())
    whole = f"before: {_exact_bytes(sizes['original'])}"
    before = _bar(0, width * sizes["original"] / biggest, "part-before", whole, 34)
    after, enlarged = [], []
    at_small = at_large = 0.0
    for name, size in parts.items():
        tip = f"{PARTS[name]}: {_exact_bytes(size)}, {size / sizes['file']:.1%} of the file"
        small, large = width * size / biggest, width * size / sizes["file"]
        # A hair's breadth at least, so that what is there is seen.
        after.append(_bar(at_small, max(small, 0.5) if size else 0.0, f"part-{name}", tip, 104))
        enlarged.append(_bar(at_large, large, f"part-{name}", tip, 174))
        at_small, at_large = at_small + small, at_large + large
    present = [(name, size) for name, size in parts.items() if size]
    legend = [
        _key(BAR_LEFT + 196 * (i % 2), 216 + 22 * (i // 2), f"part-{name}", f"{PARTS[name]} {readable_bytes(size)}")
        for i, (name, size) in enumerate(present)
    ]
    title = f"Size before, {readable_bytes(sizes['original'])}, and after, {readable_bytes(sizes['file'])}"
    return tag(
        "svg",
        tag("title", title),
        _caption(f"before: float32 and words, {readable_bytes(sizes['original'])}", 24),
        before,
        _caption(f"after: the file, {readable_bytes(sizes['file'])}, on the same scale", 94),
        after,
        _caption("the file, enlarged", 164),
        enlarged,
        legend,
        viewBox=f"0 0 {WIDTH} {216 + 22 * -(-len(present) // 2)}",
        role="img",
        aria_label=title,
        class_="plot",
    )


def cosine_histogram(cosines: Histogram) -> Markup:
    """How many rows keep how much of their direction."""
    total = sum(cosines.counts)
    x, y = across(cosines.edges[0], cosines.edges[-1]), upward(0, max(cosines.counts) * 1.05)
    bars = []
    for i, count in enumerate(cosines.counts):
        low, high = cosines.edges[i], cosines.edges[i + 1]
        tip = f"cosine {low:.3f} to {high:.3f}: {count:,} rows, {count / total:.1%}"
        left, right = x.place(low), x.place(high)
        bars.append(_column(left + 0.4, max(right - left - 0.8, 0.3), y, count, "fill-main", tip))
    at = x.place(cosines.mean)
    # The mean's name stands on the side that has room.
    kind, beside = ("label strong end", at - 5) if at > WIDTH / 2 else ("label strong", at + 5)
    mean = [
        tag("line", x1=at, x2=at, y1=y.start, y2=y.stop - 8, class_="mark"),
        tag("text", f"mean {cosines.mean:.3f}", x=beside, y=y.stop - 2, class_=kind),
    ]
    label = "cosine with the original (1: same direction)"
    title = "Cosine of each row with its original"
    return frame(x, y, title=title, x_label=label, y_label="rows", inside=[*bars, *mean])


def band_bars(bands: Sequence[Band]) -> Markup:
    """The error of frequent words against that of rare ones."""
    y = upward(0, max(max(100 * band.relative_error for band in bands) * 1.1, 1e-9))
    x = across(0, len(bands))
    bars, names = [], []
    for i, band in enumerate(bands):
        kept = f", {band.exact:,} kept exactly" if band.exact else ""
        tip = (
            f"rows {band.first + 1:,} to {band.last + 1:,}: error {band.relative_error:.1%} of the squared length, "
            f"loss {band.loss:.4g}, mean cosine {band.mean_cosine:.4f}{kept}"
        )
        left, width = x.place(i + 0.15), x.place(0.7) - x.place(0)
        bars.append(_column(left, width, y, 100 * band.relative_error, "fill-main", tip))
        top = y.place(100 * band.relative_error) - 5
        bars.append(tag("text", f"{band.relative_error:.1%}", x=left + width / 2, y=top, class_="label middle"))
        names.append(tag("text", _band_name(band), x=left + width / 2, y=y.start + 17, class_="tick middle"))
    label = "rows, the first (most frequent) to the left"
    unit = "squared error, % of the squared length"
    return frame(x, y, title="Error by rank", x_label=label, y_label=unit, inside=[*bars, *names], x_ticks=False)


@dataclass(frozen=True, kw_only=True)
class _Point:
    bits: int
    loss: float
    name: str
    tip: str
    own: bool


def rate_distortion(trials: Trials, reference: Reference, *, scheme: str, bits: int, loss: float) -> Markup:
    """Loss over bits a row: this file, its neighbours, and the Gaussian reference line."""
    own = _Point(bits=bits, loss=loss, name=scheme, own=True, tip=f"{scheme}, this file: {bits} bits, loss {loss:.4g}")
    points = [point for point in (own, *_others(trials)) if point.loss > 0]
    line = [(rate, floor) for rate, floor in zip(reference.bits, reference.losses, strict=True) if floor > 0]
    if not points or not line:
        return tag("p", "The loss is zero: there is nothing to draw.", class_="note")
    # The line falls without end; it is cut where it leaves the measured losses far above it.
    lowest = min(point.loss for point in points) / 4
    line = [(rate, floor) for rate, floor in line if floor >= lowest]
    heights = [point.loss for point in points] + [floor for _, floor in line]
    x = across(reference.bits[0], reference.bits[-1])
    y = upward(min(heights) * 0.9, max(heights) * 1.1, log=True)
    marks = [_polyline([(x.place(rate), y.place(floor)) for rate, floor in line], "line-reference")]
    for rate, floor in line[::2]:
        tip = f"Gaussian of this covariance: {rate:.0f} bits a row, loss {floor:.4g}"
        marks.append(_dot(x.place(rate), y.place(floor), 7, "unseen", tip))
    # This file's own dot is drawn last, so that none hides it.
    for point in reversed(points):
        radius, kind = (7, "dot-own") if point.own else (5, "dot")
        marks.append(_dot(x.place(point.bits), y.place(point.loss), radius, kind, point.tip))
    places = [(x.place(point.bits), y.place(point.loss), point.name, point.own) for point in points]
    marks += placed(places, left=LEFT, right=WIDTH - RIGHT, top=y.stop, bottom=y.start)
    return frame(x, y, title="Loss against bits a row", x_label="bits a row", y_label=LOSS, inside=marks)


def _others(trials: Trials) -> list[_Point]:
    return [
        _Point(
            bits=trial.bits_per_row,
            loss=trial.expected_loss,
            name=trial.scheme,
            own=False,
            tip=f"{trial.scheme}: {trial.bits_per_row} bits a row, loss about {trial.expected_loss:.4g}, file "
            f"{readable_bytes(trial.file_bytes)}, {trial.ratio:.1f} times smaller",
        )
        for trial in trials.results
        if not trial.own
    ]


def learning_curve(curve: Curve) -> Markup:
    """Every loss of the curve over its steps."""
    highest = max(max(losses) for losses in curve.losses.values())
    lowest = min(min(losses) for losses in curve.losses.values())
    log = lowest > 0 and highest > 8 * lowest
    foot = lowest * 0.9 if log else max(0.0, lowest - 0.1 * (highest - lowest))
    x, y = across(curve.steps[0], curve.steps[-1]), upward(foot, highest * 1.02 or 1.0, log=log)
    marks = []
    for series, (name, losses) in enumerate(curve.losses.items()):
        places = [(x.place(step), y.place(loss)) for step, loss in zip(curve.steps, losses, strict=True)]
        marks.append(_polyline(places, f"line-{series % 3}"))
        # Many points would hide the line: they are there for the pointer only.
        radius, kind = (2.5, f"point-{series % 3}") if len(places) <= MOST_DOTS else (5.0, "unseen")
        for i in range(0, len(places), max(1, len(places) // MOST_TIPS)):
            tip = f"{curve.unit} {curve.steps[i]:,}: {name} {losses[i]:.5g}"
            marks.append(_dot(*places[i], radius, kind, tip))
        if len(curve.losses) > 1:
            kind = f"label end text-{series % 3}"
            marks.append(tag("text", name, x=WIDTH - RIGHT, y=TOP + 14 + 16 * series, class_=kind))
    return frame(x, y, title="Learning curve", x_label=curve.unit, y_label=LOSS, inside=marks)


def _polyline(places: Sequence[tuple[float, float]], kind: str) -> Markup:
    return tag("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in places), class_=kind)


def _dot(x: float, y: float, radius: float, kind: str, tip: str) -> Markup:
    return tag("circle", tag("title", tip), cx=x, cy=y, r=radius, class_=kind)


def _column(left: float, width: float, y: Scale, value: float, kind: str, tip: str) -> Markup:
    top = y.place(value)
    return tag("rect", tag("title", tip), x=left, y=top, width=width, height=max(y.start - top, 0.0), class_=kind)


def _bar(start: float, width: float, kind: str, tip: str, top: int) -> Markup | None:
    if width <= 0:
        return None
    return tag("rect", tag("title", tip), x=BAR_LEFT + start, y=top, width=width, height=BAR_HEIGHT, class_=kind)


def _key(x: int, y: int, kind: str, name: str) -> Markup:
    """A colour and what it stands for."""
    square = tag("rect", x=x, y=y, width=12, height=12, rx=2, class_=kind)
    return tag("g", square, tag("text", name, x=x + 18, y=y + 11, class_="label"))


def _caption(text: str, y: int) -> Markup:
    return tag("text", text, x=BAR_LEFT, y=y, class_="label")


def _exact_bytes(count: int) -> str:
    return f"{count:,} bytes ({readable_bytes(count)})"


def _band_name(band: Band) -> str:
    """'to 100', 'to 1k': short enough to stand under a bar"""
    return f"to {_brief(band.last + 1)}"


def _brief(count: int) -> str:
    for size, unit in ((10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return str(count)
