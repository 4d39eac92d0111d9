"""Statistics of known classes, and the four parts of the score that are computed from them.

Each part is a sum over the words and word pairs of a text, compared with its nearest class:

*margin*: minus the decision value of a linear classifier for the class. A word counts with its
character n-grams, so that a word never seen counts as far as it is like known words.
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

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.detection.linear import train_linear
from newfound.detection.neighbours import Neighbours
from newfound.detection.subwords import Subwords
from newfound.text.bags import Bags

__all__ = ["ClassStatistics", "WeightedBags"]

_PARTS = 4  # margin, surprise, neighbours, pairs

_PAIR_WEIGHT = 0.5  # a pair weighs half as much as a word of the same document frequency
_ELSEWHERE = 0.5  # how new a pair is that only other classes have; a pair never seen counts 1
_PRIOR = 0.5  # pseudo-documents that shrink a word's rate in a class towards its overall rate


class WeightedBags(NamedTuple):
    """Bags weighted by inverse document frequency.

    Attributes
    ----------
    bags : Bags
        The words of the texts.
    values : ndarray of float32
        The weight of each term of each text.
    unseen : (n_unseen, n_classes) array of float32 or None
        The weights of words never seen in the linear classifier; None if it does not use n-grams.
    norms : ndarray of float
        The Euclidean norm of each text. A word never seen counts as far as its n-grams are known.
    full_norms : ndarray of float
        The same where such a word counts in full.
    """

    bags: Bags
    values: NDArray[np.float32]
    unseen: NDArray[np.float32] | None
    norms: NDArray[np.float64]
    full_norms: NDArray[np.float64]


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
        self._rate = self.frequencies / n
        self._prior = _PRIOR * self._rate
        rarity = np.log((n + 1) / (self.frequencies + 1)) + 1
        self.rarity = np.where(is_pair, _PAIR_WEIGHT, 1.0) * rarity
        self.unseen_rarity = float(np.log(n + 1) + 1)
        self.unseen_surprise = float(np.log(n + 1))
        documents = self._unit_documents()
        self.neighbours = Neighbours(documents, codes, n_classes)
        if weights is None:
            single = np.flatnonzero(~is_pair)
            weights, subwords = train_linear(
                documents,
                codes,
                n_classes,
                words=[terms[j] for j in single.tolist()],
                columns=single,
                frequencies=self.frequencies[single],
                seed=seed,
            )
        self.weights, self.subwords = weights, subwords
        if self.weights.shape != (n_classes, matrix.shape[1] + 1):
            raise ValueError(
                "The weights of the linear classifier do not fit the words and classes."
            )
        self._by_term = np.ascontiguousarray(self.weights[:, :-1].T)

    def _unit_documents(self) -> Any:
        """Return the known documents weighted by inverse document frequency, with unit norm."""
        matrix = self.matrix
        rows = np.repeat(np.arange(self.n_documents), np.diff(matrix.indptr))
        values = self.rarity[matrix.indices]
        norms = _root(np.bincount(rows, values**2, self.n_documents))
        data = (values / norms[rows]).astype(np.float32)
        return sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)

    def weighted(self, bags: Bags) -> WeightedBags:
        """Return what class scores and parts are both computed from."""
        rarity = self.rarity[bags.indices]
        squares = np.bincount(bags.rows, rarity**2, len(bags))
        unseen = None
        in_norm = squares
        if self.subwords is not None and bags.unseen_terms:
            unseen = self.subwords.rows(bags.unseen_terms)
            known = np.bincount(bags.unseen_rows, unseen.squares[bags.unseen_places], len(bags))
            in_norm = squares + known * self.unseen_rarity**2
        return WeightedBags(
            bags,
            rarity.astype(np.float32),
            None if unseen is None else unseen.weights,
            _root(in_norm),
            _root(squares + bags.unseen_words * self.unseen_rarity**2),
        )

    def class_scores(self, texts: WeightedBags, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the decision value of the linear classifier for each class, of some texts."""
        bags = texts.bags
        shape = (len(bags), bags.n_terms)
        values = sparse.csr_matrix((texts.values, bags.indices, bags.indptr), shape=shape)
        scores: NDArray[np.float32] = np.asarray(values[chosen] @ self._by_term)
        if texts.unseen is not None:
            places, indptr = (
                bags.unseen_places,
                np.searchsorted(bags.unseen_rows, np.arange(len(bags) + 1)),
            )
            data = np.full(len(places), self.unseen_rarity, np.float32)
            words = sparse.csr_matrix((data, places, indptr), (len(bags), len(texts.unseen)))
            scores += np.asarray(words[chosen] @ texts.unseen)
        scores /= texts.norms[chosen].astype(np.float32)[:, None]
        scores += self.weights[:, -1]
        return scores

    def parts(self, texts: WeightedBags, nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the four parts of each text, compared with its nearest class."""
        bags, rows, n = texts.bags, texts.bags.rows, len(texts.bags)
        columns, classes = bags.indices, nearest[rows]
        pair, here = self.is_pair[columns], self.counts[classes, columns]
        word = ~pair
        r, rarity = rows[word], self.rarity[columns[word]]
        total = np.bincount(r, rarity, n) + bags.unseen_words * self.unseen_rarity
        surprise = np.bincount(r, rarity * self.surprise(columns, classes, here)[word], n)
        surprise = surprise + bags.unseen_words * (self.unseen_rarity * self.unseen_surprise)
        elsewhere = np.bincount(rows[pair & (here == 0)], minlength=n)
        parts = np.empty((n, _PARTS))
        parts[:, 0] = -self._margin(texts, nearest, classes)
        parts[:, 1] = surprise / np.where(total > 0, total, 1.0)
        near = self.neighbours.similarities(rows, columns, texts.values, nearest)
        parts[:, 2] = -near / texts.full_norms
        parts[:, 3] = (bags.unseen_pairs + _ELSEWHERE * elsewhere) / np.maximum(bags.n_pairs, 1)
        return parts

    def surprise(
        self, columns: NDArray[Any], classes: NDArray[Any] | int, here: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Return the log of how many times rarer terms are in a class than in all documents.

        Parameters
        ----------
        columns, classes : ndarray of int
            The terms, and the class of each.
        here : ndarray of float
            The number of documents of the class that have each.
        """
        times: NDArray[np.float64] = self._rate[columns] * (self.class_sizes[classes] + _PRIOR)
        times /= here + self._prior[columns]
        return np.log(times, out=times)

    def _margin(
        self, texts: WeightedBags, nearest: NDArray[np.int64], classes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the decision value for the nearest class; `classes` has it for each term."""
        bags, n = texts.bags, len(nearest)
        values = self.rarity[bags.indices] * self.weights[classes, bags.indices]
        # Of no values, bincount returns integers.
        total = np.bincount(bags.rows, values, n).astype(np.float64)
        if texts.unseen is not None:
            by_word = texts.unseen[bags.unseen_places, nearest[bags.unseen_rows]]
            adds = self.unseen_rarity * by_word.astype(np.float64)
            total += np.bincount(bags.unseen_rows, adds, n)
        margin: NDArray[np.float64] = total / texts.norms + self.weights[nearest, -1]
        return margin

    def contributions(
        self,
        columns: NDArray[np.int64],
        unseen_words: Sequence[str],
        unseen_pairs: int,
        nearest: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Attribute the four parts of one text to its terms.

        What remains is the intercept of the linear classifier.

        Parameters
        ----------
        columns : ndarray of int
            The terms of the text that are in the vocabulary.
        unseen_words : sequence of str
            The words that are not.
        unseen_pairs : int
            The number of pairs that are not.
        nearest : int
            The nearest class.

        Returns
        -------
        by_term : (n_terms, 4) array
            What each term adds to each part.
        by_unseen : (n_unseen_words, 4) array
            What each unseen word adds to each part.
        by_pair : float
            What each unseen pair adds to the last part.
        """
        rarity, n_unseen = self.rarity[columns], len(unseen_words)
        pair, here = self.is_pair[columns], self.counts[nearest, columns]
        square, unseen_square = float(rarity @ rarity), self.unseen_rarity**2
        norm = math.sqrt(square + n_unseen * unseen_square or 1.0)
        by_term, by_unseen = np.zeros((len(columns), _PARTS)), np.zeros((n_unseen, _PARTS))
        total = float(rarity[~pair].sum()) + n_unseen * self.unseen_rarity
        if n_unseen:
            if self.subwords is not None:
                rows = self.subwords.rows(unseen_words)
                square += unseen_square * float(rows.squares.sum())
                by_unseen[:, 0] = -self.unseen_rarity * rows.weights[:, nearest].astype(np.float64)
            by_unseen[:, 0] /= math.sqrt(square or 1.0)
            by_unseen[:, 1] = self.unseen_rarity * self.unseen_surprise / total
        by_term[:, 0] = -rarity * self.weights[nearest, columns] / math.sqrt(square or 1.0)
        if total:
            surprise = rarity * self.surprise(columns, nearest, here) / total
            by_term[:, 1] = np.where(pair, 0.0, surprise)
        by_term[:, 2] = -self.neighbours.shares(columns, rarity / norm, nearest)
        each = 1 / max(int(pair.sum()) + unseen_pairs, 1)
        by_term[:, 3] = (pair & (here == 0)) * (each * _ELSEWHERE)
        return by_term, by_unseen, each


def _root(squares: NDArray[Any]) -> NDArray[np.float64]:
    """Return square roots, and 1 for a text without words."""
    roots: NDArray[np.float64] = np.sqrt(np.where(squares > 0, squares, 1.0))
    return roots
