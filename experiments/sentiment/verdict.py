"""What the rows show, in sentences that are made from them; and why they differ from the paper's."""

from __future__ import annotations

from experiments.common.results import Row, mean_and_spread
from experiments.sentiment.paper import ACCURACIES
from experiments.sentiment.plan import GRID, MAIN, SECOND
from experiments.sentiment.selecting import by_name

HUNDREDTH = 0.01


def verdict(rows: list[Row]) -> str:
    """The paper's claim, the smallest row without loss, and the cheap rival; nothing before there is a baseline."""
    found = by_name(rows, "accuracy", MAIN)
    if "baseline" not in found:
        return ""
    base_bytes, spread = found["baseline"][0]["paper_bytes"], seed_spread(rows)
    lines = ["## What it shows", "", f"- The baseline reaches {_figures(found['baseline'])} with {base_bytes:,} bytes."]
    if "baseline-tuned" in found:
        tuned = _figures(found["baseline-tuned"])
        lines.append(f"- With its table trained too it reaches {tuned}: what tuned rows compare with.")
    for name, label in (
        ("gumbel-16x32", "The paper's claim, 16x32 by its network"),
        ("additive-16x32", "16x32 by lexicode"),
    ):
        if name in found:
            sizes = _sizes(found[name][0], base_bytes)
            lines.append(f"- {label}: {_figures(found[name])}, {_against(found, name, spread)}; {sizes}.")
    small = [
        name
        for name, same in found.items()
        if same[0]["learner"] == "additive" and (same[0]["stored_bytes"] or base_bytes) <= HUNDREDTH * base_bytes
    ]
    small.sort(key=lambda name: -mean_and_spread([row["accuracy"] for row in found[name]])[0])
    lines += [
        f"- {name}: {_figures(found[name])}, {_against(found, name, spread)}; {_sizes(found[name][0], base_bytes)}."
        for name in small
    ]
    bits = [found[name] for name in ("uniform-1", "uniform-2") if name in found]
    lines += [
        f"- The cheap rival, {same[0]['row']}: {_figures(same)}, {_against(found, same[0]['row'], spread)}, "
        f"{_smaller(same[0]['paper_bytes'], base_bytes)}."
        for same in bits
    ]
    return "\n".join([*lines, *_lower_losses(rows)])


def _lower_losses(rows: list[Row]) -> list[str]:
    """How lexicode's learner does beside the network in Table 2, over the schemes that both have."""
    found = by_name(rows, "loss", MAIN)
    pairs = [(f"gumbel-{M}x{K}", f"additive-{M}x{K}") for M in GRID for K in GRID]
    losses = [[found[name][0]["loss"] for name in pair] for pair in pairs if found.keys() >= set(pair)]
    if not losses:
        return []
    saved = [100 * (1 - additive / gumbel) for gumbel, additive in losses]
    lower = sum(part > 0 for part in saved)
    return [
        f"- Table 2: lexicode's learner has the lower loss in {lower} of {len(saved)} schemes, by "
        f"{min(saved):.0f} to {max(saved):.0f} %."
    ]


def _figures(same: list[Row]) -> str:
    mean, spread = mean_and_spread([100 * row["accuracy"] for row in same])
    return f"{mean:.2f} % ± {spread:.2f} ({len(same)} seeds)" if len(same) > 1 else f"{mean:.2f} % (one seed)"


def _against(found: dict[str, list[Row]], name: str, spread: float | None) -> str:
    """The difference from the baseline's mean, and its standard error if a seed's standard deviation is `spread`."""
    mean = mean_and_spread([100 * row["accuracy"] for row in found[name]])[0]
    base = mean_and_spread([100 * row["accuracy"] for row in found["baseline"]])[0]
    if spread is None:
        return f"{mean - base:+.2f} against the baseline"
    error = spread * (1 / len(found[name]) + 1 / len(found["baseline"])) ** 0.5
    return f"{mean - base:+.2f} against the baseline (standard error {error:.2f})"


