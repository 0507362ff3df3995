"""The verbs put together, and the one place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from lexicode.cli import compress, demo, evaluate, export, info, lookup, report, similar
from lexicode.cli.console import complain
from lexicode.errors import LexicodeError
from lexicode.version import VERSION

BAD_INPUT = 2
INTERRUPTED = 130

app = typer.Typer(
    help="Embedding tables 20 to 100 times smaller.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for verb in (compress, info, lookup, similar, evaluate, report, export, demo):
    app.command(verb.__name__.rpartition(".")[2], epilog=verb.EXAMPLE)(verb.command)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"lexicode {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Embedding tables 20 to 100 times smaller."""


def main() -> None:
    """Run the command line. Bad input is one sentence on standard error and exit code 2, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # A word that the terminal's encoding lacks is shown escaped, and is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except LexicodeError as error:
        _fail(str(error), BAD_INPUT)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{(error.strerror or str(error)).lower()}", BAD_INPUT)
    except MemoryError:
        _fail("not enough memory for this table; try --limit, or give the matrix as a .npy, which is read in place", 1)
    except SystemExit as end:
        # Ctrl-C, by the time it gets here: typer says nothing.
        if end.code == INTERRUPTED:
            complain("interrupted")
        raise
    except Exception as error:
        if os.environ.get("LEXICODE_TRACEBACK"):
            raise
        _fail(f"a bug in lexicode: {type(error).__name__}: {error} (LEXICODE_TRACEBACK=1 shows where)", 1)


def _fail(sentence: str, code: int) -> None:
    complain(sentence)
    sys.exit(code)
