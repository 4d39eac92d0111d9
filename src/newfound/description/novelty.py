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

How strong a word is (`times`, with an interval) is in `newfound.description.strength`. The q-value
is Benjamini and Hochberg's, of exact tests. Interval and q-value agree: the interval leaves out 1
exactly where q is at most 0.05.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats  # type: ignore[import-untyped,unused-ignore]

from newfound.arithmetic import binomial_tail, hypergeometric_tail, normal_quantile, xlogy
from newfound.description.lengths import (
    DocumentWeights,
    by_length,
    document_weights,
    expected_shares,
)
from newfound.description.other_words import OtherWords
from newfound.description.strength import frequency_ratios
from newfound.timing import step

__all__ = [
    "PRIOR",
    "SIGNIFICANT",
    "Evidence",
    "WordSums",
    "evidence_from_sums",
    "evidence_of_sets",
    "q_values",
    "signed_deviance_root",
    "word_evidence",
]

PRIOR = 16.0
SIGNIFICANT = 0.05
_WEIGHT_Z2 = 0.3  # the weight of the second statistic, z2 in docs/words.md
_PRIOR_Z2 = PRIOR / 2
_BEYOND_TESTS = 1.0  # how much surer than the test of its q-value a word can be


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


def evidence_of_sets(sets: Any, weights: DocumentWeights) -> NDArray[np.float64]:
    """Return the evidence that each set of documents is novel.

    Parameters
    ----------
    sets : (n_documents, n_sets) sparse matrix
        The documents of each set: those that have a word, match a rule, belong to a theme.
    weights : DocumentWeights
        How much each document counts.

    Returns
    -------
    (n_sets,) ndarray of float64
        The first of the two statistics of `newfound.description.novelty`.

    Examples
    --------
    >>> matrix = sparse.csr_array([[1, 1, 0]] * 40 + [[1, 0, 1]] * 40)
    >>> weights = document_weights(matrix, [False] * 40 + [True] * 40)
    >>> evidence_of_sets(matrix, weights).round(1).tolist()
    [0.0, -5.6, 5.6]
    """
    members = sparse.csr_array(sets, dtype=np.float64).T.tocsr()
    novel = weights.novel.astype(np.float64)
    size = members @ weights.weight
    own = members @ (weights.weight * novel)
    variance = members @ weights.weight**2 * weights.base * (1 - weights.base)
    found = _signed_root(own, size * weights.base, size, variance, weights, PRIOR)
    full = weights.weight > 0
    sizes = (int((full & ~weights.novel).sum()), int((full & weights.novel).sum()))
    return _agreeing(found, np.stack((members @ (1 - novel), members @ novel)), sizes)


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
    alone = evidence_of_sets(bags, weights)
    beyond = _beyond_other_words(bags, weights)
    counts = _documents(bags, is_novel)
    lengths = np.diff(bags.indptr)
    # A folded copy has no words left, and counts neither among those that have a word nor in all.
    full = lengths > 0
    sizes = (int((full & ~is_novel).sum()), int((full & is_novel).sum()))
    expected = expected_shares(*by_length(lengths, is_novel), counts.sum(axis=0), sizes)
    found = _evidence(alone, beyond, counts, sizes, expected)
    if whole is None:
        return found
    everywhere = _documents(sparse.csr_array(whole), is_novel)
    return _not_contradicted(found, everywhere, (int((~is_novel).sum()), int(is_novel.sum())))


