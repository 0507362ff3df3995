"""sentiment.json -> sentiment.md and its plots: the paper's tables, its figures beside ours."""

from __future__ import annotations

from pathlib import Path

from experiments.common.comparing import with_spread
from experiments.common.results import Results, Row, write_whole
from experiments.common.sizes import mebibytes
from experiments.common.tables import markdown_table
from experiments.sentiment.comparing import seed_spread
from experiments.sentiment.differences import differences
from experiments.sentiment.figures import draw_accuracy, draw_balance, draw_hamming
from experiments.sentiment.paper import ACCURACIES, LEAST_USED, MEGABYTES, PaperRow
from experiments.sentiment.plan import BINARY_BITS, BINARY_VECTORS, COMPOSITIONAL, GRID, LEARNERS, MAIN, SECOND
from experiments.sentiment.rows import PAPER_ITERATIONS
from experiments.sentiment.selecting import by_name
from experiments.sentiment.verdict import stopped_early, verdict
from lexicode import CodeScheme

NAMES = {"gumbel": "the paper's network", "additive": "lexicode's additive learner"}

INTRODUCTION = """\
# IMDB sentiment on compressed embeddings

Section 5.2 and section 6 of [the paper](https://arxiv.org/abs/1711.01068) (Shu & Nakayama 2018). Made by
`python -m experiments.sentiment --data DIR`; every figure is in sentiment.json, with its seed and commit.

The model is the paper's: fixed embeddings, one LSTM layer of 150 units, a softmax on its last state; Adam at 1e-4, 15
epochs, the epoch of lowest validation loss; texts in lower case by nltk's word rules, at most 400 words; accuracy on
the 25,000 test reviews. The vocabulary is the words that both IMDB and the vectors have."""

NAMING = """\
Rows are named by learner and scheme: gumbel is the paper's network, additive is lexicode's learner, npq is normalized
product quantization. **weighted**: a word's error counts by the square root of how often the training reviews have it.
**aimed**: errors along the direction that a logistic regression on the training reviews' mean vectors finds count 64
times; such codes have seen the training labels, which no other codes have. **scaled**: rows are moved away from their
mean until they vary as GloVe's do; codes of least error are nearer to it. **exact32**: the 32 words that count most
are kept as they are (these two runs took that direction with a ridge of 0.01, where others have 0.001). **tuned**: the
codebooks train with the model and the codes stay, where all else but pruned tables is fixed; the loss is of the trained
rows against GloVe's. **baseline-tuned** is the dense table trained with the model. **uniform-4** has 4 bits a value,
**prune-80** has 80 % zeros and trains with the model."""

SIZES = """\
**Size** is by the paper's count: float32, numpy arrays dumped compressed, codes packed, pruned tables as scipy's
csc_matrix, no words; MiB are 2^20 bytes, as the paper's MB are. Codebooks are counted as plain float32: ours are of
float16, whose dump would be smaller than the paper's kind. **Stored** is codes and codebooks as lexicode's file has
them (float16 codebooks, nothing compressed). Both are also given as parts of the baseline's compressed dump. **File**
is all of lexicode's file, words included (for the baseline: float32 and the words as text). **Loss** is the mean
squared distance a row. **Accuracy** and **cross entropy**, on the test reviews, are means over seeds, ± their standard
deviation where there are several. A seed is that of the LSTM's training; codes are learned once. The paper's figures
are those of its network in rows of the same scheme by lexicode's learner, too."""

ARITHMETIC = """\
With N vectors a binary code has N/2 bits and sums N/2 vectors; M codebooks of K, N = MK, have M log2 K bits and sum M.
Size is by the paper's count."""


def write_report(folder: Path) -> None:
    rows = Results(folder / "sentiment.json").rows
    plots = [draw(rows, folder) for draw in (draw_accuracy, draw_balance, draw_hamming)]
    accuracy_plot, balance_plot, hamming_plot = (f"![]({name})" if name else "" for name in plots)
    parts = [
        INTRODUCTION,
        _data(rows),
        verdict(rows),
        "## Accuracy and size (the paper's Table 3)",
        NAMING,
        SIZES,
        _noise(rows),
        accuracy_table(rows, MAIN),
        accuracy_plot,
        *_titled("## The second table: as many words as the paper's, 100 dimensions", accuracy_table(rows, SECOND)),
        *_titled("## Reconstruction loss (the paper's Table 2)", *loss_tables(rows)),
        *_titled("## Binary and compositional codes (the paper's Table 1)", *coding_table(rows)),
        *_titled("## What the codes look like (the paper's section 6)", *code_tables(rows), balance_plot, hamming_plot),
        differences(rows),
    ]
    write_whole(folder / "sentiment.md", "\n\n".join(part for part in parts if part) + "\n")


