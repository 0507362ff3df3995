from __future__ import annotations

import pytest

from lexicode import CodeScheme, SettingError


def test_arithmetic_of_the_papers_scheme() -> None:
    scheme = CodeScheme(codebooks=32, codewords=16)
    assert (scheme.bits, scheme.bits_per_row, scheme.bytes_per_row, scheme.basis_vectors) == (4, 128, 16, 512)


@pytest.mark.parametrize(
    ("text", "bytes_per_row"), [("1x2", 1), ("3x8", 2), ("9x2", 2), ("8x64", 6), ("256x4096", 384)]
)
def test_bytes_round_up_to_whole_ones(text: str, bytes_per_row: int) -> None:
    assert CodeScheme.parse(text).bytes_per_row == bytes_per_row


@pytest.mark.parametrize("text", ["32x16", " 32 X 16 ", "32×16"])
def test_parse_forgives_spaces_and_signs(text: str) -> None:
    assert str(CodeScheme.parse(text)) == "32x16"


@pytest.mark.parametrize("text", ["", "32", "x16", "32x", "-3x16", "32x16x2", "1e2x16", "99999999999999x2"])
def test_parse_refuses_other_forms(text: str) -> None:
    with pytest.raises(SettingError, match="not of the form 32x16"):
        CodeScheme.parse(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("4x12", r"codewords=12 is not a power of two; try 8 or 16"),
        ("4x1", r"codewords=1 is not between 2 and 4096"),
        ("4x8192", r"codewords=8192 is not between 2 and 4096"),
        ("0x16", r"codebooks=0 is not between 1 and 256"),
        ("257x16", r"codebooks=257 is not between 1 and 256"),
    ],
)
def test_rules_are_told(text: str, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        CodeScheme.parse(text)
