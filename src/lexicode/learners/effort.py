"""How long the additive learner works: rounds that are counted, or as many as fit the time.

Learning has two stages. In its hot rounds codes are drawn at a falling temperature; in its cold rounds they are
searched for. After it every row is searched for once more, in the codebooks as they are shipped.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Hot and cold rounds; steps of the search in each cold round, and in the last search of a row that was learned
    from and of one that was not."""

    hot: int
    cold: int
    steps: int
    final_steps: int
    stranger_steps: int


EFFORTS = {
    "fast": Effort(hot=20, cold=4, steps=20, final_steps=200, stranger_steps=400),
    "balanced": Effort(hot=60, cold=12, steps=30, final_steps=400, stranger_steps=1200),
    "thorough": Effort(hot=500, cold=40, steps=50, final_steps=1600, stranger_steps=4000),
}
# Codes that are given are warmed up less than random ones: the last of the hot rounds will do.
GIVEN_CODES_WARMTH = 0.25

# How the efforts above spend the time of a row that is learned from; a stranger's last search is so much longer.
HOT_SHARE, COLD_SHARE, FINAL_SHARE = 0.7, 0.15, 0.15
STRANGER_TIMES = 3
# Fewer rounds than these learn nothing, however short the time.
LEAST_HOT, LEAST_COLD = 4, 1
STEPS_BY_CLOCK = 40
LEAST_STEPS, MOST_STEPS = 20, 20_000


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a round stands. warmth: from 1 in the first hot round to 0 in the last, None in a cold one.
    done, of: rounds or seconds, with this round and in all."""

    warmth: float | None
    steps: int
    done: int
    of: int


class Schedule(Protocol):
    def place(self, step: int) -> Place | None:
        """Of the round numbered `step`; None when learning is over."""
        ...

    def searched(self, rows: float, steps: int, seconds: float) -> None:
        """Take note of how long a search took, in all processes together."""
        ...

    def last_steps(self, rows_left: int) -> tuple[int, int]:
        """Steps of the last search of a learned row and of a stranger, while so many rows are to be searched."""
        ...


class CountedRounds:
    """An effort's rounds, one after the other: the same work on any machine."""

    def __init__(self, effort: Effort, *, warmth: float = 1.0) -> None:
        self._effort = effort
        self._skipped = effort.hot - round(effort.hot * warmth)

    def place(self, step: int) -> Place | None:
        hot = self._effort.hot - self._skipped
        if step >= hot + self._effort.cold:
            return None
        warmth = 1 - (self._skipped + step) / max(1, self._effort.hot - 1) if step < hot else None
        return Place(warmth=warmth, steps=self._effort.steps, done=step + 1, of=hot + self._effort.cold)

    def searched(self, rows: float, steps: int, seconds: float) -> None:
        pass

    def last_steps(self, rows_left: int) -> tuple[int, int]:
        return self._effort.final_steps, self._effort.stranger_steps


class TimedRounds:
    """As many rounds, and as long a last search, as fit the seconds since `started`."""

    def __init__(self, seconds: float, *, learned_rows: int, rows: int, started: float, warmth: float = 1.0) -> None:
        learning = (HOT_SHARE + COLD_SHARE) * learned_rows
        ending = FINAL_SHARE * (learned_rows + STRANGER_TIMES * (rows - learned_rows))
        self._seconds = seconds
        self._learning = seconds * learning / (learning + ending)
        self._hot = self._learning * HOT_SHARE / (HOT_SHARE + COLD_SHARE)
        self._started = started
        self._warmth = warmth
        self._first_cold: int | None = None
        self._row_step_seconds = 0.0

    def place(self, step: int) -> Place | None:
        elapsed = time.monotonic() - self._started
        if self._first_cold is None and elapsed >= self._hot and step >= LEAST_HOT:
            self._first_cold = step
        cold = self._first_cold is not None
        if self._first_cold is not None and elapsed >= self._learning and step >= self._first_cold + LEAST_COLD:
            return None
        warmth = None if cold else self._warmth * max(0.0, 1 - elapsed / self._hot)
        of = max(1, round(self._learning))
        return Place(warmth=warmth, steps=STEPS_BY_CLOCK, done=min(round(elapsed), of), of=of)

    def searched(self, rows: float, steps: int, seconds: float) -> None:
        self._row_step_seconds = seconds / (rows * steps)

    def last_steps(self, rows_left: int) -> tuple[int, int]:
        left = self._seconds - (time.monotonic() - self._started)
        steps = int(left / (rows_left * self._row_step_seconds)) if self._row_step_seconds > 0 else LEAST_STEPS
        kept = min(max(steps, LEAST_STEPS), MOST_STEPS)
        return kept, kept
