"""Which rows there are, in the order of their worth: a run that is stopped early leaves the most telling ones."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch

from experiments.sentiment.rows import RowName
from lexicode import SettingError

MAIN, SECOND = "main", "second"
GRID = (8, 16, 32, 64)
# Table 1, measured: 32x16 beside binary codes of as many bits (128) and of as many basis vectors (512).
COMPOSITIONAL, BINARY_BITS, BINARY_VECTORS = "32x16", "128x2", "256x2"
ANALYSED = ("8x8", "16x16", "32x16")
LEARNERS = ("gumbel", "additive")
# Codes and codebooks of these take at most a hundredth of the baseline's compressed dump (33,943,381 bytes for
# 30,885 words x 300).
SMALLEST = (
    "additive-weighted-aimed-tuned-12x16",
    "additive-weighted-aimed-scaled-12x16",
    "additive-weighted-aimed-12x16",
    "additive-weighted-12x16",
    "additive-12x16",
)


@dataclass(frozen=True, kw_only=True)
class Task:
    """kind: "accuracy" trains the model; "loss" learns codes and measures them; "codes" is section 6.
    vectors: the main table or the second."""

    kind: str
    row: str
    seed: int = 1
    vectors: str = MAIN


def whole_plan() -> list[Task]:
    three_seeds = ("baseline", "gumbel-16x32", "additive-16x32", SMALLEST[0], "baseline-tuned")
    main = [
        "baseline", "gumbel-16x32", "additive-16x32", "additive-scaled-16x32", *SMALLEST,
        "uniform-1", "uniform-2", "uniform-4", "uniform-8",
        "gumbel-32x16", "additive-32x16", "gumbel-8x64", "additive-8x64", "gumbel-64x8", "additive-64x8",
        "npq-10x256", "npq-60x256", "prune-80", "prune-90", "baseline-tuned",
    ]  # fmt: skip
    second = ["baseline", "gumbel-16x32", "additive-16x32", "gumbel-32x16", "additive-32x16"]
    return [
        *(Task(kind="accuracy", row=row) for row in main),
        *(Task(kind="accuracy", row=row, seed=seed) for seed in (2, 3) for row in three_seeds),
        *(Task(kind="codes", row=f"{learner}-{scheme}") for scheme in ANALYSED for learner in LEARNERS),
        *(Task(kind="accuracy", row=row, vectors=SECOND) for row in second),
        *_losses(),
    ]


def _losses() -> list[Task]:
    """Table 2's cells, the cheap ones first, with Table 1's binary codes among them."""
    cells = sorted(((M, K) for M in GRID for K in GRID), key=lambda cell: (cell[0] * cell[1], cell[0]))
    schemes = [f"{M}x{K}" for M, K in cells]
    place = schemes.index(COMPOSITIONAL) + 1
    schemes[place:place] = [BINARY_BITS, BINARY_VECTORS]
    return [Task(kind="loss", row=f"{learner}-{scheme}") for scheme in schemes for learner in LEARNERS]


def quick_plan() -> list[Task]:
    """One row of every kind."""
    rows = ("baseline", "gumbel-4x8", "additive-4x8", "uniform-2", "npq-4x16", "prune-80")
    return [
        *(Task(kind="accuracy", row=row) for row in rows),
        Task(kind="accuracy", row="baseline", seed=2),
        Task(kind="accuracy", row="baseline", vectors=SECOND),
        *(Task(kind="loss", row=f"{learner}-{scheme}") for learner in LEARNERS for scheme in ("8x8", "128x2")),
        *(Task(kind="codes", row=f"{learner}-8x8") for learner in LEARNERS),
    ]


def chosen(plan: list[Task], rows: list[str] | None, seeds: list[int] | None) -> list[Task]:
    """The tasks whose row, or kind:row, or row@table, matches one of the patterns; with `seeds`, their accuracy rows
    for just those.

    >>> [task.row for task in chosen(whole_plan(), ["uniform-[12]"], None)]
    ['uniform-1', 'uniform-2']
    """
    if rows is not None:
        known = plan
        plan = [task for task in known if any(_matches(task, pattern) for pattern in rows)]
        for pattern in rows:
            if not any(_matches(task, pattern) for task in known):
                plan.append(Task(kind="accuracy", row=RowName.parse(pattern).text))
    if seeds is None:
        return plan
    if min(seeds) < 0:
        raise SettingError(f"seed {min(seeds)} is less than 0")
    once = [task for task in plan if task.kind != "accuracy"]
    names = dict.fromkeys((task.row, task.vectors) for task in plan if task.kind == "accuracy")
    return [
        *(Task(kind="accuracy", row=row, seed=seed, vectors=vectors) for seed in seeds for row, vectors in names),
        *once,
    ]


def _matches(task: Task, pattern: str) -> bool:
    names = (task.row, f"{task.kind}:{task.row}", f"{task.row}@{task.vectors}")
    return any(fnmatch(name, pattern) for name in names)
