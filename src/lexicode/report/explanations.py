"""How a file was made, and what the special settings did, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lexicode.evaluation.findings import Findings
from lexicode.report.markup import Markup, tag
from lexicode.report.terminal import readable_bytes


def facts(findings: Findings) -> Markup:
    """A list of what the file holds and who made it."""
    measured, origin = findings.measurements, findings.origin
    settings = settings_of(findings)
    M, K = findings.balance.counts.shape
    named = ", ".join(f"{name.replace('_', ' ')} {_brief(value)}" for name, value in settings.items())
    listed = [
        ("rows × columns", f"{measured.rows:,} × {measured.dim}"),
        ("vocabulary", _vocabulary(findings)),
        ("scheme", f"{measured.scheme}: {M} codebooks of {K} codewords"),
        ("a row", f"{findings.bits_per_row} bits instead of {32 * measured.dim:,}"),
        ("codebooks", f"{M * K:,} codewords as {findings.codebook_dtype}"),
        ("exact rows", f"{findings.exact_rows:,}" if findings.exact_rows else None),
        ("learner", str(origin.get("learner", "not recorded"))),
        ("settings", named or "not recorded"),
        ("made by", f"lexicode {origin['library']}" if "library" in origin else None),
        ("source", _source(origin)),
    ]
    shown = [(name, value) for name, value in listed if value is not None]
    return tag("dl", [[tag("dt", name), tag("dd", value)] for name, value in shown], class_="facts")


def special_notes(findings: Findings) -> list[str]:
    """A sentence for each special setting: that it was used, and what it did to frequent rows and rare ones."""
    settings, measured = settings_of(findings), findings.measurements
    notes = []
    if weights := settings.get("weights"):
        notes.append(f"Rows were weighted as they were learned (weights: {_brief(weights)}).")
    if settings.get("loss") == "cosine":
        notes.append(
            f"The codes were learned for direction (loss: cosine): the mean cosine, {measured.mean_cosine:.4f}, is what"
            " was raised; the squared distance counts lengths too, and may be larger than a file learned for it has."
        )
    if findings.exact_rows:
        coded = measured.rows - findings.exact_rows
        alone = f"{measured.loss * measured.rows / coded:.4g}" if coded else "0"
        notes.append(
            f"{findings.exact_rows:,} rows ({findings.exact_rows / measured.rows:.1%}) are kept exactly, in "
            f"{readable_bytes(measured.bytes.get('exact', 0))}; the loss of the coded rows alone is about {alone}, of "
            f"all rows {measured.loss:.4g}."
        )
    if weights or findings.exact_rows:
        notes.append(_frequent_against_rare(findings))
    return notes


def askable(findings: Findings) -> str:
    """Which rows the explorer knows, and what it shows of them."""
    known, total = len(findings.explorer.rows), findings.measurements.rows
    kind = "row numbers" if findings.words is None else "words"
    few = (
        f"{known:,} of {total:,} {kind} can be asked for: the first, which are the most frequent in most files, and "
        "those named on this page."
    )
    return (
        f"{few if known < total else f'All {total:,} {kind} can be asked for.'} Neighbours are the nearest by cosine "
        f"among all {total:,} rows, before and after. A square stands for a codebook; it is filled where both name the "
        "same codeword."
    )


def how_tried(findings: Findings) -> list[str]:
    """How the losses of other schemes were come by."""
    trials = findings.trials
    sentences = []
    if trials.results:
        sentences.append(
            f"Losses of other schemes are estimates: each was fitted quickly ({trials.learner} learner) to "
            f"{trials.rows:,} rows drawn from the table, and its loss there scaled by what this file reaches over the "
            "same quick fit of its own scheme. Expect them within a tenth or so."
        )
    if trials.skipped:
        count = f"{len(trials.results)} of {trials.planned} schemes were tried" if trials.planned else "None was tried"
        sentences.append(f"{count}: {trials.skipped}.")
    sentences.append(
        "The dashed line is the rate-distortion curve of a Gaussian of the table's covariance: a reference, not a "
        "bound, for real vectors are not Gaussian. Bits a row count no codebooks; sizes of files do."
    )
    return sentences


def settings_of(findings: Findings) -> Mapping[str, Any]:
    settings = findings.origin.get("settings")
    return settings if isinstance(settings, dict) else {}


def _frequent_against_rare(findings: Findings) -> str:
    first, last = findings.bands[0], findings.bands[-1]
    if first is last:
        return "The table is too short to compare frequent words with rare ones."
    return (
        f"The first {first.last + 1:,} rows lose {first.relative_error:.1%} of their squared length, the last "
        f"{last.last + 1 - last.first:,} rows {last.relative_error:.1%}."
    )


def _vocabulary(findings: Findings) -> str:
    if findings.words is None:
        return "none: a table of ids"
    stored = findings.measurements.bytes["words"]
    text = readable_bytes(len(findings.words.text))
    return f"{len(findings.words):,} words, {text} as text, {readable_bytes(stored)} in the file"


def _source(origin: Mapping[str, Any]) -> str | None:
    source = origin.get("source")
    if not isinstance(source, dict) or "digest" not in source:
        return None
    return f"{str(source['digest'])[:23]}…"


def _brief(value: object) -> str:
    text = str(value)
    return text if len(text) <= 32 else f"{text[:24]}…"
