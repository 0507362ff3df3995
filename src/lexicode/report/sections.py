"""What the page says, a function a section."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lexicode.evaluation.balance import CROWDED_SHARES, CodeBalance
from lexicode.evaluation.findings import Findings, RowFinding
from lexicode.evaluation.similarity import Similarity
from lexicode.report.components import ask, card, cards, meter, table, tile
from lexicode.report.explanations import askable, facts, how_tried, special_notes
from lexicode.report.heat_map import heat_map, shade_legend
from lexicode.report.markup import Child, Markup, joined, tag
from lexicode.report.plots import band_bars, cosine_histogram, learning_curve, rate_distortion, size_bars
from lexicode.report.terminal import readable_bytes

MOST_NAMED = 24
LEAST_EVEN = 5


@dataclass(frozen=True, kw_only=True)
class Section:
    """anchor: its place in the page's address; short: its name in the contents"""

    anchor: str
    short: str
    title: str
    body: Callable[[Findings], Markup]


def masthead(findings: Findings, name: str) -> Markup:
    """The page's head: the four numbers that most people want."""
    measured = findings.measurements
    rows = f"{measured.rows:,} {'rows' if findings.words is None else 'words'} × {measured.dim}"
    sizes = f"{readable_bytes(measured.bytes['original'])} → {readable_bytes(measured.bytes['file'])}"
    tiles = [
        tile(f"{measured.mean_cosine:.3f}", "mean cosine", "of a row with its original; 1 is the same direction"),
        tile(f"{measured.neighbours_at_10:.0%}", "neighbours kept", "of the 10 nearest, on up to 1,000 rows"),
        tile(f"{measured.loss:.4g}", "loss", "mean squared distance a row"),
        tile(f"{findings.bits_per_row}", "bits a row", f"{32 * measured.dim:,} before"),
    ]
    return joined(
        [
            tag("p", tag("span", "lexicode", class_="brand"), " report", class_="kicker"),
            tag("h1", tag("span", f"{measured.ratio:.1f}×", class_="hero"), " smaller"),
            tag("p", tag("strong", name), f" · {rows} · scheme {measured.scheme} · {sizes}", class_="subtitle"),
            tag("div", tiles, class_="tiles"),
        ]
    )


def made(findings: Findings) -> Markup:
    boxes = cards(card("Size", size_bars(findings.measurements.bytes)), card("How it was made", facts(findings)))
    return joined([boxes, [tag("p", note, class_="remark") for note in special_notes(findings)]])


def good(findings: Findings) -> Markup:
    measured = findings.measurements
    numbers = [
        ("loss: mean squared distance a row", f"{measured.loss:.4f}"),
        ("mean distance", f"{measured.mean_distance:.4f}"),
        ("mean cosine", f"{measured.mean_cosine:.4f}"),
        ("median cosine", f"{findings.cosines.median:.4f}"),
        ("neighbours kept, of the nearest 10", f"{measured.neighbours_at_10:.1%}"),
        (f"the same, of the {len(findings.explorer.rows):,} to explore", f"{findings.explorer.kept.mean():.1%}"),
        ("eigenspace overlap", f"{measured.eigenspace_overlap:.4f}"),
    ]
    order = (
        "Where rows stand in order of frequency, as in most files of word vectors, the frequent words are to the left."
    )
    aside = f"with their originals{', rows kept exactly left aside' if findings.exact_rows else ''}"
    return cards(
        card("Direction kept", cosine_histogram(findings.cosines)),
        card("Frequent words against rare ones", band_bars(findings.bands), note=order),
        card("In numbers", table(["measure", "value"], numbers)),
        card("People's judgement", _similarity(findings)),
        card("Worst", _extremes(findings, findings.worst), note=f"The lowest cosines {aside}."),
        card("Best", _extremes(findings, findings.best), note=f"The highest cosines {aside}."),
    )


def explore(findings: Findings) -> Markup:
    box = tag(
        "input",
        id="explorer-word",
        type="search",
        autocomplete="off",
        autocapitalize="off",
        spellcheck="false",
        role="combobox",
        aria_expanded="false",
        aria_controls="explorer-choices",
    )
    form = tag(
        "form",
        tag("label", "A row number" if findings.words is None else "A word", for_="explorer-word"),
        box,
        tag("ul", id="explorer-choices", role="listbox", hidden="hidden"),
        id="explorer-form",
    )
    unscripted = tag("noscript", "The explorer needs JavaScript; all else on this page does not.")
    answer = tag("div", unscripted, id="explorer-answer", aria_live="polite")
    return joined([tag("p", askable(findings)), tag("div", form, answer, class_="card explorer")])


def choose(findings: Findings) -> Markup:
    trials, measured = findings.trials, findings.measurements
    plot = rate_distortion(
        trials, findings.reference, scheme=measured.scheme, bits=findings.bits_per_row, loss=measured.loss
    )
    lines = [
        [
            tag("strong", trial.scheme, tag("small", "this file")) if trial.own else trial.scheme,
            str(trial.bits_per_row),
            readable_bytes(trial.file_bytes),
            f"{trial.ratio:.1f}×",
            f"{measured.loss:.4g}" if trial.own else f"≈ {trial.expected_loss:.4g}",
            f"{trial.expected_loss / measured.loss:.2f}" if measured.loss > 0 else "–",
        ]
        for trial in trials.results
    ]
    heads = ["scheme", "bits", "file", "smaller", "loss", "of this"]
    others = card("Neighbouring schemes", table(heads, lines), note="lexicode compress --scheme makes any of them.")
    boxes = cards(card("Rate and distortion", plot), others if lines else None)
    return joined([[tag("p", sentence) for sentence in how_tried(findings)], boxes])


