"""BLEU of tokenized text."""

from __future__ import annotations

from collections.abc import Sequence

from sacrebleu.metrics.bleu import BLEU


def tokenized_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """What multi-bleu.perl prints: the text is taken as it is tokenized, nothing is smoothed."""
    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    return float(metric.corpus_score(list(hypotheses), [list(references)]).score)


def smoothed_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """The mean over sentences of BLEU with one added to the counts (Lin and Och 2004), to choose parameters by."""
    metric = BLEU(tokenize="none", smooth_method="add-k", smooth_value=1, effective_order=True)
    pairs = zip(hypotheses, references, strict=True)
    scores = [metric.sentence_score(hypothesis, [reference]).score for hypothesis, reference in pairs]
    return float(sum(scores) / len(scores))