def _titled(title: str, *parts: str) -> list[str]:
    return [title, *parts] if any(parts) else []


def _data(rows: list[Row]) -> str:
    lines = []
    for table, sentence in ((MAIN, "The main table"), (SECOND, "The second")):
        for row in rows:
            if row["kind"] == "accuracy" and row["table"] == table:
                lines.append(
                    f"{sentence} is made on {row['vectors']}: {row['words']:,} words x {row['dim']}, "
                    f"{row['known_tokens']:.1%} of the texts' tokens, punctuation counted."
                )
                break
    return "\n".join(lines)


def _noise(rows: list[Row]) -> str:
    """How much of a difference is luck."""
    spread = seed_spread(rows)
    if spread is None:
        return ""
    return (
        f"Over all rows of several seeds the standard deviation of a seed is {spread:.2f}: between two rows of one "
        f"seed each, a difference below {2 * 2**0.5 * spread:.1f} (two standard deviations of it) may be luck. "
        "Differences from the baseline are given with the standard error that follows from it; what another learning "
        "of the codes would change is not in it."
    )


# ---- Table 3


def accuracy_table(rows: list[Row], table: str) -> str:
    found = by_name(rows, "accuracy", table)
    if not found:
        return ""
    base = found["baseline"][0]["paper_bytes"] if "baseline" in found else None
    lines = []
    for name, same in found.items():
        first = same[0]
        stored = first["stored_bytes"]
        paper = _paper(first)
        lines.append(
            [
                name,
                _bits(first),
                mebibytes(first["paper_bytes"]),
                _percent(first["paper_bytes"], base),
                mebibytes(stored),
                _percent(stored, base),
                mebibytes(first["file_bytes"]),
                None if first["loss"] is None else f"{first['loss']:.2f}",
                with_spread([100 * row["accuracy"] for row in same], digits=2),
                with_spread([row["test_loss"] for row in same], digits=4),
                len(same),
                f"{paper.megabytes:g}" if paper else None,
                f"{paper.accuracy:.2f}" if paper else None,
            ]
        )
    columns = [
        "row", "bits a word", "size, MiB", "of baseline", "stored, MiB", "of baseline", "file, MiB", "loss", "accuracy",
        "cross entropy", "seeds", "paper: MB", "paper: accuracy",
    ]  # fmt: skip
    return markdown_table(columns, lines)


def _paper(row: Row) -> PaperRow | None:
    name = f"gumbel-{row['scheme']}" if row["row"] == f"additive-{row['scheme']}" else row["row"]
    return ACCURACIES.get(name)


def _bits(row: Row) -> int | None:
    """Bits a word; None for a pruned table, where words differ."""
    if row["scheme"] is not None:
        # NPQ codes each word's norm apart, in a byte.
        return CodeScheme.parse(row["scheme"]).bits_per_row + (8 if row["learner"] == "npq" else 0)
    if row["learner"] == "prune":
        return None
    return int(row["dim"]) * (32 if row["learner"] == "baseline" else int(row["row"].partition("-")[2]))


def _percent(size: int | None, base: int | None) -> str | None:
    return None if size is None or not base else f"{100 * size / base:.2f} %"


# ---- Table 2


def loss_tables(rows: list[Row]) -> list[str]:
    found = by_name(rows, "loss", MAIN)
    if not found:
        return []
    parts: list[str] = []
    for learner in LEARNERS:
        lines = [[f"K={K}", *(_cell(found, f"{learner}-{M}x{K}") for M in GRID)] for K in GRID]
        paper = "; the paper's in brackets, on other vectors and more words" if learner == "gumbel" else ""
        parts += [f"Loss of {NAMES[learner]}{paper}:", markdown_table(["", *(f"M={M}" for M in GRID)], lines)]
    sizes = {}
    for same in found.values():
        sizes[same[0]["scheme"]] = mebibytes(same[0]["paper_bytes"])
    lines = [[f"K={K}", *(_sizes_cell(sizes, M, K) for M in GRID)] for K in GRID]
    stopped = [row for same in found.values() for row in same if stopped_early(row)]
    if stopped:
        made = ", ".join(f"{row['scheme']} {row['iterations']:,}" for row in stopped)
        parts.append(f"\\* fewer iterations than the paper's {PAPER_ITERATIONS:,}, by a limit of time: {made}.")
    return [
        *parts,
        "Size in MiB by the paper's count; the paper's in brackets:",
        markdown_table(["", *(f"M={M}" for M in GRID)], lines),
    ]