def codes(findings: Findings) -> Markup:
    balance = findings.balance
    dead, crowded = balance.dead, balance.crowded
    too_many = (
        f" are crowded: named by more than {CROWDED_SHARES:g} times their fair share, {balance.fair_share:,.0f} rows, "
        "or by nearly all rows. "
    )
    about_dead = f" of {balance.counts.size:,} codewords are dead: no row names them. "
    carried = [
        "Used evenly, the codes would carry ",
        tag("strong", f"{findings.bits_per_row} bits"),
        " a row; used as they are, each codebook for itself, they carry ",
        tag("strong", f"{balance.bits.sum():.1f}"),
        ". The least even codebooks:",
    ]
    return cards(
        card("Use of the codewords", heat_map(balance), shade_legend()),
        card(
            "Dead and crowded",
            tag("p", tag("strong", f"{len(dead):,}"), about_dead, _named(dead)),
            tag("p", tag("strong", f"{len(crowded):,}"), too_many, _named(crowded)),
            tag("p", carried),
            table(["codebook", "bits carried", "codewords used"], _least_even(balance)),
        ),
        card(f"{'Rows' if findings.words is None else 'Words'} that share a code", _shared(findings), wide=True),
    )


def learned(findings: Findings) -> Markup:
    curve = findings.curve
    if curve is None:
        way = [
            "The curve was not kept, or the learner has none. ",
            tag("code", "lexicode compress --report"),
            " draws it, and so does ",
            tag("code", "lexicode report --curve FILE"),
            " from the file that ",
            tag("code", "lexicode compress --curve FILE"),
            " writes.",
        ]
        return tag("p", way, class_="note")
    last = len(curve.steps) - 1
    shown = sorted({round(last * share) for share in (0, 0.05, 0.1, 0.25, 0.5, 0.75, 1)})
    lines = [[f"{curve.steps[i]:,}", *(f"{losses[i]:.4f}" for losses in curve.losses.values())] for i in shown]
    note = "The last point is the file's own loss, after the last search over all rows."
    return cards(
        card("Learning curve", learning_curve(curve)),
        card("In numbers", table([curve.unit, *curve.losses], lines), note=note if curve.unit == "round" else None),
    )


SECTIONS = (
    Section(anchor="made", short="Made", title="What was made", body=made),
    Section(anchor="good", short="Quality", title="How good it is", body=good),
    Section(anchor="explore", short="Explore", title="Explore the words", body=explore),
    Section(anchor="choose", short="Schemes", title="Choosing another scheme", body=choose),
    Section(anchor="codes", short="Codes", title="The codes", body=codes),
    Section(anchor="learned", short="Learning", title="How the loss fell", body=learned),
)


def _similarity(findings: Findings) -> Markup:
    if not findings.similarity:
        advice = (
            "No benchmark was given. With --similarity FILE (lines of word, word, people's score) the page shows how "
            "well cosines agree with people, before and after."
        )
        return tag("p", advice, class_="note")
    lines = [
        [before.name, f"{before.known}/{before.pairs}", _spearman(before), _spearman(after), _change(before, after)]
        for before, after in findings.similarity
    ]
    note = "Spearman's correlation of cosine and people's scores; 1 is full agreement. Pairs: those known, of all."
    return joined([table(["benchmark", "pairs", "before", "after", "change"], lines), tag("p", note, class_="note")])


def _spearman(judged: Similarity) -> Child:
    return "–" if judged.spearman is None else joined([f"{judged.spearman:.3f}", meter(judged.spearman)])


def _change(before: Similarity, after: Similarity) -> str:
    if before.spearman is None or after.spearman is None:
        return "–"
    return f"{after.spearman - before.spearman:+.3f}"


def _extremes(findings: Findings, found: Iterable[RowFinding]) -> Markup:
    lines: list[list[Child]] = [
        [ask(each.word, each.row), f"{each.cosine:.4f}", f"{each.distance:.3f}", f"{each.length:.3f}"] for each in found
    ]
    return table(["row" if findings.words is None else "word", "cosine", "distance", "length before"], lines)


def _shared(findings: Findings) -> Markup:
    shared = findings.shared
    if not shared.codes:
        return tag("p", "No two rows share a code: each can be told from every other.")
    told = (
        f"{shared.rows:,} rows share {shared.codes:,} codes: those of one code cannot be told apart. The largest "
        "groups, up to 8 of each:"
    )
    groups = [tag("li", [[ask(findings.name_of(row), row), " "] for row in rows]) for rows in shared.largest]
    return joined([tag("p", told), tag("ul", groups, class_="groups")])


def _least_even(balance: CodeBalance) -> list[list[str]]:
    K = balance.counts.shape[1]
    return [
        [str(m), f"{balance.bits[m]:.3f} of {K.bit_length() - 1}", f"{int((balance.counts[m] > 0).sum()):,} of {K:,}"]
        for m in balance.bits.argsort(kind="stable")[:LEAST_EVEN]
    ]


def _named(places: list[tuple[int, int]]) -> Markup | None:
    if not places:
        return None
    shown = ", ".join(f"{m}/{k}" for m, k in places[:MOST_NAMED])
    more = f" and {len(places) - MOST_NAMED:,} more" if len(places) > MOST_NAMED else ""
    return tag("span", f"Codebook/codeword: {shown}{more}.", class_="quiet")
