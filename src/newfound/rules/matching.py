"""Which clauses match a document, for all clauses at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.machine.clauses import Clauses

__all__ = ["matching"]


def matching(clauses: Clauses, columns: ArrayLike) -> NDArray[np.bool_]:
    """Return which clauses match a document; an empty clause matches nothing.

    Parameters
    ----------
    clauses : Clauses
        The clauses of a machine.
    columns : array of int
        The features that the document has.

    Returns
    -------
    (n_clauses,) array of bool

    Examples
    --------
    >>> clauses = Clauses(
    ...     class_index=np.zeros(3, np.int32), polarity=np.ones(3, np.int8),
    ...     indptr=np.array([0, 2, 4, 4]), literals=np.array([0, 1, 0, 3], np.int32),
    ...     matches=np.zeros(3, np.int64), agrees=np.zeros(3, np.int64), n_features=2,
    ... )
    >>> matching(clauses, [0]).tolist()
    [False, True, False]
    """
    before = _false_before(clauses, _is_false(clauses, columns))
    matched: NDArray[np.bool_] = before[1:] == before[:-1]
    return matched & (clauses.lengths > 0)


def _is_false(clauses: Clauses, columns: ArrayLike) -> NDArray[np.bool_]:
    """Return for each entry of `clauses.literals` whether the document makes it false."""
    n = clauses.n_features
    false = np.ones(2 * n, bool)
    false[n:] = False
    present = np.asarray(columns, np.intp)
    false[present] = False
    false[n + present] = True
    entries: NDArray[np.bool_] = false[clauses.literals]
    return entries


def _false_before(clauses: Clauses, false: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of false literals before each clause, and before the end."""
    total = np.concatenate(([0], np.cumsum(false)))
    counts: NDArray[np.int64] = total[clauses.indptr]
    return counts
