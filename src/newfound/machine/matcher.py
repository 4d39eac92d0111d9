"""Count the documents that clauses match, given the clauses alone, by the native core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound import _core
from newfound.machine.clauses import Clauses

__all__ = ["ClauseMatcher"]

_INCLUDED = 255  # the state of an automaton that includes its literal for sure


class ClauseMatcher:
    """Matches the clauses of a machine of two classes; it cannot be trained.

    Parameters
    ----------
    clauses : Clauses
        All clauses of one machine, in their order.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> clauses = Clauses(
    ...     class_index=np.array([0, 0, 1, 1], np.int32),
    ...     polarity=np.array([1, -1, 1, -1], np.int8),
    ...     indptr=np.array([0, 1, 2, 4, 5]), literals=np.array([0, 1, 1, 2, 0], np.int32),
    ...     matches=np.zeros(4, np.int64), agrees=np.zeros(4, np.int64), n_features=2,
    ... )
    >>> matcher = ClauseMatcher(clauses)
    >>> documents = csr_array(np.array([[1, 0], [0, 1], [1, 1]], bool))
    >>> matcher.count(documents, np.array([False, True, True])).tolist()
    [[1, 0, 0, 1], [1, 2, 1, 1]]
    """

    def __init__(self, clauses: Clauses) -> None:
        per_class = len(clauses) // 2
        negated, feature = np.divmod(clauses.literals, max(clauses.n_features, 1))
        # An automaton takes memory for every word, and clauses have few of the words.
        used, feature = np.unique(feature, return_inverse=True)
        n = max(len(used), 1)
        self.clauses = clauses
        self._place = np.full(clauses.n_features, -1, np.int32)
        self._place[used] = np.arange(len(used), dtype=np.int32)
        self._core = _core.Machine(
            2, n, seed=0, n_clauses=per_class, T=1, s=1.0, boost_true_positive=False,
            max_literals=0,
        )  # fmt: skip
        states = np.zeros((2, per_class, 2, n), np.uint8)
        rows = np.repeat(np.arange(len(clauses)), clauses.lengths)
        states.reshape(len(clauses), 2, n)[rows, negated, feature] = _INCLUDED
        self._core.set_states(states)

    def count(self, matrix: Any, novel: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many known and how many novel documents each clause matches.

        Parameters
        ----------
        matrix : (n_documents, n_features) CSR matrix
            The documents.
        novel : (n_documents,) array of bool
            Which of them are novel.

        Returns
        -------
        (2, n_clauses) ndarray of int64
        """
        places = self._place[matrix.indices]
        used = places >= 0
        indptr = np.concatenate(([0], np.cumsum(used)))[matrix.indptr].astype(np.int64)
        matches, own = self._core.support(indptr, places[used], novel.astype(np.int32), 1)
        of_novel = np.where(self.clauses.class_index == 1, own, matches - own)
        return np.stack((matches - of_novel, of_novel))
