"""Parallel corpora as they are distributed: Multi30k, IWSLT14 German-English and ASPEC English-Japanese.

Each reader takes a folder and gives tokenized lines; a file that is not there is named in the error, with where it
comes from.
"""

from __future__ import annotations

import gzip
import html
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.translation.segmenting import moses_tokens
from lexicode import InputError

Lines = list[str]

MULTI30K_PLACES = (".", "multi30k", "data/task1/raw", "multi30k/data/task1/raw")
IWSLT14_PLACES = (".", "de-en", "iwslt14/de-en", "texts/de/en/de-en")
# The paper's test set: all five, 6,750 pairs.
IWSLT14_TESTS = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
# The corpus has no validation set apart from those; one training pair in 23 is the custom.
IWSLT14_VALID_EVERY = 23
ASPEC_PLACES = (".", "ASPEC-JE", "ASPEC/ASPEC-JE")
# The paper writes 150M; the corpus has three million pairs, sorted by quality, of which this is the better half.
ASPEC_TRAIN_PAIRS = 1_500_000


@dataclass(frozen=True)
class Pairs:
    """Tokenized, lower-cased lines of both languages, as many of one as of the other."""

    source: Lines
    target: Lines


@dataclass(frozen=True)
class Corpus:
    train: Pairs
    valid: Pairs
    test: Pairs

    def first(self, count: int) -> Corpus:
        """The first so many pairs of each part."""
        parts = (self.train, self.valid, self.test)
        return Corpus(*(Pairs(part.source[:count], part.target[:count]) for part in parts))


def read_multi30k(folder: Path) -> Corpus:
    """Task 1, German to English: {train,val,test_2016_flickr}.{de,en}, plain or .gz"""
    needed = [f"{part}.{language}" for part in ("train", "val", "test_2016_flickr") for language in ("de", "en")]
    files = _find_all(
        folder, MULTI30K_PLACES, needed, "Multi30k task 1 (data/task1/raw of the repository multi30k/dataset)"
    )
    lines = {name: moses_tokens(_lines(path), name.rpartition(".")[2]) for name, path in files.items()}
    return Corpus(*(_pairs(lines[f"{part}.de"], lines[f"{part}.en"], part) for part in _parts(needed)))


def read_iwslt14(folder: Path) -> Corpus:
    """IWSLT14 German to English: the unpacked de-en folder of the TED talks' texts"""
    talks = [f"train.tags.de-en.{language}" for language in ("de", "en")]
    tests = [f"IWSLT14.{part}.de-en.{language}.xml" for part in IWSLT14_TESTS for language in ("de", "en")]
    files = _find_all(folder, IWSLT14_PLACES, talks + tests, "IWSLT14 German-English (de-en.tgz of 2014-01, unpacked)")
    spoken = [_lines(files[name]) for name in talks]
    # Titles, descriptions and addresses stand in tags, and are left out; how many of them is each file's own affair.
    plain = _pairs(
        *([html.unescape(line) for line in lines if not line.startswith("<")] for lines in spoken), "train.tags.de-en"
    )
    whole = _tokenized(
        [(de, en) for de, en in zip(plain.source, plain.target, strict=True) if de.strip() and en.strip()]
    )
    segments = [
        pair
        for part in IWSLT14_TESTS
        for pair in _paired_segments(*(files[f"IWSLT14.{part}.de-en.{language}.xml"] for language in ("de", "en")))
    ]
    valid = slice(IWSLT14_VALID_EVERY - 1, None, IWSLT14_VALID_EVERY)
    held_out = Pairs(whole.source[valid], whole.target[valid])
    del whole.source[valid], whole.target[valid]
    return Corpus(whole, held_out, _tokenized(segments))


