"""The web page: what is in it, and what Chromium makes of it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lexicode import CodedEmbedding, ProductLearner, Vectors
from lexicode.cli.app import app
from lexicode.export import export, export_format
from lexicode.words import Words

pytest.importorskip("selenium", reason="there is no selenium: pip install selenium")

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browser import chromium, look_like

SHOWN, ANSWERS, SUGGESTIONS = 12, 6, 8
# Seconds: a busy machine is no failure.
PATIENCE = 60
ODD_WORDS = ["<script>document.title='hurt'</script>", '"quoted" & <b>bold</b>', "日本", "🦊", "שלום", "a b", "%41", ""]


@pytest.fixture(scope="module")
def coded(clustered: Vectors) -> CodedEmbedding:
    """600 words, some of them a test of any page, whose neighbours mean something."""
    words = [*ODD_WORDS, *(f"word{row}" for row in range(len(ODD_WORDS), len(clustered)))]
    return ProductLearner("5x16", seed=1).fit(Vectors(clustered.matrix, words))


@pytest.fixture(scope="module")
def page(coded: CodedEmbedding, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    assert export(coded, path) == [path]
    return path


def artefact_in(page: Path) -> bytes:
    found = re.search(r'<script id="artefact" type="text/plain">([^<]+)</script>', page.read_text(encoding="utf-8"))
    assert found is not None
    return base64.b64decode(found[1], validate=True)


def test_the_table_is_inside(page: Path, coded: CodedEmbedding, tmp_path: Path) -> None:
    coded.save(tmp_path / "table.safetensors")
    assert artefact_in(page) == (tmp_path / "table.safetensors").read_bytes()


def test_the_page_names_no_other_file_and_no_server(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "{{" not in text
    assert "://" not in text
    assert set(re.findall(r'\b(?:src|href)="([^"]*)"', text)) == {"data:,"}
    assert "default-src 'none'" in text


def test_scripts_cannot_end_their_element_early() -> None:
    folder = files("lexicode.export") / "page"
    for name in ("lexicode.js", "suggestions.js", "page.js"):
        text = (folder / name).read_text(encoding="utf-8")
        assert len(text) > 3000
        assert "</script" not in text
        assert "<!--" not in text


def test_the_command_line_writes_it(coded: CodedEmbedding, page: Path, tmp_path: Path) -> None:
    assert export_format("a.html") == export_format("b.HTM") == "web-page"
    coded.save(tmp_path / "table.safetensors")
    target = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["export", str(tmp_path / "table.safetensors"), "-o", str(target)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(str(target))
    assert target.read_bytes() == page.read_bytes()


# ---- in Chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


Open = Callable[..., None]


@pytest.fixture
def opened(browser: Chrome) -> Iterator[Open]:
    """Open a page, and hold it to a clean console when the test ends."""

    def open_page(path: Path, fragment: str = "", **looks: int | str) -> None:
        look_like(browser, **looks)  # type: ignore[arg-type]
        browser.get("about:blank")
        browser.get(path.as_uri() + fragment)
        # Either the explorer or the sentence that says why there is none.
        ready = "return !document.querySelector('main').hidden || document.querySelector('#facts.trouble') !== null"
        WebDriverWait(browser, PATIENCE).until(lambda each: each.execute_script(ready))

    browser.get_log("browser")
    yield open_page
    assert browser.get_log("browser") == []


def text_of(browser: Chrome, place: str) -> str:
    return str(browser.execute_script("return document.getElementById(arguments[0]).textContent", place))


def until(browser: Chrome, place: str, text: str) -> None:
    WebDriverWait(browser, PATIENCE).until(lambda each: text in text_of(each, place), f"no {text!r} in #{place}")


def found_in(browser: Chrome, place: str) -> list[tuple[str, float]]:
    program = """
return [...document.querySelectorAll(arguments[0] + " li")].map((item) =>
  [item.querySelector("button").title, Number(item.querySelector(".cosine").textContent)]);
