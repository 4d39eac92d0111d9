"""The linear classifier of known classes, over words, pairs of words and character n-grams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.detection.subwords import Subwords
from newfound.linear import support_vectors

__all__ = ["train_linear"]

_C = 3.0
_FAR = 1000.0
_MIXED = 0.5  # pairs that are drawn for each document; those of one class are left out


def train_linear(
    documents: Any,
    codes: NDArray[np.int64],
    n_classes: int,
    *,
    words: Sequence[str],
    columns: NDArray[np.int64],
    frequencies: NDArray[np.float64],
    mixed: bool,
    seed: int,
) -> tuple[NDArray[np.float32], Subwords | None]:
    """Train a linear classifier, one class against the others (a support vector machine).

    Parameters
    ----------
    documents : CSR matrix
        Weighted bags of words and pairs of known documents.
    codes : ndarray of int
        The index of the class of each.
    n_classes : int
        The number of classes.
    words : sequence of str
        The single words among the terms.
    columns : ndarray of int
        The column of each.
    frequencies : ndarray of float
        The number of known documents that have each.
    mixed : bool
        Whether mixtures of documents of two classes are learned as documents of no class. A text
        that has some words of a class among others is then further from it.
    seed : int
        The seed.

    Returns
    -------
    weights : (n_classes, n_terms + 1) array of float32
        The coefficients, the intercept in the last column. Those of a word include the weights of
        its n-grams. Zeros where there is one class.
    subwords : Subwords or None
        The n-grams with their weights; None where there is one class.
    """
    n_terms = documents.shape[1]
    weights = np.zeros((n_classes, n_terms + 1), np.float32)
    present = np.unique(codes)
    weights[np.setdiff1d(np.arange(n_classes), present), -1] = -_FAR  # never the nearest class
    if len(present) < 2:
        return weights, None
    subwords = Subwords.learn(words, frequencies, documents.shape[0])
    vectors = subwords.vectors(words)
    features = sparse.hstack((documents, documents[:, columns] @ vectors)).tocsr()
    if mixed:
        # In double precision, as the classifier needs it, or it would make one more copy.
        both = (features, _mixtures(features, codes, seed))
        features = sparse.vstack(both, format="csr", dtype=np.float64)
        del both
        codes = np.append(codes, np.full(features.shape[0] - len(codes), n_classes))
    found, intercepts = _coefficients(features, codes, seed)
    found, intercepts = found[: len(present)], intercepts[: len(present)]
    weights[present, :n_terms], weights[present, -1] = found[:, :n_terms], intercepts
    by_ngram = np.zeros((len(subwords.ngrams), n_classes), np.float32)
    by_ngram[:, present] = found[:, n_terms:].T
    del found  # the largest array; the next line needs room
    weights[:, columns] += (vectors @ by_ngram).T
    return weights, subwords.with_weights(by_ngram)


def _mixtures(features: Any, codes: NDArray[np.int64], seed: int) -> Any:
    """Return sums of two documents of different classes, as long as documents are on average.

    Examples
    --------
    >>> features = sparse.csr_matrix(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]))
    >>> _mixtures(features, np.array([0, 0, 1, 1]), seed=0).toarray().round(2).tolist()
    [[0.71, 0.71]]
    """
    n = len(codes)
    first, second = np.random.RandomState(seed).randint(n, size=(2, math.ceil(_MIXED * n)))
    different = codes[first] != codes[second]
    sums = features[first[different]] + features[second[different]]
    lengths, of_sums = (
        np.sqrt(np.asarray(some.multiply(some).sum(axis=1), np.float64)).ravel()
        for some in (features, sums)
    )
    factors = lengths.mean() / np.where(of_sums > 0, of_sums, 1.0)
    return sparse.diags(factors.astype(sums.dtype)) @ sums


def _coefficients(
    features: Any, codes: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the coefficients and the intercept of each class that occurs."""
    present, places = np.unique(codes, return_inverse=True)
    learned = support_vectors(features, places, C=_C, seed=seed)
    found, intercepts = learned.coefficients, learned.intercepts
    if len(present) > 2:
        return found, intercepts
    return np.concatenate((-found, found)), np.concatenate((-intercepts, intercepts))
