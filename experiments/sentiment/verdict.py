"""What the rows show, in sentences that are made from them."""

from __future__ import annotations

from experiments.common.comparing import Comparison
from experiments.common.results import Row
from experiments.common.sizes import smaller
from experiments.sentiment.comparing import compared
from experiments.sentiment.plan import GRID, MAIN, SECOND
from experiments.sentiment.rows import PAPER_ITERATIONS
from experiments.sentiment.selecting import by_name

HUNDREDTH = 0.01
CODED = ("gumbel", "additive", "npq")


def verdict(rows: list[Row]) -> str:
    """The paper's claims, the rows of less than a hundredth of the baseline, the cheap rival, the second table and
    the losses; nothing before there is a baseline."""
    main = compared(rows, MAIN)
    if "baseline" not in main.found:
        return ""
    sentences = [
        *_baselines(main),
        *_claims(main),
        *_smallest(main),
        *_rivals(main),
        *_second(compared(rows, SECOND)),
        *_fixed_codes(rows),
        *_losses(rows),
    ]
    return "\n".join(["## What it shows", "", *(f"- {sentence}" for sentence in sentences)])


def _baselines(main: Comparison) -> list[str]:
    dump = main.found["baseline"][0]["paper_bytes"]
    lines = [f"The baseline reaches {main.figures('baseline')} with {dump:,} bytes, compressed."]
    if "baseline-tuned" in main.found:
        lines.append(f"With its table trained too it reaches {main.figures('baseline-tuned')}.")
    return lines


def _claims(main: Comparison) -> list[str]:
    """16x32 without loss; and the gain that the paper has from longer codes."""
    lines = [
        f"{label}: {main.figures(name)}, {main.against(name)}; {_sizes(main, name)}."
        for name, label in (
            ("gumbel-16x32", "The paper's claim, 16x32 by its network"),
            ("additive-16x32", "16x32 by lexicode"),
        )
        if name in main.found
    ]
    longer = [
        f"{name} {main.mean(name):.2f} %, {main.against(name)}"
        for name in ("gumbel-32x16", "additive-32x16", "gumbel-64x8", "additive-64x8")
        if name in main.found
    ]
    return [*lines, f"Longer codes, with which the paper gains: {'; '.join(longer)}."] if longer else lines


def _smallest(main: Comparison) -> list[str]:
    base = main.found["baseline"][0]["paper_bytes"]
    names = [
        name
        for name, same in main.found.items()
        if same[0]["learner"] == "additive" and (same[0]["stored_bytes"] or base) <= HUNDREDTH * base
    ]
    lines = []
    for name in sorted(names, key=lambda name: -main.mean(name)):
        beside = main.against(name)
        if "-tuned-" in name and "baseline-tuned" in main.found:
            beside += f", {main.against(name, 'baseline-tuned')}"
        lines.append(f"{name}: {main.figures(name)}, {beside}; {_sizes(main, name)}.")
    if len(names) > 1:
        lines.append(f"These {len(names)} were judged on the same test reviews: the best owes something to the choice.")
    return lines


def _rivals(main: Comparison) -> list[str]:
    base = main.found["baseline"][0]["paper_bytes"]
    return [
        f"The cheap rival, {name}: {main.figures(name)}, {main.against(name)}, "
        f"{smaller(main.found[name][0]['paper_bytes'], base)}."
        for name in ("uniform-1", "uniform-2")
        if name in main.found
    ]


def _second(second: Comparison) -> list[str]:
    coded = [name for name in second.found if name != "baseline"]
    if "baseline" not in second.found or not coded:
        return []
    told = "; ".join(f"{name} {second.mean(name):.2f} %, {second.against(name)}" for name in coded)
    return [f"In the second table the baseline reaches {second.figures('baseline')}; {told}."]


def _fixed_codes(rows: list[Row]) -> list[str]:
    """How many of all rows with fixed codes are below their baseline."""
    below, total = 0, 0
    for table in (compared(rows, MAIN), compared(rows, SECOND)):
        if "baseline" not in table.found:
            continue
        fixed = [name for name, same in table.found.items() if same[0]["learner"] in CODED and "-tuned-" not in name]
        below += sum(table.mean(name) < table.mean("baseline") for name in fixed)
        total += len(fixed)
    return [f"Of {total} rows with fixed codes, NPQ's among them, {below} are below their baseline."] if total else []


def _losses(rows: list[Row]) -> list[str]:
    """Table 2's two learners beside each other, where the network made all its iterations."""
    found = by_name(rows, "loss", MAIN)
    pairs = [(f"gumbel-{M}x{K}", f"additive-{M}x{K}") for M in GRID for K in GRID]
    both = [tuple(found[name][0] for name in pair) for pair in pairs if found.keys() >= set(pair)]
    saved = [100 * (1 - own["loss"] / network["loss"]) for network, own in both if not stopped_early(network)]
    if not saved:
        return []
    lower = [part for part in saved if part > 0]
    extent = f", by {min(lower):.0f} to {max(lower):.0f} %" if lower else ""
    stopped = ", ".join(network["scheme"] for network, _ in both if stopped_early(network))
    apart = f" The network was stopped before its end in {stopped}." if stopped else ""
    return [f"Table 2: of {len(saved)} schemes lexicode's learner has the lower loss in {len(lower)}{extent}.{apart}"]


def stopped_early(row: Row) -> bool:
    return row["iterations"] not in (None, PAPER_ITERATIONS)


def _sizes(main: Comparison, name: str) -> str:
    """Both counts, each against the baseline's compressed dump."""
    base = main.found["baseline"][0]["paper_bytes"]
    by_paper, stored = main.found[name][0]["paper_bytes"], main.found[name][0]["stored_bytes"]
    return (
        f"{smaller(by_paper, base)} by the paper's count, {smaller(stored, base)} as stored, where codes and float16 "
        f"codebooks take {stored:,} bytes"
    )
