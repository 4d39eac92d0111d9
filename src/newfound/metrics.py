"""ROC and precision-recall of rankings, and documents held out to measure them on.

Scores that are equal are one threshold: no order among them is made up. A score of nan is refused;
say first what a word without evidence is worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

__all__ = [
    "HeldOutWords",
    "PrecisionRecallCurve",
    "RocCurve",
    "auroc",
    "average_precision",
    "document_scores",
    "folds",
    "held_out_documents",
    "held_out_words",
    "near_duplicates",
    "precision_recall_curve",
    "roc_curve",
]


class RocCurve(NamedTuple):
    """Points of a ROC curve from (0, 0) to (1, 1), the threshold of each, and the area below."""

    false_positive_rate: NDArray[np.float64]
    true_positive_rate: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    auroc: float


class PrecisionRecallCurve(NamedTuple):
    """Points of a precision-recall curve, the highest threshold first, and average precision."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    average_precision: float


def roc_curve(labels: ArrayLike, scores: ArrayLike) -> RocCurve:
    """Draw the ROC curve of scores.

    Parameters
    ----------
    labels : (n,) array of bool
        Which are positive (novel).
    scores : (n,) array of float
        The higher, the more likely positive.

    Returns
    -------
    RocCurve
        A point for each different score, after (0, 0) with a threshold of infinity.

    Examples
    --------
    >>> curve = roc_curve([True, True, False, False], [0.9, 0.4, 0.4, 0.1])
    >>> curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist(), curve.auroc
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0], 0.875)
    """
    found, others, thresholds = _cumulated(labels, scores)
    fpr = np.concatenate(([0.0], others / others[-1]))
    tpr = np.concatenate(([0.0], found / found[-1]))
    area = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1])) / 2)
    return RocCurve(fpr, tpr, np.concatenate(([np.inf], thresholds)), area)


def precision_recall_curve(labels: ArrayLike, scores: ArrayLike) -> PrecisionRecallCurve:
    """Draw the precision-recall curve of scores.

    Parameters
    ----------
    labels : (n,) array of bool
        Which are positive (novel).
    scores : (n,) array of float
        The higher, the more likely positive.

    Returns
    -------
    PrecisionRecallCurve
        A point for each different score. Average precision is the sum of the precisions, each
        weighed by the recall that it adds; nothing is interpolated.

    Examples
    --------
    >>> curve = precision_recall_curve([True, False, True], [0.9, 0.4, 0.1])
    >>> curve.recall.tolist(), curve.precision.round(3).tolist()
    ([0.5, 0.5, 1.0], [1.0, 0.5, 0.667])
    >>> round(curve.average_precision, 3)
    0.833
    """
    found, others, thresholds = _cumulated(labels, scores)
    precision, recall = found / (found + others), found / found[-1]
    average = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    return PrecisionRecallCurve(precision, recall, thresholds, average)


def auroc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Give the area under the ROC curve; see `roc_curve`.

    Examples
    --------
    >>> auroc([True, True, False, False], [0.9, 0.4, 0.4, 0.1])
    0.875
    """
    return roc_curve(labels, scores).auroc


def average_precision(labels: ArrayLike, scores: ArrayLike) -> float:
    """Give the average precision; see `precision_recall_curve`.

    Examples
    --------
    >>> average_precision([False, True], [0.2, 0.1])
    0.5
    """
    return precision_recall_curve(labels, scores).average_precision


def document_scores(matrix: Any, word_scores: ArrayLike) -> NDArray[np.float64]:
    """Score documents by the sum of the scores of their different words.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        The words of each document; how often a document has a word does not count.
    word_scores : (n_words,) array of float
        The score of each word, such as a logarithm; nan, no evidence, counts as 0.

    Returns
    -------
    (n_documents,) array of float

    Examples
    --------
    >>> document_scores(sparse.csr_array([[1, 0, 2], [0, 1, 0]]), [0.5, -1.0, np.nan]).tolist()
    [0.5, -1.0]
    """
    scores = np.asarray(word_scores, np.float64)
    has = sparse.csr_array(matrix, dtype=bool)
    if scores.shape != (has.shape[1],):
        raise ValueError(f"word_scores: expected a number for each of the {has.shape[1]} words.")
    sums: NDArray[np.float64] = has.astype(np.float64) @ np.nan_to_num(scores)
    return sums


class HeldOutWords(NamedTuple):
    """Which words the held-out documents say something of, and which of those are novel."""

    judged: NDArray[np.bool_]
    novel: NDArray[np.bool_]


def held_out_words(matrix: Any, novel: ArrayLike, *, min_documents: int = 3) -> HeldOutWords:
    """Say which words held-out documents show to be novel, without a look at any score.

    A word is novel if a greater share of the novel than of the known held-out documents has it, and
    not novel if a smaller one has. Words of fewer than `min_documents` held-out documents, and
    words with equal shares, are not judged.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        The words of the held-out documents.
    novel : (n_documents,) array of bool
        Which held-out documents are novel.
    min_documents : int, default=3
        In how many of them a word has to be.

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
    is_novel = _labels(novel, has.shape[0])
    in_novel, in_known = has.T @ is_novel.astype(int), has.T @ (~is_novel).astype(int)
    # Shares compared as whole numbers, so that equal ones are equal.
    difference = in_novel * int((~is_novel).sum()) - in_known * int(is_novel.sum())
    judged = (in_novel + in_known >= min_documents) & (difference != 0)
    return HeldOutWords(judged, difference > 0)


