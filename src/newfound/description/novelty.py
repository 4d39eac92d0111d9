"""How sure documents make us that a word is novel: a score, its interval, its q-value.

Rules say in which company a word matters; how sure it is that a word is new is a matter of the
documents themselves. The *novelty* of a word is a weighted sign test: every document that has the
word speaks for its own side, with a weight, and the sum is divided by its standard deviation, so
that chance rarely goes beyond 2 and 0 says nothing. A document's weight is

- smaller the longer it is, as a long document has many words by chance;
- smaller the better its other words explain its side already (a ridge logistic regression on
  TF-IDF says how well): what is left to explain is what a word can still be a reason for. A
  Tsetlin Machine learns by the same principle, with the votes that a document lacks.

The variance is the larger of two, so that few documents of one side are no proof: that of the
documents as they are, and that of the same documents if chance gave them their sides. To it come
as many chance documents as `PRIOR` says: a word of few documents has to be shy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special, stats  # type: ignore[import-untyped,unused-ignore]

__all__ = [
    "PRIOR",
    "Evidence",
    "document_weights",
    "evidence_of_counts",
    "novelty_of",
    "q_values",
    "squares_by_chance",
    "word_evidence",
]

PRIOR = 20.0
STRENGTH = 3.0  # of the regression: scikit-learn's C
CONFIDENCE = 0.9
FEW = 1.0


class Evidence(NamedTuple):
    """What documents say about each word, as arrays.

    Attributes
    ----------
    novelty : ndarray of float64
        Above 0 for novel, below 0 for known, in standard deviations.
    low, high : ndarray of float64
        A 90 % interval for the novelty that as many fresh documents of the same kind would give.
    q : ndarray of float64
        Among the words with a q up to a value, the share that is not novel is at most about that
        value: Benjamini and Hochberg's correction of Fisher's exact test, one-sided, of how many
        documents of each side have the word. Where documents of one side are longer, all words are
        in a larger share of them: then look at the novelty, which takes that into account.
    """

    novelty: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    q: NDArray[np.float64]


def word_evidence(
    matrix: Any, novel: ArrayLike, signed: NDArray[np.float64] | None = None
) -> Evidence:
    """Weigh up for each word whether it is novel.

    Parameters
    ----------
    matrix : (n_documents, n_words) sparse matrix
        Boolean bags of words.
    novel : (n_documents,) array of bool
        Which documents are novel; there has to be one of each side.
    signed : (n_documents,) array of float, optional
        What `document_weights` gives for them, where that is at hand.

    Returns
    -------
    Evidence

    Examples
    --------
    >>> matrix = sparse.csr_array([[1, 1, 0]] * 20 + [[1, 0, 1]] * 20)
    >>> evidence = word_evidence(matrix, [False] * 20 + [True] * 20)
    >>> evidence.novelty.round(1).tolist()
    [0.0, -3.2, 3.2]
    >>> (evidence.q < 0.05).tolist()
    [False, False, True]
    """
    bags = sparse.csr_array(matrix, dtype=np.float64)
    is_novel = np.asarray(novel, bool)
    if signed is None:
        signed = document_weights(bags, is_novel)
    counts = np.array([bags[rows].sum(axis=0) for rows in (~is_novel, is_novel)], np.int64)
    sizes = (int((~is_novel).sum()), int(is_novel.sum()))
    squares, chance = bags.T @ signed**2, bags.T @ squares_by_chance(signed)
    return _evidence(bags.T @ signed, squares, chance, counts, sizes)


def evidence_of_counts(counts: NDArray[np.int64], sizes: tuple[int, int]) -> Evidence:
    """Weigh up for each word whether it is novel where only counts of documents are known.

    Parameters
    ----------
    counts : (2, n_words) array of int
        How many known and how many novel documents have each word.
    sizes : (int, int)
        How many known and how many novel documents there are.

    Returns
    -------
    Evidence
        All documents of a side weigh the same.

    Examples
    --------
    >>> evidence = evidence_of_counts(np.array([[9, 0], [9, 9]]), (10, 10))
    >>> evidence.novelty.round(1).tolist()
    [-0.8, 0.9]
    """
    # As many words on each side weigh as much; half of the documents weigh at least 1.
    mass = np.maximum(counts.sum(axis=1), 1)
    weight = mass[int(sizes[1] > sizes[0])] / mass
    squares = weight**2
    share = sizes[1] / max(sum(sizes), 1)
    mixed = (1 - share) * squares[0] + share * squares[1]
    return _evidence(
        weight[1] * counts[1] - weight[0] * counts[0],
        squares @ counts,
        mixed * counts.sum(axis=0),
        counts,
        sizes,
    )


def squares_by_chance(signed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the mean square of each document's weight if chance gave it its side.

    Parameters
    ----------
    signed : (n_documents,) array of float
        What `document_weights` gives.

    Returns
    -------
    (n_documents,) array of float

    Examples
    --------
    >>> squares_by_chance(np.array([-1.0, -1.0, 2.0])).tolist()
    [2.0, 2.0, 2.0]
    """
    novel, known = signed > 0, signed < 0
    means = [float(np.abs(signed[side]).mean()) if side.any() else 1.0 for side in (known, novel)]
    share = novel.sum() / max(int(novel.sum() + known.sum()), 1)
    mixed = (1 - share) * means[0] ** 2 + share * means[1] ** 2
    own: NDArray[np.float64] = np.where(novel, means[1], means[0])
    squares: NDArray[np.float64] = signed**2 * mixed / own**2
    return squares


