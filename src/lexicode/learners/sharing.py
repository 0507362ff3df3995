"""A table's files -> each process's own rows, and each process's codes -> the whole coded embedding."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.errors import InputError, SettingError
from lexicode.formats.folders import is_folder
from lexicode.formats.reading import read_table
from lexicode.formats.sniffing import sniff
from lexicode.formats.streams import open_source
from lexicode.formats.wordlists import read_words
from lexicode.learners.team import Team
from lexicode.vectors import Vectors
from lexicode.words import Words, repeated_rows

Matrix = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, kw_only=True)
class Share:
    """vectors: this process's rows. words: all processes' words, where the rows have words. dropped: rows left out."""

    vectors: Vectors
    words: Words | None
    dropped: int


def expand(given: Sequence[str]) -> list[str]:
    """Paths, and patterns such as `part-*.npy` for all the files they match, in the order of their names."""
    paths: list[str] = []
    for name in given:
        if name == "-" or Path(name).exists() or not glob.has_magic(name):
            paths.append(name)
        elif matches := sorted(glob.glob(name)):  # noqa: PTH207 (a pattern may start at any folder)
            paths += matches
        else:
            raise InputError(f"{name}: no file matches this pattern")
    return paths


def load_share(
    paths: Sequence[str],
    team: Team,
    *,
    words: str | None = None,
    tensor: str | None = None,
    limit: int | None = None,
    duplicates: str = "error",
    spaces: str = "error",
) -> Share:
    """Read the rows of the table in `paths`, one file below the other, that fall to this process.

    Files that can be mapped (plain .npy and .safetensors) are shared out by rows, and only a process's own are read.
    Other files are shared out whole, where there are enough of them; where not, each process reads all of them and
    keeps its rows.
    """
    if "-" in paths and (team.size > 1 or len(paths) > 1):
        raise SettingError("standard input is one table for one process; give a file, or several")
    reading: dict[str, Any] = {"tensor": tensor, "spaces": spaces}
    if len(paths) == 1 and team.size == 1:
        own = Vectors.load(paths[0], words=words, limit=limit, duplicates=duplicates, **reading)  # type: ignore[arg-type]
        return Share(vectors=own, words=own.words, dropped=own.dropped)
    reading["duplicates"] = duplicates
    if all(_is_mapped(path) for path in paths):
        own = _by_rows(paths, team, limit, tensor)
    elif limit is None and (group := _group(paths, team)):
        own = _joined([Vectors.load(path, **reading) for path in group])
    else:
        own = _part(_first_rows(paths, limit, reading), team)
    _check_columns(own, team)
    if words is not None:
        own = _with_words(own, words, team)
    return _without_repeats(own, duplicates, team)


def bounds(total: int, team: Team) -> tuple[int, int]:
    """The first row of this process, and the one behind its last, where `total` rows are shared out evenly."""
    if total < team.size:
        raise SettingError(f"{team.size} processes cannot share {total} rows; use fewer processes")
    return total * team.rank // team.size, total * (team.rank + 1) // team.size


def _is_mapped(path: str) -> bool:
    """Whether the file's numbers can be used where they lie, so that opening it reads no row."""
    if is_folder(path):
        return False
    with open_source(path) as source:
        return source.path is not None and sniff(source).format in ("npy", "safetensors")


def _by_rows(paths: Sequence[str], team: Team, limit: int | None, tensor: str | None) -> Vectors:
    matrices = [read_table(path, tensor=tensor).matrix for path in paths]
    rows = sum(len(matrix) for matrix in matrices)
    start, stop = bounds(rows if limit is None else min(rows, limit), team)
    parts, first = [], 0
    for path, matrix in zip(paths, matrices, strict=True):
        lowest, behind = max(start - first, 0), min(stop - first, len(matrix))
        if lowest < behind:
            source = path if lowest == 0 else f"{path} from row {lowest}"
            parts.append(Vectors(matrix[lowest:behind], source=source))
        first += len(matrix)
    return _joined(parts)


def _group(paths: Sequence[str], team: Team) -> list[str]:
    """This process's files, in their order and of about as many bytes as any other's; none if they are too few."""
    sizes = np.array([Path(path).stat().st_size for path in paths])
    middles = np.cumsum(sizes) - sizes / 2
    owners = np.minimum((middles * team.size / max(1, sizes.sum())).astype(int), team.size - 1)
    if len(set(owners.tolist())) < team.size:
        return []
    return [path for path, owner in zip(paths, owners, strict=True) if owner == team.rank]


def _first_rows(paths: Sequence[str], limit: int | None, reading: dict[str, Any]) -> Vectors:
    """The first rows of all files together."""
    parts: list[Vectors] = []
    for path in paths:
        left = None if limit is None else limit - sum(len(part) for part in parts)
        if left == 0:
            break
        parts.append(Vectors.load(path, limit=left, **reading))
    return _joined(parts)


