"""What words and votes mean: the probability that a text is novel, from held-out documents.

The verdict on a text adds up two kinds of evidence, in log-odds. The *words* have weights of a
logistic regression on TF-IDF. The *rules* have votes; machines do not vote evenly, because the
rules of the larger or more varied side match more texts of both sides. How much each kind counts,
and where the two sides divide, is learned from documents that took no part: each document has a sum
of words from a regression on other documents, and the votes of the machines that were not trained
on it. Both sides are weighted alike, whatever their sizes.

Stop words are words of a verdict only where they tell more about held-out documents than the other
words and the votes do. In news they say nothing. In short messages such as "who are you" they are
all there is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats  # type: ignore[import-untyped,unused-ignore]
from sklearn.model_selection import (  # type: ignore[import-untyped,unused-ignore]
    StratifiedKFold,
)

from newfound.arithmetic import log, logistic
from newfound.linear import LinearWeights, Tfidf, logistic_regression

__all__ = ["VerdictCalibration"]

_MIN_DOCUMENTS = 5  # of each side
_MOST_DOCUMENTS = 20_000
_FOLDS = 5
_CHANCE_Z = 1.2816  # standard deviations: one in ten where sides do not differ
_REGULARISATION = 10.0  # C of `logistic_regression`, for the words
_MIN_STOPS = 2  # documents that have a stop word
_SURE = 2.0  # standard errors by which stop words must raise the area under the ROC curve


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
        The log-odds that each word of the vocabulary adds, and after these each stop word that
        counts, before they are divided by the norm of the text.
    idf : (n_words,) ndarray of float64
        The inverse document frequencies. The norm of a text is the root of the sum of the squares
        of those of its words.
    stop_words : tuple of str
        The stop words that count; none where they do not help.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> matrix = csr_array([[1, 0, 1]] * 10 + [[0, 1, 1]] * 10)
    >>> leads = np.array([-9.0, -8, -7, -8, -3] * 2 + [-2, 1, -1, 2, 1] * 2)
    >>> calibration = VerdictCalibration.of(leads, np.arange(20) >= 10, matrix)
    >>> calibration.contributions([1, 2]).round(1).tolist()
    [1.7, 0.0]
    >>> round(calibration.probability(1, [1, 2]), 2), round(calibration.probability(-9, [0, 2]), 2)
    (0.94, 0.04)
    """

    slope: float
    intercept: float
    weights: NDArray[np.float64]
    idf: NDArray[np.float64]
    stop_words: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        leads: NDArray[np.float64],
        novel: NDArray[np.bool_],
        matrix: Any,
        stop_words: Mapping[str, int] = MappingProxyType({}),
        stops: Any = None,
    ) -> VerdictCalibration | None:
        """Learn from documents what their words and their held-out votes mean.

        The lead of votes is nan in a document that no machine held out; documents without words
        are left out. `stop_words` may count; they are columns of `stops`. Returns None if a side
        has fewer than five documents with votes. Where words and votes do not tell held-out
        documents apart by more than chance, all numbers are 0.
        """
        plain = _Evidence.of(leads, novel, matrix)
        if plain is None:
            return None
        best, names = plain, tuple[str, ...]()
        names_met, columns = _frequent(stop_words, stops)
        if names_met:
            both = sparse.hstack((matrix, stops[:, columns]), format="csr")
            other = _Evidence.of(leads, novel, both)
            if other is not None and other.is_better_than(plain):
                best, names = other, names_met
        if not best.tells_apart:
            return cls(0.0, 0.0, np.zeros(len(plain.idf)), plain.idf)
        return best.calibration(names)

    @property
    def is_empty(self) -> bool:
        """Whether held-out documents could not be told apart: every text has even odds."""
        return not (self.slope or self.intercept or self.weights.any())

    def to_state(self) -> dict[str, Any]:
        """Return the numbers and stop words by name, as plain data and arrays."""
        state = {name: getattr(self, name) for name in ("slope", "intercept", "weights", "idf")}
        return {**state, "stop_words": list(self.stop_words)}

    def widened(
        self, columns: NDArray[np.intp], n_words: int, n_documents: int
    ) -> VerdictCalibration:
        """Return a calibration for more words, which say nothing; stop words come after all."""
        whole = n_words + len(self.stop_words)
        places = np.concatenate((columns, np.arange(n_words, whole)))
        weights, idf = np.zeros(whole), np.full(whole, log(n_documents + 1) + 1)
        weights[places], idf[places] = self.weights, self.idf
        return replace(self, weights=weights, idf=idf)

    @cached_property
    def stop_columns(self) -> dict[str, int]:
        """The number of each stop word that counts, after those of the vocabulary."""
        first = len(self.weights) - len(self.stop_words)
        return {word: first + place for place, word in enumerate(self.stop_words)}

    def contributions(self, columns: ArrayLike) -> NDArray[np.float64]:
        """Return the log-odds that the words of a text add, given their numbers, each once."""
        chosen = np.asarray(columns, np.intp)
        norm = float(np.sqrt((self.idf[chosen] ** 2).sum()))
        added: NDArray[np.float64] = self.weights[chosen] / (norm or 1.0)
        return added

    def probability(self, lead: float, columns: ArrayLike) -> float:
        """Return the probability of novel, if both sides were equally frequent."""
        odds = self.slope * lead + self.intercept + float(self.contributions(columns).sum())
        return logistic(odds)


