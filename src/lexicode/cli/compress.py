"""`lexicode compress`: the main job."""

from __future__ import annotations

import os
import re
import time
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from lexicode.cli import options
from lexicode.cli.console import progress_bar, say, show, show_json
from lexicode.coded import CodedEmbedding
from lexicode.errors import SettingError
from lexicode.evaluation.measuring import size_table as measured_sizes
from lexicode.evaluation.reconstruction import reconstruction
from lexicode.export import from_original
from lexicode.learners import LEARNERS, make_learner
from lexicode.report import size_table
from lexicode.scheme import CodeScheme
from lexicode.vectors import Vectors

DEFAULT_SCHEME = "32x16"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}

EXAMPLE = options.example("")

LearnerName = Enum("LearnerName", {name: name for name in LEARNERS}, type=str)  # type: ignore[misc]


class Effort(str, Enum):
    fast = "fast"
    balanced = "balanced"
    thorough = "thorough"


class CodebookDtype(str, Enum):
    float16 = "float16"
    float32 = "float32"


def command(
    vectors: options.VectorFile,
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
    effort: Annotated[Effort, typer.Option(help="Time for quality; for the additive learner.")] = Effort.balanced,
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
    check_target(output)
    started = time.perf_counter()
    if is_original(vectors):
        coded = from_original(vectors, words=words, codebook_dtype=codebook_dtype.value)
        coded.save(output)
        summary = _summary(output, coded, started)
        show_json(summary) if json else show(f"{output}: {coded!r}, read from the original tool's files")
        return
    settings: dict[str, Any] = {"seed": seed, "codebook_dtype": codebook_dtype.value, "threads": threads}
    name = str(learner.value)
    if name == "additive":
        settings["effort"] = effort.value
    # Everything that can be wrong with the settings is found before a byte of the file is read.
    target = target_size(scheme, budget, ratio)
    checked = make_learner(name, scheme or DEFAULT_SCHEME, **settings)
    table = Vectors.load(
        vectors, words=words, tensor=tensor, limit=limit, duplicates=duplicates.value, spaces=spaces.value
    )
    if table.dropped:
        say(f"{table.dropped} rows left out, whose words stand in earlier rows")
    if target is not None:
        from lexicode.learners.choosing import choose_scheme

        allowed = target if isinstance(target, int) else int(table.original_bytes / target)
        chosen = choose_scheme(table, allowed, learner=name, **settings)
        say(f"scheme {chosen}")
        checked = make_learner(name, chosen, **settings)
    with progress_bar() as on_progress:
        coded = checked.fit(table, on_progress)
    coded.save(output)
    report(table, output, started, as_json=json)


def report(table: Vectors, output: str, started: float, *, as_json: bool) -> None:
    """Judge what was written, not what was in memory."""
    coded = CodedEmbedding.load(output)
    seconds = time.perf_counter() - started
    measured = reconstruction(table, coded)
    sizes = measured_sizes(table, coded)
    if as_json:
        details = {"loss": measured.loss, "mean_cosine": measured.mean_cosine, "bytes": sizes}
        show_json(_summary(output, coded, started) | details | {"ratio": sizes["original"] / sizes["file"]})
        return
    show(
        f"{output}: {len(coded):,} rows x {coded.dim}, scheme {coded.scheme}, {seconds:.1f} s\n",
        size_table(sizes),
        f"\nloss {measured.loss:.4f} (mean squared distance a row), mean cosine {measured.mean_cosine:.4f}",
    )


def _summary(output: str, coded: CodedEmbedding, started: float) -> dict[str, Any]:
    return {
        "file": output,
        "rows": len(coded),
        "dim": coded.dim,
        "scheme": str(coded.scheme),
        "learner": coded.origin["learner"],
        "settings": coded.origin["settings"],
        "seconds": round(time.perf_counter() - started, 3),
    }


def check_target(output: str) -> None:
    """A target that cannot be written is found before the work, not after it."""
    folder = Path(output).resolve().parent
    if Path(output).is_dir():
        raise IsADirectoryError(21, "is a directory", output)
    if not folder.is_dir():
        raise FileNotFoundError(2, "no such directory", str(Path(output).parent))
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "permission denied", str(Path(output).parent))


def is_original(path: str) -> bool:
    """Whether this names one of the original tool's two files. Their content is a table of numbers like any other."""
    return path.endswith((".codes", ".codebook.npy"))


def target_size(scheme: str | None, budget: str | None, ratio: float | None) -> int | float | None:
    """Bytes (int) for a budget, a float for a ratio, None for a scheme that is given."""
    if sum(option is not None for option in (scheme, budget, ratio)) > 1:
        raise SettingError("--scheme, --budget and --ratio exclude one another; give one of them")
    if scheme is not None:
        CodeScheme.parse(scheme)
    if ratio is not None and not ratio > 0:
        raise SettingError(f"--ratio {ratio:g} is not above zero")
    if budget is not None:
        return parse_bytes(budget)
    return None if ratio is None else float(ratio)


def parse_bytes(text: str) -> int:
    """'2MB' -> 2000000, '1.5MiB' -> 1572864"""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]i?)?b?\s*", text, flags=re.IGNORECASE)
    if match is None:
        raise SettingError(f"--budget {text!r} is not a size; write 2MB, 500kB or 1.5MiB")
    return int(float(match[1]) * UNITS[(match[2] or "").lower()])
