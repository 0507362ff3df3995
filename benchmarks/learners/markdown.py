"""results/learners.json -> the Markdown that people read."""

from __future__ import annotations

from typing import Any

import numpy as np

from learners.methods import BASE, METHODS
from learners.results import Results, Row
from lexicode import CodeScheme

# (columns of the table, scheme) -> effort -> the most its loss and its time may be, with faiss's as 1.
TARGETS = {
    (100, "8x64"): {"fast": (1.00, 1 / 8), "balanced": (0.97, 1 / 2), "thorough": (0.94, 2)},
    (100, "16x32"): {"fast": (1.00, 1 / 10), "balanced": (0.93, 1 / 3), "thorough": (0.89, 1.5)},
    (100, "32x16"): {"fast": (1.00, 1 / 15), "balanced": (0.88, 1 / 4), "thorough": (0.79, 3 / 4)},
    (100, "64x8"): {"fast": (1.00, 1 / 20), "balanced": (0.87, 1 / 6), "thorough": (0.78, 1 / 2)},
    (300, "32x16"): {"fast": (1.00, 1 / 10), "balanced": (0.97, 1 / 2), "thorough": (0.94, 1.5)},
}
EFFORTS = ("fast", "balanced", "thorough")
PLAIN, VARIANTS = "balanced", ("zipf", "cosine", "exact-1000", "max-error")

WHEN = """\
Loss, cosine and neighbours are means over all rows, rare ones included; the first 1,000 rows are the most frequent
words of a table in the order of frequency."""

HOW_COUNTED = """\
Loss is the mean squared distance of a row on all rows; seconds are training plus encoding of all rows, compilation and
imports left out; memory is the highest resident size of the method's own process, and in brackets what it grew by
beyond the table and the libraries. Every method ran in a process of its own, one after the other, with the same number
of threads; learners.json has the machine's load at the start of each.

Bytes count codes, codebooks and rotations, these as float16 for all (rounded before the loss is measured); words are
not counted, being the same for all. Additive quantizers take the scheme as it is; product quantizers spend the same
bytes a row on codebooks of 256; k-means and PCA spend as many bytes in all as an additive code of the scheme.

Neighbours: how many of a row's ten nearest stay so. The Gaussian line is the rate-distortion function of a Gaussian of
the table's covariance at the scheme's bits a row, codebooks not counted: a reference, not a bound."""