"""
    return [(str(word), float(cosine)) for word, cosine in browser.execute_script(program, f"#{place}")]


def type_into(browser: Chrome, place: str, *keys: str) -> None:
    browser.find_element(By.ID, place).send_keys(Keys.CONTROL, "a", Keys.NULL, *keys)


def check_found(found: list[tuple[str, float]], ranked: list[tuple[Any, float]], count: int) -> None:
    """What the page shows is the best of Python's whole ranking; rows as good as one another may change places."""
    cosines = {str(word): cosine for word, cosine in ranked}
    shown = [cosine for _, cosine in found]
    # The page shows four digits behind the point.
    assert shown == pytest.approx([cosines[word] for word, _ in found], abs=6e-5)
    assert shown == pytest.approx([cosine for _, cosine in ranked[:count]], abs=6e-5)
    assert len({word for word, _ in found}) == count


@pytest.mark.browser
def test_a_typed_words_neighbours_are_pythons(browser: Chrome, opened: Open, page: Path, coded: CodedEmbedding) -> None:
    opened(page)
    for word in ("word77", "  Word500 "):
        type_into(browser, "word", word, Keys.ENTER)
        known = word.strip().lower()
        WebDriverWait(browser, PATIENCE).until(lambda each, known=known: text_of(each, "chosen") == known)
        check_found(found_in(browser, "neighbours"), coded.most_similar(known, len(coded)), SHOWN)
        cells = browser.execute_script("return [...document.querySelectorAll('#code li')].map((li) => li.textContent)")
        assert [int(cell) for cell in cells] == coded.codes(known).tolist()
    shared = "return document.querySelector('#neighbours .shared').title"
    best = found_in(browser, "neighbours")[0][0]
    agreeing = int((coded.codes("word500") == coded.codes(best)).sum())
    assert browser.execute_script(shared) == f"shares {agreeing} of 5 codewords"


@pytest.mark.browser
def test_an_analogy_is_pythons(browser: Chrome, opened: Open, page: Path, coded: CodedEmbedding) -> None:
    opened(page)
    words = ["word20", "word30", "word40"]
    for place, word in zip(("plus", "minus", "too"), words, strict=True):
        type_into(browser, place, word)
    browser.find_element(By.ID, "too").send_keys(Keys.ENTER)
    until(browser, "analogy-about", "word30 is to word20 as word40 is to …")
    a, b, c = (vector / np.linalg.norm(vector) for vector in coded[words].astype(np.float64))
    ranked = [pair for pair in coded.most_similar(a - b + c, len(coded)) if pair[0] not in words]
    check_found(found_in(browser, "answers"), ranked, ANSWERS)
    type_into(browser, "minus", "nonsense", Keys.ENTER)
    until(browser, "analogy-about", "“nonsense” is not in the table.")
    assert found_in(browser, "answers") == []


