"""`lexicode compress`: the main job."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from lexicode.cli import options
from lexicode.cli.compressing import Job, summary
from lexicode.cli.console import show, show_json
from lexicode.cli.learner_options import (
    CheckpointFile,
    CurveFile,
    Device,
    Exact,
    Iterations,
    MaxError,
    OfEffort,
    OfLoss,
    OfTime,
    OfWeights,
    ProcessCount,
    Refine,
    SampleRows,
    check_taken,
    parse_seconds,
    settings_for,
)
from lexicode.cli.processes import in_team, run_in_processes, run_joined
from lexicode.errors import SettingError
from lexicode.export import from_original
from lexicode.formats.atomic import check_target
from lexicode.learners import LEARNERS
from lexicode.learners.sharing import expand
from lexicode.scheme import CodeScheme

DEFAULT_SCHEME = "32x16"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}

EXAMPLE = options.example(
    """
$ lexicode compress glove.6B.50d.txt -o glove.safetensors --scheme 32x16
glove.safetensors: 400,000 rows x 50, scheme 32x16, 106.5 s

before: float32 and words   83,356,474   83.4 MB
codes                        6,400,000    6.4 MB
codebooks                       51,200   51.2 kB
words                        1,844,619   1.84 MB
after: the file              8,296,443    8.3 MB
times smaller                     10.0

