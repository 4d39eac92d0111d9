"""What words and votes mean: the probability that a text is novel, from held-out documents.

The verdict on a text adds up two kinds of evidence, in log-odds. The *words* have weights of a
logistic regression on TF-IDF. The *rules* have votes; machines do not vote evenly, because the
rules of the larger or more varied side match more texts of both sides. How much each kind counts,
and where the two sides divide, is learned from documents that took no part: each document has a sum
of words from a regression on other documents, and the votes of the machines that were not trained
on it. Both sides are weighted alike, whatever their sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats  # type: ignore[import-untyped,unused-ignore]
from sklearn.feature_extraction.text import (  # type: ignore[import-untyped,unused-ignore]
    TfidfTransformer,
)
from sklearn.linear_model import (  # type: ignore[import-untyped,unused-ignore]
    LogisticRegression,
)
from sklearn.model_selection import (  # type: ignore[import-untyped,unused-ignore]
    StratifiedKFold,
    cross_val_predict,
)

__all__ = ["VerdictCalibration"]

_MIN_DOCUMENTS = 5  # of each side
_MOST_DOCUMENTS = 20_000
_FOLDS = 5
_CHANCE = 0.1  # the probability of such a difference between sides that do not differ
_REGULARISATION = 10.0  # scikit-learn's C, for the words


@dataclass(frozen=True, eq=False)
class VerdictCalibration:
    """The log-odds of novel as a sum over words, plus votes, plus a constant.

    Attributes
    ----------
    slope : float
        The log-odds for a lead of one vote. The lead is the number of votes for novel less that
        for known, of rules with a plain word, divided by the number of machines.
    intercept : float
        The log-odds of a text with an even vote whose words say nothing.
    weights : (n_words,) ndarray of float64
        The log-odds that each word of the vocabulary adds, before they are divided by the norm of
        the text.
    idf : (n_words,) ndarray of float64
        The inverse document frequencies. The norm of a text is the root of the sum of the squares
        of those of its words.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> matrix = csr_array([[1, 0, 1]] * 10 + [[0, 1, 1]] * 10)
    >>> leads = np.array([-9.0, -8, -7, -8, -3] * 2 + [-2, 1, -1, 2, 1] * 2)
    >>> calibration = VerdictCalibration.of(leads, np.arange(20) >= 10, matrix)
    >>> calibration.contributions([1, 2]).round(1).tolist()
    [1.7, -0.0]
    >>> round(calibration.probability(1, [1, 2]), 2), round(calibration.probability(-9, [0, 2]), 2)
    (0.94, 0.04)
    """

    slope: float
    intercept: float
    weights: NDArray[np.float64]
    idf: NDArray[np.float64]

    @classmethod
    def of(
        cls, leads: NDArray[np.float64], novel: NDArray[np.bool_], matrix: Any
    ) -> VerdictCalibration | None:
        """Learn from documents what their words and their held-out votes mean.

        Parameters
        ----------
        leads : (n_documents,) array of float
            The lead of novel votes in each document, of rules with a plain word; nan if no
            machine held it out.
        novel : (n_documents,) array of bool
            Which of them are novel.
        matrix : (n_documents, n_words) sparse matrix
            The words of each document; those without words are left out.

        Returns
        -------
        VerdictCalibration or None
            None if a side has fewer than five documents with votes. Where words and votes do not
            tell held-out documents apart by more than chance, all its numbers are 0.
        """
        bags = sparse.csr_array(matrix, dtype=np.float64)
        rows = _some(np.flatnonzero(np.diff(bags.indptr) > 0))
        bags, novel, leads = bags[rows], novel[rows], leads[rows]
        there = ~np.isnan(leads)
        if min(int(novel[there].sum()), int((~novel[there]).sum())) < _MIN_DOCUMENTS:
            return None
        transformer = TfidfTransformer().fit(bags)
        scaled = transformer.transform(bags)
        judge = LogisticRegression(C=_REGULARISATION, class_weight="balanced", max_iter=1000)
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
        sums = cross_val_predict(judge, scaled, novel, cv=folds, method="decision_function")
        idf = np.asarray(transformer.idf_, np.float64)
        evidence = np.stack((sums, leads))[:, there]
        of_words, of_votes, intercept = _shares(evidence, novel[there])
        if not _told_apart(of_words * evidence[0] + of_votes * evidence[1], novel[there]):
            return cls(0.0, 0.0, np.zeros(len(idf)), idf)
        judge.fit(scaled, novel)
        return cls(
            slope=of_votes,
            intercept=intercept + of_words * float(judge.intercept_[0]),
            weights=of_words * judge.coef_[0] * idf,
            idf=idf,
        )

    @property
    def is_empty(self) -> bool:
        """Whether held-out documents could not be told apart: every text has even odds."""
        return not (self.slope or self.intercept or self.weights.any())

    def contributions(self, columns: ArrayLike) -> NDArray[np.float64]:
        """Return the log-odds that each word of a text adds.

        Parameters
        ----------
        columns : array of int
            The numbers of the words that the text has, each once.

        Returns
        -------
        (n,) array of float
        """
        chosen = np.asarray(columns, np.intp)
        norm = float(np.sqrt((self.idf[chosen] ** 2).sum()))
        added: NDArray[np.float64] = self.weights[chosen] / (norm or 1.0)
        return added

    def probability(self, lead: float, columns: ArrayLike) -> float:
        """Return the probability of novel, if both sides were equally frequent.

        Parameters
        ----------
        lead : float
            The lead of novel votes, divided by the number of machines.
        columns : array of int
            The numbers of the words that the text has, each once.

        Returns
        -------
        float
        """
        odds = self.slope * lead + self.intercept + float(self.contributions(columns).sum())
        return 1 / (1 + math.exp(-odds)) if odds >= 0 else 1 - 1 / (1 + math.exp(odds))


def _shares(evidence: NDArray[np.float64], novel: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return how much words and votes count, neither below 0, and the constant."""
    centre, scale = evidence.mean(axis=1), evidence.std(axis=1)
    used = scale > 0
    for _ in range(len(evidence)):
        if not used.any():
            break
        model = LogisticRegression(class_weight="balanced")
        model.fit(((evidence[used].T - centre[used]) / scale[used]), novel)
        slopes = np.zeros(len(evidence))
        slopes[used] = model.coef_[0] / scale[used]
        if (slopes >= 0).all():
            constant = float(model.intercept_[0]) - float(slopes @ centre)
            return float(slopes[0]), float(slopes[1]), constant
        used &= slopes > 0  # what speaks against itself is chance, and does not count
    return 0.0, 0.0, 0.0


def _told_apart(evidence: NDArray[np.float64], novel: NDArray[np.bool_]) -> bool:
    """Return whether novel documents have more evidence than known ones, beyond chance."""
    test = stats.mannwhitneyu(evidence[novel], evidence[~novel], alternative="greater")
    return bool(test.pvalue < _CHANCE)


def _some(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return all documents, or a sample of a fixed size."""
    if len(rows) <= _MOST_DOCUMENTS:
        return rows
    return np.sort(np.random.default_rng(0).permutation(rows)[:_MOST_DOCUMENTS])
