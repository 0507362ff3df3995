"""JSON files that lie beside a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lexicode.errors import InputError


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON: it is damaged") from error
