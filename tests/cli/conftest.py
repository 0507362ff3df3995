"""The command line in process: `run` gives the exit code and what went to each stream."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cli_runner import Done, Run
from coded_samples import random_coded
from lexicode import Vectors
from lexicode.cli import main
from lexicode.formats.writing import write_word2vec_text


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["lexicode", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


@pytest.fixture(scope="session")
def glove(tmp_path_factory: pytest.TempPathFactory, clustered: Vectors) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "glove.txt"
    assert clustered.words is not None
    write_word2vec_text(path, clustered.words, clustered.blocks(), len(clustered), clustered.dim)
    return path


@pytest.fixture(scope="session")
def coded_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("coded") / "table.safetensors"
    random_coded("4x16", rows=50, dim=6).save(path)
    return path