def near_duplicates(matrix: Any, *, threshold: float = 0.9) -> NDArray[np.int64]:
    """Group documents that are nearly the same, so that a split can keep them together.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        The words of each document.
    threshold : float, default=0.9
        Two documents are nearly the same if they share this part of their words (Jaccard), and so
        are those linked by a chain of such pairs.

    Returns
    -------
    (n_documents,) array of int
        The number of each document's group, from 0; a document without words is one by itself.

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
    step = 512  # documents at a time, so that memory does not grow with their square
    for start in range(0, has.shape[0], step):
        both = (has[start : start + step] @ has.T).tocoo()
        either = sizes[start + both.row] + sizes[both.col] - both.data
        near = both.data >= threshold * either
        links.append((start + both.row[near], both.col[near]))
    rows, columns = (np.concatenate(part) for part in zip(*links, strict=True))
    graph = sparse.coo_array((np.ones(len(rows), bool), (rows, columns)), (has.shape[0],) * 2)
    _, groups = sparse.csgraph.connected_components(graph, directed=False)
    numbers: NDArray[np.int64] = groups.astype(np.int64)
    return numbers


def folds(
    labels: ArrayLike,
    n_folds: int = 3,
    *,
    groups: ArrayLike | None = None,
    random_state: int = 0,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Part documents into folds with about as many of each label, and groups not split.

    Parameters
    ----------
    labels : (n,) array
        The label of each document.
    n_folds : int, default=3
        How many parts.
    groups : (n,) array of int, optional
        Documents that belong together, as `near_duplicates` gives them.
    random_state : int, default=0
        The seed.

    Yields
    ------
    train, test : array of int
        Numbers of the documents to learn from, and of those held out.

    Examples
    --------
    >>> for train, test in folds([0, 0, 0, 1, 1], 2, groups=[7, 7, 8, 9, 10]):
    ...     print(len(train), len(test), {0, 1} <= set(test) or {0, 1} <= set(train))
    2 3 True
    3 2 True
    """
    given = np.asarray(labels)
    if n_folds < 2:
        raise ValueError(f"n_folds={n_folds!r}: expected at least 2.")
    _, codes = np.unique(given, return_inverse=True)
    belongs = np.arange(len(given)) if groups is None else np.asarray(groups)
    if belongs.shape != given.shape:
        raise ValueError(f"groups: expected a number for each of the {len(given)} documents.")
    least = min(len(np.unique(belongs[codes == code])) for code in np.unique(codes))
    if least < n_folds:
        raise ValueError(
            f"A label has {least} different document{'s' if least != 1 else ''}, too few for "
            f"{n_folds} folds; use fewer folds."
        )
    fold = _dealt(codes, belongs, n_folds, np.random.default_rng(random_state))
    for number in range(n_folds):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def held_out_documents(
    labels: ArrayLike,
    share: float = 1 / 3,
    *,
    groups: ArrayLike | None = None,
    random_state: int = 0,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Hold out a share of the documents of each label, and do not split groups.

    Parameters
    ----------
    labels : (n,) array
        The label of each document.
    share : float, default=1/3
        About which part to hold out; rounded to one part of a whole number of parts.
    groups : (n,) array of int, optional
        Documents that belong together, as `near_duplicates` gives them.
    random_state : int, default=0
        The seed.

    Returns
    -------
    train, test : array of int
        Numbers of the documents to learn from, and of those held out.

    Examples
    --------
    >>> train, test = held_out_documents([0] * 30 + [1] * 60)
    >>> len(train), (test < 30).sum(), (test >= 30).sum()
    (60, np.int64(10), np.int64(20))
    """
    if not 0 < share <= 0.5:
        raise ValueError(f"share={share!r}: expected a number above 0 and up to 0.5.")
    return next(folds(labels, round(1 / share), groups=groups, random_state=random_state))


def _dealt(
    codes: NDArray[Any], groups: NDArray[Any], n_folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Deal groups to the folds: in random order, the largest first, to the emptiest fold.

    The emptiest is the one with the fewest documents of the labels that the group has.
    """
    names, group = np.unique(groups, return_inverse=True)
    table = np.zeros((len(names), int(codes.max()) + 1), np.int64)
    np.add.at(table, (group, codes), 1)
    order = rng.permutation(len(names))
    order = order[np.argsort(-table[order].sum(axis=1), kind="stable")]
    full = np.zeros((n_folds, table.shape[1]), np.int64)
    fold = np.empty(len(names), np.intp)
    for number in order.tolist():
        load = full @ table[number]
        fold[number] = min(range(n_folds), key=lambda i: (load[i], full[i].sum()))
        full[fold[number]] += table[number]
    return fold[group]


def _cumulated(
    labels: ArrayLike, scores: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Count positives and negatives from the highest score down, once for each different score."""
    values = np.asarray(scores, np.float64)
    positive = _labels(labels, len(values))
    if np.isnan(values).any():
        raise ValueError("scores has nan; say first what a missing score is worth.")
    order = np.argsort(-values, kind="stable")
    values, positive = values[order], positive[order]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    found = np.cumsum(positive)[last].astype(np.float64)
    return found, last + 1 - found, values[last]


def _labels(labels: ArrayLike, n: int) -> NDArray[np.bool_]:
    given = np.asarray(labels)
    if given.shape != (n,) or given.dtype.kind not in "biu" or not np.isin(given, (0, 1)).all():
        raise ValueError(f"labels: expected True or False for each of the {n} scored.")
    positive: NDArray[np.bool_] = given.astype(bool)
    if positive.all() or not positive.any():
        raise ValueError("All labels are the same; expected some of each.")
    return positive
