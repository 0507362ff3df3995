"""What the rows show, in sentences that are made from them."""

from __future__ import annotations

from experiments.common.comparing import Comparison, pooled_spread
from experiments.common.results import Row
from experiments.common.sizes import mebibytes, smaller
from experiments.translation.model import READOUT

FLOAT32 = 4


def compared(groups: dict[str, list[Row]]) -> Comparison:
    """name -> its rows of all seeds; BLEU is compared"""
    spread = pooled_spread([row["bleu"] for row in group] for group in groups.values())
    return Comparison(found=groups, value=lambda row: float(row["bleu"]), spread=spread)


def verdict(groups: dict[str, list[Row]]) -> str:
    """The paper's claim, the same tables by lexicode and the smallest without loss, the rivals, the coded softmax;
    nothing before there is a baseline."""
    rows = compared(groups)
    if "baseline" not in groups:
        return ""
    sentences = [
        _baseline(rows),
        *_coded(rows, "gumbel", "The paper's network"),
        *_coded(rows, "additive", "Lexicode"),
        *_smallest(rows),
        *_losses(rows),
        *_rivals(rows),
        *_heads(rows),
    ]
    return "\n".join(["## What it shows", "", *(f"- {sentence}" for sentence in sentences)])


def _baseline(rows: Comparison) -> str:
    size = mebibytes(rows.found["baseline"][0]["paper_bytes"])
    return f"The baseline reaches {rows.figures('baseline')} with {size} MB. {_luck(rows)}"


def _luck(rows: Comparison) -> str:
    if rows.spread is None:
        return "All rows are of one seed, so differences of half a point may be luck."
    several = [name for name, group in rows.found.items() if len(group) > 1]
    return (
        f"A seed's standard deviation, by the rows of several seeds ({', '.join(several)}), is {rows.spread:.2f}: the "
        "standard errors follow from it, so they are rough themselves."
    )


def _coded(rows: Comparison, kind: str, label: str) -> list[str]:
    return [f"{label}, {_told(rows, name)}." for name in _names(rows, kind)]


def _names(rows: Comparison, *kinds: str) -> list[str]:
    """Rows of these kinds whose softmax is dense, the largest first"""
    names = [name for name, group in rows.found.items() if group[0]["kind"] in kinds and "head" not in group[0]]
    return sorted(names, key=lambda name: -int(rows.found[name][0]["paper_bytes"]))


def _told(rows: Comparison, name: str) -> str:
    first, base = rows.found[name][0], rows.found["baseline"][0]
    told = f"{name}: {rows.figures(name)}, {rows.against(name)}; {smaller(first['paper_bytes'], base['paper_bytes'])}"
    if first["kind"] in ("prune", "uniform"):
        return told
    stored = f"{first['file_bytes']:,} bytes as a file"
    return f"{told} by the paper's count, {stored}, {smaller(first['file_bytes'], base['file_bytes'])}"


def _smallest(rows: Comparison) -> list[str]:
    """Of lexicode's the smallest table whose mean is not below the baseline's"""
    names = _names(rows, "additive")
    kept = [name for name in names if rows.gain(name) >= 0]
    if not names:
        return []
    if not kept:
        best = max(names, key=rows.gain)
        return [f"None of lexicode's tables reaches the baseline's mean; {best} comes nearest."]
    return [f"The smallest of lexicode's tables whose mean is not below the baseline's is {kept[-1]}."]


def _losses(rows: Comparison) -> list[str]:
    """Both learners' distance to the baseline's tables, where both coded them alike"""
    pairs = [(name, name.replace("gumbel", "additive")) for name in _names(rows, "gumbel")]
    saved = [
        f"{100 * (1 - rows.found[own][0]['loss'] / rows.found[network][0]['loss']):.0f} % at "
        f"{network.partition('-')[2]}"
        for network, own in pairs
        if own in rows.found
    ]
    return [f"Lexicode's loss a row is below the network's by {', '.join(saved)}."] if saved else []


def _rivals(rows: Comparison) -> list[str]:
    return [f"The rival {_told(rows, name)}." for name in _names(rows, "uniform", "prune")]


def _heads(rows: Comparison) -> list[str]:
    """Past the paper: the softmax's table coded as well"""
    lines = []
    for name, group in rows.found.items():
        if "head" not in group[0]:
            continue
        head, dense = group[0]["head"], READOUT * group[0]["rows"][1] * FLOAT32
        beside = rows.against(name)
        if (plain := name.removesuffix("-head")) in rows.found:
            beside += f", {rows.against(name, plain)}"
        lines.append(
            f"With the softmax coded too, {name}: {rows.figures(name)}, {beside}; the softmax's {mebibytes(dense)} MB "
            f"become a file of {head['file_bytes']:,} bytes, {smaller(head['file_bytes'], dense)}."
        )
    return lines
