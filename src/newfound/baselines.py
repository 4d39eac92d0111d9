"""Word scores without rules, to compare with: TF-IDF as in the paper, and six that are well known.

Each takes a matrix of documents and words (CSR, Boolean or counts) and which documents are novel,
and gives a number for each word: the higher, the more novel. A word that no document has gets 0.
*Known* and *novel* stand for the two groups, |D| for the number of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from newfound.description.scores import word_scores

__all__ = [
    "BASELINES",
    "Baseline",
    "GroupScores",
    "chi_squared",
    "document_frequency_z",
    "frequency_ratio",
    "g_squared",
    "log_odds",
    "logistic_regression",
    "tfidf_by_group",
    "tfidf_difference",
    "tfidf_scores",
]

Baseline = Callable[[Any, ArrayLike], NDArray[np.float64]]


class GroupScores(NamedTuple):
    """A score for each word in each of the two groups."""

    known: NDArray[np.float64]
    novel: NDArray[np.float64]


def tfidf_by_group(matrix: Any, novel: ArrayLike) -> GroupScores:
    """Give the paper's TF-IDF of each word in the known and in the novel documents.

    TF-IDF(w) = F(w) / F · log2(|D| / (|D_w| + 1)): F(w) is how often the word occurs in the group,
    F how many words the group has, and |D_w| how many documents of both groups have the word. A
    word of nearly every document gets less than 0, as the equation says.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        How often each document has each word; or only whether.
    novel : (n_documents,) array of bool
        Which documents are novel.

    Returns
    -------
    GroupScores

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0], [1, 0], [0, 1], [1, 3]])
    >>> scores = tfidf_by_group(matrix, [False, False, True, True])
    >>> scores.known.tolist(), scores.novel.round(3).tolist()
    ([0.0, 0.0], [0.0, 0.332])
    """
    counts = _Counts(matrix, novel)
    documents = counts.documents.sum(axis=0)
    idf = np.log2(counts.n_documents.sum() / (documents + 1))
    tf = counts.words / np.maximum(counts.words.sum(axis=1, keepdims=True), 1)
    scores = np.where(documents > 0, tf * idf, 0.0)
    return GroupScores(scores[0], scores[1])


def tfidf_scores(matrix: Any, novel: ArrayLike) -> NDArray[np.float64]:
    """Score words by the paper's TF-IDF in the novel documents; see `tfidf_by_group`.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        How often each document has each word; or only whether.
    novel : (n_documents,) array of bool
        Which documents are novel.

    Returns
    -------
    (n_words,) array of float

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0], [1, 0], [0, 1], [1, 3]])
    >>> tfidf_scores(matrix, [False, False, True, True]).round(3).tolist()
    [0.0, 0.332]
    """
    return tfidf_by_group(matrix, novel).novel


def tfidf_difference(matrix: Any, novel: ArrayLike) -> NDArray[np.float64]:
    """Score words by the paper's TF-IDF in the novel documents less that in the known ones.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        How often each document has each word; or only whether.
    novel : (n_documents,) array of bool
        Which documents are novel.

    Returns
    -------
    (n_words,) array of float

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 0], [0, 1, 0], [1, 3, 0]])
    >>> tfidf_difference(matrix, [False, False, True, True]).round(3).tolist()
    [0.0, 0.332, -0.25]
    """
    scores = tfidf_by_group(matrix, novel)
    difference: NDArray[np.float64] = scores.novel - scores.known
    return difference


def log_odds(matrix: Any, novel: ArrayLike, *, prior: float = 500.0) -> NDArray[np.float64]:
    """Score words by their log-odds ratio with an informative Dirichlet prior, as a z score.

    After Monroe, Colaresi and Quinn, "Fightin' Words", 2008. The prior of each word is its share of
    both groups together; a word used as often as expected gets 0.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        How often each document has each word; or only whether.
    novel : (n_documents,) array of bool
        Which documents are novel.
    prior : float, default=500.0
        How many words the prior is worth; the more, the nearer to 0 are rare words.

    Returns
    -------
    (n_words,) array of float

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 1], [0, 1, 1], [0, 3, 1]])
    >>> log_odds(matrix, [False, False, True, True], prior=10).round(3).tolist()
    [-1.496, 1.646, -0.17]
    """
    if not prior > 0:
        raise ValueError(f"prior={prior!r}: expected a number of words above 0.")
    words = _Counts(matrix, novel).words
    both = words.sum(axis=0)
    seen = both > 0
    share = prior * both[seen] / max(float(both.sum()), 1.0)
    used = words[:, seen] + share
    rest = words.sum(axis=1, keepdims=True) + prior - used
    scores = np.zeros(len(both))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_of_odds = np.log(used) - np.log(rest)
        difference = log_of_odds[1] - log_of_odds[0]
        scores[seen] = np.nan_to_num(difference / np.sqrt((1 / used).sum(axis=0)))
    return scores


def document_frequency_z(matrix: Any, novel: ArrayLike) -> NDArray[np.float64]:
    """Score words by a z test of the shares of novel and of known documents that have them.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        How often each document has each word; or only whether.
    novel : (n_documents,) array of bool
        Which documents are novel.

    Returns
    -------
    (n_words,) array of float

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 1], [0, 1, 1], [0, 3, 1]])
    >>> document_frequency_z(matrix, [False, False, True, True]).tolist()
    [-2.0, 2.0, 0.0]
    """
    counts = _Counts(matrix, novel)
    known, new = counts.n_documents
    share = counts.documents.sum(axis=0) / (known + new)
    spread = np.sqrt(share * (1 - share) * (1 / known + 1 / new))
    difference = counts.documents[1] / new - counts.documents[0] / known
    return _divided(difference, spread)


def chi_squared(matrix: Any, novel: ArrayLike) -> NDArray[np.float64]:
    """Score words by chi², with a minus sign where the word speaks for known.

    It compares how often the word occurs in each group with what the numbers of documents would
    let expect, as `sklearn.feature_selection.chi2` does.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        How often each document has each word; or only whether.
    novel : (n_documents,) array of bool
        Which documents are novel.

    Returns
    -------
    (n_words,) array of float

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 1], [0, 1, 1], [0, 3, 1]])
    >>> chi_squared(matrix, [False, False, True, True]).tolist()
    [-3.0, 4.0, 0.0]
    """
    counts = _Counts(matrix, novel)
    expected = np.outer(counts.n_documents / counts.n_documents.sum(), counts.words.sum(axis=0))
    size = _divided((counts.words - expected) ** 2, expected).sum(axis=0)
    signed: NDArray[np.float64] = np.sign(counts.words[1] - expected[1]) * size
    return signed


def g_squared(matrix: Any, novel: ArrayLike) -> NDArray[np.float64]:
    """Score words by keyness G², with a minus sign where the word speaks for known.

    Dunning's log-likelihood ratio, 1993, of the table of this word and all others in the two
    groups.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        How often each document has each word; or only whether.
    novel : (n_documents,) array of bool
        Which documents are novel.

    Returns
    -------
    (n_words,) array of float

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 1], [0, 1, 1], [0, 3, 1]])
    >>> g_squared(matrix, [False, False, True, True]).round(3).tolist()
    [-6.161, 6.782, -0.052]
    """
    words = _Counts(matrix, novel).words
    totals = words.sum(axis=1, keepdims=True)
    shares = totals / max(float(totals.sum()), 1.0)
    size = np.zeros(words.shape[1])
    for observed in (words, totals - words):
        expected = shares * observed.sum(axis=0)
        logs = np.zeros_like(observed)
        np.log(_divided(observed, expected), out=logs, where=observed > 0)
        size += 2 * (observed * logs).sum(axis=0)
    signed: NDArray[np.float64] = np.sign(words[1] - shares[1] * words.sum(axis=0)) * size
    return signed


def frequency_ratio(matrix: Any, novel: ArrayLike) -> NDArray[np.float64]:
    """Score words by the logarithm of the ratio of their shares of the two groups.

    It is the score of `newfound.description.scores.word_scores` with the words of the documents in place of
    the words of the rules, and with the same floor of 1.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        How often each document has each word; or only whether.
    novel : (n_documents,) array of bool
        Which documents are novel.

    Returns
    -------
    (n_words,) array of float

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 1], [0, 1, 1], [0, 3, 1]])
    >>> frequency_ratio(matrix, [False, False, True, True]).round(3).tolist()
    [-1.281, 1.204, -0.182]
    """
    known, new = _Counts(matrix, novel).words.astype(np.int64)
    return np.nan_to_num(word_scores(known, new).log_score)


def logistic_regression(matrix: Any, novel: ArrayLike, *, C: float = 1.0) -> NDArray[np.float64]:
    """Score words by the coefficients of a logistic regression on TF-IDF (scikit-learn's).

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        How often each document has each word; or only whether.
    novel : (n_documents,) array of bool
        Which documents are novel.
    C : float, default=1.0
        The inverse of the regularisation.

    Returns
    -------
    (n_words,) array of float

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 1], [0, 1, 1], [0, 3, 1]])
    >>> scores = logistic_regression(matrix, [False, False, True, True])
    >>> scores[0] < scores[2] < scores[1]
    np.True_
    """
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression

    counts = _Counts(matrix, novel)
    weights = TfidfTransformer().fit_transform(counts.matrix)
    model = LogisticRegression(C=C, max_iter=1000).fit(weights, counts.novel)
    coefficients: NDArray[np.float64] = model.coef_[0]
    return coefficients


BASELINES: Mapping[str, Baseline] = MappingProxyType(
    {
        "tfidf": tfidf_scores,
        "tfidf_difference": tfidf_difference,
        "log_odds": log_odds,
        "document_frequency_z": document_frequency_z,
        "chi_squared": chi_squared,
        "g_squared": g_squared,
        "frequency_ratio": frequency_ratio,
        "logistic_regression": logistic_regression,
    }
)


class _Counts:
    """What all scores are made of, known first: documents, documents and uses of each word."""

    def __init__(self, matrix: Any, novel: ArrayLike) -> None:
        self.matrix = sparse.csr_array(matrix, dtype=np.float64)
        self.novel = np.asarray(novel)
        n = self.matrix.shape[0]
        if self.novel.dtype != bool or self.novel.shape != (n,):
            raise ValueError(f"novel: expected True or False for each of the {n} documents.")
        if self.novel.all() or not self.novel.any():
            side = "known" if self.novel.all() else "novel"
            raise ValueError(f"None of the {n} documents is {side}; pass some of each group.")
        if self.matrix.nnz and not self.matrix.data.min() >= 0:
            raise ValueError("matrix: expected counts, numbers from 0.")
        groups = np.stack((~self.novel, self.novel)).astype(np.float64)
        self.n_documents: NDArray[np.float64] = groups.sum(axis=1)
        self.words: NDArray[np.float64] = groups @ self.matrix
        self.documents: NDArray[np.float64] = groups @ (self.matrix > 0).astype(np.float64)


def _divided(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, with 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below > 0)
