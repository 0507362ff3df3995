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
import os
import sys
import time
from pathlib import Path

import torch

from experiments.sentiment.plan import MAIN, SECOND, chosen, quick_plan, whole_plan
from experiments.sentiment.recipe import Places, Recipe, find_table
from experiments.sentiment.report import write_report
from experiments.sentiment.rows import Learning
from experiments.sentiment.training import Training
from lexicode import LexicodeError

ROOT = Path(__file__).parent.parent.parent


def log(line: str) -> None:
    print(f"{time.strftime('%m-%d %H:%M:%S')} {line}", flush=True)


def options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.sentiment",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("LEXICODE_DATA"), help="the folder of the reviews")
    parser.add_argument("--vectors", type=Path, help="the main table: any vector file that lexicode reads")
    parser.add_argument("--second", type=Path, help="the second table's vector file")
    parser.add_argument("--rows", nargs="+", metavar="NAME", help="rows by name or pattern: baseline 'loss:gumbel-*'")
    parser.add_argument("--seeds", nargs="+", type=int, metavar="N", help="these seeds, not the plan's")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "sentiment", help="learned codes and unfinished rows"
    )
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="the folder to write to")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a row of every kind, hardly trained: does it all run?")
    parser.add_argument("--report-only", action="store_true", help="make sentiment.md and its plots anew, and stop")
    found = parser.parse_args(arguments)
    if found.data is None and not found.report_only:
        parser.error("--data DIR (or LEXICODE_DATA) is needed: the folder of the IMDB reviews")
    if found.threads < 1:
        parser.error(f"--threads {found.threads} is less than 1")
    return found


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
    torch.set_num_threads(given.threads)
    places = Places(data=data, tables=tables, work=given.work, results=given.results)
    if given.quick:
        training = Training(units=16, epochs=2, learning_rate=1e-2)
        learning = Learning(iterations=300, effort="fast", threads=given.threads)
    else:
        training, learning = Training(), Learning(threads=given.threads)
    plan = chosen(quick_plan() if given.quick else whole_plan(), given.rows, given.seeds)
    try:
        recipe = Recipe(places, training, learning, log=log)
        recipe.run_all(plan, after_each=lambda: write_report(given.results))
    except LexicodeError as error:
        sys.exit(str(error))
    log(f"nothing is left to begin; see {given.results / 'sentiment.md'}")


if __name__ == "__main__":
    main()
