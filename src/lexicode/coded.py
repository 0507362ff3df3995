"""CodedEmbedding: codes, codebooks and words. What a user keeps, ships and looks words up in."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from lexicode.checks import check_codebooks, check_codes, check_norms, check_words
from lexicode.composition import Floats, compose
from lexicode.encoding import SearchTables, encode_rows, nearest_codes
from lexicode.errors import InputError, SettingError
from lexicode.exact import ExactRows
from lexicode.formats.artefact import artefact_bytes, read_artefact, write_artefact
from lexicode.lengths import nearest_levels, normalized, scales
from lexicode.packing import Codes, code_dtype, pack, unpack
from lexicode.scheme import CodeScheme
from lexicode.scoring import ROUNDING, CodeSearch, product_rounding, squared_lengths
from lexicode.symbols import join_codes
from lexicode.words import Words, compress_words, decompress_words, repeated_rows

BLOCK_ROWS = 8192
# Later words are few, so they are searched for long: a millisecond or two each.
ENCODE_STEPS = 400


class CodedEmbedding:
    """An embedding table of V rows as V short codes and M small codebooks.

    A row is the sum of the M codewords that its code names, times its norm where norms are coded apart.
    """

    def __init__(
        self,
        *,
        scheme: CodeScheme,
        packed: npt.NDArray[np.uint8],
        codebooks: npt.NDArray[np.floating[Any]],
        dim: int | None = None,
        offsets: Sequence[int] | None = None,
        words: Words | None = None,
        norms: npt.NDArray[np.uint8] | None = None,
        norm_levels: npt.NDArray[np.float32] | None = None,
        exact_ids: npt.NDArray[np.uint32] | None = None,
        exact_rows: npt.NDArray[np.floating[Any]] | None = None,
        origin: Mapping[str, Any] | None = None,
    ) -> None:
        """packed (V, bytes_per_row) uint8; codebooks (M, K, width) float16 or float32; norms (V,) uint8 that
        point into norm_levels (up to 256,) float32; offsets: the first column that each codebook covers;
        exact_ids (E,) uint32 and exact_rows (E, dim): rows that are kept as they are"""
        self.scheme = scheme
        self.packed = packed
        self.codebooks = codebooks
        self.offsets = None if offsets is None else tuple(offsets)
        self.dim = codebooks.shape[-1] if dim is None else dim
        self.words = words
        self.norms = norms
        self.norm_levels = norm_levels
        if (exact_ids is None) != (exact_rows is None):
            raise InputError("exact_ids and exact_rows come together or not at all")
        self.exact = None
        if exact_ids is not None and exact_rows is not None and len(exact_ids):
            self.exact = ExactRows(ids=exact_ids, rows=exact_rows)
        # Who made it and from what: learner, settings, seed, the source's hash. For people, not for look-up.
        self.origin = dict(origin or {})
        check_codes(packed, scheme)
        check_codebooks(codebooks, scheme, self.offsets, self.dim)
        if words is not None:
            check_words(words, len(packed))
        check_norms(norms, norm_levels, len(packed))
        if self.exact is not None:
            self.exact.check(table_rows=len(packed), dim=self.dim)

    # ---- files

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CodedEmbedding:
        """Open an artefact. Its codes stay on disk until they are looked up (memory-mapped)."""
        record, arrays = read_artefact(path)
        name = os.fspath(path)
        if missing := {"codes", "codebooks"} - arrays.keys():
            raise InputError(f"{name}: tensor {sorted(missing)[0]!r} is missing")
        try:
            words = decompress_words(arrays["words"], len(arrays["codes"])) if "words" in arrays else None
            coded = cls(
                scheme=CodeScheme.parse(str(record.get("scheme"))),
                packed=arrays["codes"],
                codebooks=arrays["codebooks"],
                dim=int(record["dim"]),
                offsets=record.get("offsets"),
                words=words,
                norms=arrays.get("norms"),
                norm_levels=arrays.get("norm_levels"),
                exact_ids=arrays.get("exact_ids"),
                exact_rows=arrays.get("exact_rows"),
                origin=record.get("origin"),
            )
            if words is not None:
                # As the file has them: compressing the words of a large table again takes half a second.
                coded._compressed_words = arrays["words"]
            return coded
        except (InputError, SettingError) as error:
            raise InputError(f"{name}: {error}") from None
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{name}: its record is damaged ({error!r})") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artefact: whole or not at all, and the same bytes for the same table."""
        write_artefact(path, *self._parts())

    def _parts(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """The record and the arrays of the file."""
        record: dict[str, Any] = {"scheme": str(self.scheme), "dim": self.dim, "origin": self.origin}
        if self.offsets is not None:
            record["offsets"] = list(self.offsets)
        arrays: dict[str, npt.NDArray[Any]] = {"codes": self.packed, "codebooks": self.codebooks}
        if self.words is not None:
            arrays["words"] = self._compressed_words
        if self.norms is not None and self.norm_levels is not None:
            arrays |= {"norms": self.norms, "norm_levels": self.norm_levels}
        if self.exact is not None:
            arrays |= {"exact_ids": self.exact.ids, "exact_rows": self.exact.rows}
        return record, arrays

    @property
    def file_bytes(self) -> int:
        """The size of the file that `save` writes."""
        return artefact_bytes(*self._parts())

    @property
    def part_bytes(self) -> dict[str, int]:
        """The bytes of each part, as they lie in the file; norms count as codes, their levels as codebooks."""
        norms = self.norms.nbytes if self.norms is not None else 0
        levels = self.norm_levels.nbytes if self.norm_levels is not None else 0
        return {
            "codes": self.packed.nbytes + norms,
            "codebooks": self.codebooks.nbytes + levels,
            "words": self._compressed_words.nbytes if self.words is not None else 0,
            "exact": self.exact.nbytes if self.exact is not None else 0,
        }

    @cached_property
    def _compressed_words(self) -> npt.NDArray[np.uint8]:
        return compress_words(self.words) if self.words is not None else np.empty(0, dtype=np.uint8)

    # ---- looking up

    def __len__(self) -> int:
        return len(self.packed)

    def __contains__(self, word: object) -> bool:
        return self.words is not None and word in self.words

    @overload
    def __getitem__(self, word: str) -> Floats: ...
    @overload
    def __getitem__(self, word: Sequence[str]) -> Floats: ...
    def __getitem__(self, word: str | Sequence[str]) -> Floats:
        """One word -> (dim,) float32; a list of n words -> (n, dim)"""
        words = self._known_words()
        if isinstance(word, str):
            return self._rows(np.array([words.id_of(word)])).ravel()
        listed = word.tolist() if isinstance(word, np.ndarray) else word
        if not isinstance(listed, Sequence) or not all(isinstance(each, str) for each in listed):
            raise TypeError(f"{word!r} is neither a word nor a list of words; for row numbers use lookup(ids)")
        return self._rows(words.ids_of(listed))

    @overload
    def get(self, word: str) -> Floats | None: ...
    @overload
    def get(self, word: str, default: Floats) -> Floats: ...
    def get(self, word: str, default: Floats | None = None) -> Floats | None:
        """The word's vector, or `default` where the word is unknown."""
        row = self._known_words().find(word)
        return default if row is None else self._rows(np.array([row]))[0]

    def vector(self, word: str | int | np.integer[Any]) -> Floats:
        """The vector of a word or of a row number: (dim,) float32"""
        return self._rows(np.array([self._row_of(word)])).ravel()

    def lookup(self, ids: npt.ArrayLike) -> Floats:
        """Row numbers of any shape -> float32 of that shape plus (dim,)"""
        rows = np.asarray(ids)
        if rows.size == 0:
            return np.empty((*rows.shape, self.dim), dtype=np.float32)
        if not np.issubdtype(rows.dtype, np.integer):
            raise TypeError(f"row numbers are integers, not {rows.dtype}")
        if rows.min() < 0 or rows.max() >= len(self):
            wrong = rows.min() if rows.min() < 0 else rows.max()
            raise IndexError(f"row {wrong} is not in a table of {len(self)} rows")
        return self._rows(rows.ravel()).reshape(*rows.shape, self.dim)

    def codes(self, word: str | int | np.integer[Any] | None = None) -> Codes:
        """A word's (or row's) code: (M,) integers from 0 to K - 1; without a word all codes, (V, M)"""
        if word is None:
            return unpack(self.packed, bits=self.scheme.bits, count=self.scheme.codebooks)
        row = self._row_of(word)
        return unpack(self.packed[row : row + 1], bits=self.scheme.bits, count=self.scheme.codebooks).ravel()

    def decode(self) -> Floats:
        """The whole table: (V, dim) float32"""
        table = np.empty((len(self), self.dim), dtype=np.float32)
        for start, block in self.blocks():
            table[start : start + len(block)] = block
        return table

    def blocks(self, rows: int = BLOCK_ROWS) -> Iterator[tuple[int, Floats]]:
        """The whole table in pieces: (first row, (up to `rows`, dim) float32)"""
        for start in range(0, len(self), rows):
            yield start, self._rows(np.arange(start, min(start + rows, len(self))))

    def _rows(self, rows: npt.NDArray[np.integer[Any]]) -> Floats:
        """rows (n,) in range -> (n, dim) float32"""
        codes = unpack(self.packed[rows], bits=self.scheme.bits, count=self.scheme.codebooks)
        vectors = compose(codes, self._float_codebooks, offsets=self.offsets, dim=self.dim)
        if self.norms is not None and self.norm_levels is not None:
            vectors *= self.norm_levels[self.norms[rows]][:, None]
        if self.exact is not None:
            self.exact.put_into(vectors, rows)
        return vectors

    @cached_property
    def _float_codebooks(self) -> Floats:
        return np.asarray(self.codebooks, dtype=np.float32)

    def _known_words(self) -> Words:
        if self.words is None:
            raise TypeError("this table has no words; use lookup(ids)")
        return self.words

    def _row_of(self, word: str | int | np.integer[Any]) -> int:
        if isinstance(word, str):
            return self._known_words().id_of(word)
        row = operator.index(word)
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} is not in a table of {len(self)} rows")
        return row

    # ---- neighbours

    def most_similar(self, query: str | int | npt.ArrayLike, n: int = 10) -> list[tuple[Any, float]]:
        """The n rows of highest cosine similarity to a word, a row number or a vector (dim,): (word or row, cosine)

        Works on the codes, and composes only the few rows that may be among the n. Of equal cosines the earlier row
        comes first.
        """
        itself = self._row_of(query) if isinstance(query, (str, int, np.integer)) else None
        vector = self.vector(itself) if itself is not None else np.asarray(query, dtype=np.float64)
        if vector.shape != (self.dim,):
            raise InputError(f"a query vector of shape {vector.shape} does not fit a table of {self.dim} columns")
        if not np.isfinite(vector).all():
            raise InputError("a query vector with NaN or infinity has no neighbours")
        n = min(n, len(self) - (itself is not None))
        if n <= 0:
            return []
        # In float64, and by its largest number first, so that no square under- or overflows.
        exact = vector.astype(np.float64)
        exact /= np.abs(exact).max(initial=0.0) or 1.0
        unit = (exact / (np.linalg.norm(exact) or 1.0)).astype(np.float32)
        rows = self._candidates(unit, n + (itself is not None))
        rows = rows[rows != itself]
        cosines = self._cosines(rows, unit)
        top = np.lexsort((rows, -cosines))[:n]
        found = zip(rows[top].tolist(), cosines[top].tolist(), strict=True)
        return [(self.words[row] if self.words is not None else row, cosine) for row, cosine in found]

    def _candidates(self, unit: Floats, n: int) -> npt.NDArray[np.int64]:
        """unit (dim,) -> rows, ascending, with all that may be among the n of highest cosine: (c,) int64"""
        books = self._float_codebooks
        if self.offsets is None:
            tables = books @ unit
        else:
            width = books.shape[2]
            parts = np.stack([unit[start : start + width] for start in self.offsets])
            tables = np.einsum("mkw,mw->mk", books, parts)
        rows = self._code_search.candidates(tables, n)
        if self.exact is None:
            return rows
        cosines = self._exact_directions @ unit
        least = np.partition(cosines, -n)[-n] - ROUNDING if len(cosines) > n else -np.inf
        return np.union1d(rows, self.exact.ids[cosines >= least])

    def _cosines(self, rows: npt.NDArray[np.int64], unit: Floats) -> Floats:
        """rows (n,), unit (dim,) -> the cosine of each row as it is looked up, (n,) float32; 0 for a row of zeros"""
        cosines = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), BLOCK_ROWS):
            directions = normalized(self._rows(rows[start : start + BLOCK_ROWS]))
            # Not by the matrix library, which rounds equal rows differently by where they stand.
            np.einsum("nd,d->n", directions, unit, out=cosines[start : start + len(directions)])
        return cosines

    @cached_property
    def _code_search(self) -> CodeSearch:
        """The codes as they are searched. Lengths are those of the sums of codewords: norms cancel out of a cosine."""
        M, bits = self.scheme.codebooks, self.scheme.bits
        squares = squared_lengths(self.packed, self._float_codebooks, bits=bits, offsets=self.offsets, dim=self.dim)
        inverse = np.divide(1, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
        if self.norms is not None and self.norm_levels is not None:
            inverse[self.norm_levels[self.norms] == 0] = 0
        # Whatever their codes say, rows that are kept as they are are judged by their own directions.
        left_out = None if self.exact is None else self.exact.ids
        symbols = join_codes(self.packed, bits=bits, count=M)
        return CodeSearch(symbols, inverse, rounding=product_rounding(self._float_codebooks), left_out=left_out)

    @cached_property
    def _exact_directions(self) -> Floats:
        """The rows that are kept as they are, at length one: (E, dim) float32"""
        rows = np.empty((0, self.dim)) if self.exact is None else self.exact.rows
        return normalized(rows.astype(np.float32))

    # ---- words that came later

    def encode(self, vectors: npt.ArrayLike) -> Codes:
        """New vectors (n, dim) -> codes (n, M) in these codebooks. The table itself stays as it is."""
        block = self._checked(vectors)
        if self.norms is not None:
            block = normalized(block)
        if self.offsets is not None:
            return nearest_codes(block, self._float_codebooks, self.offsets)
        if not len(block):
            return np.empty((0, self.scheme.codebooks), dtype=code_dtype(self.scheme.bits))
        tables = self._search_tables
        pieces = [
            encode_rows(block[at : at + tables.block_rows], tables, steps=ENCODE_STEPS, first_row=at)
            for at in range(0, len(block), tables.block_rows)
        ]
        return np.concatenate(pieces)

    def add(self, words: Sequence[str], vectors: npt.ArrayLike) -> None:
        """Append words and their vectors (n, dim), coded in the present codebooks.

        Where lengths are coded apart, one beyond the table's levels is coded as the nearest of them.
        """
        known = self._known_words()
        block = self._checked(vectors)
        fresh = list(words)
        if len(fresh) != len(block):
            raise InputError(f"{len(fresh)} words for {len(block)} vectors")
        if taken := [word for word in fresh if word in known]:
            raise InputError(f"the word {taken[0]!r} is in the table already")
        if len(repeats := repeated_rows(fresh)):
            raise InputError(f"the word {fresh[repeats[0]]!r} stands twice among the new ones")
        extended = Words.from_text(known.text + Words(fresh).text)
        codes = self.encode(block)
        if self.norms is not None and self.norm_levels is not None:
            directions = compose(codes, self._float_codebooks, offsets=self.offsets, dim=self.dim)
            self.norms = np.concatenate([self.norms, nearest_levels(scales(block, directions), self.norm_levels)])
        self.packed = np.concatenate([self.packed, pack(codes, bits=self.scheme.bits)])
        self.words = extended
        for cached in ("_code_search", "_compressed_words"):
            self.__dict__.pop(cached, None)

    @cached_property
    def _search_tables(self) -> SearchTables:
        return SearchTables.of(self._float_codebooks)

    def _checked(self, vectors: npt.ArrayLike) -> Floats:
        block = np.ascontiguousarray(vectors, dtype=np.float32)
        if block.ndim != 2 or block.shape[1] != self.dim:
            raise InputError(f"vectors of shape {block.shape} do not fit a table of {self.dim} columns")
        if len(bad := np.flatnonzero(~np.isfinite(block).all(axis=1))):
            raise InputError(f"row {bad[0]}: NaN or infinity among its numbers")
        return block

    def __repr__(self) -> str:
        words = "with words" if self.words is not None else "without words"
        return f"CodedEmbedding({len(self)} rows x {self.dim}, scheme {self.scheme}, {words})"
