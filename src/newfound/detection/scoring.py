"""What speaks for and against a text being of a known class, word by word.

Four parts, each a sum over the words and pairs of the text:

*margin*: how far the text is on the side of its nearest class, by a linear rule over words.
*surprise*: how much rarer the words are in that class than in all known documents; a word never
seen is the rarest. Weighted by rarity, so that function words say little.
*neighbours*: how much the text shares with the five nearest documents of that class.
*pairs*: which share of its neighbouring words were never neighbours before; half counts a pair
that other classes have.

High is novel, for all of them. The fifth part, the votes of the rules, is the detector's.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.text.bags import Bags

__all__ = ["PARTS", "Evidence"]

PARTS = ("margin", "surprise", "neighbours", "pairs")

_NEIGHBOURS = 5
_PAIR_WEIGHT = 0.5  # a pair weighs half of a word of the same rarity
_ELSEWHERE = 0.5  # how new a pair is that only other classes have; 1 is one never seen
_FAR = 1000.0
_MOST_SIMILARITIES = 5_000_000  # in memory at a time
_PRIOR = 0.5  # documents by which a class's rate of a word is drawn to that of all documents


class Evidence:
    """What is known of words and classes, from bags of known documents.

    Parameters
    ----------
    matrix : Boolean CSR matrix
        Bags of known documents.
    codes : ndarray of int
        The number of the class of each.
    n_classes : int
        How many classes there are.
    is_pair : ndarray of bool
        Which columns are pairs of words.
    weights : (n_classes, n_terms + 1) array or None
        The linear rule, its last column the intercept; learned if None.
    seed : int
        For the order in which the linear rule learns.
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
        self.neighbours = [documents[codes == k].T.tocsr() for k in range(n_classes)]
        self.weights = (
            _linear_rule(documents, codes, n_classes, seed) if weights is None else weights
        )
        if self.weights.shape != (n_classes, matrix.shape[1] + 1):
            raise ValueError("The linear rule does not fit the words and classes.")
        self._by_term = np.ascontiguousarray(self.weights[:, :-1].T)

    def norms(self, matrix: Any, unseen: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """Give the length of each bag as a vector, unseen words counted or not."""
        squares = np.asarray(matrix @ self.rarity**2)
        if unseen is not None:
            squares = squares + unseen * self.unseen_rarity**2
        norms: NDArray[np.float64] = np.sqrt(np.where(squares > 0, squares, 1.0))
        return norms

    def scaled(self, matrix: Any, norms: NDArray[np.float64]) -> Any:
        """Give the bags weighted by rarity and of length 1."""
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        data = (self.rarity[matrix.indices] / norms[rows]).astype(np.float32)
        return sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)

    def class_scores(self, bags: Bags) -> NDArray[np.float32]:
        """Give the linear rule's score of each class."""
        scores: NDArray[np.float32] = np.asarray(
            self.scaled(bags.matrix, self.norms(bags.matrix)) @ self._by_term
        )
        return scores + self.weights[:, -1]

    def parts(self, bags: Bags, nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        """Give the four parts for each text and its nearest class."""
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
        """Give log of how many times rarer a word is in a class than in all known documents."""
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
        """Give the mean similarity to the nearest documents of the nearest class."""
        scaled = self.scaled(bags.matrix, self.norms(bags.matrix, bags.unseen_words))
        found = np.zeros(len(bags))
        for k in np.unique(nearest).tolist():
            rows = np.flatnonzero(nearest == k)
            step = max(1, _MOST_SIMILARITIES // max(self.neighbours[k].shape[1], 1))
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                near = scaled if len(some) == len(found) else scaled[some]
                found[some] = top_mean((near @ self.neighbours[k]).toarray())
        return found

    def contributions(
        self, columns: NDArray[np.int64], unseen_words: int, unseen_pairs: int, nearest: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Split the four parts of one text among its terms.

        Parameters
        ----------
        columns : ndarray of int
            The terms of the text that are in the vocabulary.
        unseen_words, unseen_pairs : int
            How many are not.
        nearest : int
            The nearest class.

        Returns
        -------
        by_term : (n_terms, 4) array
            What each term adds to each part.
        by_unseen : (4,) array
            What each unseen word adds to the first three, and each unseen pair to the last.
        rest : (4,) array
            What no word adds: the intercept of the linear rule.
        neighbours : ndarray of int
            The rows of the nearest documents, the nearest first.
        """
        rarity = self.rarity[columns]
        pair = self.is_pair[columns]
        by_term = np.zeros((len(columns), len(PARTS)))
        by_unseen, rest = np.zeros(len(PARTS)), np.zeros(len(PARTS))
        square = float(rarity @ rarity)
        norm = np.sqrt(square) if square else 1.0
        by_term[:, 0] = -rarity * self.weights[nearest, columns] / norm
        rest[0] = -self.weights[nearest, -1]
        total = float(rarity[~pair].sum()) + unseen_words * self.unseen_rarity
        if total:
            words = columns[~pair]
            by_term[~pair, 1] = rarity[~pair] * self.surprise(words, nearest) / total
            by_unseen[1] = self.unseen_rarity * self.unseen_surprise / total
        square += unseen_words * self.unseen_rarity**2
        shared, rows = self._shared(columns, rarity / (np.sqrt(square) if square else 1.0), nearest)
        by_term[:, 2] = -shared
        each = 1 / max(int(pair.sum()) + unseen_pairs, 1)
        by_term[pair, 3] = each * _ELSEWHERE * (self.counts[nearest, columns[pair]] == 0)
        by_unseen[3] = each
        return by_term, by_unseen, rest, rows

    def _shared(
        self, columns: NDArray[np.int64], scaled: NDArray[np.float64], nearest: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Split the nearness of one text among its terms; give the rows of its neighbours."""
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
        rows = np.flatnonzero(self.codes == nearest)[top[np.argsort(-similar[top], kind="stable")]]
        return scaled * np.array(sums) / max(size, 1), rows


def top_mean(similar: NDArray[Any]) -> NDArray[np.float64]:
    """Give the mean of the greatest few entries of each row."""
    size = min(_NEIGHBOURS, similar.shape[1])
    if not size:
        return np.zeros(len(similar))
    top = np.partition(similar, similar.shape[1] - size, axis=1)[:, similar.shape[1] - size :]
    mean: NDArray[np.float64] = top.mean(axis=1, dtype=np.float64)
    return mean


def _linear_rule(
    documents: Any, codes: NDArray[np.int64], n_classes: int, seed: int
) -> NDArray[np.float32]:
    """Learn one linear rule for each class against the others; zeros where there is one class."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    rule = np.zeros((n_classes, documents.shape[1] + 1), np.float32)
    present = np.unique(codes)
    rule[np.setdiff1d(np.arange(n_classes), present), -1] = -_FAR  # never the nearest class
    if len(present) < 2:
        return rule
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near enough is good enough here
        warnings.filterwarnings("ignore", "The number of unique classes")  # nor is it a regression
        learned = LinearSVC(C=3.0, random_state=seed).fit(documents, codes)
    found = np.column_stack((learned.coef_, learned.intercept_))
    rule[present] = np.concatenate((-found, found)) if len(present) == 2 else found
    return rule
