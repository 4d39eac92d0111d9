"""Statistics of known classes, and the four parts of the score that are computed from them.

Each part is a sum over the words and word pairs of a text, compared with known classes:

*margin*: minus the decision value of a linear classifier for the class that it names, which may not
be the nearest one. A word counts with its character n-grams, so that a word never seen counts as
far as it is like known words.
*surprise*: log of how many times rarer the words are in the class than in all known documents. A
word never seen counts as the rarest. Words are weighted by their evidence.
*neighbours*: minus the mean similarity to the five nearest documents of the class; if words count
by what they tell of the class, to the five nearest of all known documents. The similarity is the
cosine, divided by the root of 0.1 plus the density of the known document, which is the mean cosine
to its own five nearest ones. A document that is like many others is like new ones, too.
*pairs*: the share of word pairs that no known document has; a pair that only other classes have
counts half.

The evidence of a word is its rarity (the logarithm of its inverse document frequency, plus 1) times
what it tells of the class: the divergence of the classes of the documents that have it from those
of all documents. So function words, and words that all classes share, count little. In the
similarity the product of a word in two documents is its rarity times the power 1.5 of what it
tells. Without labels and for short documents the evidence is the rarity, and its square in the
similarity.

A higher value means more novel, for all four. The fifth part, the votes of the rules, is said in
`newfound.detection.scoring`. Here is what they are computed from; the core computes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.arithmetic import log, power
from newfound.detection.calibration import LONG
from newfound.detection.linear import Subwords, WordRows, train_linear

__all__ = [
    "ELSEWHERE",
    "NEAREST",
    "PRIOR",
    "ClassStatistics",
    "Neighbours",
    "density_of",
    "weight_by_density",
]

_PAIR_WEIGHT = 0.5  # a pair weighs half as much as a word of the same document frequency
ELSEWHERE = 0.5  # how new a pair is that only other classes have; a pair never seen counts 1
PRIOR = 0.5  # pseudo-documents that shrink a word's rate in a class towards its overall rate
_TOLD = 0.75  # the power of what a term tells of the class that it weighs in a document
_LEAST = 0.01  # nats that any term tells of the class, so that some weight is left to all
NEAREST = 5  # documents that the similarity of a text is averaged over
_MAX_OTHERS = 5000  # documents of a class that its density is measured with
_ROWS = 100  # documents that are compared at a time
_SPARSE = 0.1  # added to densities, so that a document unlike all others does not count too much


class ClassStatistics:
    """Counts, a linear classifier and nearest neighbours of known classes.

    Parameters
    ----------
    matrix : Boolean CSR matrix
        Bags of known documents.
    codes : ndarray of int
        The index of the class of each.
    n_classes : int
        The number of classes.
    terms : sequence of str
        The name of each column. A pair of words has a space in its name.
    weights : (n_classes, n_terms + 1) array or None
        Coefficients of the linear classifier, the intercept in the last column; trained if None.
    subwords : Subwords or None
        The n-grams of the classifier that has these weights; None if it uses words and pairs only.
    seed : int
        Seed of the linear classifier.
    informed : bool or None, default=None
        Whether terms count by what they tell of the class; otherwise the evidence of a term is its
        rarity. None is True if documents are long.
    density : (n_documents,) array or None
        How near each document is to others; see `density_of`. Computed if None.
    """

    def __init__(
        self,
        matrix: Any,
        codes: NDArray[np.int64],
        n_classes: int,
        terms: Sequence[str],
        *,
        weights: NDArray[np.float32] | None = None,
        subwords: Subwords | None = None,
        seed: int = 0,
        informed: bool | None = None,
        density: NDArray[np.float64] | None = None,
    ) -> None:
        n = matrix.shape[0]
        self.matrix, self.codes, self.n_classes = matrix, codes, n_classes
        self.is_pair = is_pair = np.fromiter((" " in term for term in terms), bool, len(terms))
        self.n_documents = n
        self.class_sizes = np.bincount(codes, minlength=n_classes)
        member = sparse.csr_matrix((np.ones(n, np.float32), (codes, np.arange(n))), (n_classes, n))
        counts = member @ matrix.astype(np.float32)
        self.counts: NDArray[np.float32] = np.ascontiguousarray(counts.toarray())
        self.frequencies = self.counts.sum(axis=0, dtype=np.float64)
        self.rate = self.frequencies / n
        rarity = log((n + 1) / (self.frequencies + 1)) + 1
        self.rarity = np.where(is_pair, _PAIR_WEIGHT, 1.0) * rarity
        self.unseen_rarity = log(n + 1) + 1
        self.unseen_surprise = log(n + 1)
        self.informed = self.is_long if informed is None else informed
        self.evidence = self.likeness = self.rarity
        self.unseen_evidence = self.unseen_likeness = self.unseen_rarity
        if self.informed and np.count_nonzero(self.class_sizes) > 1:
            told = _information(counts, self.class_sizes, self.frequencies)
            # A word never seen tells as much as a word does on average.
            unseen = float(told[~is_pair].mean()) if not is_pair.all() else 1.0
            self.evidence, self.unseen_evidence = self.rarity * told, self.unseen_rarity * unseen
            self.likeness = np.sqrt(self.rarity) * power(told, _TOLD)
            self.unseen_likeness = float(np.sqrt(self.unseen_rarity) * power(unseen, _TOLD))
        # A long document has its likes in several classes; in short ones, function words would too.
        near, n_near = (np.zeros_like(codes), 1) if self.informed else (codes, n_classes)
        compared = self._unit_documents(self.likeness)
        self.density = density_of(compared, near, seed) if density is None else density
        self.neighbours = Neighbours.of(weight_by_density(compared, self.density), near, n_near)
        if weights is None:
            single = np.flatnonzero(~is_pair)
            weights, subwords = train_linear(
                self._unit_documents(self.rarity),
                codes,
                n_classes,
                words=[terms[j] for j in single.tolist()],
                columns=single,
                frequencies=self.frequencies[single],
                mixed=not self.informed,
                seed=seed,
            )
        self.weights, self.subwords = weights, subwords
        if self.weights.shape != (n_classes, matrix.shape[1] + 1):
            raise ValueError(
                "The weights of the linear classifier do not fit the words and classes."
            )
        self.weights_by_term = np.ascontiguousarray(self.weights[:, :-1].T)

    @cached_property
    def is_long(self) -> bool:
        """Whether the median document is long."""
        rows = np.repeat(np.arange(self.n_documents), np.diff(self.matrix.indptr))
        words = np.bincount(rows[~self.is_pair[self.matrix.indices]], minlength=self.n_documents)
        return bool(np.median(words) >= LONG)

    def _unit_documents(self, by_term: NDArray[np.float64]) -> Any:
        """Return the known documents with so much weight for each term, with unit norm."""
        matrix = self.matrix
        rows = np.repeat(np.arange(self.n_documents), np.diff(matrix.indptr))
        values = by_term[matrix.indices]
        squares = np.bincount(rows, values**2, self.n_documents)
        norms = np.sqrt(np.where(squares > 0, squares, 1.0))  # 1 for a document without words
        data = (values / norms[rows]).astype(np.float32)
        return sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)

    def unseen(self, words: Sequence[str]) -> WordRows | None:
        """Return words never seen in the linear classifier; None if it does not use n-grams."""
        return None if self.subwords is None else self.subwords.rows(words)


def _information(
    counts: Any, sizes: NDArray[np.int64], frequencies: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each term tells of the class of a document that has it, in nats.

    This is the Kullback-Leibler divergence of the classes of the documents with the term, shrunk
    by `PRIOR` pseudo-documents, from the classes of all documents.

    Examples
    --------
    >>> counts = sparse.csr_matrix(np.array([[4, 0, 2], [4, 4, 2]]))
    >>> _information(counts, np.array([4, 4]), np.array([8.0, 4.0, 4.0])).round(2).tolist()
    [0.01, 0.48, 0.01]
    """
    entries = counts.tocoo()
    n_terms, share = counts.shape[1], (sizes / sizes.sum())[entries.row]
    # How many times as frequent a class is with the term; where it has no such document, `none`.
    times = (entries.data / share + PRIOR) / (frequencies[entries.col] + PRIOR)
    none = PRIOR / (frequencies + PRIOR)
    others = 1 - np.bincount(entries.col, share, n_terms)
    told = np.bincount(entries.col, share * times * log(times), n_terms)
    found: NDArray[np.float64] = np.maximum(told + others * none * log(none), _LEAST)
    return found


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
        """Return the documents by term and class."""
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

    `documents` are rows of length 1, and `codes` the index of the class of each.

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
