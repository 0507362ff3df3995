"""The paper's IMDB experiment: Tables 1 to 3, and section 6.

    python -m experiments.sentiment --data DIR                        all rows, the most telling first
    python -m experiments.sentiment --data DIR --rows baseline 'uniform-*' --seeds 1 2 3
    python -m experiments.sentiment --data DIR --vectors glove.42B.300d.txt --results results-42B
    python -m experiments.sentiment --report-only                     sentiment.md and its plots from sentiment.json

DIR holds imdb_train.jsonl.gz and imdb_test.jsonl.gz, or the folders of aclImdb. Each row is written to
results/sentiment.json when it is done; a row that is there is not run again, and one that was killed goes on. Several
such processes may run at once: each takes the next row that no other has.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from experiments.common.command import checked, log, recipe_parser
from experiments.sentiment.plan import MAIN, SECOND, chosen, quick_plan, whole_plan
from experiments.sentiment.recipe import Places, Recipe, find_table
from experiments.sentiment.report import write_report
from experiments.sentiment.rows import Learning
from experiments.sentiment.training import Training
from lexicode import LexicodeError

QUICK_REVIEWS = 500


def options(arguments: list[str] | None) -> argparse.Namespace:
    parser = recipe_parser("sentiment", __doc__)
    parser.add_argument("--vectors", type=Path, help="the main table: any vector file that lexicode reads")
    parser.add_argument("--second", type=Path, help="the second table's vector file")
    parser.add_argument("--rows", nargs="+", metavar="NAME", help="rows by name or pattern: baseline 'loss:gumbel-*'")
    parser.add_argument("--seeds", nargs="+", type=int, metavar="N", help="these seeds, not the plan's")
    return checked(parser, "sentiment", arguments)


def main(arguments: list[str] | None = None) -> None:
    given = options(arguments)
    if given.report_only:
        write_report(given.results)
        return
    data = Path(given.data)
    found = {MAIN: find_table(data, MAIN, given.vectors), SECOND: find_table(data, SECOND, given.second)}
    tables = {which: path for which, path in found.items() if path is not None}
    if MAIN not in tables:
        sys.exit(f"{data}: the published vectors are not there; name a file with --vectors")
    if SECOND not in tables:
        log("the second table's rows are left out: its vectors are not there; name a file with --second")
    torch.set_num_threads(given.threads)
    places = Places(data=data, tables=tables, work=given.work, results=given.results)
    if given.quick:
        training = Training(units=16, epochs=2, learning_rate=1e-2)
        learning = Learning(iterations=300, effort="fast", threads=given.threads)
    else:
        training, learning = Training(), Learning(threads=given.threads)
    try:
        plan = chosen(quick_plan() if given.quick else whole_plan(), given.rows, given.seeds)
        recipe = Recipe(places, training, learning, log=log, most_reviews=QUICK_REVIEWS if given.quick else None)
        recipe.run_all(plan, after_each=lambda: write_report(given.results))
    except LexicodeError as error:
        sys.exit(str(error))
    log(f"nothing is left to begin; see {given.results / 'sentiment.md'}")


if __name__ == "__main__":
    main()
