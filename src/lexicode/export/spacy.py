"""A coded embedding as a spaCy pipeline of vectors alone, which `spacy.load` reads: spaCy itself writes it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from lexicode.coded import CodedEmbedding
from lexicode.errors import InputError, require
from lexicode.formats.atomic import making_folder

# spaCy's name for rules that belong to no language.
MANY_LANGUAGES = "xx"


def write_spacy(
    coded: CodedEmbedding, words: Sequence[str], folder: str | os.PathLike[str], *, language: str = MANY_LANGUAGES
) -> None:
    """Write a folder; language: whose rules for splitting text into words it takes, such as `en`."""
    spacy = require("spacy", extra="interop")
    vectors = require("spacy.vectors", extra="interop")
    if "" in words:
        raise InputError(f"row {list(words).index('')}: the word is empty, which spaCy keeps for itself")
    with making_folder(folder) as temporary:
        pipeline = spacy.blank(language)
        for word in words:
            pipeline.vocab.strings.add(word)
        pipeline.vocab.vectors = vectors.Vectors(
            strings=pipeline.vocab.strings, data=coded.decode(), keys=words, name="lexicode"
        )
        pipeline.to_disk(temporary)
