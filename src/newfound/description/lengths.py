"""What the lengths of documents alone lead to expect of words, and how much documents count."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from newfound.arithmetic import exp, log

__all__ = ["DocumentWeights", "by_length", "document_weights", "expected_shares"]


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

    Parameters
    ----------
    lengths : ndarray of int64
        The lengths that documents have, ascending.
    counts : (2, n_lengths) ndarray of int64
        The number of known and of novel documents of each length.
    frequencies : ndarray of int64
        The number of documents of each word.
    sizes : (int, int)
        The number of known and of novel documents.
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


class DocumentWeights(NamedTuple):
    """How much each document counts, and what is expected of a word that says nothing.

    Attributes
    ----------
    weight : (n_documents,) ndarray of float64
        The longer a document, the less it counts; the median document counts 1.
    novel : (n_documents,) ndarray of bool
        Which documents are novel.
    base : float
        The share of novel documents, by weight, among those that have a word that says nothing.
    mean, mean_square : float
        Mean weight, and mean squared weight, of the document of a word.
    """

    weight: NDArray[np.float64]
    novel: NDArray[np.bool_]
    base: float
    mean: float
    mean_square: float


def document_weights(matrix: Any, novel: ArrayLike) -> DocumentWeights:
    """Weigh documents by their length.

    Parameters
    ----------
    matrix : (n_documents, n_words) sparse matrix
        Boolean bags of words.
    novel : (n_documents,) array of bool
        Which documents are novel.

    Returns
    -------
    DocumentWeights

    Examples
    --------
    >>> weights = document_weights(sparse.csr_array([[1, 0], [1, 1], [1, 1]]), [False, True, True])
    >>> weights.weight.round(2).tolist(), round(weights.base, 2)
    ([1.33, 1.0, 1.0], 0.75)
    """
    bags = sparse.csr_array(matrix)
    is_novel = np.asarray(novel, bool)
    lengths = np.diff(bags.indptr).astype(np.float64)
    full = lengths > 0
    typical = float(np.median(lengths[full])) if full.any() else 1.0
    weight = np.where(full, 2 / (1 + lengths / typical), 0.0)
    mass = weight * lengths
    total = float(mass.sum()) or 1.0
    base = float(mass[is_novel].sum()) / total
    cells = max(float(lengths.sum()), 1.0)
    return DocumentWeights(
        weight=weight,
        novel=is_novel,
        base=min(max(base, 1e-9), 1 - 1e-9),
        mean=total / cells,
        mean_square=float((mass * weight).sum()) / cells or 1.0,
    )
