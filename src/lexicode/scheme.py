"""CodeScheme: how many codebooks of how many codewords, and what that costs. Arithmetic only."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lexicode.errors import SettingError

MAX_CODEBOOKS = 256
MAX_CODEWORDS = 4096


@dataclass(frozen=True, kw_only=True)
class CodeScheme:
    """M codebooks of K codewords each, written `MxK`.

    >>> scheme = CodeScheme.parse("32x16")
    >>> scheme.bits_per_row, scheme.bytes_per_row, scheme.basis_vectors
    (128, 16, 512)
    >>> str(scheme)
    '32x16'
    """

    codebooks: int
    codewords: int

    def __post_init__(self) -> None:
        M, K = self.codebooks, self.codewords
        if not 1 <= M <= MAX_CODEBOOKS:
            raise SettingError(f"codebooks={M} is not between 1 and {MAX_CODEBOOKS}")
        if not 2 <= K <= MAX_CODEWORDS:
            raise SettingError(f"codewords={K} is not between 2 and {MAX_CODEWORDS}")
        if K & (K - 1):
            below = 1 << (K.bit_length() - 1)
            raise SettingError(f"codewords={K} is not a power of two; try {below} or {below * 2}")

    @classmethod
    def parse(cls, text: str) -> CodeScheme:
        """`"32x16"` -> 32 codebooks of 16 codewords."""
        match = re.fullmatch(r"\s*(\d{1,9})\s*[x×]\s*(\d{1,9})\s*", text, flags=re.IGNORECASE)
        if match is None:
            raise SettingError(f"scheme {text!r} is not of the form 32x16 (codebooks x codewords)")
        return cls(codebooks=int(match[1]), codewords=int(match[2]))

    @classmethod
    def of(cls, scheme: CodeScheme | str) -> CodeScheme:
        """A scheme as it is, or parsed from its text."""
        return cls.parse(scheme) if isinstance(scheme, str) else scheme

    def __str__(self) -> str:
        return f"{self.codebooks}x{self.codewords}"

    @property
    def bits(self) -> int:
        """Bits of one code component: log2(K)."""
        return self.codewords.bit_length() - 1

    @property
    def bits_per_row(self) -> int:
        """M * log2(K)."""
        return self.codebooks * self.bits

    @property
    def bytes_per_row(self) -> int:
        """A row's packed code, rounded up to whole bytes."""
        return (self.bits_per_row + 7) // 8

    @property
    def basis_vectors(self) -> int:
        """M * K: how many codewords there are in all."""
        return self.codebooks * self.codewords
