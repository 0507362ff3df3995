"""The paper's second experiment (section 5.3): machine translation with both embedding tables coded.

    pip install 'lexicode[experiments]'
    python -m experiments.translation --data DIR

DIR holds the corpus as it is distributed. Each row is written to results/translation.json when it is done, and
results/translation.md and its plots are made from that file. A row that is there is not run again, and one that was
stopped goes on. Several such processes may run at once: each takes the next row that no other has.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch

import torch

from experiments.common.command import checked, log, recipe_parser
from experiments.common.results import Results
from experiments.translation.datasets import DATASETS, DataSet
from experiments.translation.precision import PRECISIONS, check_precision
from experiments.translation.preparing import prepare
from experiments.translation.recipe import Recipe
from experiments.translation.reporting import write_report
from experiments.translation.rows import CodeSettings, RowName
from experiments.translation.training import TrainingSettings
from lexicode import LexicodeError

QUICK_ROWS = (
    "baseline", "fixed", "additive-8x4", "gumbel-8x4", "prune-90", "uniform-2", "additive-8x4-head",
    "additive-8x4-swapped", "gumbel-8x4-swapped", "uniform-8-swapped", "gumbel-weighted-8x4-swapped",
    "additive-weighted-8x4-head-swapped",
)  # fmt: skip
QUICK_PAIRS = 400
QUICK_TRAINING = TrainingSettings(batch_size=16, validate_every=40, validation_sentences=20, max_epochs=8)
QUICK_CODES = CodeSettings(effort="fast", iterations=200)


def quick(dataset: DataSet) -> DataSet:
    """The same with little of everything: it shows that each step runs, not what the steps are worth."""
    return replace(dataset, symbols=200, units=32, training=QUICK_TRAINING, rows=QUICK_ROWS)


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    parser = recipe_parser("translation", __doc__)
    parser.add_argument("--dataset", choices=DATASETS, default="multi30k")
    parser.add_argument(
        "--rows", nargs="+", metavar="ROW", help="names (see rows.py), or patterns of the data set's: 'gumbel-*'"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[1], metavar="N")
    parser.add_argument("--effort", default="balanced", help="of the additive learner")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="of the paper's network for one table")
    parser.add_argument(
        "--precision", choices=PRECISIONS, default=PRECISIONS[0],
        help="of matrix products in training; bfloat16 is faster on processors that have instructions for it",
    )  # fmt: skip
    return checked(parser, "translation", words)


def chosen(planned: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """The data set's rows that match one of the patterns, and what matches none as it is.

    >>> chosen(["baseline", "prune-90", "prune-95"], ["prune-*", "uniform-3"])
    ['prune-90', 'prune-95', 'uniform-3']
    """
    if wanted is None:
        return list(planned)
    matching = [name for name in planned if any(fnmatch(name, pattern) for pattern in wanted)]
    return matching + [pattern for pattern in wanted if not any(fnmatch(name, pattern) for name in planned)]


def run(arguments: argparse.Namespace) -> None:
    dataset = DATASETS[arguments.dataset]
    codes = CodeSettings(effort=arguments.effort, time_limit=arguments.time_limit)
    if arguments.quick:
        dataset, codes = quick(dataset), QUICK_CODES
    dataset = replace(dataset, training=replace(dataset.training, precision=arguments.precision))
    # Names are checked before the corpus is read.
    names = [RowName.parse(row) for row in chosen(dataset.rows, arguments.rows)]
    label = "translation" if dataset.name == "multi30k" else f"translation-{dataset.name}"
    results = Results(arguments.results / f"{label}.json")
    if arguments.report_only:
        write_report(results, dataset)
        return
    check_precision(arguments.precision)
    torch.set_num_threads(arguments.threads)
    torch.set_flush_denormal(True)
    # Each data set has a baseline of its own.
    work = arguments.work / arguments.dataset
    corpus = dataset.read(arguments.data)
    data = prepare(corpus.first(QUICK_PAIRS) if arguments.quick else corpus, dataset.symbols, work)
    recipe = Recipe(dataset=dataset, data=data, results=results, work=work, codes=codes, log=log)
    for seed in arguments.seeds:
        for name in names:
            if recipe.run(name, seed):
                write_report(results, dataset)


def main(words: Sequence[str] | None = None) -> None:
    try:
        run(parsed(words))
    except LexicodeError as error:
        sys.exit(f"experiments.translation: {error}")


if __name__ == "__main__":
    main()
