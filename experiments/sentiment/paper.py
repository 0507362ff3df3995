"""The paper's figures: Tables 2 and 3 and section 6 of Shu and Nakayama (2018). Its MB are 2**20 bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """accuracy in percent, megabytes as the paper prints them"""

    accuracy: float
    megabytes: float


# Table 3: 75,102 words of GloVe 42B, 300 dimensions. The scheme's rows are the paper's network.
ACCURACIES = {
    "baseline": PaperRow(accuracy=87.18, megabytes=78.0),
    "prune-80": PaperRow(accuracy=86.25, megabytes=21.0),
    "prune-90": PaperRow(accuracy=84.96, megabytes=11.0),
    "npq-10x256": PaperRow(accuracy=86.21, megabytes=0.97),
    "npq-60x256": PaperRow(accuracy=87.11, megabytes=4.52),
    "gumbel-8x64": PaperRow(accuracy=86.66, megabytes=0.94),
    "gumbel-16x32": PaperRow(accuracy=87.37, megabytes=1.23),
    "gumbel-32x16": PaperRow(accuracy=87.80, megabytes=1.66),
    "gumbel-64x8": PaperRow(accuracy=88.15, megabytes=2.23),
}

# Table 2: (codebooks, codewords) -> reconstruction loss.
LOSSES = {
    (8, 8): 29.1, (16, 8): 25.8, (32, 8): 21.9, (64, 8): 15.5,
    (8, 16): 27.0, (16, 16): 22.8, (32, 16): 19.1, (64, 16): 11.5,
    (8, 32): 24.4, (16, 32): 20.4, (32, 32): 14.3, (64, 32): 9.3,
    (8, 64): 21.9, (16, 64): 16.9, (32, 64): 12.1, (64, 64): 7.6,
}  # fmt: skip

# Table 2: (codebooks, codewords) -> size of the embedding layer.
MEGABYTES = {
    (8, 8): 0.28, (16, 8): 0.56, (32, 8): 1.12, (64, 8): 2.24,
    (8, 16): 0.41, (16, 16): 0.83, (32, 16): 1.67, (64, 16): 3.34,
    (8, 32): 0.62, (16, 32): 1.24, (32, 32): 2.48, (64, 32): 4.96,
    (8, 64): 0.95, (16, 64): 1.91, (32, 64): 3.82, (64, 64): 7.64,
}  # fmt: skip

LEAST_USED = (
    "in any scheme the least used codeword has about 1,000 words (1.3 %), and at 8x8 two of the first codebook's "
    "have 31 % and 5 %"
)