def read_aspec(folder: Path) -> Corpus:
    """ASPEC English to Japanese: the folder ASPEC-JE; Japanese is split by KyTea, which must be installed"""
    needed = ["train/train-1.txt", "train/train-2.txt", "dev/dev.txt", "test/test.txt"]
    files = _find_all(folder, ASPEC_PLACES, needed, "ASPEC-JE (on request from its makers at NICT and JST)")
    if shutil.which("kytea") is None:
        raise InputError(
            "the program kytea is not on the PATH; install KyTea (www.phontron.com/kytea) to split Japanese"
        )
    train = [pair for name in needed[:2] for pair in _aspec_pairs(files[name])][:ASPEC_TRAIN_PAIRS]
    parts = (train, _aspec_pairs(files[needed[2]]), _aspec_pairs(files[needed[3]]))
    return Corpus(*(
        Pairs(moses_tokens([english for _, english in part], "en"), _kytea_tokens([japanese for japanese, _ in part]))
        for part in parts
    ))  # fmt: skip


def split_anew(lines: Lines) -> Lines:
    """Japanese as its post-processing has it before BLEU: spaces out, and split by KyTea as the references are"""
    return _kytea_tokens([line.replace(" ", "") for line in lines])


# ---- files


def _find_all(folder: Path, places: Sequence[str], names: Sequence[str], origin: str) -> dict[str, Path]:
    """name -> its file, plain or .gz, all in the first of the places that has any of them"""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; give the one that holds {origin}")
    for place in places:
        found = {name: _plain_or_packed(folder / place / name) for name in names}
        if not any(found.values()):
            continue
        if missing := [name for name, path in found.items() if path is None]:
            raise InputError(f"{folder / place} lacks {', '.join(missing)} of {origin}")
        return {name: path for name, path in found.items() if path is not None}
    raise InputError(f"{folder} holds none of {', '.join(names)}: {origin} is needed there")


def _plain_or_packed(path: Path) -> Path | None:
    return next((each for each in (path, path.with_name(f"{path.name}.gz")) if each.is_file()), None)


def _lines(path: Path) -> Lines:
    data = path.read_bytes()
    # Only a line feed ends a line: some sentences hold other characters that Python would split at.
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").removesuffix("\n").split("\n")


def _segments(path: Path) -> Lines:
    """The test sets have curly apostrophes where the talks have straight ones: the custom is to make them straight."""
    found = re.findall(r"<seg[^>]*>(.*?)</seg>", "\n".join(_lines(path)))
    return [html.unescape(text.strip()).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for text in found]


def _paired_segments(source: Path, target: Path) -> list[tuple[str, str]]:
    pairs = _pairs(_segments(source), _segments(target), source.name)
    return list(zip(pairs.source, pairs.target, strict=True))


def _aspec_pairs(path: Path) -> list[tuple[str, str]]:
    """(Japanese, English): the last two fields of each line"""
    pairs = []
    for number, line in enumerate(_lines(path), start=1):
        fields = line.split(" ||| ")
        if len(fields) < 4:
            raise InputError(f"{path}, line {number}: {len(fields)} fields, but an ASPEC line has four or more")
        pairs.append((fields[-2], fields[-1]))
    return pairs


def _parts(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name.rpartition(".")[0] for name in names))


def _pairs(source: Lines, target: Lines, name: str) -> Pairs:
    if len(source) != len(target):
        raise InputError(f"{name}: {len(source)} source lines, but {len(target)} target lines")
    return Pairs(source, target)


def _tokenized(pairs: Sequence[tuple[str, str]]) -> Pairs:
    return Pairs(moses_tokens([de for de, _ in pairs], "de"), moses_tokens([en for _, en in pairs], "en"))


def _kytea_tokens(lines: Sequence[str]) -> Lines:
    """Japanese with a space between words, by the program kytea"""
    text = "\n".join(lines) + "\n"
    done = subprocess.run(["kytea", "-notags"], input=text, capture_output=True, check=False, encoding="utf-8")
    split = done.stdout.removesuffix("\n").split("\n")
    if done.returncode or len(split) != len(lines):
        raise InputError(
            f"kytea split {len(lines)} lines into {len(split)}, exit {done.returncode}: {done.stderr.strip()}"
        )
    return split
