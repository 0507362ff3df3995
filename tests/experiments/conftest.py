"""What tests of the recipes share; a recipe sets torch up for its own process, and tests have one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from experiments.sentiment.reviews import Corpus, load_corpus
from lexicode import Vectors
from sentiment_samples import reviews, write_vectors


@pytest.fixture(autouse=True, scope="module")
def _torch_as_it_was() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_flush_denormal(False)
    torch.set_num_threads(threads)


# ---- reviews and vectors for the sentiment recipe


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """lines/ has the reviews as imdb_*.jsonl.gz, folders/ the same as aclImdb; small.txt and other.txt are vectors."""
    root = tmp_path_factory.mktemp("sentiment")
    (root / "lines").mkdir()
    for split, name in enumerate(("train", "test")):
        with gzip.open(root / "lines" / f"imdb_{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            for number, (label, text) in enumerate(reviews(split)):
                file.write(json.dumps({"label": label, "text": text}) + "\n")
                place = root / "folders" / "aclImdb" / name / ("pos" if label else "neg")
                place.mkdir(parents=True, exist_ok=True)
                (place / f"{number}_5.txt").write_text(text, encoding="utf-8")
    write_vectors(root / "small.txt")
    write_vectors(root / "other.txt")
    return root


@pytest.fixture(scope="module")
def corpus(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return load_corpus(folder / "lines", Vectors.load(folder / "small.txt"), work=tmp_path_factory.mktemp("work"))