def _sizes(row: Row, base: int) -> str:
    """Both counts, each against the baseline's compressed dump."""
    by_paper, stored = row["paper_bytes"], row["stored_bytes"]
    return (
        f"{_smaller(by_paper, base)} by the paper's count, {_smaller(stored, base)} as stored, where codes and float16 "
        f"codebooks take {stored:,} bytes"
    )


def seed_spread(rows: list[Row]) -> float | None:
    """The standard deviation of accuracy, in percent, between seeds of one row, pooled over all rows of several."""
    groups = [same for table in (MAIN, SECOND) for same in by_name(rows, "accuracy", table).values() if len(same) > 1]
    if not groups:
        return None
    spreads = [mean_and_spread([100 * row["accuracy"] for row in same])[1] for same in groups]
    degrees = [len(same) - 1 for same in groups]
    squares = sum(degree * spread**2 for degree, spread in zip(degrees, spreads, strict=True))
    return float((squares / sum(degrees)) ** 0.5)


def _smaller(size: int, base: int) -> str:
    return f"{100 * (1 - size / base):.2f} % smaller ({base / size:.0f} times)"


def differences(rows: list[Row]) -> str:
    """Why these are not the paper's very figures."""
    mine = [row for row in rows if row["kind"] == "accuracy" and row["table"] == MAIN]
    if not mine:
        return ""
    published = mine[0]["vectors"] == PUBLISHED_LABEL
    return "\n".join(
        [
            "## Where it differs from the paper, and why",
            "",
            *_claim(rows),
            *([OTHER_VECTORS] if published else []),
            OTHERWISE,
        ]
    )


def _claim(rows: list[Row]) -> list[str]:
    """Why 16x32 may be below its baseline here, where the paper's is above."""
    found, spread = by_name(rows, "accuracy", MAIN), seed_spread(rows)
    if spread is None or not {"baseline", "gumbel-16x32"} <= found.keys():
        return []
    paper = ACCURACIES["gumbel-16x32"].accuracy - ACCURACIES["baseline"].accuracy
    return [
        f"- **No loss.** In the paper 16x32 is {paper:+.2f} against its baseline; here it is "
        f"{_against(found, 'gumbel-16x32', spread)}. The paper names no seeds. If a seed matters as much there as here "
        f"(a standard deviation of {spread:.2f}), two single runs differ by {2**0.5 * spread:.1f} of themselves, and "
        "neither figure settles the matter."
    ]


PUBLISHED_LABEL = "glove840B_300d_33860"
OTHER_VECTORS = """\
- **The vectors.** The paper's GloVe 42B was not at hand. The main table has the paper's 300 dimensions, but 31 thousand
  words where the paper has 75, and neither punctuation nor clitics (n't, 's); the second has the paper's number of
  words, but 100 dimensions. A word's code costs what it costs in the paper, but fewer words share the codebooks: so a
  scheme is a larger part of its baseline here (16x32: 2.7 % and not 1.6 %). With `--vectors glove.42B.300d.txt` the
  vectors are the paper's."""
OTHERWISE = """\
- **Losses** of Table 2 depend on the vectors' lengths, so only their order compares. The paper's are of a validation
  set; these are of all rows.
- **Codebooks** are float16 in all coded rows, as lexicode stores them.
- **What the paper leaves open:** the batch size (32 here, reviews of like length together), a limit on the gradient (a
  norm of 1 here: without it the training loss jumped up in the middle of both runs that were made), the validation set
  (1,250 of the training reviews, always the same), the weights' start (orthogonal and Glorot's, forget gates open), the
  state that the softmax sees (the last), what becomes of unknown words (left out before the cut at 400 words).
- **Sentences** are parted at full stops by a rule, for nltk's own splitter needs a download. `<br />` is left out.
- **Pruning** follows Han et al. (2015) over the first ten epochs, each zeroing the same share of what is left; the five
  epochs after that train on. It and baseline-tuned train the table by Adam on the rows of each batch alone; tuned
  codebooks by plain Adam."""
