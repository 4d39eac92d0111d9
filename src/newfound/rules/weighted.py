"""ANDs of words with whole numbers as weights for classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from newfound import _core

__all__ = ["Conjunctions", "Matches", "WeightedRule", "WeightedRules"]

_EXACT = 1 << 24  # whole numbers below it are exact in float32
_MAX_TABLE = 20_000_000  # weights of classes that are also kept as a table, 4 bytes each


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


class Matches(NamedTuple):
    """Which rules match which documents.

    Attributes
    ----------
    rows, rules : ndarray of int
        The document and the rule of each match, in ascending order.
    indptr : ndarray of int
        Where the matches of each document begin, and the end of all.
    """

    rows: NDArray[np.int64]
    rules: NDArray[np.int32]
    indptr: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.indptr) - 1


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

    @cached_property
    def native(self) -> _core.Conjunctions:
        """The same, in the core."""
        begin = np.concatenate(([0], np.cumsum(self.lengths, dtype=np.int64)))
        return _core.Conjunctions(
            begin, np.fromiter(chain.from_iterable(self.words), np.int32), self.n_words
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the core's part behind."""
        return {name: value for name, value in self.__dict__.items() if name != "native"}

    def __len__(self) -> int:
        return len(self.words)

    def matches(self, documents: Any) -> sp.csr_array:
        """Return which ANDs match which documents, as a matrix."""
        found = self.matching(documents.indptr, documents.indices)
        ones = np.ones(len(found.rules), np.int8)
        shape = (len(found), len(self))
        return sp.csr_array((ones, found.rules.astype(np.int32), found.indptr), shape)

    def matching(self, indptr: NDArray[Any], indices: NDArray[Any]) -> Matches:
        """Return which ANDs match which documents.

        Parameters
        ----------
        indptr, indices : ndarray of int
            The words of the documents, as in a CSR matrix.

        Examples
        --------
        >>> found = Conjunctions([(0,), (0, 2)], 3).matching(np.array([0, 2, 4]), [0, 1, 0, 2])
        >>> found.rows.tolist(), found.rules.tolist()
        ([0, 1, 1], [0, 0, 1])
        """
        bounds, rules = self.native.matching(
            np.ascontiguousarray(indptr, np.int64), np.ascontiguousarray(indices, np.int32)
        )
        return Matches(np.repeat(np.arange(len(indptr) - 1), np.diff(bounds)), rules, bounds)


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

    def scores(self, matches: Matches) -> NDArray[np.int64]:
        """Return the score of each class: the weights of the rules that match, added up."""
        table, rules = self._table, matches.rules
        if table is not None and len(matches) == 1:  # a sparse product takes long to begin
            found = table[rules].sum(axis=0, keepdims=True)
        else:
            ones = np.ones(len(rules), np.int64 if table is None else np.float32)
            rows = sp.csr_array((ones, rules, matches.indptr), (len(matches), len(self)))
            found = (rows @ self.weights).toarray() if table is None else rows @ table
        scores: NDArray[np.int64] = found.astype(np.int64)
        scores += self.base
        return scores

    @cached_property
    def _table(self) -> NDArray[np.float32] | None:
        """The weights as a dense array; None if it is large or sums would not be exact."""
        size = self.weights.shape[0] * self.weights.shape[1]
        if size > _MAX_TABLE or abs(self.weights).sum(axis=0).max(initial=0) >= _EXACT:
            return None
        return np.ascontiguousarray(self.weights.astype(np.float32).toarray())

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table behind."""
        return {name: value for name, value in self.__dict__.items() if name != "_table"}

    def lengths(
        self, matches: Matches, others: NDArray[np.float64] | float = 0.0
    ) -> NDArray[np.float64]:
        """Return the length of each document, by the rarity of the rules that match.

        Parameters
        ----------
        matches : Matches
            Which rules match.
        others : (n_documents,) array of float, default=0
            The squared rarity of words that no rule has.
        """
        squares = np.bincount(matches.rows, self.rarity[matches.rules] ** 2, len(matches)) + others
        found: NDArray[np.float64] = np.sqrt(squares + self.base_rarity * self.base_rarity)
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
