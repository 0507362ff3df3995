"""Imports point one way, and looking words up stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import lexicode

PACKAGE = Path(lexicode.__file__).parent
# Each step may import those before it; names on one step may import one another.
STEPS = [
    {"errors", "version"},
    {"scheme", "packing", "words"},
    {"formats"},
    {"composition", "encoding", "checks", "exact", "lengths", "symbols", "sweep", "scoring"},
    {"vectors", "coded"},
    {"learners", "torch", "export"},
    {"evaluation"},
    {"report"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(STEPS) for name in names}
GOLDEN = Path(__file__).parent / "golden" / "v1-4x16-float16-words.safetensors"


def imports_of(path: Path) -> set[str]:
    """The lexicode modules that a file imports, by the first part of their names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("lexicode.")}
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "lexicode":
                found |= {f"lexicode.{alias.name}" for alias in node.names}
            elif node.module.startswith("lexicode."):
                found.add(node.module)
    return {name.split(".")[1] for name in found}


def test_imports_point_one_way() -> None:
    files = [
        path
        for path in PACKAGE.rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py") or path.parent != PACKAGE
    ]
    assert len(files) > 40
    wrong = []
    for path in files:
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        wrong += [f"{path.relative_to(PACKAGE)} -> {name}" for name in imports_of(path) if LEVEL[name] > LEVEL[own]]
    assert wrong == []


def test_every_module_has_its_step() -> None:
    names = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert names - {"__init__", "__main__"} <= LEVEL.keys()


HEAVY = ("torch", "numba", "typer", "rich", "click", "scipy", "pyarrow", "threadpoolctl")


def test_looking_words_up_imports_nothing_heavy() -> None:
    program = f"""
import sys
import lexicode
coded = lexicode.CodedEmbedding.load({str(GOLDEN)!r})
coded["the"]
coded[["the", "日本"]]
coded.most_similar("the", 3)
coded.encode(coded.decode())
"dog" in coded
try:
    coded["teh"]
except KeyError:
    pass
print(sorted(set({HEAVY!r}) & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", lexicode.__all__)
def test_public_names_exist(name: str) -> None:
    assert getattr(lexicode, name) is not None
    assert name in dir(lexicode)


def test_public_names_are_these() -> None:
    """A name that is added, renamed or dropped is a decision, not an accident."""
    assert sorted(lexicode.__all__) == [
        "AdditiveLearner",
        "CodeScheme",
        "CodedEmbedding",
        "GumbelLearner",
        "InputError",
        "LearningError",
        "LexicodeError",
        "Measurements",
        "MissingExtraError",
        "ProductLearner",
        "SettingError",
        "UnknownWordError",
        "Vectors",
        "__version__",
        "evaluate",
    ]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        lexicode.nonsense  # noqa: B018


def test_a_missing_extra_names_the_pip_line() -> None:
    program = """
import sys
sys.modules["numba"] = None
import lexicode
from lexicode.learners import make_learner
for use in (lambda: lexicode.AdditiveLearner, lambda: make_learner("additive", "4x4")):
    try:
        use()
    except lexicode.MissingExtraError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["this needs numba: pip install 'lexicode[learn]'"] * 2
