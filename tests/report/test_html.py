"""The page as text: what it says, and that no word can break it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from coded_samples import random_coded
from lexicode import ProductLearner, Vectors
from lexicode.evaluation.findings import Findings, examine
from lexicode.report.explorer import explorer_json, script_safe
from lexicode.report.html import html_page, write_page
from lexicode.report.markup import VOID
from report_samples import HOSTILE, full_findings, hostile_pair


class Reader(HTMLParser):
    """Reads a page strictly: every element is closed in its turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] != "style":
            self.text += data


@pytest.fixture(scope="module")
def full() -> Reader:
    return Reader(html_page(full_findings(), name="<table>.safetensors"))


def read(findings: Findings) -> Reader:
    return Reader(html_page(findings, name="table"))


def test_every_section_is_there(full: Reader) -> None:
    ids = {attributes.get("id") for tag, attributes in full.tags if tag == "section"}
    assert ids == {"made", "good", "explore", "choose", "codes", "learned"}
    links = {attributes["href"] for tag, attributes in full.tags if tag == "a"}
    assert links == {f"#{each}" for each in ids}
    for part in (
        "<table>.safetensors", "120 words", "scheme 4x16", "16 bits", "Learning curve", "Neighbouring schemes",
        "3 of 7 schemes were tried: the time was too short.", "≈ 0.5625", "<i>pairs</i>", "-0.100",
        "rate-distortion curve of a Gaussian", "codewords are dead",
    ):  # fmt: skip
        assert part in full.text, part


def test_the_page_needs_nothing_else(full: Reader) -> None:
    page = html_page(full_findings(), name="table")
    assert "://" not in page
    assert not any("src" in attributes for _, attributes in full.tags)
    assert all(str(attributes["href"]).startswith("#") for _, attributes in full.tags if "href" in attributes)
    assert "default-src 'none'" in page
    assert {tag for tag, _ in full.tags} & {"link", "iframe", "object", "embed", "base"} == set()
    # Nothing of the template is left over.
    assert not re.search(r"\$(title|style|masthead|contents|data|script|version)\b", page)


def test_hostile_words_stay_words(full: Reader) -> None:
    assert len(full.scripts) == 2
    assert [tag for tag, _ in full.tags].count("img") == 0
    assert not any(name.startswith("on") for _, attributes in full.tags for name in attributes)
    data = json.loads(full.scripts[0])
    assert data["words"][: len(HOSTILE)] == list(HOSTILE)
    shown = {each.word for each in (*full_findings().worst, *full_findings().best)} & set(HOSTILE)
    for word in shown - {"", "\x00", "\u2028"}:
        assert word in full.text


def test_scripts_hold_nothing_that_could_end_them() -> None:
    text = explorer_json(full_findings())
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(script_safe(json.dumps("</script>&\u2028"))) == "</script>&\u2028"


def test_the_explorers_data_is_what_was_found() -> None:
    findings = full_findings()
    data = json.loads(explorer_json(findings))
    explorer, n = findings.explorer, data["neighbours"]
    assert (n, data["codebooks"], data["bits"]) == (10, 4, 4)
    for i, place in enumerate(data["asked"]):
        assert data["rows"][place] == explorer.rows[i]
        before = [data["rows"][each] for each in data["before"][i * n : (i + 1) * n]]
        assert before == explorer.before.rows[i].tolist()
    cosines = np.array(data["afterCosines"]) / data["cosineSteps"]
    assert np.allclose(cosines, explorer.after.cosines.ravel(), atol=6e-5)
    assert data["first"] in data["words"]


def test_what_is_absent_is_said() -> None:
    vectors, coded = hostile_pair()
    page = read(examine(vectors, coded, trial_seconds=0))
    assert "lexicode report --curve FILE" in page.text
    assert "No benchmark was given" in page.text
    assert "None was tried: it was not asked for." in page.text
    assert "kept exactly" not in page.text


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_tables_of_a_few_rows(rows: int) -> None:
    coded = random_coded("2x4", rows=rows, dim=3)
    page = read(examine(Vectors(coded.decode() + 0.1, coded.words), coded, trial_seconds=5))
    assert f"All {rows} words can be asked for." in page.text


def test_a_perfect_copy_and_rows_of_zeros() -> None:
    coded = random_coded("2x4", rows=30, dim=3, dtype="float32")
    assert "nothing to draw" in read(examine(Vectors(coded.decode(), coded.words), coded, trial_seconds=0)).text
    assert read(examine(Vectors(np.zeros((30, 3)), coded.words), coded, trial_seconds=0)).text


def test_tables_without_words() -> None:
    coded = random_coded("3x8", rows=200, dim=4, words=False)
    page = read(examine(Vectors(coded.decode() + 0.5), coded, trial_seconds=0))
    assert "none: a table of ids" in page.text
    assert "All 200 row numbers can be asked for." in page.text
    assert json.loads(page.scripts[0])["byWord"] is False


def test_product_codes_with_norms(clustered: Vectors) -> None:
    coded = ProductLearner("5x8", normalized=True).fit(clustered)
    page = read(examine(clustered, coded, trial_seconds=60))
    assert "(normalized-product learner)" in page.text
    assert "normalized True" in page.text


def test_special_settings_are_told_with_what_they_did() -> None:
    coded = random_coded("3x8", rows=2000, dim=4, exact=150)
    coded.origin = {"learner": "additive", "settings": {"weights": "zipf", "loss": "cosine", "seed": 1}}
    table = coded.decode()
    table[500:] += 1
    findings = examine(Vectors(table, coded.words), coded, trial_seconds=0)
    text = read(findings).text
    assert "150 rows (7.5%) are kept exactly, in 3 kB" in text
    assert f"alone is about {findings.measurements.loss * 2000 / 1850:.4g}" in text
    assert "Rows were weighted as they were learned (weights: zipf)." in text
    assert "The first 100 rows lose 0.0% of their squared length, the last 1,000 rows" in text
    assert "learned for direction (loss: cosine)" in text
    assert "rows kept exactly left aside" in text
    assert "settings" in text
    assert "seed 1" in text


def test_wide_schemes_keep_the_page_small() -> None:
    coded = random_coded("64x256", rows=6000, dim=4)
    page = html_page(examine(Vectors(coded.decode() + 0.1, coded.words), coded, trial_seconds=0), name="wide")
    assert len(page) < 4_000_000


def test_the_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    findings = full_findings()
    write_page(path, findings, name="table")
    assert path.read_bytes().decode() == html_page(findings, name="table")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
