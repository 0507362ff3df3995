"""The page in Chromium: typed into, tapped, looked at on a phone, and compared with Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexicode.evaluation.findings import Findings
from lexicode.report.html import write_page
from report_samples import HOSTILE, full_findings

pytest.importorskip("selenium", reason="there is no selenium: pip install selenium")

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import chromium, look_like

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def findings() -> Findings:
    return full_findings()


@pytest.fixture(scope="module")
def started(findings: Findings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Chrome, Path]]:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(path, findings, name="table.safetensors")
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser, path


@pytest.fixture
def browser(started: tuple[Chrome, Path]) -> Iterator[Chrome]:
    """The page newly opened; when the test ends, its console must be clean."""
    browser, path = started
    look_like(browser)
    browser.get(path.as_uri())
    yield browser
    assert browser.get_log("browser") == []


def type_word(browser: Chrome, *keys: str) -> None:
    browser.find_element(By.ID, "explorer-word").send_keys(Keys.CONTROL, "a", Keys.NULL, *keys)


def side(browser: Chrome, name: str) -> list[dict[str, Any]]:
    """The neighbours on one side as the page shows them."""
    program = """
return [...document.querySelectorAll(`#explorer-${arguments[0]} li`)].map((item) => ({
  word: item.dataset.word, shown: item.querySelector("bdi").textContent, kept: item.className === "kept",
  cosine: Number(item.querySelector(".cosine").textContent), shared: item.querySelectorAll(".same").length,
  squares: item.querySelectorAll(".strip i").length, count: item.querySelector(".count").textContent }));
"""
    found: list[dict[str, Any]] = browser.execute_script(program, name)
    return found


def asked(browser: Chrome) -> str:
    return browser.find_element(By.CSS_SELECTOR, "#explorer-answer .asked").text


def test_a_typed_word_shows_what_python_finds(browser: Chrome, findings: Findings) -> None:
    explorer = findings.explorer
    codes = {int(row): code for row, code in zip(explorer.named, explorer.codes, strict=True)}
    for row in (60, 101):
        type_word(browser, f"word{row}", Keys.ENTER)
        assert asked(browser) == f"word{row}"
        place = explorer.rows.tolist().index(row)
        shown = browser.execute_script("return [...document.querySelectorAll('.code span')].map((s) => s.textContent)")
        assert [int(code) for code in shown] == codes[row].tolist()
        for name, found, other in (
            ("before", explorer.before, explorer.after),
            ("after", explorer.after, explorer.before),
        ):
            listed = side(browser, name)
            assert [each["word"] for each in listed] == [findings.name_of(int(each)) for each in found.rows[place]]
            assert [each["cosine"] for each in listed] == pytest.approx(found.cosines[place].tolist(), abs=6e-4)
            kept = [neighbour in other.rows[place] for neighbour in found.rows[place]]
            assert [each["kept"] for each in listed] == kept
            shared = [int((codes[int(neighbour)] == codes[row]).sum()) for neighbour in found.rows[place]]
            assert [each["shared"] for each in listed] == shared
            assert [each["count"] for each in listed] == [f"{count} of 4" for count in shared]
            assert {each["squares"] for each in listed} == {4}


def test_choices_appear_and_keys_move_among_them(browser: Chrome) -> None:
    type_word(browser, "word9")
    choices = browser.find_elements(By.CSS_SELECTOR, "#explorer-choices li")
    assert [each.text for each in choices][:3] == ["word90", "word91", "word92"]
    type_word(browser, "word9", Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    assert asked(browser) == "word91"
    assert not browser.find_element(By.ID, "explorer-choices").is_displayed()
    type_word(browser, "rd105", Keys.ENTER)
    assert asked(browser) == "word105"


def test_an_unknown_word_is_said(browser: Chrome) -> None:
    type_word(browser, "<b>nowhere", Keys.ENTER)
    told = browser.find_element(By.ID, "explorer-answer").text
    assert told.startswith('"<b>nowhere" is not among the 120 words of this page')


def test_hostile_words_are_shown_and_do_nothing(browser: Chrome) -> None:
    title = browser.title
    for word in HOSTILE[:6]:
        type_word(browser, word, Keys.ENTER)
        assert asked(browser) == word
    assert browser.title == title == "table.safetensors: lexicode report"
    assert browser.find_elements(By.TAG_NAME, "img") == []


def test_words_of_other_sections_open_in_the_explorer(browser: Chrome, findings: Findings) -> None:
    plain = next(each for each in (*findings.worst, *findings.best) if each.word.isalnum())
    button = browser.find_element(By.CSS_SELECTOR, f"#good button[data-row='{plain.row}']")
    browser.execute_script("arguments[0].click()", button)
    assert asked(browser) == plain.word
    neighbour = browser.find_element(By.CSS_SELECTOR, "#explorer-after button")
    text = neighbour.text
    browser.execute_script("arguments[0].click()", neighbour)
    assert asked(browser) == text


def test_marks_tell_their_values_under_the_pointer(browser: Chrome) -> None:
    program = """
const bar = document.querySelector("#made svg rect");
bar.scrollIntoView({block: "center", behavior: "instant"});
const box = bar.getBoundingClientRect();
bar.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: box.x + 5, clientY: box.y + 5}));
const tip = document.getElementById("tip");
return [tip.hidden, tip.textContent];
"""
    hidden, text = browser.execute_script(program)
    assert not hidden
    assert text.startswith("before: ")
    untold = (
        "return [...document.querySelectorAll('svg.plot rect, svg.plot circle')].filter((m) => !m.dataset.tip).length"
    )
    keys = "return document.querySelectorAll('svg.plot g > rect').length"
    assert browser.execute_script(untold) == browser.execute_script(keys)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen_and_text_can_be_read(browser: Chrome, width: int, theme: str) -> None:
    look_like(browser, width=width, theme=theme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    # The contrast of text and paper, by the formula of the web's accessibility rules.
    program = """
const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
  .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
const paper = light(getComputedStyle(document.querySelector(".card")).backgroundColor);
return [...document.querySelectorAll("h3, td, .note, .tick, .label, dt, .ask")].map((each) => {
  const style = getComputedStyle(each);
  const ink = light(each.namespaceURI.endsWith("svg") ? style.fill : style.color);
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
});
"""
    contrasts = browser.execute_script(program)
    assert len(contrasts) > 100
    assert min(contrasts) > 4.5
    smallest = """
return Math.min(...[...document.querySelectorAll("svg.plot text")].map((each) => each.getBoundingClientRect().height));
"""
    assert browser.execute_script(smallest) > 10


def test_it_prints(browser: Chrome) -> None:
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert len(pdf) > 20_000
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not browser.find_element(By.ID, "explorer-form").is_displayed()
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
