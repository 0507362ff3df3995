"""word2vec's binary format: a line `rows dim`, then for each row its word, a space and dim float32."""

from __future__ import annotations

import numpy as np

from lexicode.formats.growing import GrowingRows
from lexicode.formats.records import named_records
from lexicode.formats.streams import Source
from lexicode.formats.table import Table
from lexicode.formats.wordlists import WordGatherer, row_of


def read_word2vec_binary(source: Source, *, header: tuple[int, int], limit: int | None = None) -> Table:
    """The rows that follow the header (rows, dim)."""
    promised, dim = header
    wanted = min(promised, limit or promised)
    words = WordGatherer(source, row_of)
    vectors = GrowingRows()
    records = named_records(source, end_of_name=b" ", size=4 * dim, count=wanted, promised=promised)
    for names, values in records:
        # The original tool ends each row with a line break, others do not.
        words.add([name.lstrip(b"\n") for name in names])
        vectors.append(np.frombuffer(values, "<f4").reshape(-1, dim))
    if wanted == promised and source.read(2).strip():
        raise source.problem(f"line 1 promises {promised} rows, but more follow; correct it or set a limit")
    return Table(words=words.finish(), matrix=vectors.finish(), place=row_of)
