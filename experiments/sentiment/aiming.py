"""Codes that are aimed at the task: errors along the one direction that tells good reviews from bad count for more.

That direction holds some 0.3 % of a GloVe table's variance, as an average one of 300 does, and at four dozen bits a
word most of that is lost. Here the table is stretched along it, learned as any other, and its codebooks are shrunk
back. What comes of it is a coded embedding like others, not a byte larger; it has seen the training reviews' labels,
and nothing of the test reviews.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse

from experiments.common.codebooks import with_codebooks
from experiments.sentiment.reviews import Corpus, Reviews
from lexicode import CodedEmbedding, Vectors

Floats = npt.NDArray[np.float32]

# Errors count STRETCH**2 times along the direction. 8 did better than 4 and 1 for a logistic regression on decoded mean
# vectors of training reviews that were held out.
STRETCH = 8.0
RIDGE = 1e-3
NEWTON_STEPS = 12


@dataclass(frozen=True)
class Aim:
    """direction (dim,): of length 1"""

    direction: Floats

    @classmethod
    def at_labels(cls, corpus: Corpus) -> Aim:
        """The direction that a logistic regression on the training reviews' mean vectors finds."""
        means = mean_vectors(corpus.train, corpus.vectors.take(np.arange(len(corpus.vectors))))
        spread = means.std(axis=0) + 1e-12
        weights = logistic_regression((means - means.mean(axis=0)) / spread, corpus.train.labels)
        direction = weights / spread
        return cls((direction / np.linalg.norm(direction)).astype(np.float32))

    def stretch(self, vectors: Vectors) -> Vectors:
        return Vectors(self._scaled(vectors.take(np.arange(len(vectors))), STRETCH), vectors.words)

    def shrink_back(self, coded: CodedEmbedding) -> CodedEmbedding:
        """The coded embedding of the table as it was, from that of the stretched one."""
        exact_rows = None if coded.exact is None else self._scaled(coded.exact.rows.astype(np.float32), 1 / STRETCH)
        codebooks = self._scaled(coded.codebooks.astype(np.float32), 1 / STRETCH)
        return with_codebooks(coded, codebooks, exact_rows=exact_rows, aimed=STRETCH)

    def _scaled(self, rows: Floats, factor: float) -> Floats:
        """rows (..., dim), each `factor` times as long along the direction"""
        along = rows @ self.direction
        return rows + np.float32(factor - 1) * along[..., np.newaxis] * self.direction


def mean_vectors(reviews: Reviews, table: Floats) -> npt.NDArray[np.float64]:
    """table (V, dim) -> the mean of each review's rows, (n, dim)"""
    shares = np.repeat(1 / reviews.lengths, reviews.lengths)
    matrix = scipy.sparse.csr_matrix((shares, reviews.ids, reviews.starts), shape=(len(reviews), len(table)))
    return np.asarray(matrix @ table)


def logistic_regression(features: npt.NDArray[np.float64], labels: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """features (n, d), labels (n,) of 0 and 1 -> weights (d,), by Newton's method"""
    inputs = np.column_stack([features, np.ones(len(features))])
    weights = np.zeros(inputs.shape[1])
    ridge = RIDGE * np.eye(len(weights))
    for _ in range(NEWTON_STEPS):
        likely = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (likely - labels) / len(labels) + RIDGE * weights
        bend = (inputs * (likely * (1 - likely))[:, np.newaxis]).T @ inputs / len(labels) + ridge
        weights -= np.linalg.solve(bend, slope)
    return weights[:-1]
