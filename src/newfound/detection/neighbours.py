"""Known documents by term and class, to find those that are most similar to a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEAREST", "Neighbours"]

NEAREST = 5  # documents that the similarity of a text is averaged over


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
