"""Word scores that need no rules, for comparison: TF-IDF as in the paper and well-known ones.

Each baseline is called as ``baseline(matrix, novel)`` and returns an array with a score for each
word: the higher, the more novel; 0 for a word that no document contains.

matrix : (n_documents, n_words) CSR matrix
    The number of times that each document contains each word, or Booleans.
novel : (n_documents,) array of bool
    Which documents are novel.

*Known* and *novel* are the two groups of documents, ``|D|`` is the number of documents of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
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
    """Return the paper's TF-IDF of each word in the known and in the novel documents.

    ``TF-IDF(w) = F(w) / F · log2(|D| / (|D_w| + 1))``, where F(w) is the number of occurrences of
    the word in the group, F the number of all words of the group, and ``|D_w|`` the number of
    documents of both groups that contain the word. Words of nearly all documents score below 0.

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0], [1, 0], [0, 1], [1, 3]])
    >>> scores = tfidf_by_group(matrix, [False, False, True, True])
    >>> scores.known.tolist(), scores.novel.round(3).tolist()
    ([0.0, 0.0], [0.0, 0.332])
    """
    # Not scikit-learn's TfidfTransformer: its idf, 1 + ln((1 + |D|) / (1 + |D_w|)), is another.
    counts = _Counts(matrix, novel)
    documents = counts.documents.sum(axis=0)
    idf = np.log2(counts.n_documents.sum() / (documents + 1))
    tf = counts.words / np.maximum(counts.words.sum(axis=1, keepdims=True), 1)
    scores = np.where(documents > 0, tf * idf, 0.0)
    return GroupScores(scores[0], scores[1])


def tfidf_scores(matrix: Any, novel: ArrayLike) -> NDArray[np.float64]:
    """Return the paper's TF-IDF of each word in the novel documents; see `tfidf_by_group`.

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0], [1, 0], [0, 1], [1, 3]])
    >>> tfidf_scores(matrix, [False, False, True, True]).round(3).tolist()
    [0.0, 0.332]
    """
    return tfidf_by_group(matrix, novel).novel


def tfidf_difference(matrix: Any, novel: ArrayLike) -> NDArray[np.float64]:
    """Return the paper's TF-IDF in the novel documents minus that in the known ones.

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
    """Return z scores of log-odds ratios with an informative Dirichlet prior.

    After Monroe, Colaresi and Quinn, "Fightin' Words", 2008. The prior of a word is proportional to
    its frequency in both groups together.

    Parameters
    ----------
    prior : float, default=500.0
        The weight of the prior in words. The greater it is, the closer to 0 rare words score.

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
    """Return z statistics that compare the shares of novel and known documents with the word.

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
    """Return chi² by `sklearn.feature_selection.chi2`, negative for words of the known group.

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 1], [0, 1, 1], [0, 3, 1]])
    >>> chi_squared(matrix, [False, False, True, True]).tolist()
    [-3.0, 4.0, 0.0]
    """
    from sklearn.feature_selection import chi2

    counts = _Counts(matrix, novel)
    expected = counts.words.sum(axis=0) * counts.n_documents[1] / counts.n_documents.sum()
    statistic = np.nan_to_num(chi2(counts.matrix, counts.novel)[0])  # nan for unused words
    signed: NDArray[np.float64] = np.sign(counts.words[1] - expected) * statistic
    return signed


def g_squared(matrix: Any, novel: ArrayLike) -> NDArray[np.float64]:
    """Return keyness G² (Dunning's log-likelihood ratio, 1993), negative for known words.

    The table counts the word and all other words in the two groups.

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
    """Return the logarithm of the ratio of the frequencies of each word in the two groups.

    This is the score of `newfound.word_scores`, computed from the words of the documents instead of
    the words of the rules, with the same floor of 1.

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 1], [0, 1, 1], [0, 3, 1]])
    >>> frequency_ratio(matrix, [False, False, True, True]).round(3).tolist()
    [-1.281, 1.204, -0.182]
    """
    known, new = _Counts(matrix, novel).words.astype(np.int64)
    return np.nan_to_num(word_scores(known, new).log_score)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread.

    Several threads add numbers in another order, so the last digits would depend on their number;
    and for small matrices they mostly wait for each other.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


def logistic_regression(
    matrix: Any, novel: ArrayLike, *, C: float | Sequence[float] = 1.0
) -> NDArray[np.float64]:
    """Return the coefficients of scikit-learn's logistic regression on TF-IDF.

    Parameters
    ----------
    C : float or sequence of float, default=1.0
        The inverse of the regularisation. Of several values, the one with the greatest AUROC in
        3-fold cross-validation is used.

    Examples
    --------
    >>> matrix = sparse.csr_array([[2, 0, 1], [1, 0, 1], [0, 1, 1], [0, 3, 1]])
    >>> scores = logistic_regression(matrix, [False, False, True, True])
    >>> bool(scores[0] < scores[2] < scores[1])
    True
    """
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    counts = _Counts(matrix, novel)
    values = list(C) if isinstance(C, Sequence) else [C]
    name = "logisticregression__C"
    model = make_pipeline(TfidfTransformer(), LogisticRegression(C=values[0], max_iter=1000))
    with one_blas_thread():
        if len(values) > 1:
            # TF-IDF is a part of the model, so that it too is fitted to the training folds alone.
            search = GridSearchCV(model, {name: values}, cv=3, scoring="roc_auc", refit=False)
            model.set_params(**{name: search.fit(counts.matrix, counts.novel).best_params_[name]})
        coefficients: NDArray[np.float64] = model.fit(counts.matrix, counts.novel)[-1].coef_[0]
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
    """Counts by group, known first: documents, documents with each word, uses of each word."""

    def __init__(self, matrix: Any, novel: ArrayLike) -> None:
        self.matrix = sparse.csr_array(matrix, dtype=np.float64)
        self.novel = np.asarray(novel)
        n = self.matrix.shape[0]
        if self.novel.dtype != bool or self.novel.shape != (n,):
            raise ValueError(
                f"novel: expected True or False for each of the {n} documents, but it is of type "
                f"{self.novel.dtype} and shape {self.novel.shape}."
            )
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
    """Divide, with 0 where the divisor is 0."""
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below > 0)