@pytest.mark.browser
def test_suggestions_by_keyboard_and_pointer(browser: Chrome, opened: Open, page: Path, coded: CodedEmbedding) -> None:
    opened(page)
    options = "return [...document.querySelectorAll('#word-options li')].map((li) => li.textContent)"
    type_into(browser, "word", "word3")
    listed = [word for word in coded.words or () if word.startswith("word3")][:SUGGESTIONS]
    assert browser.execute_script(options) == listed
    type_into(browser, "word", "word3", Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
    until(browser, "chosen", listed[1])
    assert browser.execute_script(options) == []
    type_into(browser, "word", "word4")
    browser.find_element(By.CSS_SELECTOR, "#word-options li:nth-child(3)").click()
    until(browser, "chosen", [word for word in coded.words or () if word.startswith("word4")][2])
    type_into(browser, "word", "word5", Keys.ESCAPE)
    assert browser.execute_script(options) == []


@pytest.mark.browser
def test_links_and_the_way_back(browser: Chrome, opened: Open, page: Path) -> None:
    opened(page, "#word33")
    until(browser, "chosen", "word33")
    neighbour = browser.find_element(By.CSS_SELECTOR, "#neighbours button")
    name = str(neighbour.get_attribute("title"))
    neighbour.send_keys(Keys.ENTER)
    until(browser, "chosen", name)
    browser.back()
    until(browser, "chosen", "word33")
    # By key: a click can miss a button that moves as the page fills.
    browser.find_element(By.ID, "any").send_keys(Keys.ENTER)
    WebDriverWait(browser, PATIENCE).until(lambda each: text_of(each, "chosen") != "word33")
    browser.find_element(By.TAG_NAME, "body").send_keys("/")
    assert browser.switch_to.active_element.get_attribute("id") == "word"


@pytest.mark.browser
@pytest.mark.parametrize("word", ODD_WORDS[:-1])
def test_words_are_text_and_never_markup(
    browser: Chrome, opened: Open, page: Path, coded: CodedEmbedding, word: str
) -> None:
    opened(page)
    # In one event, as pasting does: chromedriver cannot type what lies beyond the first plane of Unicode.
    enter = "const box = document.getElementById('word'); box.value = arguments[0]; box.form.requestSubmit();"
    browser.execute_script(enter, word)
    WebDriverWait(browser, PATIENCE).until(lambda each: text_of(each, "chosen") == word)
    check_found(found_in(browser, "neighbours"), coded.most_similar(word, len(coded)), SHOWN)
    assert browser.title == "Word explorer"
    address = browser.current_url
    browser.get("about:blank")
    browser.get(address)
    WebDriverWait(browser, PATIENCE).until(lambda each: text_of(each, "chosen") == word)


@pytest.mark.browser
def test_an_unknown_word_gets_a_sentence(browser: Chrome, opened: Open, page: Path) -> None:
    opened(page, "#wrod77")
    until(browser, "status", "“wrod77” is not in the vocabulary. Perhaps word77")
    assert len(found_in(browser, "neighbours")) == SHOWN
    browser.find_element(By.CSS_SELECTOR, "#status button").click()
    until(browser, "chosen", "word77")


@pytest.mark.browser
def test_a_table_of_ids_is_explored_by_row(
    browser: Chrome, opened: Open, coded: CodedEmbedding, tmp_path: Path
) -> None:
    coded.save(tmp_path / "table")
    ids = CodedEmbedding.load(tmp_path / "table")
    ids.words = None
    export(ids, tmp_path / "ids.html")
    opened(tmp_path / "ids.html")
    type_into(browser, "word", "17", Keys.ENTER)
    until(browser, "chosen", "Row 17")
    check_found(found_in(browser, "neighbours"), ids.most_similar(17, len(ids)), SHOWN)
    type_into(browser, "word", "600", Keys.ENTER)
    until(browser, "status", "“600” is no row number from 0 to 599.")


@pytest.mark.browser
def test_a_table_of_one_word_kept_exactly(browser: Chrome, opened: Open, coded: CodedEmbedding, tmp_path: Path) -> None:
    one = CodedEmbedding(
        scheme=coded.scheme,
        packed=coded.packed[:1],
        codebooks=coded.codebooks,
        dim=coded.dim,
        offsets=coded.offsets,
        words=Words(["alone"]),
        exact_ids=np.array([0], dtype=np.uint32),
        exact_rows=np.ones((1, coded.dim), dtype=np.float16),
    )
    export(one, tmp_path / "one.html")
    opened(tmp_path / "one.html")
    until(browser, "chosen", "alone")
    assert found_in(browser, "neighbours") == []
    assert text_of(browser, "code-about") == "This row is kept as it is, and its code is not used."


@pytest.mark.browser
def test_a_damaged_page_says_so(browser: Chrome, opened: Open, page: Path, tmp_path: Path) -> None:
    content = artefact_in(page)
    whole, cut = (base64.b64encode(each).decode() for each in (content, content[:-30]))
    damaged = tmp_path / "damaged.html"
    damaged.write_text(page.read_text(encoding="utf-8").replace(whole, cut), encoding="utf-8")
    opened(damaged)
    assert re.search(r"cannot be read: tensor 'words' .* cut short or damaged", text_of(browser, "facts"))


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_window_and_the_theme(
    browser: Chrome, opened: Open, page: Path, tmp_path: Path, width: int, theme: str
) -> None:
    opened(page, "#word9", width=width, theme=theme)
    until(browser, "chosen", "word9")
    measured = browser.execute_script("""
return {
  across: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  paper: getComputedStyle(document.documentElement).backgroundColor,
  ink: getComputedStyle(document.body).color,
  asked: performance.getEntriesByType("resource").length,
}
""")
    assert measured["across"] == 0
    assert measured["asked"] == 0
    paper, ink = (sum(map(int, re.findall(r"\d+", measured[each])[:3])) for each in ("paper", "ink"))
    assert (paper > ink) == (theme == "light")
    assert abs(paper - ink) > 300
    assert browser.save_screenshot(str(tmp_path / "screen.png"))