loss 0.7572 (mean squared distance a row), mean cosine 0.9819
"""
)

LearnerName = Enum("LearnerName", {name: name for name in LEARNERS}, type=str)  # type: ignore[misc]


class CodebookDtype(str, Enum):
    float16 = "float16"
    float32 = "float32"


def command(
    vectors: Annotated[
        list[str],
        typer.Argument(
            metavar="VECTORS...",
            show_default=False,
            help=f"{options.READABLE} Several files, or 'part-*.npy', are one table.",
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="The .safetensors file to write.")],
    scheme: Annotated[
        str | None,
        typer.Option(metavar="MxK", help=f"Codebooks x codewords; {DEFAULT_SCHEME} if no budget or ratio is given."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The best scheme whose whole file fits: 2MB, 500kB, 1.5MiB.")
    ] = None,
    ratio: Annotated[
        float | None, typer.Option(metavar="R", help="The best scheme that makes the table R times smaller.")
    ] = None,
    learner: Annotated[LearnerName, typer.Option(help="How codes are learned.")] = LearnerName.additive,  # type: ignore[attr-defined]
    effort: OfEffort = None,
    time_limit: OfTime = None,
    iterations: Iterations = None,
    loss: OfLoss = None,
    weights: OfWeights = None,
    sample_rows: SampleRows = None,
    exact: Exact = 0,
    max_error: MaxError = None,
    refine: Refine = False,
    device: Device = None,
    checkpoint: CheckpointFile = None,
    curve: CurveFile = None,
    report: Annotated[
        str | None, typer.Option("--report", metavar="PAGE", help="Write an HTML page that shows how good the file is.")
    ] = None,
    processes: ProcessCount = 1,
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 0,
    codebook_dtype: Annotated[CodebookDtype, typer.Option(help="How codebooks are stored.")] = CodebookDtype.float16,
    threads: Annotated[int | None, typer.Option(metavar="N", help="Threads to use; all cores by default.")] = None,
    words: options.WordsFile = None,
    tensor: options.Tensor = None,
    limit: options.Limit = None,
    duplicates: options.OnDuplicates = options.Duplicates.error,
    spaces: options.OnSpaces = options.Spaces.error,
    json: options.Json = False,
) -> None:
    """Turn a vector file into a small coded one."""
    started = time.time()
    paths = expand(vectors)
    check_targets(written=[output, checkpoint, curve, report], read=[*paths, words, weights])
    if len(vectors) == 1 and is_original(vectors[0]):
        if report is not None:
            raise SettingError(
                f"{vectors[0]} holds codes; --report needs the vectors they stand for: see lexicode report"
            )
        if scheme or budget or ratio or limit or str(learner.value) != "additive":
            raise SettingError(f"{vectors[0]} holds codes already; --scheme and its like have nothing to choose")
        coded = from_original(vectors[0], words=words, codebook_dtype=codebook_dtype.value)
        coded.save(output)
        text = f"{output}: {coded!r}, read from the original tool's files"
        show_json(summary(output, coded, started)) if json else show(text)
        return
    name = str(learner.value)
    if effort is not None and time_limit is not None:
        raise SettingError("--effort and --time exclude one another; give one of them")
    settings = {
        "seed": seed,
        "codebook_dtype": codebook_dtype.value,
        "threads": threads,
        "exact": exact,
        "max_error": max_error,
    } | settings_for(
        name,
        effort=effort,
        time=None if time_limit is None else parse_seconds(time_limit),
        iterations=iterations,
        loss=loss,
        weights=weights,
        sample_rows=sample_rows,
        refine=refine,
        device=device,
        checkpoint=checkpoint,
    )
    job = Job(
        paths=tuple(paths),
        output=output,
        learner=name,
        scheme=CodeScheme.parse(scheme or DEFAULT_SCHEME),
        target=target_size(scheme, budget, ratio),
        settings=settings,
        reading={
            "words": words,
            "tensor": tensor,
            "limit": limit,
            "duplicates": duplicates.value,
            "spaces": spaces.value,
        },
        curve=curve,
        page=report,
        as_json=json,
        started=started,
    )
    if curve is not None:
        check_taken(name, "curve")
    if processes > 1 or in_team():
        check_taken(name, "processes")
        if job.target is not None:
            raise SettingError("--budget and --ratio try schemes in one process; give several a --scheme")
        if report is not None:
            raise SettingError("--report looks at all rows in one process; run lexicode report on the file afterwards")
    if processes > 1 and not in_team():
        # The paper's learner loads torch in any case.
        run_in_processes(job, processes, by_torch=name == "gumbel")
        return
    run_joined(job)


def check_targets(*, written: Sequence[str | None], read: Sequence[str | None]) -> None:
    """Refuse what cannot be written, what is read too, and what is written twice."""
    sources = [Path(name) for name in read if name is not None and Path(name).exists()]
    places: list[Path] = []
    for target in (name for name in written if name is not None):
        check_target(target)
        place = Path(target)
        if place.exists() and any(source.samefile(place) for source in sources):
            raise SettingError(f"{target} is both read and written; name another file to write")
        if place.resolve() in places:
            raise SettingError(f"{target} is written twice; name a file of its own for each")
        places.append(place.resolve())


def is_original(path: str) -> bool:
    """Whether this names one of the original tool's two files. Their content is a table of numbers like any other."""
    return path.lower().endswith((".codes", ".codebook.npy"))


def target_size(scheme: str | None, budget: str | None, ratio: float | None) -> int | float | None:
    """Bytes (int) for a budget, a float for a ratio, None for a scheme that is given."""
    if sum(option is not None for option in (scheme, budget, ratio)) > 1:
        raise SettingError("--scheme, --budget and --ratio exclude one another; give one of them")
    if scheme is not None:
        CodeScheme.parse(scheme)
    if ratio is not None and not 1 <= ratio <= 1e6:
        raise SettingError(f"--ratio {ratio:g} is not between 1 and 1,000,000")
    if budget is not None:
        return parse_bytes(budget)
    return None if ratio is None else float(ratio)


def parse_bytes(text: str) -> int:
    """'2MB' -> 2000000, '1.5MiB' -> 1572864"""
    match = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kmg]i?)?b?\s*", text, flags=re.IGNORECASE)
    if match is None:
        raise SettingError(f"--budget {text!r} is not a size; write 2MB, 500kB or 1.5MiB")
    return int(float(match[1]) * UNITS[(match[2] or "").lower()])
