"""How evenly the codewords are used, and which rows cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexicode.coded import CodedEmbedding
from lexicode.packing import unpack

BLOCK_ROWS = 65_536
# A codeword is crowded when it serves so many times its fair share of the rows, or nearly all of them.
CROWDED_SHARES = 4.0
NEARLY_ALL = 0.9


@dataclass(frozen=True, kw_only=True)
class CodeBalance:
    """counts (M, K) int64: how many rows name each codeword; rows: how many rows are coded (exact rows are not)"""

    counts: npt.NDArray[np.int64]
    rows: int

    @property
    def fair_share(self) -> float:
        """The rows of each codeword, were they shared out evenly."""
        return self.rows / int(self.counts.shape[1])

    @property
    def dead(self) -> list[tuple[int, int]]:
        """(codebook, codeword) of each codeword that no row names"""
        return [(int(m), int(k)) for m, k in np.argwhere(self.counts == 0)]

    @property
    def crowded(self) -> list[tuple[int, int]]:
        """(codebook, codeword) of each codeword that far too many rows name, the most crowded first"""
        limit = min(CROWDED_SHARES * self.fair_share, NEARLY_ALL * self.rows)
        found = [(int(m), int(k)) for m, k in np.argwhere(self.counts > limit)]
        return sorted(found, key=lambda place: -self.counts[place])

    @property
    def bits(self) -> npt.NDArray[np.float64]:
        """The entropy of each codebook's choice, (M,) float64: at most log2(K), which even use reaches"""
        shares = self.counts / max(self.rows, 1)
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(np.maximum(-(shares * logs).sum(axis=1), 0.0))

    def as_dict(self) -> dict[str, Any]:
        M, K = self.counts.shape
        return {
            "rows": self.rows,
            "fair_share": self.fair_share,
            "dead": self.dead,
            "crowded": self.crowded,
            "bits_paid": M * (K.bit_length() - 1),
            "bits_carried": float(self.bits.sum()),
            "bits_by_codebook": self.bits.tolist(),
            "counts": self.counts.tolist(),
        }


@dataclass(frozen=True, kw_only=True)
class SharedCodes:
    """rows: how many rows have a code that another row has too; codes: how many such codes; largest: the rows of the
    codes that the most rows share"""

    rows: int
    codes: int
    largest: tuple[tuple[int, ...], ...]


def code_balance(coded: CodedEmbedding) -> CodeBalance:
    """Count the rows of every codeword."""
    M, K = coded.scheme.codebooks, coded.scheme.codewords
    counts = np.zeros((M, K), dtype=np.int64)
    rows = _coded_rows(coded)
    for start in range(0, len(rows), BLOCK_ROWS):
        codes = unpack(coded.packed[rows[start : start + BLOCK_ROWS]], bits=coded.scheme.bits, count=M)
        for m in range(M):
            counts[m] += np.bincount(codes[:, m], minlength=K)
    return CodeBalance(counts=counts, rows=len(rows))


def shared_codes(coded: CodedEmbedding, *, groups: int = 12, members: int = 8) -> SharedCodes:
    """Find the rows that decode to the same vector; of the largest groups the first members are told."""
    rows = _coded_rows(coded)
    if len(rows) < 2:
        return SharedCodes(rows=0, codes=0, largest=())
    bytes_of = np.asarray(coded.packed[rows])
    if coded.norms is not None:
        # A norm of its own tells two rows of one code apart.
        bytes_of = np.concatenate([bytes_of, coded.norms[rows][:, None]], axis=1)
    keys = np.ascontiguousarray(bytes_of).view(np.dtype((np.void, bytes_of.shape[1]))).ravel()
    _, group_of, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    shared = sizes > 1
    order = np.argsort(group_of.ravel(), kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    first_rows = rows[order[starts[:-1]]]
    # The largest groups first; of equal ones that of the earlier, more frequent word.
    ranked = [int(g) for g in np.lexsort((first_rows, -sizes))[:groups] if shared[g]]
    largest = tuple(tuple(rows[order[starts[g] : starts[g + 1]][:members]].tolist()) for g in ranked)
    return SharedCodes(rows=int(sizes[shared].sum()), codes=int(shared.sum()), largest=largest)


def _coded_rows(coded: CodedEmbedding) -> npt.NDArray[np.int64]:
    """The rows whose codes count: all but those that are kept exactly, (n,) int64"""
    counted = np.ones(len(coded), dtype=bool)
    if coded.exact is not None:
        counted[coded.exact.ids] = False
    return np.flatnonzero(counted)
