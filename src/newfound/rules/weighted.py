"""ANDs of words with whole numbers as weights for classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Conjunctions", "WeightedRule", "WeightedRules"]


@dataclass(frozen=True)
class WeightedRule:
    """A rule that matches a document, and what it weighs for a class.

    Attributes
    ----------
    words : tuple of str
        The words that a document must have; none for what every document gets.
    weight : int
        What the rule adds to the score of the class.

    Examples
    --------
    >>> str(WeightedRule(("credit", "card"), 12))
    'credit AND card: +12'
    """

    words: tuple[str, ...]
    weight: int

    def __str__(self) -> str:
        return f"{' AND '.join(self.words) or 'any document'}: {self.weight:+d}"


class Conjunctions:
    """ANDs of words, and which documents they match.

    Parameters
    ----------
    words : sequence of tuple of int
        The words of each AND, at least one.
    n_words : int
        The number of words of the documents.

    Examples
    --------
    >>> ands = Conjunctions([(0,), (0, 2)], 3)
    >>> ands.matches(sp.csr_array([[1, 1, 0], [1, 0, 1]])).toarray().tolist()
    [[1, 0], [1, 1]]
    """

    def __init__(self, words: Sequence[tuple[int, ...]], n_words: int) -> None:
        self.words, self.n_words = list(words), n_words
        self.lengths = np.array([len(one) for one in words], np.int8)
        columns = np.concatenate([np.asarray(one, np.int64) for one in words])
        owners = np.repeat(np.arange(len(words)), self.lengths)
        ones = np.ones(len(columns), np.int8)
        self._by_word = sp.csr_array((ones, (columns, owners)), (n_words, len(words)))

    def __len__(self) -> int:
        return len(self.words)

    def lacking(self, columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ANDs that have words of one document, and how many other words each has.

        Parameters
        ----------
        columns : ndarray of int
            The words of the document.

        Examples
        --------
        >>> ands, missing = Conjunctions([(0,), (0, 2), (1,)], 3).lacking(np.array([0]))
        >>> ands.tolist(), missing.tolist()
        ([0, 1], [0, 1])
        """
        indptr, indices = self._by_word.indptr, self._by_word.indices
        places = [indices[indptr[j] : indptr[j + 1]] for j in columns.tolist()]
        if not places:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        ands, present = np.unique(np.concatenate(places), return_counts=True)
        return ands.astype(np.int64), self.lengths[ands] - present

    def matches(self, documents: Any) -> sp.csr_array:
        """Return which ANDs match which documents."""
        found = sp.csr_array((documents.astype(np.int8) @ self._by_word).tocsr())
        found.data = (found.data == self.lengths[found.indices]).astype(np.int8)
        found.eliminate_zeros()
        found.sort_indices()
        return found


@dataclass(frozen=True, eq=False)
class WeightedRules:
    """Rules with their weights for classes.

    Attributes
    ----------
    conjunctions : Conjunctions
        The rules.
    weights : (n_rules, n_classes) sparse array of int
        What each adds to the score of each class.
    rarity : (n_rules,) array of float
        How much a match of each adds to the length of a document, before it is squared.
    unit : float
        What a weight of 1 is worth in the regression that the weights are from.
    base : (n_classes,) array of int
        What every document adds to the score of each class: the weights of a rule without words.
    base_rarity : float
        The rarity of that rule.
    """

    conjunctions: Conjunctions
    weights: sp.csr_array
    rarity: NDArray[np.float64]
    unit: float
    base: NDArray[np.int64]
    base_rarity: float

    def __len__(self) -> int:
        return len(self.conjunctions)

    def scores(self, matches: sp.csr_array) -> NDArray[np.int64]:
        """Return the score of each class: the weights of the rules that match, added up."""
        found: NDArray[np.int64] = (matches.astype(np.int64) @ self.weights).toarray()
        found += self.base
        return found

    def lengths(
        self, matches: sp.csr_array, others: NDArray[np.float64] | float = 0.0
    ) -> NDArray[np.float64]:
        """Return the length of each document, by the rarity of the rules that match.

        Parameters
        ----------
        matches : (n_documents, n_rules) sparse array
            Which rules match.
        others : (n_documents,) array of float, default=0
            The squared rarity of words that no rule has.
        """
        squares = matches.astype(np.float64) @ self.rarity**2 + others
        found: NDArray[np.float64] = np.sqrt(squares + self.base_rarity**2)
        return found

    def with_columns(self, columns: NDArray[np.int64], n_words: int) -> WeightedRules:
        """Return the same rules for documents with more words.

        Parameters
        ----------
        columns : ndarray of int
            The column of each word that the rules have been learned from.
        n_words : int
            The number of columns.
        """
        words = [tuple(columns[list(one)].tolist()) for one in self.conjunctions.words]
        return replace(self, conjunctions=Conjunctions(words, n_words))