def _documents(bags: Any, novel: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of known and of novel documents that have each word."""
    counts = [bags[rows].sum(axis=0, dtype=np.int64) for rows in (~novel, novel)]
    return np.array(counts, np.int64).reshape(2, -1)


class WordSums(NamedTuple):
    """Sums over the documents that have each word, by side: arrays of shape (2, n_words).

    Attributes
    ----------
    documents : ndarray of int64
        The number of known and of novel documents.
    weight, square : ndarray of float64
        The sums of their weights, and of the squares of these.
    expected, variance : ndarray of float64
        The sums of weight times p, and of squared weight times p (1 - p), if p is the probability
        of novel without the word (see `OtherWords.expected`).
    """

    documents: NDArray[np.int64]
    weight: NDArray[np.float64]
    square: NDArray[np.float64]
    expected: NDArray[np.float64]
    variance: NDArray[np.float64]


def evidence_from_sums(
    sums: WordSums,
    lengths: NDArray[np.int64],
    everywhere: NDArray[np.int64],
    sizes: tuple[int, int],
) -> Evidence:
    """Return what `word_evidence` returns, from sums instead of documents.

    Parameters
    ----------
    sums : WordSums
        Over all documents.
    lengths : (2, longest + 1) ndarray of int64
        The number of known and of novel documents of each length, in words.
    everywhere : (2, n_words) ndarray of int64
        The number of known and of novel documents that have each word, copied text included.
    sizes : (int, int)
        The number of known and of novel documents.

    Returns
    -------
    Evidence
    """
    full = (int(lengths[0, 1:].sum()), int(lengths[1, 1:].sum()))
    size, own = sums.weight.sum(axis=0), sums.weight[1]
    total, cells = float(size.sum()) or 1.0, max(float(sums.documents.sum()), 1.0)
    weights = DocumentWeights(
        weight=np.zeros(0),
        novel=np.zeros(0, bool),
        base=min(max(float(own.sum()) / total, 1e-9), 1 - 1e-9),
        mean=total / cells,
        mean_square=float(sums.square.sum()) / cells or 1.0,
    )
    chance = sums.square.sum(axis=0) * weights.base * (1 - weights.base)
    alone = _signed_root(own, size * weights.base, size, chance, weights, PRIOR)
    alone = _agreeing(alone, sums.documents, full)
    beyond = _signed_root(
        own, sums.expected.sum(axis=0), size, sums.variance.sum(axis=0), weights, _PRIOR_Z2
    )
    long = np.arange(lengths.shape[1])
    some = lengths.sum(axis=0) > 0
    frequencies = sums.documents.sum(axis=0)
    expected = expected_shares(long[some], lengths[:, some], frequencies, full)
    found = _evidence(alone, beyond, sums.documents, full, expected)
    return _not_contradicted(found, everywhere, sizes)


def _excess(counts: NDArray[Any], sizes: tuple[int, int]) -> NDArray[np.float64]:
    """Return the share of the novel documents less that of the known ones."""
    known, novel = counts / np.maximum(np.array(sizes, np.float64)[:, None], 1.0)
    excess: NDArray[np.float64] = novel - known
    return excess


def _not_contradicted(
    found: Evidence, everywhere: NDArray[np.int64], sizes: tuple[int, int]
) -> Evidence:
    """Take back what contradicts the shares of documents with copied text.

    Text that most known documents have in common counts once. A word of it that novel documents use
    by themselves is not new for that.
    """
    excess = _excess(everywhere, sizes)
    against = (found.novelty * excess < 0) | ((found.times - 1) * excess < 0)
    return Evidence(
        novelty=np.where(against, 0.0, found.novelty),
        times=np.where(against, 1.0, found.times),
        low=np.where(against, np.minimum(found.low, 1.0), found.low),
        high=np.where(against, np.maximum(found.high, 1.0), found.high),
        q=np.where(against, 1.0, found.q),
    )


def _evidence(
    alone: NDArray[np.float64],
    beyond: NDArray[np.float64],
    counts: NDArray[np.int64],
    sizes: tuple[int, int],
    expected: NDArray[np.float64],
) -> Evidence:
    """Return the evidence, given the two statistics and the counts of documents by side."""
    # Where the two statistics have opposite signs, the first decides.
    novelty = (1 - _WEIGHT_Z2) * alone + _WEIGHT_Z2 * np.where(alone * beyond > 0, beyond, 0.0)
    up = _p_values(counts[0], counts[1], sizes[0], sizes[1], expected)
    down = _p_values(counts[1], counts[0], sizes[1], sizes[0], 1 - expected)
    novelty = _near_tests(novelty, up, down)
    ratios = frequency_ratios(counts[0], counts[1], sizes)
    more = ratios.times > 1
    q = np.where(
        more, np.maximum(_controlled(up), ratios.less), np.maximum(_controlled(down), ratios.more)
    )
    return Evidence(
        novelty=novelty,
        times=ratios.times,
        low=np.where((q > SIGNIFICANT) & more, np.minimum(ratios.low, 1.0), ratios.low),
        high=np.where((q > SIGNIFICANT) & ~more, np.maximum(ratios.high, 1.0), ratios.high),
        q=np.minimum(q, 1.0),
    )


def q_values(
    known: ArrayLike,
    novel: ArrayLike,
    n_known: int,
    n_novel: int,
    expected: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return q-values for "this word is in a larger share of novel than of known documents".

    Parameters
    ----------
    known, novel : (n_words,) array of int
        How many documents of each side have each word.
    n_known, n_novel : int
        How many documents each side has.
    expected : (n_words,) array of float, optional
        Which share of the documents with the word would be novel if only the lengths of documents
        mattered. The larger of two p-values counts: that of Fisher's exact test, and that of a
        binomial test of this share.

    Returns
    -------
    (n_words,) ndarray of float64

    Examples
    --------
    >>> q_values([0, 5, 5], [9, 5, 2], 10, 10).round(4).tolist()
    [0.0002, 0.9714, 0.9714]
    """
    return _controlled(_p_values(known, novel, n_known, n_novel, expected))


def _controlled(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the q-values of p-values, by Benjamini and Hochberg."""
    q: NDArray[np.float64] = stats.false_discovery_control(p) if len(p) else p
    return q


def _p_values(
    known: ArrayLike,
    novel: ArrayLike,
    n_known: int,
    n_novel: int,
    expected: ArrayLike | None,
) -> NDArray[np.float64]:
    """Return the p-values of `q_values`."""
    there, having = np.asarray(novel), np.asarray(novel) + np.asarray(known)
    # Many words have the same counts, and the exact test is slow.
    pairs, word = np.unique(np.stack((there, having)), axis=1, return_inverse=True)
    p = hypergeometric_tail(pairs[0], n_known + n_novel, pairs[1], n_novel)[word.ravel()]
    if expected is not None:
        p = np.maximum(p, binomial_tail(there, having, np.asarray(expected)))
    found: NDArray[np.float64] = np.where(having > 0, np.clip(p, 0.0, 1.0), 1.0)
    return found


def signed_deviance_root(own: Any, size: Any, expected: Any, dispersion: Any = 1.0) -> Any:
    """Return signed roots of the deviance of counts from what is expected of them.

    Parameters
    ----------
    own, size, expected : float or array
        The number of novel documents, of all documents, and of novel documents that are expected.
    dispersion : float or array, default=1.0
        How much more the counts vary than those of a binomial distribution.

    Returns
    -------
    float or ndarray
        Above 0 if there are more novel documents than expected, in standard deviations.

    Examples
    --------
    >>> round(float(signed_deviance_root(30.0, 40.0, 20.0)), 2)
    3.23
    """
    deviance = xlogy(own, own / expected)
    rest = np.maximum(size - own, 0), np.maximum(size - expected, 1e-12)
    deviance = deviance + xlogy(rest[0], rest[0] / rest[1])
    root = np.sqrt(2 * np.maximum(deviance, 0) / dispersion)
    return np.sign(own - expected) * root


def _signed_root(
    own: NDArray[np.float64],
    expected: NDArray[np.float64],
    size: NDArray[np.float64],
    variance: NDArray[np.float64],
    weights: DocumentWeights,
    prior: float,
) -> NDArray[np.float64]:
    """Return signed roots of binomial deviances of weighted counts, with documents of no evidence.

    The deviance of counts is divided by how much more they vary than plain counts would.
    """
    added, chance = prior * weights.mean, weights.base * (1 - weights.base)
    plain = expected * (size - expected) / np.maximum(size, 1e-12) + added * chance
    dispersion = (variance + prior * weights.mean_square * chance) / np.maximum(plain, 1e-12)
    dispersion = np.maximum(dispersion, 1e-12)
    own, expected = own + added * weights.base, expected + added * weights.base
    size = size + added
    found: NDArray[np.float64] = signed_deviance_root(own, size, expected, dispersion)
    return found


def _agreeing(
    found: NDArray[np.float64], counts: NDArray[Any], sizes: tuple[int, int]
) -> NDArray[np.float64]:
    """Set to 0 what contradicts the plain shares of documents with words."""
    return np.where(found * _excess(counts, sizes) > 0, found, 0.0)


def _near_tests(
    found: NDArray[np.float64], up: NDArray[np.float64], down: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return evidence that is little surer than the exact tests of the q-values.

    Where one side has longer documents, weights alone would make words seem novel or known that
    have the same share of both sides, or the share that lengths let expect.
    """
    most = np.maximum(normal_quantile(1 - np.where(found > 0, up, down)), 0.0) + _BEYOND_TESTS
    return np.clip(found, -most, most)


def _beyond_other_words(bags: Any, weights: DocumentWeights) -> NDArray[np.float64]:
    """Return the second statistic: what the other words of documents leave unexplained."""
    expected, _ = OtherWords.learn(bags, weights).expected(bags)
    rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
    weight, novel = weights.weight[rows], weights.novel[rows].astype(np.float64)
    size, own, likely, variance = (
        np.bincount(bags.indices, values, bags.shape[1]).astype(np.float64)
        for values in (
            weight,
            weight * novel,
            weight * expected,
            weight**2 * expected * (1 - expected),
        )
    )
    return _signed_root(own, likely, size, variance, weights, _PRIOR_Z2)
