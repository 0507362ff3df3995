"""What other schemes would give: quick fits on a sample of the rows, within a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexicode.coded import CodedEmbedding
from lexicode.errors import LexicodeError
from lexicode.learners import make_learner
from lexicode.scheme import MAX_CODEBOOKS, MAX_CODEWORDS, CodeScheme
from lexicode.vectors import Vectors

TRIAL_ROWS = 4000
SAMPLE_SEED = 20180217
# More codewords than this share of the sample's rows would learn the rows by heart.
MOST_CODEWORDS_A_ROW = 0.5

OnTrial = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A scheme beside that of the file. sample_loss: of the quick fit, on the sample; expected_loss: that, times the
    file's own loss over the own scheme's sample_loss; file_bytes: of the whole table in this scheme, words included"""

    scheme: str
    bits_per_row: int
    file_bytes: int
    ratio: float
    sample_loss: float
    expected_loss: float
    own: bool


@dataclass(frozen=True, kw_only=True)
class Trials:
    """rows: of the sample; planned: how many schemes there were to try; skipped: why some or all were not tried, empty
    where all were"""

    learner: str
    rows: int
    planned: int
    skipped: str
    results: tuple[Trial, ...]


def try_schemes(
    vectors: Vectors, coded: CodedEmbedding, loss: float, *, seconds: float, on_trial: OnTrial | None = None
) -> Trials:
    """Fit the file's own scheme and its neighbours, the nearest first, until `seconds` have passed; `loss` is the
    file's own. The own scheme is always fitted, so that the others can be held against it."""
    name = trial_learner(coded)
    rng = np.random.default_rng(SAMPLE_SEED)
    rows = np.sort(rng.choice(len(vectors), size=min(TRIAL_ROWS, len(vectors)), replace=False))
    schemes = [
        scheme
        for scheme in [coded.scheme, *neighbouring_schemes(coded.scheme)]
        if scheme.basis_vectors <= MOST_CODEWORDS_A_ROW * len(rows)
        and (name == "additive" or scheme.codebooks <= coded.dim)
    ]
    if seconds <= 0:
        return Trials(learner=name, rows=len(rows), planned=0, skipped="it was not asked for", results=())
    if coded.scheme not in schemes:
        why = f"{coded.scheme.basis_vectors:,} codewords are too many to learn from a sample of {len(rows):,} rows"
        return Trials(learner=name, rows=len(rows), planned=0, skipped=why, results=())
    losses: dict[CodeScheme, float] = {}
    # An additive code whose lengths are coded apart was learned for direction.
    lowered = "squared" if coded.norms is None else "cosine"
    skipped = ""
    try:
        # The first fit of all compiles; that is not the schemes' time.
        _quick_loss(name, CodeScheme(codebooks=1, codewords=2), Vectors(vectors.take(rows[:16])), lowered)
        sample, started = Vectors(vectors.take(rows)), time.monotonic()
        for number, scheme in enumerate(schemes):
            if losses and not _in_time(scheme, losses, started, seconds):
                skipped = f"the time for trials, {seconds:g} s, was too short"
                continue
            losses[scheme] = _quick_loss(name, scheme, sample, lowered)
            if on_trial is not None:
                on_trial(number + 1, len(schemes))
    except LexicodeError as error:
        skipped = str(error)
    scale = loss / losses[coded.scheme] if losses.get(coded.scheme, 0) > 0 else 1.0
    results = tuple(
        Trial(
            scheme=str(scheme),
            bits_per_row=scheme.bits_per_row,
            file_bytes=(size := bytes_with(coded, scheme)),
            ratio=vectors.original_bytes / size,
            sample_loss=quick,
            expected_loss=quick * scale,
            own=scheme == coded.scheme,
        )
        for scheme, quick in sorted(losses.items(), key=lambda item: (item[0].bits_per_row, item[0].codewords))
    )
    return Trials(learner=name, rows=len(rows), planned=len(schemes), skipped=skipped, results=results)


def neighbouring_schemes(scheme: CodeScheme) -> list[CodeScheme]:
    """Half and twice the codebooks; as many bits in fewer, wider codes and in more, narrower ones; sizes between

    >>> [str(scheme) for scheme in neighbouring_schemes(CodeScheme.parse("32x16"))]
    ['16x16', '64x16', '26x32', '43x8', '24x16', '48x16']
    """
    M, K, bits = scheme.codebooks, scheme.codewords, scheme.bits
    wanted = [(M // 2, K), (2 * M, K), (round(M * bits / (bits + 1)), 2 * K)]
    wanted += [(round(M * bits / (bits - 1)), K // 2)] if bits > 1 else []
    wanted += [(3 * M // 4, K), (3 * M // 2, K)]
    allowed = [(m, k) for m, k in wanted if 1 <= m <= MAX_CODEBOOKS and 2 <= k <= MAX_CODEWORDS and (m, k) != (M, K)]
    return [CodeScheme(codebooks=m, codewords=k) for m, k in dict.fromkeys(allowed)]


def bytes_with(coded: CodedEmbedding, scheme: CodeScheme) -> int:
    """The size of the file, were its rows coded by another scheme of the same kind."""
    width = coded.dim if coded.offsets is None else -(-coded.dim // scheme.codebooks)
    codes = len(coded) * (scheme.bytes_per_row - coded.scheme.bytes_per_row)
    codebooks = scheme.basis_vectors * width * coded.codebooks.itemsize - coded.codebooks.nbytes
    return coded.file_bytes + codes + codebooks


def trial_learner(coded: CodedEmbedding) -> str:
    """The learner that made the file where it is quick; the additive one for those that are not."""
    if coded.offsets is None:
        return "additive"
    return "product" if coded.norms is None else "normalized-product"


def _quick_loss(name: str, scheme: CodeScheme, sample: Vectors, loss: str) -> float:
    """The mean squared distance a row of a quick fit; float32 codebooks, which hold any table's values"""
    settings: dict[str, Any] = {"effort": "fast", "loss": loss} if name == "additive" else {}
    learner = make_learner(name, scheme, codebook_dtype="float32", **settings)
    learner.fit(sample)
    return max(learner.loss, 0.0)


def _in_time(scheme: CodeScheme, done: dict[CodeScheme, float], started: float, seconds: float) -> bool:
    """Whether a fit is likely to end in time, going by how long those that are done took for their codewords."""
    passed = time.monotonic() - started
    cost = passed * scheme.basis_vectors / sum(each.basis_vectors for each in done)
    return passed + cost <= seconds
