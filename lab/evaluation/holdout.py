"""Documents held out to measure on: folds, near-duplicates, and the words that they judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

__all__ = ["HeldOutWords", "folds", "held_out_words", "near_duplicates"]

_BLOCK = 512  # documents compared at a time, so that memory does not grow with their square


class HeldOutWords(NamedTuple):
    """Which words the held-out documents can judge, and which of those are novel."""

    judged: NDArray[np.bool_]
    novel: NDArray[np.bool_]


def held_out_words(matrix: Any, novel: ArrayLike, *, min_documents: int = 3) -> HeldOutWords:
    """Return which words are novel by the held-out documents alone.

    A word is novel if a greater share of the novel than of the known held-out documents contains
    it, and known if a smaller share does. Words in fewer than `min_documents` held-out documents,
    and words with equal shares, are not judged.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        The words of the held-out documents.
    novel : (n_documents,) array of bool
        Which held-out documents are novel.
    min_documents : int, default=3
        The least number of held-out documents that must contain a word.

    Returns
    -------
    HeldOutWords
        Two arrays with an entry for each word.

    Examples
    --------
    >>> matrix = sparse.csr_array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    >>> words = held_out_words(matrix, [False, False, True, True], min_documents=2)
    >>> words.judged.tolist(), words.novel.tolist()
    ([True, True, False], [False, True, False])
    """
    has = sparse.csr_array(matrix, dtype=bool).astype(np.int64)
    is_novel = np.asarray(novel, bool)
    in_novel, in_known = has.T @ is_novel.astype(int), has.T @ (~is_novel).astype(int)
    # Shares are compared as integers, so that equal ones are equal.
    difference = in_novel * int((~is_novel).sum()) - in_known * int(is_novel.sum())
    judged = (in_novel + in_known >= min_documents) & (difference != 0)
    return HeldOutWords(judged, difference > 0)


def near_duplicates(matrix: Any, *, threshold: float = 0.9) -> NDArray[np.int64]:
    """Return the cluster of near-duplicates that each document belongs to.

    Two documents are near-duplicates if the Jaccard similarity of their words is at least
    `threshold`. Clusters are the connected components: chains of near-duplicates are one cluster.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        The words of each document.
    threshold : float, default=0.9
        The Jaccard similarity, above 0 and up to 1.

    Returns
    -------
    (n_documents,) array of int
        Cluster numbers from 0. A document without words is a cluster of its own.

    Examples
    --------
    >>> near_duplicates(sparse.csr_array([[1, 1, 0], [0, 0, 1], [1, 1, 0]])).tolist()
    [0, 1, 0]
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold={threshold!r}: expected a number above 0 and up to 1.")
    has = sparse.csr_array(matrix, dtype=bool).astype(np.int32)
    sizes = np.diff(has.indptr)
    links = []
    for start in range(0, has.shape[0], _BLOCK):
        both = (has[start : start + _BLOCK] @ has.T).tocoo()
        either = sizes[start + both.row] + sizes[both.col] - both.data
        near = both.data >= threshold * either
        links.append((start + both.row[near], both.col[near]))
    rows, columns = (np.concatenate(part) for part in zip(*links, strict=True))
    graph = sparse.coo_array((np.ones(len(rows), bool), (rows, columns)), (has.shape[0],) * 2)
    _, clusters = sparse.csgraph.connected_components(graph, directed=False)
    numbers: NDArray[np.int64] = clusters.astype(np.int64)
    return numbers


def folds(
    labels: ArrayLike,
    n_folds: int = 3,
    *,
    groups: ArrayLike | None = None,
    random_state: int = 0,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield stratified folds by scikit-learn's ``StratifiedGroupKFold``; groups are not split.

    Parameters
    ----------
    labels : (n,) array
        The label of each document.
    n_folds : int, default=3
        The number of folds.
    groups : (n,) array of int, optional
        Documents that belong together, as returned by `near_duplicates`. By default each document
        is a group of its own.
    random_state : int, default=0
        The seed.

    Yields
    ------
    train, test : array of int
        Indices of the documents to learn from, and of those held out.

    Examples
    --------
    >>> for train, test in folds([0, 0, 0, 1, 1], 2, groups=[7, 7, 8, 9, 10]):
    ...     print(len(train) + len(test), {0, 1} <= set(test) or {0, 1} <= set(train))
    5 True
    5 True
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    given = np.asarray(labels)
    clusters = np.arange(len(given)) if groups is None else np.asarray(groups)
    # scikit-learn only warns where a label has too few groups, and yields folds without it.
    fewest = min(len(np.unique(clusters[given == label])) for label in np.unique(given))
    if fewest < n_folds:
        raise ValueError(
            f"A label has {fewest} distinct document{'s' if fewest != 1 else ''}, too few for "
            f"{n_folds} folds; use fewer folds."
        )
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    parts = kind(n_folds, shuffle=True, random_state=random_state)
    yield from parts.split(np.empty(len(given)), given, None if groups is None else clusters)
