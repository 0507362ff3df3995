"""`lexicode report`: a page that shows how good a coded file is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexicode.cli import options
from lexicode.cli.console import progress_bar, show, show_json
from lexicode.cli.evaluate import SimilarityFiles
from lexicode.coded import CodedEmbedding
from lexicode.errors import SettingError
from lexicode.evaluation.curve import Curve, read_curve
from lexicode.evaluation.findings import TRIAL_SECONDS, Findings, examine
from lexicode.evaluation.similarity import read_benchmark
from lexicode.formats.atomic import check_target
from lexicode.report import readable_bytes
from lexicode.report.html import write_page
from lexicode.vectors import Vectors

EXAMPLE = options.example(
    """
$ lexicode report glove.6B.50d.txt glove.safetensors -o report.html --similarity SimLex-999.txt
report.html: 1.02 MB; open it in a browser
"""
)

MOST_SECONDS = 3600.0


def command(
    vectors: options.VectorFile,
    file: options.CodedFile,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="PAGE", help="The HTML page to write.")
    ] = None,
    similarity_files: SimilarityFiles = [],  # noqa: B006 (typer reads the default, nobody changes it)
    curve: Annotated[
        str | None, typer.Option("--curve", metavar="FILE", help="The learning curve that compress --curve wrote.")
    ] = None,
    trial_seconds: Annotated[
        float, typer.Option(metavar="S", help="The time for trying other schemes on a sample; 0 leaves them out.")
    ] = TRIAL_SECONDS,
    words: options.WordsFile = None,
    tensor: options.Tensor = None,
    limit: options.Limit = None,
    duplicates: options.OnDuplicates = options.Duplicates.error,
    spaces: options.OnSpaces = options.Spaces.error,
    json: options.Json = False,
) -> None:
    """Write one HTML page about a coded file: sizes, errors, words to explore, other schemes, the use of its codes."""
    if output is None and not json:
        raise SettingError("nothing to write: name the page (-o report.html), or ask for --json")
    if not 0 <= trial_seconds <= MOST_SECONDS:
        raise SettingError(f"--trial-seconds {trial_seconds:g} is not between 0 and {MOST_SECONDS:g}")
    if output is not None:
        check_page(output, (vectors, file, *similarity_files, *([curve] if curve else [])))
    benchmarks = [read_benchmark(path) for path in similarity_files]
    learned = None if curve is None else read_curve(curve)
    coded = CodedEmbedding.load(file)
    table = Vectors.load(
        vectors, words=words, tensor=tensor, limit=limit, duplicates=duplicates.value, spaces=spaces.value
    )
    with progress_bar() as on_progress:
        findings = examine(
            table, coded, benchmarks=benchmarks, curve=learned, trial_seconds=trial_seconds, on_progress=on_progress
        )
    if output is not None:
        write_page(output, findings, name=Path(file).name)
    if json:
        show_json(findings.as_dict())
    elif output is not None:
        show(written_sentence(output))


def check_page(output: str, read: tuple[str, ...]) -> None:
    """Refuse, before any work, a page that cannot be written or would replace what is read."""
    check_target(output)
    if any(Path(path).exists() and Path(output).exists() and Path(path).samefile(output) for path in read):
        raise SettingError(f"{output} is both read and written; name another file to write")


def report_on(
    vectors: Vectors, file: str, output: str, *, curve: Curve | None, trial_seconds: float = TRIAL_SECONDS
) -> Findings:
    """Write the page about a file that was just made from `vectors`."""
    with progress_bar() as on_progress:
        coded = CodedEmbedding.load(file)
        findings = examine(vectors, coded, curve=curve, trial_seconds=trial_seconds, on_progress=on_progress)
    write_page(output, findings, name=Path(file).name)
    return findings


def written_sentence(output: str) -> str:
    return f"{output}: {readable_bytes(Path(output).stat().st_size)}; open it in a browser"
