from __future__ import annotations

from lexicode.report.markup import Markup, joined, tag, word


def test_text_is_escaped_and_markup_is_not() -> None:
    inner = tag("b", "<x> & \"y\" 'z'")
    assert inner == "<b>&lt;x&gt; &amp; &quot;y&quot; &#x27;z&#x27;</b>"
    assert tag("p", inner, "<") == f"<p>{inner}&lt;</p>"
    assert isinstance(joined(["<", [inner, None]]), Markup)


def test_attributes_are_escaped_named_and_left_out() -> None:
    made = tag("a", href='"><script>', class_="x", data_row=3, hidden=None, x=1.25, y=2.0)
    assert made == '<a href="&quot;&gt;&lt;script&gt;" class="x" data-row="3" x="1.2" y="2"></a>'
    assert tag("input", type="text") == '<input type="text">'


def test_a_blank_word_can_be_seen() -> None:
    assert word("dog") == '<bdi class="word">dog</bdi>'
    assert word("\u2003") == '<bdi class="word">&#x27;\\u2003&#x27;</bdi>'
