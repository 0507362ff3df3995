"""Where output goes: results to standard output, progress and complaints to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lexicode.learners.progress import OnProgress
from lexicode.learners.progress import Progress as LearnerProgress


def show(*parts: RenderableType) -> None:
    """Print results for a person."""
    console = Console(highlight=False, markup=False, emoji=False)
    for part in parts:
        # Sentences may hold paths to copy: never broken across lines.
        console.print(part, soft_wrap=isinstance(part, str))


def show_json(payload: Mapping[str, Any] | list[Any]) -> None:
    """Print results for a program: one JSON document, words as they are."""
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(payload, indent=2, ensure_ascii=plain, allow_nan=False) + "\n")


def say(sentence: str) -> None:
    """A remark for a person at a terminal; programs that read standard output never see it."""
    Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True).print(sentence)


def complain(sentence: str) -> None:
    """One sentence on standard error."""
    say(f"lexicode: {sentence}")


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    """A bar for each stage of a learner, with the loss falling; nothing where standard error is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def update(progress: LearnerProgress) -> None:
            loss = "" if progress.loss is None else f"loss {progress.loss:.4f}"
            loss += f", {progress.note}" if progress.note else ""
            if progress.stage not in tasks:
                tasks[progress.stage] = bars.add_task(progress.stage, total=progress.steps, loss="")
            bars.update(tasks[progress.stage], completed=progress.step, total=progress.steps, loss=loss)

        yield update
