"""The options of `compress` that some learners take and others do not."""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated, Any

import typer

from lexicode.errors import SettingError


class Effort(str, Enum):
    fast = "fast"
    balanced = "balanced"
    thorough = "thorough"


class Loss(str, Enum):
    squared = "squared"
    cosine = "cosine"


UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}

OfEffort = Annotated[
    Effort | None, typer.Option("--effort", help="Time for quality; additive only.  [default: balanced]")
]
Iterations = Annotated[
    int | None,
    typer.Option("--iterations", metavar="N", help="Steps of training; gumbel only.  [default: 200000]"),
]
OfTime = Annotated[
    str | None,
    typer.Option("--time", metavar="T", help="Take this long instead of an effort: 60s, 5m, 1h; additive only."),
]
OfLoss = Annotated[
    Loss | None,
    typer.Option("--loss", help="What is lowered; cosine cares for directions; additive, gumbel.  [default: squared]"),
]
OfWeights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="zipf|FILE",
        help="How much each row counts: zipf, for words in the order of their frequency, or a file of numbers or of "
        "words with counts; additive, gumbel.",
    ),
]
SampleRows = Annotated[
    int | None,
    typer.Option(
        "--sample-rows",
        metavar="N",
        min=1,
        help="Learn codebooks on so many rows at most; additive only.  [default: 100000, or 128 a codeword]",
    ),
]
Exact = Annotated[int, typer.Option("--exact", metavar="N", min=0, help="Keep the N most frequent rows as they are.")]
MaxError = Annotated[
    float | None,
    typer.Option(
        "--max-error", metavar="E", min=0, help="Keep as it is every row that would lie further than E from itself."
    ),
]
Refine = Annotated[bool, typer.Option("--refine", help="Hand the codes to the additive learner; gumbel only.")]
Device = Annotated[str | None, typer.Option("--device", metavar="DEV", help="cpu, cuda, cuda:1; gumbel only.")]
CheckpointFile = Annotated[
    str | None,
    typer.Option(
        "--checkpoint", metavar="FILE", help="Keep the state here, and go on from it if it exists; additive, gumbel."
    ),
]
CurveFile = Annotated[
    str | None, typer.Option("--curve", metavar="FILE", help="Write the learning curve as JSON; additive, gumbel.")
]
ProcessCount = Annotated[
    int, typer.Option("--processes", metavar="N", min=1, help="Processes that share the rows; additive, gumbel.")
]

# Which learners take an option; those that all take are not listed.
TAKEN_BY = {
    "effort": ("additive",),
    "iterations": ("gumbel",),
    "time": ("additive",),
    "loss": ("additive", "gumbel"),
    "weights": ("additive", "gumbel"),
    "sample_rows": ("additive",),
    "refine": ("gumbel",),
    "device": ("gumbel",),
    "checkpoint": ("additive", "gumbel"),
    "curve": ("additive", "gumbel"),
    "processes": ("additive", "gumbel"),
}


def settings_for(learner: str, **given: Any) -> dict[str, Any]:
    """The options that were given, as the learner's settings; one that it does not take is an error."""
    settings = {}
    for name, value in given.items():
        if value is None or value is False:
            continue
        check_taken(learner, name)
        settings[name] = value.value if isinstance(value, Enum) else value
    return settings


def parse_seconds(text: str) -> float:
    """'90s' -> 90.0, '1.5m' -> 90.0"""
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(s|m|min|h)?\s*", text, flags=re.IGNORECASE)
    seconds = float(match[1]) * UNITS[(match[2] or "").lower()] if match is not None else 0.0
    if seconds <= 0:
        raise SettingError(f"--time {text!r} is not a time; write 60s, 5m or 1h")
    return seconds


def check_taken(learner: str, option: str) -> None:
    takers = TAKEN_BY[option]
    if learner not in takers:
        raise SettingError(f"--{option.replace('_', '-')} is for --learner {' or '.join(takers)}, not for {learner}")
