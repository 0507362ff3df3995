"""The work of `lexicode compress`, once its options are checked: in one process, or as one of several."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lexicode.cli.console import progress_bar, say, show, show_json
from lexicode.cli.report import report_on, written_sentence
from lexicode.coded import CodedEmbedding
from lexicode.evaluation.curve import curve_of
from lexicode.evaluation.reconstruction import reconstruction
from lexicode.formats.atomic import replacing
from lexicode.formats.weights import read_weights
from lexicode.learners import make_learner
from lexicode.learners.sharing import Share, load_share, whole
from lexicode.learners.team import Team
from lexicode.learners.weights import ZIPF
from lexicode.report import size_table
from lexicode.scheme import CodeScheme

if TYPE_CHECKING:
    from lexicode.learners.learner import Learner


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to compress, how and whereto. target: bytes (int), a ratio (float), or None for the scheme that is given.
    reading: how `load_share` reads the files. page: where the HTML report goes, of a run in one process. started: the
    clock when the command began."""

    paths: tuple[str, ...]
    output: str
    learner: str
    scheme: CodeScheme
    target: int | float | None
    settings: Mapping[str, Any]
    reading: Mapping[str, Any]
    curve: str | None
    page: str | None
    as_json: bool
    started: float

    def __call__(self, team: Team) -> None:
        """Learn, write and report. In a team each process learns its rows, and the leader does the rest."""
        # Everything that can be wrong with the settings is found before a byte of the files is read.
        known = {name: value for name, value in self.settings.items() if name != "weights"}
        learner = make_learner(self.learner, self.scheme, **known)
        share = load_share(self.paths, team, **self.reading)
        if share.dropped and team.leads:
            say(f"{share.dropped} rows left out, whose words stand in earlier rows")
        if "weights" in self.settings:
            known["weights"] = self._weights(share, team)
        if self.target is not None or "weights" in known:
            scheme = self.scheme if self.target is None else self._chosen(share, self.target)
            learner = make_learner(self.learner, scheme, **known)
        alone: dict[str, Any] = {} if team.size == 1 else {"team": team}
        with progress_bar() if team.leads else nullcontext() as on_progress:
            own = learner.fit(share.vectors, on_progress, **alone)
        coded = whole(own, share, team)
        if coded is not None:
            coded.save(self.output)
            self._write_curve(learner)
        self._report(share, own, team)
        if self.page is not None:
            report_on(share.vectors, self.output, self.page, curve=curve_of(learner.curve))
            if not self.as_json:
                show(written_sentence(self.page))

    def outcome(self) -> str:
        """What a run that was cut short leaves behind, to end a sentence with."""
        output, checkpoint = Path(self.output), self.settings.get("checkpoint")
        if output.exists() and output.stat().st_mtime >= self.started:
            return f"{output} was written before, whole"
        if checkpoint is None or not Path(checkpoint).exists():
            return "no file was written"
        return f"no file was written; the same command goes on from {checkpoint}"

    def _weights(self, share: Share, team: Team) -> str | npt.NDArray[np.float64]:
        """The rule that was named, or what the file says of all processes' rows; the leader reads it."""
        given = str(self.settings["weights"])
        if given == ZIPF:
            return given
        (rows,) = team.total(len(share.vectors))
        weights = read_weights(given, int(rows), share.words) if team.leads else np.empty(int(rows))
        team.agree(weights)
        return weights

    def _chosen(self, share: Share, target: int | float) -> CodeScheme:
        from lexicode.learners.choosing import choose_scheme

        table = share.vectors
        allowed = target if isinstance(target, int) else int(table.original_bytes / target)
        settings = {name: value for name, value in self.settings.items() if name != "weights"}
        chosen = choose_scheme(table, allowed, learner=self.learner, **settings)
        say(f"scheme {chosen}")
        return chosen

    def _write_curve(self, learner: Learner) -> None:
        if self.curve is None:
            return
        points = [point if isinstance(point, float) else point.as_dict() for point in learner.curve]
        with replacing(self.curve) as temporary:
            temporary.write_text(json.dumps(points, indent=1) + "\n")

    def _report(self, share: Share, own: CodedEmbedding, team: Team) -> None:
        """Judge what was written, not what was in memory: alone, the file; in a team, each its own rows."""
        judged = CodedEmbedding.load(self.output) if team.size == 1 else own
        measured, rows = reconstruction(share.vectors, judged), len(share.vectors)
        loss, cosine, total = team.total(measured.loss * rows, measured.mean_cosine * rows, rows)
        (numbers,) = team.total(share.vectors.matrix.size)
        if not team.leads:
            return
        coded, seconds = CodedEmbedding.load(self.output), time.time() - self.started
        text = 0 if share.words is None else len(share.words.text)
        sizes = {**coded.part_bytes, "file": coded.file_bytes, "original": 4 * int(numbers) + text}
        if self.as_json:
            details = {"loss": loss / total, "mean_cosine": cosine / total, "bytes": sizes}
            details |= {} if self.page is None else {"report": self.page}
            show_json(
                summary(self.output, coded, self.started) | details | {"ratio": sizes["original"] / sizes["file"]}
            )
            return
        show(
            f"{self.output}: {len(coded):,} rows x {coded.dim}, scheme {coded.scheme}, {seconds:.1f} s\n",
            size_table(sizes),
            f"\nloss {loss / total:.4f} (mean squared distance a row), mean cosine {cosine / total:.4f}",
        )


def summary(output: str, coded: CodedEmbedding, started: float) -> dict[str, Any]:
    return {
        "file": output,
        "rows": len(coded),
        "dim": coded.dim,
        "scheme": str(coded.scheme),
        "learner": coded.origin["learner"],
        "settings": coded.origin["settings"],
        "seconds": round(time.time() - started, 3),
    }
