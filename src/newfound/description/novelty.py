"""Evidence that a word is new: novelty, strength and q-value.

*Novelty* says how sure: a number of standard deviations, above 0 for novel and below 0 for known.
Chance rarely goes beyond 2. It is the weighted mean of two statistics, each the signed root of a
binomial deviance:

- the documents that have the word, counted by side, against the share of novel documents that is
  expected where the word says nothing;
- the same, against the share that the *other* words of each document already explain, by a logistic
  regression without the word's own part. A word that merely accompanies others counts a little
  less. Where the two have opposite signs, the second counts as 0.

A document counts by 2 / (1 + length / median length): a long document has many words by chance. The
expected share of novel documents is that of all words together, so that documents of one side may
be longer. Documents of no evidence are added to each word, `PRIOR` for the first statistic and half
as many for the second: scores of rare words are shrunk towards 0. A word whose share of the novel
documents is not larger than its share of the known ones is never novel, and the other way round.
Novelty exceeds the normal quantile of the p-value that the q-value is made of by at most 1.

How strong a word is (`times`, with an interval) is in `newfound.description.scores`. The q-value
is Benjamini and Hochberg's, of exact tests. Interval and q-value agree: the interval leaves out 1
exactly where q is at most 0.05.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats  # type: ignore[import-untyped,unused-ignore]

from newfound.arithmetic import (
    binomial_tail,
    exp,
    hypergeometric_tail,
    log,
    logistic,
    logit,
    normal_quantile,
)
from newfound.description.scores import frequency_ratios
from newfound.linear import Tfidf, logistic_regression, product
from newfound.stories.evidence import (
    PRIOR,
    DocumentWeights,
    agreeing,
    document_weights,
    excess,
    weighted_root,
)
from newfound.timing import step

__all__ = [
    "SIGNIFICANT",
    "Evidence",
    "OtherWords",
    "WordSums",
    "evidence_from_sums",
    "not_contradicted",
    "p_values",
    "q_values",
    "word_evidence",
]

SIGNIFICANT = 0.05
_WEIGHT_Z2 = 0.3  # the weight of the second statistic, z2 in docs/words-method.md
_PRIOR_Z2 = PRIOR / 2
_BEYOND_TESTS = 1.0  # how much surer than the test of its q-value a word can be
_REGULARISATION = 3.0  # C of `logistic_regression`
_MOST_LEARNED = 20_000  # documents that the regression learns from


class Evidence(NamedTuple):
    """The evidence of documents for each word, as arrays.

    Attributes
    ----------
    novelty : ndarray of float64
        How sure: above 0 for novel, below 0 for known, in standard deviations.
    times : ndarray of float64
        How strong: how many times more frequent the word is in novel documents, shrunk.
    low, high : ndarray of float64
        The 90 % interval of `times`; it leaves out 1 exactly where `q` is at most 0.05.
    q : ndarray of float64
        The expected share of false discoveries among the words of the same side up to this one.
    """

    novelty: NDArray[np.float64]
    times: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    q: NDArray[np.float64]


@step("evidence")
def word_evidence(matrix: Any, novel: ArrayLike, whole: Any = None) -> Evidence:
    """Return the evidence that each word is new, and how strong it is.

    Parameters
    ----------
    matrix : (n_documents, n_words) sparse matrix
        Boolean bags of words; copied text left out, as `newfound.text.copies` does it.
    novel : (n_documents,) array of bool
        Which documents are novel; there has to be one of each side.
    whole : (n_documents, n_words) sparse matrix, optional
        The same with copied text. A word that is novel without it, but has a smaller share of the
        novel than of the known documents with it, or the reverse, has no evidence.

    Returns
    -------
    Evidence

    Examples
    --------
    >>> matrix = sparse.csr_array([[1, 1, 0]] * 40 + [[1, 0, 1]] * 40)
    >>> evidence = word_evidence(matrix, [False] * 40 + [True] * 40)
    >>> evidence.novelty.round(1).tolist()
    [0.0, -5.8, 5.8]
    >>> evidence.q.round(3).tolist()
    [1.0, 0.0, 0.0]
    """
    bags = sparse.csr_array(matrix, dtype=np.float64)
    bags.sort_indices()
    is_novel = np.asarray(novel, bool)
    weights = document_weights(bags, is_novel)
    lengths = np.diff(bags.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    weight, likely = weights.weight[rows], OtherWords.learn(bags, weights).expected(bags)[0]
    square = weight**2
    sums = WordSums(
        _documents(bags, is_novel),
        *(
            np.bincount(bags.indices, values, bags.shape[1]).astype(np.float64)
            for values in (
                weight,
                weight * is_novel[rows],
                square,
                weight * likely,
                square * likely * (1 - likely),
            )
        ),
    )
    evidence = evidence_from_sums(sums, weights, *by_length(lengths, is_novel))
    if whole is None:
        return evidence
    everywhere = _documents(sparse.csr_array(whole), is_novel)
    return not_contradicted(evidence, everywhere, (int((~is_novel).sum()), int(is_novel.sum())))


def _documents(bags: Any, novel: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of known and of novel documents that have each word."""
    counts = [bags[rows].sum(axis=0, dtype=np.int64) for rows in (~novel, novel)]
    return np.array(counts, np.int64).reshape(2, -1)


