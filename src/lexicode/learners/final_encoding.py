"""Every row's code in the codebooks as they are shipped, a block of rows at a time."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexicode.composition import Floats, compose
from lexicode.encoding import SearchTables
from lexicode.learners.effort import Schedule
from lexicode.learners.kmeans import kmeans
from lexicode.learners.progress import OnProgress, Progress
from lexicode.learners.rounds import Rounds
from lexicode.learners.searching import Searching
from lexicode.learners.team import Team
from lexicode.lengths import nearest_levels, normalized, scales
from lexicode.packing import Codes, code_dtype, pack
from lexicode.scheme import CodeScheme
from lexicode.vectors import Vectors

STREAM_ROWS = 65_536
SCALE_LEVELS = 256
# So many rows tell which lengths there are.
SCALED_ROWS = 20_000


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """packed codes (V, bytes_per_row) uint8, norms (V,) uint8 where lengths are coded apart, and the loss of all"""

    packed: npt.NDArray[np.uint8]
    norms: npt.NDArray[np.uint8] | None
    loss: float


@dataclass(frozen=True, kw_only=True)
class FinalEncoding:
    """codebooks (M, K, dim) float32 as they are shipped; levels (up to 256,) float32: code each row's direction, and
    its length as the nearest of these."""

    scheme: CodeScheme
    codebooks: Floats
    levels: Floats | None
    schedule: Schedule
    pool: ThreadPoolExecutor
    team: Team
    seed: int

    def run(self, vectors: Vectors, state: Rounds, given: Codes | None, report: OnProgress) -> Encoded:
        """Rows that were learned from go on from the state's codes, the others from `given` codes (V, M) or none."""
        arrays = self._empty(len(vectors))
        first_row, blocks = self.team.first_row(len(vectors)), -(-len(vectors) // STREAM_ROWS)
        searching = Searching(tables=SearchTables.of(self.codebooks), pool=self.pool, seed=self.seed)
        done, error = self._resumed(arrays, state), state.encoded_error
        for number, (start, block) in enumerate(vectors.blocks(STREAM_ROWS)):
            stop = start + len(block)
            if stop <= done:
                continue
            codes = np.empty((len(block), self.scheme.codebooks), dtype=code_dtype(self.scheme.bits))
            targets = block if self.levels is None else normalized(block)
            numbers = first_row + np.arange(start, stop)
            errors = self._search(searching, targets, codes, numbers, state, start, given, len(vectors) - start)
            arrays["packed"][start:stop] = pack(codes, bits=self.scheme.bits)
            if self.levels is not None:
                arrays["norms"][start:stop], errors = self._scaled(block, codes, self.levels)
            error += float(errors.sum(dtype=np.float64))
            state.finish_block({name: array[:stop] for name, array in arrays.items()}, error)
            report(Progress(stage="encoding", step=number + 1, steps=blocks, loss=max(error / stop, 0.0)))
        error, rows = self.team.total(error, len(vectors))
        return Encoded(packed=arrays["packed"], norms=arrays.get("norms"), loss=error / rows)

    def _empty(self, rows: int) -> dict[str, npt.NDArray[np.uint8]]:
        arrays: dict[str, npt.NDArray[np.uint8]] = {
            "packed": np.empty((rows, self.scheme.bytes_per_row), dtype=np.uint8)
        }
        if self.levels is not None:
            arrays["norms"] = np.empty(rows, dtype=np.uint8)
        return arrays

    def _resumed(self, arrays: dict[str, npt.NDArray[np.uint8]], state: Rounds) -> int:
        """How many rows a run before this one had encoded; their codes are put in place."""
        done = 0
        for name, array in state.encoded.items():
            done = len(array)
            arrays[name][:done] = array
        return done

    def _search(
        self,
        searching: Searching,
        targets: Floats,
        codes: Codes,
        numbers: npt.NDArray[np.int64],
        state: Rounds,
        start: int,
        given: Codes | None,
        rows_left: int,
    ) -> Floats:
        """Fill codes (n, M) of the rows from `start` on, whose vectors are targets (n, dim); their errors (n,)"""
        learned = slice(*np.searchsorted(state.rows, [start, start + len(targets)]))
        known = state.rows[learned] - start
        steps, stranger_steps = self.schedule.last_steps(rows_left)
        began = time.monotonic()
        if len(known) == len(targets):
            codes[:] = state.codes[learned]
            errors = searching.search(targets, codes, numbers, steps=steps)
            self.schedule.searched(len(targets), steps, time.monotonic() - began)
            return errors
        strangers = np.setdiff1d(np.arange(len(targets)), known)
        errors = np.empty(len(targets), dtype=np.float32)
        own_codes = state.codes[learned]
        if len(known):
            errors[known] = searching.search(targets[known], own_codes, numbers[known], steps=steps)
            codes[known] = own_codes
        began = time.monotonic()
        other_codes = codes[strangers] if given is None else given[start + strangers]
        errors[strangers] = searching.search(
            targets[strangers], other_codes, numbers[strangers], steps=stranger_steps, greedy=given is None
        )
        codes[strangers] = other_codes
        self.schedule.searched(len(strangers), stranger_steps, time.monotonic() - began)
        return errors

    def _scaled(self, block: Floats, codes: Codes, levels: Floats) -> tuple[npt.NDArray[np.uint8], Floats]:
        """The level of each row (n,) uint8 that brings its direction nearest to it, and the squared errors (n,)"""
        directions = compose(codes, self.codebooks)
        norms = nearest_levels(scales(block, directions), levels)
        return norms, np.square(block - directions * levels[norms][:, None]).sum(axis=1)


def scale_levels(vectors: Vectors, state: Rounds, codebooks: Floats, seed: int, team: Team) -> Floats:
    """The lengths that rows are coded with, (up to 256,) float32 ascending: by k-means on those of some rows"""
    every = max(1, state.total // SCALED_ROWS)
    some = np.arange(-state.first_row % every, len(state.rows), every)
    found = scales(vectors.take(state.rows[some]), compose(state.codes[some], codebooks))
    gathered = team.gather(found)
    levels = np.zeros(SCALE_LEVELS, dtype=np.float32)
    if gathered is not None:
        rng = np.random.default_rng([seed, 4])
        # The first level is zero, for rows of zeros that are there or come later.
        levels[1:] = np.sort(kmeans(gathered[:, None], SCALE_LEVELS - 1, rng).ravel())
    team.agree(levels)
    return levels
