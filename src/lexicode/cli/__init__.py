"""The command line: one file per verb."""

from lexicode.cli.app import main

__all__ = ["main"]
