from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from lexicode.evaluation.balance import CodeBalance
from lexicode.evaluation.curve import Curve
from lexicode.evaluation.findings import Reference
from lexicode.evaluation.row_errors import Band, Histogram
from lexicode.evaluation.trials import Trial, Trials
from lexicode.report.axes import HEIGHT, WIDTH, Scale, linear_ticks, log_ticks, short
from lexicode.report.heat_map import heat_map
from lexicode.report.labels import placed
from lexicode.report.markup import Markup
from lexicode.report.plots import band_bars, cosine_histogram, learning_curve, rate_distortion, size_bars

REFERENCE = Reference(bits=(16.0, 64.0, 128.0), losses=(30.0, 12.0, 3.0))
SIZES = {"original": 1_000_000, "codes": 16_000, "codebooks": 2_000, "words": 1_000, "exact": 0, "file": 20_000}


def parsed(plot: Markup) -> ElementTree.Element:
    """The plot as XML, with a title of its own and its numbers within bounds."""
    root = ElementTree.fromstring(plot)
    assert root.tag == "svg"
    assert (root.findtext("title") or "") != ""
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for mark in root.iter("rect"):
        assert -0.1 <= float(mark.attrib["x"]) <= width
        assert float(mark.attrib["x"]) + float(mark.attrib["width"]) <= width + 1
        assert float(mark.attrib["height"]) >= 0
        assert float(mark.attrib["y"]) + float(mark.attrib["height"]) <= height + 1
    return root


def tips(root: ElementTree.Element) -> list[str]:
    return [title.text or "" for mark in root.iter() if mark is not root for title in mark.findall("title")]


def trial(scheme: str, bits: int, loss: float) -> Trial:
    return Trial(
        scheme=scheme, bits_per_row=bits, file_bytes=1000 * bits, ratio=9.0, sample_loss=loss, expected_loss=loss,
        own=scheme == "32x16",
    )  # fmt: skip


def test_scales_place_their_ends() -> None:
    scale = Scale(low=1, high=100, start=0, stop=50, log=True)
    assert (scale.place(1), scale.place(10), scale.place(100)) == (0, pytest.approx(25), 50)
    assert Scale(low=3, high=3, start=0, stop=50).place(3) == 25


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0.61, 0.96), (-3, 7), (0, 400_000), (0, 1e-9), (12, 12.5), (1, 13), (31, 295)]
)
def test_ticks_are_few_round_and_inside(low: float, high: float) -> None:
    ticks = linear_ticks(low, high)
    assert 3 <= len(ticks) <= 9
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
    assert len({short(tick) for tick in ticks}) == len(ticks)


@pytest.mark.parametrize(("low", "high"), [(1, 1000), (0.9, 1.1), (3.2, 30), (1e-6, 1e6), (0.002, 0.003)])
def test_ticks_of_ratios_are_positive_and_inside(low: float, high: float) -> None:
    ticks = log_ticks(low, high)
    assert 2 <= len(ticks) <= 13
    assert all(low * 0.99 <= tick <= high * 1.01 for tick in ticks)


def test_size_bars_tell_every_part() -> None:
    told = tips(parsed(size_bars(SIZES)))
    assert "before: 1,000,000 bytes (1 MB)" in told
    assert told.count("codes: 16,000 bytes (16 kB), 80.0% of the file") == 2
    assert any(tip.startswith("header: 1,000 bytes") for tip in told)
    assert not any("exact" in tip for tip in told)
    parsed(size_bars(SIZES | {"original": 10}))


def test_histogram_tells_every_bin() -> None:
    root = parsed(cosine_histogram(Histogram(edges=(0.5, 0.75, 1.0), counts=(1, 3), mean=0.8, median=0.8)))
    assert tips(root) == ["cosine 0.500 to 0.750: 1 rows, 25.0%", "cosine 0.750 to 1.000: 3 rows, 75.0%"]
    heights = [float(bar.attrib["height"]) for bar in root.iter("rect")]
    assert heights[1] == pytest.approx(3 * heights[0], abs=0.2)


def test_bands_tell_what_was_kept_exactly() -> None:
    band = Band(first=0, last=99, loss=1.5, relative_error=0.25, mean_cosine=0.9, exact=7)
    told = tips(parsed(band_bars([band, Band(first=100, last=999, loss=0, relative_error=0, mean_cosine=1, exact=0)])))
    assert told[0] == ("rows 1 to 100: error 25.0% of the squared length, loss 1.5, mean cosine 0.9000, 7 kept exactly")
    parsed(band_bars([Band(first=0, last=0, loss=0, relative_error=0, mean_cosine=1, exact=0)]))


