"""A made-up corpus in Multi30k's form, which a small model can learn."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from experiments.translation.corpora import Corpus, Pairs
from experiments.translation.preparing import Prepared, prepare

PEOPLE = [("Mann", "man"), ("Hund", "dog"), ("Junge", "boy"), ("Vogel", "bird"), ("Koch", "cook")]
DEEDS = [("läuft", "runs"), ("schläft", "sleeps"), ("spielt", "plays"), ("singt", "sings")]
LOOKS = [("kleine", "small"), ("große", "big"), ("alte", "old"), ("rote", "red")]
PARTS = {"train": 400, "val": 40, "test_2016_flickr": 30}


def sentence_pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """(German, English), of different lengths"""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        look, who, deed, other = (words[rng.integers(len(words))] for words in (LOOKS, PEOPLE, DEEDS, PEOPLE))
        source, target = f"Der {look[0]} {who[0]} {deed[0]}", f"The {look[1]} {who[1]} {deed[1]}"
        if rng.random() < 0.5:
            source, target = f"{source} mit dem {other[0]}", f"{target} with the {other[1]}"
        pairs.append((f"{source}.", f"{target}."))
    return pairs


def write_multi30k(folder: Path) -> Path:
    """The corpus as files"""
    folder.mkdir(parents=True)
    for seed, (part, count) in enumerate(PARTS.items()):
        for language, lines in zip(("de", "en"), zip(*sentence_pairs(count, seed), strict=True), strict=True):
            (folder / f"{part}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def small_data(work: Path) -> Prepared:
    """The corpus as a model reads it: 34 words, each a piece of its own"""
    words = [
        Pairs(*([" ".join(line[:-1].lower().split()) for line in lines] for lines in zip(*pairs, strict=True)))
        for pairs in (sentence_pairs(count, seed) for seed, count in enumerate(PARTS.values()))
    ]
    return prepare(Corpus(*words), 200, work)


def all_lines() -> list[str]:
    """Every English sentence without a companion, tokenized"""
    return [f"the {look} {who} {deed}" for (_, look), (_, who), (_, deed) in itertools.product(LOOKS, PEOPLE, DEEDS)]