class WordSums(NamedTuple):
    """Sums over the documents that have each word: arrays of shape (n_words,) but for the first.

    Attributes
    ----------
    documents : (2, n_words) ndarray of int64
        The number of known and of novel documents.
    weight, own, square : ndarray of float64
        The sums of their weights, of those of the novel ones, and of the squares of all.
    expected, variance : ndarray of float64
        The sums of weight times p, and of squared weight times p (1 - p), if p is the probability
        of novel without the word (see `OtherWords.expected`).
    """

    documents: NDArray[np.int64]
    weight: NDArray[np.float64]
    own: NDArray[np.float64]
    square: NDArray[np.float64]
    expected: NDArray[np.float64]
    variance: NDArray[np.float64]

    @property
    def weights(self) -> DocumentWeights:
        """What is expected of a word that says nothing, without the weights of single documents."""
        total, cells = float(self.weight.sum()) or 1.0, max(float(self.documents.sum()), 1.0)
        return DocumentWeights(
            weight=np.zeros(0),
            novel=np.zeros(0, bool),
            base=min(max(float(self.own.sum()) / total, 1e-9), 1 - 1e-9),
            mean=total / cells,
            mean_square=float(self.square.sum()) / cells or 1.0,
        )


def evidence_from_sums(
    sums: WordSums,
    weights: DocumentWeights,
    lengths: NDArray[np.int64],
    by_side: NDArray[np.int64],
) -> Evidence:
    """Return what `word_evidence` returns, from sums over documents or over batches of them."""
    # A folded copy has no words left, and counts neither among those that have a word nor in all.
    known, novel = by_side[:, lengths > 0].sum(axis=1).tolist()
    sizes, counts, size, own = (known, novel), sums.documents, sums.weight, sums.own
    chance = sums.square * weights.base * (1 - weights.base)
    alone = weighted_root(own, size * weights.base, size, chance, weights, PRIOR)
    alone = agreeing(alone, counts, sizes)
    beyond = weighted_root(own, sums.expected, size, sums.variance, weights, _PRIOR_Z2)
    expected = expected_shares(lengths, by_side, counts.sum(axis=0), sizes)
    # Where the two statistics have opposite signs, the first decides.
    novelty = (1 - _WEIGHT_Z2) * alone + _WEIGHT_Z2 * np.where(alone * beyond > 0, beyond, 0.0)
    up = p_values(counts[0], counts[1], sizes[0], sizes[1], expected)
    down = p_values(counts[1], counts[0], sizes[1], sizes[0], 1 - expected)
    novelty = _near_tests(novelty, up, down)
    ratios = frequency_ratios(counts[0], counts[1], sizes)
    more = ratios.times > 1
    q = np.where(
        more, np.maximum(q_values(up), ratios.less), np.maximum(q_values(down), ratios.more)
    )
    return Evidence(
        novelty=novelty,
        times=ratios.times,
        low=np.where((q > SIGNIFICANT) & more, np.minimum(ratios.low, 1.0), ratios.low),
        high=np.where((q > SIGNIFICANT) & ~more, np.maximum(ratios.high, 1.0), ratios.high),
        q=np.minimum(q, 1.0),
    )


def not_contradicted(
    found: Evidence, everywhere: NDArray[np.int64], sizes: tuple[int, int]
) -> Evidence:
    """Take back what contradicts the shares of documents with copied text.

    Text that most known documents have in common counts once. A word of it that novel documents use
    by themselves is not new for that.
    """
    more = excess(everywhere, sizes)
    against = (found.novelty * more < 0) | ((found.times - 1) * more < 0)
    return Evidence(
        novelty=np.where(against, 0.0, found.novelty),
        times=np.where(against, 1.0, found.times),
        low=np.where(against, np.minimum(found.low, 1.0), found.low),
        high=np.where(against, np.maximum(found.high, 1.0), found.high),
        q=np.where(against, 1.0, found.q),
    )


