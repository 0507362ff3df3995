"""The options of `compress` that some learners take and others do not."""

from __future__ import annotations

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


OfEffort = Annotated[
    Effort | None, typer.Option("--effort", help="Time for quality; additive only.  [default: balanced]")
]
Iterations = Annotated[
    int | None,
    typer.Option("--iterations", metavar="N", help="Steps of training; gumbel only.  [default: 200000]"),
]
OfLoss = Annotated[Loss | None, typer.Option("--loss", help="What is lowered; gumbel only.  [default: squared]")]
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
    "loss": ("gumbel",),
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


def check_taken(learner: str, option: str) -> None:
    takers = TAKEN_BY[option]
    if learner not in takers:
        raise SettingError(f"--{option} is for --learner {' or '.join(takers)}, not for {learner}")
