"""Known documents by term and class, to find those that are most similar to a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEAREST", "Neighbours", "density_of", "weight_by_density"]

NEAREST = 5  # documents that the similarity of a text is averaged over
_MAX_OTHERS = 5000  # documents of a class that its density is measured with
_ROWS = 100  # documents that are compared at a time
_SPARSE = 0.1  # added to densities, so that a document unlike all others does not count too much


@dataclass(frozen=True)
class Neighbours:
    """The documents that have each term, class by class.

    Attributes
    ----------
    sizes : (n_classes,) array of int
        The number of documents of each class.
    class_begin : (n_terms + 1,) array of int
        Where the classes of each term begin in `classes`.
    classes : ndarray of int
        The classes that have each term, ascending.
    document_begin : (n_combinations + 1,) array of int
        Where the documents of each of these combinations of term and class begin.
    places : ndarray of int
        The places of these documents within their class, ascending.
    values : ndarray of float32
        The weight of the term in each.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> documents = csr_matrix(np.array([[0.6, 0.8], [0, 1], [1, 0]], np.float32))
    >>> found = Neighbours.of(documents, np.array([1, 1, 0]), 2)
    >>> found.classes.tolist(), found.places.tolist()
    ([0, 1, 1], [0, 0, 0, 1])
    """

    sizes: NDArray[np.int64]
    class_begin: NDArray[np.int64]
    classes: NDArray[np.int32]
    document_begin: NDArray[np.int64]
    places: NDArray[np.int32]
    values: NDArray[np.float32]

    @classmethod
    def of(cls, documents: Any, codes: NDArray[np.int64], n_classes: int) -> Neighbours:
        """Return the documents by term and class.

        Parameters
        ----------
        documents : CSR matrix of float32
            The weights of the terms of known documents, of length 1.
        codes : ndarray of int
            The index of the class of each.
        n_classes : int
            The number of classes.
        """
        sizes, order = np.bincount(codes, minlength=n_classes), np.argsort(codes, kind="stable")
        by_term = documents[order].tocsc()
        owners, n_terms = codes[order][by_term.indices], documents.shape[1]
        places = by_term.indices - (np.cumsum(sizes) - sizes)[owners]
        # Ascending, as the documents of a term are in the order of their classes.
        keys = np.repeat(np.arange(n_terms), np.diff(by_term.indptr)) * n_classes + owners
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        return cls(
            sizes,
            np.searchsorted(keys[first], np.arange(n_terms + 1) * n_classes),
            (keys[first] % n_classes).astype(np.int32),
            np.append(first, len(keys)),
            places.astype(np.int32),
            np.ascontiguousarray(by_term.data, np.float32),
        )


def density_of(documents: Any, codes: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Return how near each document is to others of its class.

    This is the mean cosine similarity to its five nearest other documents of the class, among up
    to 5,000 that are drawn. The only document of a class gets the mean of all documents.

    Parameters
    ----------
    documents : CSR matrix of float32
        Known documents of length 1.
    codes : ndarray of int
        The index of the class of each.
    seed : int
        The seed.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> documents = csr_matrix(np.array([[0.6, 0.8], [0, 1], [1, 0]], np.float32))
    >>> density_of(documents, np.array([1, 1, 0]), seed=0).round(2).tolist()
    [0.8, 0.8, 0.8]
    """
    density = np.full(len(codes), np.nan)
    order = np.argsort(codes, kind="stable")
    random = np.random.RandomState(seed)
    for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        others = rows
        if len(rows) > _MAX_OTHERS:
            others = np.sort(random.permutation(rows)[:_MAX_OTHERS])
        nearest = min(NEAREST, len(others) - 1)
        if nearest < 1:
            continue
        by_term = documents[others].T.tocsr()
        for start in range(0, len(rows), _ROWS):
            some = rows[start : start + _ROWS]
            similar = (documents[some] @ by_term).toarray()
            similar[some[:, None] == others] = -1.0  # itself
            similar.partition(len(others) - nearest, axis=1)
            best = np.sort(similar[:, -nearest:], axis=1)  # added up in the order of their size
            density[some] = best.mean(axis=1, dtype=np.float64)
    alone = np.isnan(density)
    density[alone] = 1.0 if alone.all() else density[~alone].mean()
    return density


def weight_by_density(documents: Any, density: NDArray[np.float64]) -> Any:
    """Return documents divided by the root of their density.

    A document that has much in common with many others has it with new ones, too.
    """
    weights = 1 / np.sqrt(density + _SPARSE)
    weighted = documents.copy()
    weighted.data *= np.repeat(weights, np.diff(documents.indptr)).astype(np.float32)
    return weighted
