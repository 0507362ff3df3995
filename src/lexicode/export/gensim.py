"""A coded embedding as gensim's own file, which `KeyedVectors.load` reads: gensim itself writes it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lexicode.coded import CodedEmbedding
from lexicode.errors import require
from lexicode.formats.atomic import check_target, replacing


def write_keyed_vectors(coded: CodedEmbedding, words: Sequence[str], path: str | os.PathLike[str]) -> list[Path]:
    """Write the table; the files that were written: gensim keeps a large matrix in an `.npy` beside its pickle."""
    gensim = require("gensim.models.keyedvectors", extra="interop")
    target = Path(path)
    check_target(target)
    vectors = gensim.KeyedVectors(vector_size=coded.dim)
    vectors.add_vectors(list(words), coded.decode())
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name[:200]}.") as folder:
        vectors.save(os.path.join(folder, target.name))  # noqa: PTH118 (gensim asks for a string)
        # The pickle comes last: without it, nobody looks at what stands beside it.
        made = sorted(Path(folder).iterdir(), key=lambda file: file.name == target.name)
        for file in made:
            with replacing(target.with_name(file.name)) as temporary:
                file.replace(temporary)
    return [target.with_name(file.name) for file in reversed(made)]
