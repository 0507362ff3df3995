"""Findings -> one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

import os
from importlib.resources import files
from string import Template

from lexicode.evaluation.findings import Findings
from lexicode.formats.atomic import replacing
from lexicode.report.explorer import explorer_json
from lexicode.report.markup import joined, tag
from lexicode.report.sections import SECTIONS, masthead
from lexicode.version import VERSION


def html_page(findings: Findings, *, name: str) -> str:
    """The page; `name` is what people call the file it is about."""
    folder = files("lexicode.report") / "page"
    parts = {part: (folder / f"page.{part}").read_text(encoding="utf-8") for part in ("html", "css", "js")}
    contents = [tag("a", section.short, href=f"#{section.anchor}") for section in SECTIONS]
    body = [tag("section", tag("h2", section.title), section.body(findings), id=section.anchor) for section in SECTIONS]
    return Template(parts["html"]).substitute(
        title=joined([f"{name}: lexicode report"]),
        style=parts["css"],
        masthead=masthead(findings, name),
        contents=joined(contents),
        body=joined(body),
        version=joined([VERSION]),
        data=explorer_json(findings),
        script=parts["js"],
    )


def write_page(path: str | os.PathLike[str], findings: Findings, *, name: str) -> None:
    """Write the page: whole or not at all."""
    page = html_page(findings, name=name)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
