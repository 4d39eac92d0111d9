"""Which clauses match a document, for all clauses at once, and how they vote."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from newfound.machine.clauses import Clauses

__all__ = ["class_sums", "matching"]

_MAX_CELLS = 4_000_000  # documents times clauses in memory at a time


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


def class_sums(
    clauses: Clauses,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    n_classes: int,
) -> NDArray[np.int32]:
    """Return the votes for each class: matching positive minus matching negative clauses.

    The same as `TsetlinMachineClassifier.class_sums_csr`, from the clauses alone.

    Parameters
    ----------
    clauses : Clauses
        The clauses of a machine.
    indptr, indices : ndarray of int
        The documents as rows of a CSR matrix: ``indices[indptr[i]:indptr[i + 1]]`` are the
        features of document i.
    n_classes : int
        The number of classes.

    Returns
    -------
    (n_documents, n_classes) array of int32

    Examples
    --------
    >>> clauses = Clauses(
    ...     class_index=np.array([0, 1]), polarity=np.array([1, -1]), indptr=np.array([0, 1, 3]),
    ...     literals=np.array([0, 0, 3]), matches=np.zeros(2), agrees=np.zeros(2), n_features=2,
    ... )
    >>> class_sums(clauses, np.array([0, 1, 3]), np.array([0, 0, 1]), 2).tolist()
    [[1, -1], [1, 0]]
    """
    n, n_features, lengths = len(indptr) - 1, clauses.n_features, clauses.lengths
    negated = clauses.literals >= n_features
    # A document has 1 point for each plain literal of a clause, and far less than 0 points if it
    # has a negated one. Only pairs of a document and a clause with points are looked at.
    points = np.where(negated, -1 - lengths.max(initial=0), 1).astype(np.int64)
    columns = np.where(negated, clauses.literals - n_features, clauses.literals)
    by_feature = sparse.csr_array((points, columns, clauses.indptr), (len(clauses), n_features))
    by_feature = by_feature.T.tocsr()
    plain = np.diff(np.concatenate(([0], np.cumsum(~negated)))[clauses.indptr])
    # A clause without plain literals matches a document without points: it votes at first, and
    # its vote is taken back if there are points.
    always = (plain == 0) & (lengths > 0)
    votes = clauses.polarity * clauses.weights.astype(np.int64)
    change = np.where(always, -votes, votes)
    base = -np.bincount(clauses.class_index[always], change[always], n_classes).astype(np.int32)
    bags = sparse.csr_array((np.ones(len(indices), np.int64), indices, indptr), (n, n_features))
    sums = np.empty((n, n_classes), np.int32)
    step = max(1, _MAX_CELLS // max(len(clauses), 1))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        found = bags[rows] @ by_feature
        size, of = found.shape[0], found.indices
        counted = np.flatnonzero((found.data == plain[of]) | always[of])
        document = np.searchsorted(found.indptr, counted, side="right") - 1
        of = of[counted]
        cells = document * n_classes + clauses.class_index[of]
        counts = np.bincount(cells, change[of], size * n_classes)
        sums[rows] = base + counts.astype(np.int32).reshape(size, n_classes)
    return sums


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
