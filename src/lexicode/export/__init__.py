"""Coded embedding -> the files that other tools read, and back from the original tool's."""

from lexicode.export.files import FORMATS, check_export, export, export_format
from lexicode.export.original import from_original

__all__ = ["FORMATS", "check_export", "export", "export_format", "from_original"]