def markdown(results: Results) -> str:
    parts = ["# Learners, side by side", against_faiss(results), "![Loss against bits a row](learners.svg)"]
    parts += [what_else(results)]
    parts += [table_section(results, name) for name in results.tables]
    parts += ["## How it is counted", HOW_COUNTED, "## Where the figures come from", provenance(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def against_faiss(results: Results) -> str:
    """The efforts as ratios to faiss's LocalSearchQuantizer, with the targets where there are any."""
    lines = []
    for name, scheme in _tables_and_schemes(results):
        base = _measured(results, name, scheme, BASE)
        cells = [_against(results, name, scheme, effort) for effort in EFFORTS]
        if base is not None and any(cells):
            faiss = f"{base['loss']:.4g}, {base['seconds']:.0f} s"
            lines.append([name, scheme, faiss, *(cell or "" for cell in cells)])
    if not lines:
        return ""
    heading = ["table", "scheme", "faiss: loss, time", *(f"`{effort}`: loss, time" for effort in EFFORTS)]
    return "\n\n".join(
        [
            "## lexicode against faiss's LocalSearchQuantizer",
            "Ratios, faiss with its defaults as 1; in brackets what was aimed at, in bold where it is reached.",
            _grid(heading, lines),
        ]
    )


def _against(results: Results, table: str, scheme: str, effort: str) -> str | None:
    base, row = (_measured(results, table, scheme, method) for method in (BASE, effort))
    if base is None or row is None:
        return None
    ratios = [row[measure] / base[measure] for measure in ("loss", "seconds")]
    targets = TARGETS.get((results.tables[table]["dim"], scheme), {}).get(effort)
    if targets is None:
        return ", ".join(f"{ratio:.3f}" for ratio in ratios)
    # A ratio is judged as it is, not as it is rounded for the table.
    cells = [
        f"**{ratio:.3f}** ({target:.3g})" if ratio <= target else f"{ratio:.3f} ({target:.3g})"
        for ratio, target in zip(ratios, targets, strict=True)
    ]
    return ", ".join(cells)


def what_else(results: Results) -> str:
    """What weights, directions and kept rows change, beside the same effort without them."""
    lines = []
    for name, scheme in _tables_and_schemes(results):
        plain = _measured(results, name, scheme, PLAIN)
        variants = {method: _measured(results, name, scheme, method) for method in VARIANTS}
        if plain is None or not any(variants.values()):
            continue
        for method, row in {PLAIN: plain, **variants}.items():
            if row is not None:
                measures = [
                    f"{row['bytes']:,}",
                    f"{row['loss']:.4g}",
                    f"{row['frequent_loss']:.4g}" if "frequent_loss" in row else "",
                    f"{row['cosine']:.4f}",
                    f"{row['neighbours']:.1%}",
                ]
                judged = [row["spearman"].get(benchmark) for benchmark in _benchmarks(results)]
                told = ("" if value is None else f"{value:.3f}" for value in judged)
                lines.append([name, scheme, METHODS[method].title, *measures, *told])
    if not lines:
        return ""
    heading = ["table", "scheme", "settings", "bytes", "loss", "of the first 1,000", "cosine", "neighbours"]
    heading += map(benchmark_title, _benchmarks(results))
    return "\n\n".join(["## When weights, directions and kept rows help", WHEN, _grid(heading, lines, text_columns=3)])


def table_section(results: Results, table: str) -> str:
    facts = results.tables[table]
    lines = []
    for scheme in ("", *(scheme for name, scheme in _tables_and_schemes(results) if name == table)):
        rows = [row for row in results.rows if (row["table"], row["scheme"]) == (table, scheme) and "loss" in row]
        rows.sort(key=lambda row: list(METHODS).index(row["method"]))
        base = _measured(results, table, scheme, BASE)
        lines += [_line(row, base, facts["rows"], _benchmarks(results)) for row in rows]
        if scheme:
            lines.append(_gaussian_line(facts, scheme, len(_benchmarks(results))))
    heading = ["scheme", "method", "spent on", "bytes", "bits a row", "loss", "of faiss's", "cosine", "neighbours"]
    heading += [*map(benchmark_title, _benchmarks(results)), "seconds", "of faiss's", "memory, MB"]
    return f"## {table}: {facts['rows']:,} x {facts['dim']}\n\n{_grid(heading, lines, text_columns=3)}"


def _line(row: Row, base: Row | None, rows: int, benchmarks: list[str]) -> list[str]:
    def of_base(measure: str) -> str:
        return "" if base is None else f"{row[measure] / base[measure]:.3f}"

    judged = [row["spearman"].get(name) for name in benchmarks]
    own = METHODS[row["method"]].family == "lexicode"
    return [
        row["scheme"],
        f"**{METHODS[row['method']].title}**" if own else METHODS[row["method"]].title,
        row["setup"],
        f"{row['bytes']:,}",
        f"{8 * row['bytes'] / rows:.0f}",
        f"{row['loss']:.4g}",
        of_base("loss"),
        f"{row['cosine']:.4f}",
        f"{row['neighbours']:.1%}",
        *("" if value is None else f"{value:.3f}" for value in judged),
        f"{row['seconds']:.1f}",
        of_base("seconds"),
        f"{row['peak_bytes'] / 1e6:.0f} ({row['grown_bytes'] / 1e6:.0f})",
    ]


def _gaussian_line(facts: dict[str, Any], scheme: str, benchmarks: int) -> list[str]:
    bits = CodeScheme.parse(scheme).bits_per_row
    curve_bits, curve_losses = np.array(facts["gaussian"]).T
    # The curve is nearly straight on this scale between the bits it is stored at.
    loss = np.exp(np.interp(bits, curve_bits, np.log(curve_losses)))
    return [scheme, "*Gaussian reference*", "", "", str(bits), f"{loss:.4g}", *[""] * (benchmarks + 6)]


def _measured(results: Results, table: str, scheme: str, method: str) -> Row | None:
    row = results.find(table, scheme, method)
    return row if row is not None and "loss" in row else None


def _tables_and_schemes(results: Results) -> list[tuple[str, str]]:
    found = {(row["table"], row["scheme"]) for row in results.rows if row["scheme"]}
    order = list(results.tables)
    return sorted(found, key=lambda pair: (order.index(pair[0]), CodeScheme.parse(pair[1]).codebooks, pair[1]))


def _benchmarks(results: Results) -> list[str]:
    return sorted({name for row in results.rows for name in row.get("spearman", {})})


def benchmark_title(name: str) -> str:
    """`EN-WS-353-ALL` -> `WordSim-353`: files of the usual benchmarks go by many names."""
    plain = name.upper().replace("-", "").replace("_", "")
    known = {"WS353": "WordSim-353", "WORDSIM": "WordSim-353", "SIMLEX": "SimLex-999", "MTURK": "MTurk-771"}
    return next((title for part, title in known.items() if part in plain), name)


def provenance(results: Results) -> str:
    machines = sorted({f"{row['machine']}, {row['threads']} threads" for row in results.rows})
    commits = sorted({row["commit"] for row in results.rows})
    commands = sorted({row["command"] for row in results.rows})
    unfit = [
        f"- {row['table']}, {row['scheme']}, {METHODS[row['method']].title}: {row['unfit']}"
        for row in results.rows
        if "unfit" in row
    ]
    lines = [f"Machine: {'; '.join(machines)}.", f"Commits: {', '.join(commits)} (+: the tree was not clean). Made by:"]
    lines += ["\n".join(f"    {command}" for command in commands)]
    lines += ["Not possible:\n\n" + "\n".join(unfit)] if unfit else []
    return "\n\n".join(lines)


def _grid(heading: list[str], lines: list[list[str]], text_columns: int = 2) -> str:
    rule = ["---"] * text_columns + ["---:"] * (len(heading) - text_columns)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [heading, rule, *lines])