class _Evidence(NamedTuple):
    """What the words and the votes say about documents that they did not learn from."""

    rows: NDArray[np.intp]
    scaled: Any  # their words as TF-IDF
    idf: NDArray[np.float64]
    novel: NDArray[np.bool_]
    sums: NDArray[np.float64]  # what their words say, by a regression on other documents
    odds: NDArray[np.float64]  # of novel; nan for documents without votes
    shares: tuple[float, float, float]  # how much words and votes count, and the constant

    @classmethod
    def of(cls, leads: NDArray[np.float64], novel: NDArray[np.bool_], matrix: Any) -> Self | None:
        """Judge documents by a regression on others; None if a side has too few with votes."""
        bags = sparse.csr_array(matrix, dtype=np.float64)
        rows = _some(np.flatnonzero(np.diff(bags.indptr) > 0))
        bags, novel, leads = bags[rows], novel[rows], leads[rows]
        there = ~np.isnan(leads)
        if min(int(novel[there].sum()), int((~novel[there]).sum())) < _MIN_DOCUMENTS:
            return None
        tfidf = Tfidf.of(bags)
        scaled, sums = tfidf(bags), np.zeros(len(rows))
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
        for learned, judged in folds.split(rows, novel):
            sums[judged] = _judge(scaled[learned], novel[learned]).decisions(scaled[judged])
        shares = _shares(np.stack((sums, leads))[:, there], novel[there])
        odds = shares[0] * sums + shares[1] * leads + shares[2]
        return cls(rows, scaled, tfidf.idf, novel, sums, odds, shares)

    @property
    def tells_apart(self) -> bool:
        """Whether novel documents have more evidence than known ones, beyond chance."""
        there = ~np.isnan(self.odds)
        odds, novel = self.odds[there], self.novel[there]
        gained = float(_placements(odds, novel)[novel].mean()) - 0.5
        ties = np.unique(odds, return_counts=True)[1].astype(np.float64)
        n, n_novel = len(odds), int(novel.sum())
        tied = float((ties * (ties * ties - 1)).sum()) / max(n * (n - 1), 1)
        # The rank test of Mann and Whitney, by its normal law also where documents are few: this is
        # the variance of the mean placement by chance.
        variance = (n + 1 - tied) / (12 * n_novel * (n - n_novel))
        return gained > _CHANCE_Z * math.sqrt(variance)

    def is_better_than(self, other: _Evidence) -> bool:
        """Return whether the words rank novel above known documents better, beyond chance.

        The areas under the two ROC curves are compared by the test of DeLong et al. (1988). A
        document in which the other one has no words is even there.
        """
        theirs = np.zeros(int(max(self.rows[-1], other.rows[-1])) + 1)
        theirs[other.rows] = other.sums
        gained = _placements(self.sums, self.novel) - _placements(theirs[self.rows], self.novel)
        sides = gained[~self.novel], gained[self.novel]
        error = math.sqrt(sum(float(side.var()) / len(side) for side in sides))
        return float(sides[0].mean()) > _SURE * error

    def calibration(self, stop_words: tuple[str, ...]) -> VerdictCalibration:
        """Learn the words from all documents."""
        judge = _judge(self.scaled, self.novel)
        of_words, of_votes, intercept = self.shares
        return VerdictCalibration(
            slope=of_votes,
            intercept=intercept + of_words * float(judge.intercepts[0]),
            weights=of_words * judge.coefficients[0] * self.idf,
            idf=self.idf,
            stop_words=stop_words,
        )


def _placements(sums: NDArray[np.float64], novel: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the share of the other side that each document is on the right side of."""
    above = stats.rankdata(sums)
    for side in (novel, ~novel):
        above[side] -= stats.rankdata(sums[side])
    n_novel = int(novel.sum())
    shares: NDArray[np.float64] = np.where(
        novel, above / (len(novel) - n_novel), 1 - above / n_novel
    )
    return shares


def _judge(scaled: Any, novel: NDArray[np.bool_]) -> LinearWeights:
    return logistic_regression(scaled, novel, C=_REGULARISATION, balanced=True)


def _frequent(stop_words: Mapping[str, int], stops: Any) -> tuple[tuple[str, ...], list[int]]:
    """Return the stop words of several documents, in alphabetical order, and their columns."""
    if stops is None or not stop_words:
        return (), []
    counts = np.bincount(stops.indices, minlength=stops.shape[1])
    kept = [(word, at) for word, at in sorted(stop_words.items()) if counts[at] >= _MIN_STOPS]
    return tuple(word for word, _ in kept), [at for _, at in kept]


def _shares(evidence: NDArray[np.float64], novel: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return how much words and votes count, neither below 0, and the constant."""
    centre, scale = evidence.mean(axis=1), evidence.std(axis=1)
    used = scale > 0
    for _ in range(len(evidence)):
        if not used.any():
            break
        scaled = (evidence[used].T - centre[used]) / scale[used]
        model = logistic_regression(scaled, novel, C=1.0, balanced=True)
        slopes = np.zeros(len(evidence))
        slopes[used] = model.coefficients[0] / scale[used]
        if (slopes >= 0).all():
            constant = float(model.intercepts[0]) - float((slopes * centre).sum())
            return float(slopes[0]), float(slopes[1]), constant
        used &= slopes > 0  # what speaks against itself is chance, and does not count
    return 0.0, 0.0, 0.0


def _some(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return all documents, or a sample of a fixed size."""
    if len(rows) <= _MOST_DOCUMENTS:
        return rows
    return np.sort(np.random.default_rng(0).permutation(rows)[:_MOST_DOCUMENTS])