def q_values(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the q-values of p-values, by Benjamini and Hochberg."""
    q: NDArray[np.float64] = stats.false_discovery_control(p) if len(p) else p
    return q


def p_values(
    known: ArrayLike,
    novel: ArrayLike,
    n_known: int,
    n_novel: int,
    expected: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return p-values for "this word is in a larger share of novel than of known documents".

    `expected` is the share of the documents with each word that would be novel if only the lengths
    of documents mattered. The larger of two p-values counts: that of Fisher's exact test, and that
    of a binomial test of this share.

    Examples
    --------
    >>> q_values(p_values([0, 5, 5], [9, 5, 2], 10, 10)).round(4).tolist()
    [0.0002, 0.9714, 0.9714]
    """
    there, having = np.asarray(novel), np.asarray(novel) + np.asarray(known)
    # Many words have the same counts, and the exact test is slow.
    pairs, word = np.unique(np.stack((there, having)), axis=1, return_inverse=True)
    p = hypergeometric_tail(pairs[0], n_known + n_novel, pairs[1], n_novel)[word.ravel()]
    if expected is not None:
        p = np.maximum(p, binomial_tail(there, having, np.asarray(expected)))
    found: NDArray[np.float64] = np.where(having > 0, np.clip(p, 0.0, 1.0), 1.0)
    return found


def _near_tests(
    found: NDArray[np.float64], up: NDArray[np.float64], down: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return evidence that is little surer than the exact tests of the q-values.

    Where one side has longer documents, weights alone would make words seem novel or known that
    have the same share of both sides, or the share expected from the lengths.
    """
    most = np.maximum(normal_quantile(1 - np.where(found > 0, up, down)), 0.0) + _BEYOND_TESTS
    return np.clip(found, -most, most)


def by_length(
    lengths: NDArray[Any], novel: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lengths that documents have, and how many known and novel ones have each.

    Examples
    --------
    >>> lengths, counts = by_length(np.array([5, 3, 5]), np.array([False, True, True]))
    >>> lengths.tolist(), counts.tolist()
    ([3, 5], [[0, 1], [1, 1]])
    """
    found, place = np.unique(lengths, return_inverse=True)
    sides = [np.bincount(place[novel == side], minlength=len(found)) for side in (False, True)]
    return found.astype(np.int64), np.stack(sides)


def _quantiles(
    values: NDArray[np.float64], counts: NDArray[np.int64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return `numpy.quantile` of ascending values of which each stands for as many."""
    ends = np.cumsum(counts)
    at = shares * (ends[-1] - 1)
    low, high = np.floor(at), np.ceil(at)
    left, right = (values[np.searchsorted(ends, place, side="right")] for place in (low, high))
    found: NDArray[np.float64] = left + (right - left) * (at - low)
    return found


def expected_shares(
    lengths: NDArray[np.int64],
    counts: NDArray[np.int64],
    frequencies: NDArray[np.int64],
    sizes: tuple[int, int],
) -> NDArray[np.float64]:
    """Return which share of the documents with each word would be novel by their lengths alone.

    A document of length L has a word of rate r with probability 1 - exp(-r L). The rate of a word
    follows from its number of documents. Very long documents count as less long: they repeat
    themselves.
    """
    full = lengths > 0
    if not full.any():
        return np.full(len(frequencies), sizes[1] / sum(sizes) if sum(sizes) else 0.5)
    of_both, of_new = counts[:, full].sum(axis=0), counts[1, full]
    values = lengths[full].astype(np.float64)
    typical = float(_quantiles(values, of_both, np.array([0.5]))[0])
    values = values / (1 + values / (5 * typical))
    edges = np.unique(_quantiles(values, of_both, np.linspace(0, 1, 65)))
    part = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 1)
    documents = np.bincount(part, of_both, len(edges))
    of_novel = np.bincount(part, of_new, len(edges))
    means = np.bincount(part, of_both * values, len(edges)) / np.maximum(documents, 1)
    rates = exp(np.linspace(log(1e-9), log(1e3), 400)) / max(float(means.max()), 1.0)
    having = 1 - exp(-np.outer(rates, means))
    total, new = ((having * each).sum(axis=1) for each in (documents, of_novel))
    shares: NDArray[np.float64] = np.interp(frequencies, total, new / total)
    return shares


class OtherWords(NamedTuple):
    """What the other words of a document say about it: a logistic regression on TF-IDF."""

    tfidf: Tfidf
    strength: NDArray[np.float64]  # the coefficients of the regression
    offset: float  # the intercept with which as many documents are expected novel as there are

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
