"""The README's Python runs as it stands, from top to bottom, in an empty folder."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


def snippets(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_readme_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    words = ["dog", "cat", "dogs", "coffee", "tea", *(f"word{i}" for i in range(300))]
    lines = (f"{word} {' '.join(f'{x:.4f}' for x in rng.normal(size=20))}\n" for word in words)
    (tmp_path / "glove.txt").write_text("".join(lines))
    monkeypatch.chdir(tmp_path)
    found = snippets(ROOT / "README.md")
    assert found
    names: dict[str, object] = {}
    for snippet in found:
        exec(compile(snippet, "README.md", "exec"), names)
    assert (tmp_path / "glove.safetensors").exists()