def test_rate_distortion_shows_the_file_its_neighbours_and_the_line() -> None:
    results = (trial("16x16", 64, 14.0), trial("32x16", 128, 5.0), trial("64x16", 256, 2.0))
    trials = Trials(learner="additive", rows=10, planned=3, skipped="", results=results)
    reference = Reference(bits=(32.0, 128.0, 300.0), losses=(30.0, 4.0, 1.5))
    root = parsed(rate_distortion(trials, reference, scheme="32x16", bits=128, loss=5.0))
    own = [mark for mark in root.iter("circle") if mark.attrib["class"] == "dot-own"]
    assert len(own) == 1
    assert "32x16, this file: 128 bits, loss 5" in tips(root)
    assert any(tip.startswith("64x16: 256 bits a row, loss about 2, file 256 kB") for tip in tips(root))
    assert {"16x16", "32x16", "64x16"} <= {text.text for text in root.iter("text")}
    for circle in root.iter("circle"):
        assert 0 <= float(circle.attrib["cx"]) <= WIDTH
        assert 0 <= float(circle.attrib["cy"]) <= HEIGHT


def test_a_loss_of_zero_is_said_not_drawn() -> None:
    trials = Trials(learner="additive", rows=0, planned=0, skipped="", results=())
    assert "nothing to draw" in rate_distortion(trials, REFERENCE, scheme="1x2", bits=1, loss=0.0)
    flat = Reference(bits=(1.0, 2.0), losses=(0.0, 0.0))
    assert "nothing to draw" in rate_distortion(trials, flat, scheme="1x2", bits=1, loss=1.0)


def test_curves_of_one_loss_and_of_two() -> None:
    one = parsed(learning_curve(Curve(unit="round", steps=(1, 2), losses={"loss": (4.0, 2.0)})))
    assert tips(one) == ["round 1: loss 4", "round 2: loss 2"]
    steps = tuple(range(0, 200_000, 100))
    losses = {"soft loss": tuple(9.0 / (1 + i) for i in range(2000)), "hard loss": tuple(8.0 for _ in range(2000))}
    two = parsed(learning_curve(Curve(unit="iteration", steps=steps, losses=losses)))
    assert len(list(two.iter("polyline"))) == 2
    assert len(tips(two)) <= 2 * 201
    parsed(learning_curve(Curve(unit="round", steps=(1, 2), losses={"loss": (0.0, 0.0)})))


def test_labels_do_not_cover_one_another() -> None:
    points = [(100.0, 100.0, "43x8", False), (102.0, 104.0, "32x16", True), (104.0, 108.0, "26x32", False)]
    places = [
        (float(text.attrib["x"]), float(text.attrib["y"]))
        for text in map(ElementTree.fromstring, placed(points, left=0, right=400, top=0, bottom=300))
    ]
    for i, (x, y) in enumerate(places):
        for other_x, other_y in places[:i]:
            assert abs(x - other_x) >= 32 or abs(y - other_y) >= 13


@pytest.mark.parametrize("scheme", [(1, 2), (32, 16), (64, 256), (256, 4), (2, 4096)])
def test_heat_maps_of_every_shape(scheme: tuple[int, int]) -> None:
    counts = np.random.default_rng(0).integers(0, 50, size=scheme)
    counts[0, -1] = 0
    root = parsed(heat_map(CodeBalance(counts=counts, rows=int(counts[0].sum()) or 1)))
    assert 2 <= len(list(root.iter("rect"))) <= 64 * 64
    assert len(tips(root)) == len(list(root.iter("rect")))


def test_a_dead_codeword_is_shown_and_named() -> None:
    counts = np.array([[6, 0, 2, 0], [2, 2, 2, 2]])
    root = parsed(heat_map(CodeBalance(counts=counts, rows=8)))
    dead = [mark.findtext("title") for mark in root.iter("rect") if mark.attrib["class"] == "shade-dead"]
    assert dead == [f"codebook 0, codeword {k}: 0 rows, 0.00 times the fair share" for k in (1, 3)]
    assert "codebook 0, codeword 0: 6 rows, 3.00 times the fair share" in tips(root)
