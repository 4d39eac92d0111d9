"""What the other words of a document say about it, beside the word that is judged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.arithmetic import logistic, logit
from newfound.linear import Tfidf, logistic_regression, product
from newfound.stories.evidence import DocumentWeights

__all__ = ["OtherWords"]

_REGULARISATION = 3.0  # C of `logistic_regression`
_MOST_LEARNED = 20_000  # documents that the regression learns from


class OtherWords(NamedTuple):
    """What the other words of a document say about it: a logistic regression on TF-IDF.

    Attributes
    ----------
    tfidf : Tfidf
        The weights of the words.
    strength : (n_words,) ndarray of float64
        The coefficients of the regression.
    offset : float
        The intercept with which as many documents are expected to be novel as there are.
    """

    tfidf: Tfidf
    strength: NDArray[np.float64]
    offset: float

    @classmethod
    def learn(cls, bags: Any, weights: DocumentWeights) -> OtherWords:
        """Learn from documents; of many, from a sample of a fixed size."""
        tfidf = Tfidf.of(bags)
        scaled, learned = tfidf(bags), _some_documents(weights.novel)
        judge = logistic_regression(scaled[learned], weights.novel[learned], C=_REGULARISATION)
        found = cls(tfidf, judge.coefficients[0], 0.0)
        rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
        weight, novel = weights.weight[rows], weights.novel[rows].astype(np.float64)
        others = found._without_own(scaled, rows)
        return found._replace(offset=_calibrated(others, weight, novel, weights.base))

    def _without_own(self, scaled: Any, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        own = scaled.data * self.strength[scaled.indices]
        others: NDArray[np.float64] = product(scaled, self.strength)[rows] - own
        return others

    def expected(self, bags: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probability that a document is novel, without each of its words, and with all.

        Probabilities have four digits, so that they can be added up as whole numbers, in any order.

        Parameters
        ----------
        bags : (n_documents, n_words) CSR matrix
            Bags of words.

        Returns
        -------
        without : (n_cells,) ndarray of float64
            One for each entry of the matrix: the probability without the word of that entry.
        with_all : (n_documents,) ndarray of float64
            The probability by all words of each document.
        """
        scaled = self.tfidf(bags)
        rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
        without = np.round(logistic(self._without_own(scaled, rows) + self.offset), 4)
        return without, np.round(logistic(product(scaled, self.strength) + self.offset), 4)


def _some_documents(novel: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the documents that the regression learns from: all, or a sample of a fixed size."""
    n = len(novel)
    if n <= _MOST_LEARNED:
        return np.arange(n)
    order = np.random.default_rng(0).permutation(n)
    if novel[order[:_MOST_LEARNED]].all() or not novel[order[:_MOST_LEARNED]].any():
        return np.arange(n)
    return np.sort(order[:_MOST_LEARNED])


def _calibrated(
    others: NDArray[np.float64],
    weight: NDArray[np.float64],
    novel: NDArray[np.float64],
    base: float,
) -> float:
    """Return the intercept with which as many documents are expected to be novel as there are."""
    offset = logit(base)
    for _ in range(30):
        expected = logistic(others + offset)
        slope = float((weight * expected * (1 - expected)).sum())
        step = float((weight * (novel - expected)).sum()) / max(slope, 1e-12)
        offset += float(np.clip(step, -5, 5))
        if abs(step) < 1e-9:
            break
    return offset
