"""Statistics of known classes, and the four parts of the score that are computed from them.

Each part is a sum over the words and word pairs of a text, compared with its nearest class:

*margin*: minus the decision value of a linear classifier for the class.
*surprise*: log of how many times rarer the words are in the class than in all known documents. A
word never seen counts as the rarest. Words are weighted by inverse document frequency, so that
function words count little.
*neighbours*: minus the mean cosine similarity to the five nearest documents of the class.
*pairs*: the share of word pairs that no known document has; a pair that only other classes have
counts half.

A higher value means more novel, for all four. The fifth part, the votes of the rules, is added in
`newfound.detection.scoring`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.text.bags import Bags

__all__ = ["ClassStatistics"]

_PARTS = 4  # margin, surprise, neighbours, pairs

_NEIGHBOURS = 5
_PAIR_WEIGHT = 0.5  # a pair weighs half as much as a word of the same document frequency
_ELSEWHERE = 0.5  # how new a pair is that only other classes have; a pair never seen counts 1
_FAR = 1000.0
_MAX_SIMILARITIES = 5_000_000  # in memory at a time
_PRIOR = 0.5  # pseudo-documents that shrink a word's rate in a class towards its overall rate


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
    is_pair : ndarray of bool
        Which columns are pairs of words.
    weights : (n_classes, n_terms + 1) array or None
        Coefficients of the linear classifier, the intercept in the last column; trained if None.
    seed : int
        Seed of the linear classifier.
    """

    def __init__(
        self,
        matrix: Any,
        codes: NDArray[np.int64],
        n_classes: int,
        is_pair: NDArray[np.bool_],
        *,
        weights: NDArray[np.float32] | None = None,
        seed: int = 0,
    ) -> None:
        n = matrix.shape[0]
        self.matrix, self.codes, self.n_classes, self.is_pair = matrix, codes, n_classes, is_pair
        self.n_documents = n
        self.class_sizes = np.bincount(codes, minlength=n_classes)
        member = sparse.csr_matrix((np.ones(n, np.float32), (codes, np.arange(n))), (n_classes, n))
        counts = member @ matrix.astype(np.float32)
        self.counts: NDArray[np.float32] = np.ascontiguousarray(counts.toarray())
        self.frequencies = self.counts.sum(axis=0, dtype=np.float64)
        rarity = np.log((n + 1) / (self.frequencies + 1)) + 1
        self.rarity = np.where(is_pair, _PAIR_WEIGHT, 1.0) * rarity
        self.unseen_rarity = float(np.log(n + 1) + 1)
        self.unseen_surprise = float(np.log(n + 1))
        documents = self.scaled(matrix, self.norms(matrix))
        by_class = np.split(np.argsort(codes, kind="stable"), np.cumsum(self.class_sizes)[:-1])
        self.neighbours = [documents[rows].T.tocsr() for rows in by_class]
        self.weights = (
            _linear_weights(documents, codes, n_classes, seed) if weights is None else weights
        )
        if self.weights.shape != (n_classes, matrix.shape[1] + 1):
            raise ValueError(
                "The weights of the linear classifier do not fit the words and classes."
            )
        self._by_term = np.ascontiguousarray(self.weights[:, :-1].T)

    def norms(self, matrix: Any, unseen: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """Return the Euclidean norm of each weighted bag, with or without its unseen words."""
        squares = np.asarray(matrix @ self.rarity**2)
        if unseen is not None:
            squares = squares + unseen * self.unseen_rarity**2
        norms: NDArray[np.float64] = np.sqrt(np.where(squares > 0, squares, 1.0))
        return norms

    def scaled(self, matrix: Any, norms: NDArray[np.float64]) -> Any:
        """Return the bags weighted by inverse document frequency, scaled to unit norm."""
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        data = (self.rarity[matrix.indices] / norms[rows]).astype(np.float32)
        return sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)

    def class_scores(self, bags: Bags) -> NDArray[np.float32]:
        """Return the decision value of the linear classifier for each class."""
        scores: NDArray[np.float32] = np.asarray(
            self.scaled(bags.matrix, self.norms(bags.matrix)) @ self._by_term
        )
        return scores + self.weights[:, -1]

    def parts(self, bags: Bags, nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the four parts of each text, compared with its nearest class."""
        matrix, n = bags.matrix, len(bags)
        rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
        columns, classes = matrix.indices, nearest[rows]
        margin = self._margin(matrix, rows, columns, classes) + self.weights[nearest, -1]
        word = ~self.is_pair[columns]
        r, c, k = rows[word], columns[word], classes[word]
        rarity = self.rarity[c]
        total = np.bincount(r, rarity, n) + bags.unseen_words * self.unseen_rarity
        unseen = bags.unseen_words * (self.unseen_rarity * self.unseen_surprise)
        surprise = np.bincount(r, rarity * self.surprise(c, k), n) + unseen
        surprise = surprise / np.where(total > 0, total, 1.0)
        elsewhere = ~word & (self.counts[classes, columns] == 0)
        pairs = bags.unseen_pairs + _ELSEWHERE * np.bincount(rows[elsewhere], minlength=n)
        pairs = pairs / np.maximum(bags.n_pairs, 1)
        return np.column_stack((-margin, surprise, -self._nearness(bags, nearest), pairs))

    def surprise(self, columns: NDArray[Any], classes: NDArray[Any] | int) -> NDArray[np.float64]:
        """Return the log of how many times rarer words are in a class than in all documents."""
        rate = self.frequencies[columns] / self.n_documents
        here = self.counts[classes, columns] + _PRIOR * rate
        times: NDArray[np.float64] = np.log(rate * (self.class_sizes[classes] + _PRIOR) / here)
        return times

    def _margin(
        self, matrix: Any, rows: NDArray[Any], columns: NDArray[Any], classes: NDArray[Any]
    ) -> NDArray[np.float64]:
        values = self.rarity[columns] * self.weights[classes, columns]
        return np.bincount(rows, values, matrix.shape[0]) / self.norms(matrix)

    def _nearness(self, bags: Bags, nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean similarity to the nearest documents of the nearest class."""
        scaled = self.scaled(bags.matrix, self.norms(bags.matrix, bags.unseen_words))
        found = np.zeros(len(bags))
        for k in np.unique(nearest).tolist():
            rows = np.flatnonzero(nearest == k)
            step = max(1, _MAX_SIMILARITIES // max(self.neighbours[k].shape[1], 1))
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                near = scaled if len(some) == len(found) else scaled[some]
                found[some] = _top_mean((near @ self.neighbours[k]).toarray())
        return found

    def contributions(
        self, columns: NDArray[np.int64], unseen_words: int, unseen_pairs: int, nearest: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Attribute the four parts of one text to its terms.

        What remains is the intercept of the linear classifier.

        Parameters
        ----------
        columns : ndarray of int
            The terms of the text that are in the vocabulary.
        unseen_words, unseen_pairs : int
            The number of words and pairs that are not.
        nearest : int
            The nearest class.

        Returns
        -------
        by_term : (n_terms, 4) array
            What each term adds to each part.
        by_unseen : (4,) array
            What each unseen word adds to the first three, and each unseen pair to the last.
        """
        rarity = self.rarity[columns]
        pair = self.is_pair[columns]
        by_term, by_unseen = np.zeros((len(columns), _PARTS)), np.zeros(_PARTS)
        square = float(rarity @ rarity)
        norm = np.sqrt(square) if square else 1.0
        by_term[:, 0] = -rarity * self.weights[nearest, columns] / norm
        total = float(rarity[~pair].sum()) + unseen_words * self.unseen_rarity
        if total:
            words = columns[~pair]
            by_term[~pair, 1] = rarity[~pair] * self.surprise(words, nearest) / total
            by_unseen[1] = self.unseen_rarity * self.unseen_surprise / total
        square += unseen_words * self.unseen_rarity**2
        by_term[:, 2] = -self._shared(
            columns, rarity / (np.sqrt(square) if square else 1.0), nearest
        )
        each = 1 / max(int(pair.sum()) + unseen_pairs, 1)
        by_term[pair, 3] = each * _ELSEWHERE * (self.counts[nearest, columns[pair]] == 0)
        by_unseen[3] = each
        return by_term, by_unseen

    def _shared(
        self, columns: NDArray[np.int64], scaled: NDArray[np.float64], nearest: int
    ) -> NDArray[np.float64]:
        """Return what each term adds to the mean similarity to the nearest documents."""
        near = self.neighbours[nearest]
        similar = np.zeros(near.shape[1])
        slices = [slice(near.indptr[j], near.indptr[j + 1]) for j in columns.tolist()]
        for where, x in zip(slices, scaled.tolist(), strict=True):
            similar[near.indices[where]] += x * near.data[where]
        size = min(_NEIGHBOURS, len(similar))
        top = np.argpartition(-similar, size - 1)[:size] if size else np.zeros(0, np.int64)
        is_top = np.zeros(len(similar), dtype=bool)
        is_top[top] = True
        sums = [float(near.data[w][is_top[near.indices[w]]].sum()) for w in slices]
        shares: NDArray[np.float64] = scaled * np.array(sums) / max(size, 1)
        return shares


def _top_mean(similar: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean of the largest few entries of each row."""
    size = min(_NEIGHBOURS, similar.shape[1])
    if not size:
        return np.zeros(len(similar))
    top = np.partition(similar, similar.shape[1] - size, axis=1)[:, similar.shape[1] - size :]
    mean: NDArray[np.float64] = top.mean(axis=1, dtype=np.float64)
    return mean


def _linear_weights(
    documents: Any, codes: NDArray[np.int64], n_classes: int, seed: int
) -> NDArray[np.float32]:
    """Train a linear classifier, one class against the others; zeros where there is one class."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    weights = np.zeros((n_classes, documents.shape[1] + 1), np.float32)
    present = np.unique(codes)
    weights[np.setdiff1d(np.arange(n_classes), present), -1] = -_FAR  # never the nearest class
    if len(present) < 2:
        return weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an approximate solution is enough
        warnings.filterwarnings("ignore", "The number of unique classes")  # many small classes
        learned = LinearSVC(C=3.0, random_state=seed).fit(documents, codes)
    found = np.column_stack((learned.coef_, learned.intercept_))
    weights[present] = np.concatenate((-found, found)) if len(present) == 2 else found
    return weights