def novelty_of(
    total: NDArray[np.float64], squares: NDArray[np.float64], chance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give novelty from the sums of weights and of their squares, as they are and by chance."""
    novelty: NDArray[np.float64] = total / np.sqrt(np.maximum(squares, chance) + PRIOR)
    return novelty


def _evidence(
    total: NDArray[np.float64],
    squares: NDArray[np.float64],
    chance: NDArray[np.float64],
    counts: NDArray[np.int64],
    sizes: tuple[int, int],
) -> Evidence:
    """Make evidence of the sums of weights and of their squares, as they are and by chance."""
    variance = np.maximum(squares, chance) + PRIOR
    novelty = novelty_of(total, squares, chance)
    # Fresh documents that have the word weigh like those here and, where these are few, like those
    # of all words. Twice the variance, for that of the documents here is as large.
    found = counts.sum(axis=0)
    usual = chance.sum() / max(found.sum(), 1)
    fresh = found * (squares + FEW * usual) / (found + FEW)
    reach = stats.norm.ppf((1 + CONFIDENCE) / 2) * np.sqrt(2 * fresh / variance)
    return Evidence(
        novelty=novelty,
        low=novelty - reach,
        high=novelty + reach,
        q=q_values(counts[0], counts[1], *sizes),
    )


def document_weights(matrix: Any, novel: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Give each document its weight as a witness, below 0 for a known one.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR array of float
        Boolean bags of words.
    novel : (n_documents,) array of bool
        Which documents are novel.

    Returns
    -------
    (n_documents,) array of float
        The words of known documents weigh as much as those of novel ones in all, and half of the
        documents with words weigh at least 1; a document without words weighs 0.
    """
    lengths = np.diff(matrix.indptr).astype(np.float64)
    full = lengths > 0
    typical = float(np.median(lengths[full])) if full.any() else 1.0
    weight = np.where(full, _unexplained(matrix, novel) / (1 + lengths / typical), 0.0)
    mass = weight * lengths
    for side in (novel, ~novel):
        if mass[side].sum() > 0:
            weight[side] /= mass[side].sum()
    middle = float(np.median(weight[full])) if full.any() else 0.0
    return np.where(novel, weight, -weight) / (middle or 1.0)


def q_values(known: ArrayLike, novel: ArrayLike, n_known: int, n_novel: int) -> NDArray[np.float64]:
    """Give q-values for "this word is in a larger share of novel than of known documents".

    Parameters
    ----------
    known, novel : (n_words,) array of int
        How many documents of each side have each word.
    n_known, n_novel : int
        How many documents each side has.

    Returns
    -------
    (n_words,) array of float64

    Examples
    --------
    >>> q_values([0, 5, 5], [9, 5, 2], 10, 10).round(4).tolist()
    [0.0002, 0.9714, 0.9714]
    """
    there, all_there = np.asarray(novel), np.asarray(novel) + np.asarray(known)
    p = stats.hypergeom.sf(there - 1, n_known + n_novel, all_there, n_novel)
    p = np.where(all_there > 0, np.clip(p, 0.0, 1.0), 1.0)
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate(scaled[::-1])[::-1] if len(p) else scaled
    return np.minimum(q, 1.0)


def _unexplained(matrix: Any, novel: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Give the part of each document's side that a regression on its words does not foretell.

    Rounded, so that the last digits, which differ between processors, do not matter.
    """
    from sklearn.feature_extraction.text import (  # type: ignore[import-untyped,unused-ignore]
        TfidfTransformer,
    )
    from sklearn.linear_model import (  # type: ignore[import-untyped,unused-ignore]
        LogisticRegression,
    )

    weighted = TfidfTransformer().fit_transform(matrix)
    judge = LogisticRegression(C=STRENGTH, tol=1e-6, max_iter=1000).fit(weighted, novel)
    expected = special.expit(judge.decision_function(weighted))
    left: NDArray[np.float64] = np.round(np.where(novel, 1 - expected, expected), 4)
    return np.maximum(left, 1e-4)
