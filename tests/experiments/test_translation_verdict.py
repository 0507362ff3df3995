"""What the translation report says of its rows, from rows made up here."""

from __future__ import annotations

from typing import Any

from experiments.translation.verdict import verdict


def row(name: str, bleu: float, paper_bytes: int, **more: Any) -> dict[str, Any]:
    kind = name.partition("-")[0]
    return {
        "name": name, "kind": kind, "bleu": bleu, "rows": [100, 200], "loss": 0.5,
        "paper_bytes": paper_bytes, "file_bytes": paper_bytes // 2, **more,
    }  # fmt: skip


def groups(*rows: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for each in rows:
        found.setdefault(each["name"], []).append(each)
    return found


BASELINES = [row("baseline", 40.0, 2**20), row("baseline", 41.0, 2**20)]


def test_nothing_is_said_before_there_is_a_baseline() -> None:
    assert verdict(groups(row("additive-4x4", 40, 1000))) == ""


def test_differences_come_with_the_standard_error_of_their_seeds() -> None:
    text = verdict(groups(*BASELINES, row("gumbel-4x4", 39.5, 2**16)))
    assert "The baseline reaches 40.50 ± 0.71 (2 seeds) with 1.00 MB. A seed's standard deviation" in text
    assert "by the rows of several seeds (baseline), is 0.71" in text
    # 0.7071 * sqrt(1 / 2 + 1)
    assert "gumbel-4x4: 39.50 (one seed), -1.00 against the baseline (standard error 0.87)" in text
    assert "93.75 % smaller (16 times) by the paper's count, 32,768 bytes as a file" in text


def test_one_seed_each_has_no_standard_error() -> None:
    text = verdict(groups(BASELINES[0], row("gumbel-4x4", 39.5, 2**16)))
    assert "All rows are of one seed" in text
    assert "-0.50 against the baseline;" in text


def test_the_smallest_table_without_loss() -> None:
    rows = [row("additive-8x4", 40.6, 4000), row("additive-4x4", 40.5, 2000), row("additive-2x4", 40.4, 1000)]
    text = verdict(groups(*BASELINES, *rows))
    assert "whose mean is not below the baseline's is additive-4x4." in text
    assert text.index("additive-8x4") < text.index("additive-4x4") < text.index("additive-2x4")
    text = verdict(groups(*BASELINES, rows[2]))
    assert "None of lexicode's tables reaches the baseline's mean; additive-2x4 comes nearest." in text


def test_both_learners_losses_where_both_have_the_scheme() -> None:
    rows = [row("gumbel-4x4", 40, 2000, loss=0.8), row("additive-4x4", 40, 2000, loss=0.6), row("gumbel-8x4", 40, 3000)]
    assert "Lexicode's loss a row is below the network's by 25 % at 4x4." in verdict(groups(*BASELINES, *rows))


def test_a_coded_softmax_is_told_apart() -> None:
    head = {"paper_bytes": 60_000, "file_bytes": 48_000}
    rows = [row("additive-4x4", 40.2, 2000), row("additive-4x4-head", 40.0, 2000, head=head)]
    text = verdict(groups(*BASELINES, *rows))
    # 600 values for each of 200 pieces are 480,000 bytes.
    assert "-0.20 against the additive-4x4" in text
    assert "the softmax's 0.458 MB become a file of 48,000 bytes, 90.00 % smaller (10 times)" in text
    assert text.count("additive-4x4-head") == 1


def test_rivals_have_no_file_of_their_own() -> None:
    text = verdict(groups(*BASELINES, row("prune-90", 40.5, 2**17, file_bytes=None)))
    assert "The rival prune-90: 40.50 (one seed), +0.00 against the baseline" in text
    assert "87.50 % smaller (8 times)." in text