def _cell(found: dict[str, list[Row]], name: str) -> str | None:
    if name not in found:
        return None
    row = found[name][0]
    star = "\\*" if stopped_early(row) else ""
    paper = f" ({row['paper_loss']})" if row["paper_loss"] is not None else ""
    return f"{row['loss']:.2f}{star}{paper}"


def _sizes_cell(sizes: dict[str, str], M: int, K: int) -> str | None:
    ours = sizes.get(f"{M}x{K}")
    return None if ours is None else f"{ours} ({MEGABYTES[M, K]})"


# ---- Table 1


def coding_table(rows: list[Row]) -> list[str]:
    found = by_name(rows, "loss", MAIN)
    anything = next(iter(found.values()), None)
    if anything is None:
        return []
    words = anything[0]["words"]
    lines: list[list[object]] = [["conventional", f"{words:,}", 1, "-", "-", "0", "0"]]
    for label, text in (
        (f"compositional {COMPOSITIONAL}", COMPOSITIONAL),
        (f"binary {BINARY_BITS}: as many bits", BINARY_BITS),
        (f"binary {BINARY_VECTORS}: as many vectors", BINARY_VECTORS),
    ):
        scheme = CodeScheme.parse(text)
        losses = [
            found[f"{learner}-{text}"][0]["loss"] if f"{learner}-{text}" in found else None for learner in LEARNERS
        ]
        shown = [None if loss is None else f"{loss:.2f}" for loss in losses]
        size = next((mebibytes(same[0]["paper_bytes"]) for same in found.values() if same[0]["scheme"] == text), None)
        lines.append([label, scheme.basis_vectors, scheme.codebooks, scheme.bits_per_row, size, *shown])
    columns = [
        "coding",
        "vectors",
        "vectors summed",
        "bits a word",
        "size, MiB",
        *(f"loss, {NAMES[learner]}" for learner in LEARNERS),
    ]
    return [ARITHMETIC, markdown_table(columns, lines)]


# ---- section 6


def code_tables(rows: list[Row]) -> list[str]:
    found = [same[0] for same in by_name(rows, "codes", MAIN).values()]
    if not found:
        return []
    small = [row for row in found if len(row["counts"]) <= 16]
    words = list(dict.fromkeys(word for row in small for word in row["examples"]))
    examples = [[word, *(f"`{_written(row['examples'].get(word))}`" for row in small)] for word in words]
    parts = [markdown_table(["word", *(row["row"] for row in small)], examples, left=1 + len(small))] if words else []
    for row in (each for each in found if each["scheme"] == "8x8"):
        groups = [[f"`{_written(each['code'])}`", " ".join(each["words"]), each["count"]] for each in row["shared"]]
        if groups:
            share = f"{row['rows_that_share']:,} of {row['words']:,} words"
            parts += [
                f"{row['row']}: {share} share their code with another. The codes that most words share:",
                markdown_table(["code", "the first of its words", "words"], groups, left=2),
            ]
    balance = [
        [
            row["row"],
            f"{row['least_used']:,} ({100 * row['least_used'] / row['words']:.1f} %)",
            f"{_most_used(row, row['counts'][:1]):.1f} %",
            f"{_most_used(row, row['counts']):.1f} %",
            f"{row['rows_that_share']:,}",
            f"{row['hamming']['random_rank_correlation']:.3f}",
            f"{row['hamming']['near_rank_correlation']:.3f}",
        ]
        for row in found
    ]
    columns = [
        "codes", "words of the least used codeword", "of the most used of the first codebook", "of any",
        "words that share a code", "Hamming and cosine distance: random pairs", "near pairs",
    ]  # fmt: skip
    return [
        *parts,
        "How evenly codewords are used, and Spearman's rank correlation of the codes' Hamming distance with the words' "
        "cosine distance (200,000 random pairs; 2,000 words with each of their 50 nearest). In the paper, with 75,102 "
        f"words, {LEAST_USED}.",
        markdown_table(columns, balance),
    ]


def _written(code: list[int] | None) -> str:
    """As the paper prints codes: hexadecimal digits."""
    return "-" if code is None else " ".join(f"{component:X}" for component in code)


def _most_used(row: Row, codebooks: list[list[int]]) -> float:
    """The part of the words, in percent, that the most used codeword of these codebooks has."""
    most: int = max(max(counts) for counts in codebooks)
    return 100.0 * most / int(row["words"])
