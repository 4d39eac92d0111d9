"""The words of clauses by role, and the bags B_K and B_N that they make."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse  # type: ignore[import-untyped,unused-ignore]

from newfound.sides import SIDES

__all__ = ["bags", "roles"]


def roles(plain: Any, negated: Any, side: ArrayLike) -> tuple[Any, Any]:
    """Return the matrices of the words in the role known, and of those in the role novel.

    Parameters
    ----------
    plain, negated : (n_clauses, n_words) CSR matrix
        The plain and the negated words of each clause.
    side : (n_clauses,) array
        "known" or "novel" for each clause, or whether it is novel.

    Returns
    -------
    known, novel : (n_clauses, n_words) CSR array of int64, 0 or 1

    Examples
    --------
    >>> from newfound.rules import Clause, ClauseTable
    >>> table = ClauseTable.from_clauses([Clause("novel", 1, ("rugby",), ("wicket",))])
    >>> known, novel = roles(table.plain, table.negated, table.side)
    >>> table.vocabulary, known.toarray().tolist(), novel.toarray().tolist()
    (('rugby', 'wicket'), [[0, 1]], [[1, 0]])
    """
    novel = _novel(side, plain.shape[0])
    return (
        _rows(plain, ~novel) + _rows(negated, novel),
        _rows(plain, novel) + _rows(negated, ~novel),
    )


def bags(
    plain: Any, negated: Any, side: ArrayLike, counts: ArrayLike | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count how often each word is in the bags B_K and B_N.

    Parameters
    ----------
    plain, negated : (n_clauses, n_words) CSR matrix
        The plain and the negated words of each clause.
    side : (n_clauses,) array
        "known" or "novel" for each clause, or whether it is novel.
    counts : (n_clauses,) array of int, optional
        The number of clauses that each row stands for; by default 1.

    Returns
    -------
    F_K, F_N : (n_words,) array of int64

    Examples
    --------
    >>> from newfound.rules import Clause, ClauseTable
    >>> table = ClauseTable.from_clauses(
    ...     [Clause("novel", 1, ("rugby",), ("wicket",)), Clause("known", -1, ("rugby",))]
    ... )
    >>> F_K, F_N = bags(table.plain, table.negated, table.side)
    >>> table.vocabulary, F_K.tolist(), F_N.tolist()
    (('rugby', 'wicket'), [0, 1], [2, 0])
    """
    novel = _novel(side, plain.shape[0])
    weight = np.ones(len(novel), np.int64) if counts is None else np.asarray(counts, np.int64)

    def total(matrix: Any, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        each: NDArray[np.int64] = matrix.T.astype(np.int64) @ np.where(rows, weight, 0)
        return each

    return (
        total(plain, ~novel) + total(negated, novel),
        total(plain, novel) + total(negated, ~novel),
    )


def _rows(matrix: Any, chosen: NDArray[np.bool_]) -> Any:
    """Return a matrix of ones with only the chosen rows kept."""
    lengths = np.diff(matrix.indptr)
    indices = matrix.indices[np.repeat(chosen, lengths)]
    indptr = np.concatenate(([0], np.cumsum(lengths * chosen)))
    return sparse.csr_array((np.ones(len(indices), np.int64), indices, indptr), matrix.shape)


def _novel(side: ArrayLike, n: int) -> NDArray[np.bool_]:
    given = np.asarray(side)
    novel: NDArray[np.bool_] = given if given.dtype == bool else given == "novel"
    if novel.shape != (n,) or (given.dtype != bool and not np.isin(given, SIDES).all()):
        raise ValueError(f"side: expected 'known' or 'novel' for each of the {n} clauses.")
    return novel