def _joined(parts: Sequence[Vectors]) -> Vectors:
    """One table below the other. A single one stays what it is, perhaps a map of its file."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    for part in parts[1:]:
        if part.dim != first.dim:
            raise InputError(f"{part.source}: has {part.dim} columns, but {first.source} has {first.dim}")
        if (part.words is None) != (first.words is None):
            raise InputError(f"{part.source} and {first.source}: only one of the two has words")
    words = None
    if first.words is not None:
        words = Words.from_text(b"".join(part.words.text for part in parts if part.words is not None))
    matrix = np.concatenate([part.matrix for part in parts])
    joined = Vectors(matrix, words, source=f"{first.source} and {len(parts) - 1} more", duplicates="first")
    joined.dropped += sum(part.dropped for part in parts)
    return joined


def _check_columns(own: Vectors, team: Team) -> None:
    """No process sees the others' files."""
    (first, source), *others = team.tell_all([own.dim, own.source])
    for columns, other in others:
        if columns != first:
            raise InputError(f"{other}: has {columns} columns, but {source} has {first}")


def _part(vectors: Vectors, team: Team) -> Vectors:
    """This process's rows of a table that each of them has read."""
    if team.size == 1:
        return vectors
    start, stop = bounds(len(vectors), team)
    words = None if vectors.words is None else vectors.words[start:stop]
    part = Vectors(vectors.matrix[start:stop].copy(), words, source=vectors.source)
    part.dropped = vectors.dropped if team.leads else 0
    return part


def _with_words(vectors: Vectors, path: str, team: Team) -> Vectors:
    """The rows with their words, from a file that has the words of all rows."""
    if vectors.words is not None:
        raise InputError(f"{vectors.source}: has words of its own; leave out the file of words")
    listed, (rows,) = read_words(path), team.total(len(vectors))
    if len(listed) != rows:
        raise InputError(f"{path}: holds {len(listed)} words, but the table has {int(rows)} rows")
    first = team.first_row(len(vectors))
    return Vectors(vectors.matrix, listed[first : first + len(vectors)], source=vectors.source, duplicates="first")


def _without_repeats(own: Vectors, duplicates: str, team: Team) -> Share:
    """Look for words that stand twice in the whole table, which no process sees alone."""
    (dropped,) = team.total(own.dropped)
    if own.words is None:
        return Share(vectors=own, words=None, dropped=int(dropped))
    text = team.gather(np.frombuffer(own.words.text, dtype=np.uint8).copy())
    words = None if text is None else Words.from_text(text.tobytes())
    repeats = [] if words is None else repeated_rows(words).tolist()
    repeats = team.say(repeats)
    if repeats and duplicates == "error":
        word = team.say(None if words is None else words[repeats[0]])
        raise InputError(
            f"row {repeats[0]}: the word {word!r} stands already in an earlier row; "
            'duplicates="first" (--duplicates first) keeps the first of them'
        )
    if repeats:
        own = _kept(own, np.array(repeats) - team.first_row(len(own)), team)
        words = None if words is None else Words(_left(words, repeats))
    return Share(vectors=own, words=words, dropped=int(dropped) + len(repeats))


def _kept(vectors: Vectors, left_out: npt.NDArray[np.int64], team: Team) -> Vectors:
    """The table without the rows `left_out`, as far as they are in it."""
    inside = left_out[(left_out >= 0) & (left_out < len(vectors))].tolist()
    if 0 in (left := team.tell_all(len(vectors) - len(inside))):
        raise InputError(
            f"process {left.index(0)} of {team.size} has no rows but such whose words stand in earlier ones; "
            "use fewer processes"
        )
    rows = np.setdiff1d(np.arange(len(vectors)), inside)
    return Vectors(vectors.matrix[rows], list(_left(vectors.words or (), inside)), source=vectors.source)


def _left(words: Sequence[str], left_out: Sequence[int]) -> list[str]:
    out = set(left_out)
    return [word for row, word in enumerate(words) if row not in out]


def whole(coded: CodedEmbedding, share: Share, team: Team) -> CodedEmbedding | None:
    """All processes' codes as one coded embedding: the leader gets it, the others None."""
    if team.size == 1:
        return coded
    packed = team.gather(coded.packed)
    norms = None if coded.norms is None else team.gather(coded.norms)
    exact = _gathered_exact(coded, team)
    digests = "".join(team.tell_all(share.vectors.digest))
    if packed is None:
        return None
    digest = f"sha256 of {team.size} shares:{hashlib.sha256(digests.encode()).hexdigest()}"
    ids, rows = exact or (None, None)
    return CodedEmbedding(
        scheme=coded.scheme,
        packed=packed,
        codebooks=coded.codebooks,
        words=share.words,
        norms=norms,
        norm_levels=coded.norm_levels,
        exact_ids=ids,
        exact_rows=rows,
        origin={**coded.origin, "source": {"digest": digest, "rows": len(packed)}, "processes": team.size},
    )


def _gathered_exact(coded: CodedEmbedding, team: Team) -> tuple[npt.NDArray[np.uint32], Matrix] | None:
    """The leader gets the numbers in the whole table of the rows that any process keeps as they are, and those rows."""
    first, own = team.first_row(len(coded)), coded.exact
    dtypes = [dtype for dtype in team.tell_all(None if own is None else own.rows.dtype.str) if dtype is not None]
    if not dtypes:
        return None
    ids = np.empty(0, dtype=np.uint32) if own is None else (own.ids + np.uint32(first))
    rows = np.empty((0, coded.dim)) if own is None else own.rows
    # float16 holds the rows of some processes, and not those of others.
    all_ids, all_rows = team.gather(ids), team.gather(rows.astype(np.result_type(*dtypes)))
    return None if all_ids is None or all_rows is None else (all_ids, all_rows)
