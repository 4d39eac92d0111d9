"""Which clauses of a table match a document, for all clauses at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.machine.clauses import Clauses

__all__ = ["matching", "missing"]


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
    >>> matching(clauses, [0]).tolist(), missing(clauses, [0]).tolist()
    ([False, True, False], [1, -1, -1])
    """
    before = _false_before(clauses, _is_false(clauses, columns))
    matched: NDArray[np.bool_] = before[1:] == before[:-1]
    return matched & (clauses.lengths > 0)


def missing(clauses: Clauses, columns: ArrayLike) -> NDArray[np.int64]:
    """Return the only feature that a document lacks to match each clause.

    Parameters
    ----------
    clauses, columns
        As in `matching`.

    Returns
    -------
    (n_clauses,) array of int
        -1 where the document matches, lacks several features, or has a negated one.
    """
    false = _is_false(clauses, columns)
    before = _false_before(clauses, false)
    places = np.flatnonzero(false)
    found = np.full(len(clauses), -1, np.int64)
    rows = np.flatnonzero(np.diff(before) == 1)
    literals = clauses.literals[places[before[rows]]]
    plain = literals < clauses.n_features
    found[rows[plain]] = literals[plain]
    return found


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
