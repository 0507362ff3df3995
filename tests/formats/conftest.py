"""Fixtures of the tests of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Put bytes into a file whose name tells nothing."""

    def write(data: bytes, name: str = "table") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write
