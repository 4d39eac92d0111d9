"""Scores of documents from scores of words, and ROC and precision-recall curves of scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

__all__ = ["RankingCurves", "document_scores", "ranking_curves"]


class RankingCurves(NamedTuple):
    """Points of the ROC and precision-recall curves of scores, and their areas.

    Attributes
    ----------
    false_positive_rate, true_positive_rate : array of float
        The ROC curve from (0, 0) to (1, 1), with a point for each distinct score.
    recall, precision : array of float
        The precision-recall curve, with a point for each distinct score, the highest score first.
    auroc, average_precision : float
        The area under the ROC curve, and the average precision.
    """

    false_positive_rate: NDArray[np.float64]
    true_positive_rate: NDArray[np.float64]
    recall: NDArray[np.float64]
    precision: NDArray[np.float64]
    auroc: float
    average_precision: float


def ranking_curves(labels: ArrayLike, scores: ArrayLike) -> RankingCurves:
    """Return the ROC and precision-recall curves of scores, as computed by scikit-learn.

    Parameters
    ----------
    labels : (n,) array of bool
        Which items are positive (novel).
    scores : (n,) array of float
        The higher, the more likely positive.

    Returns
    -------
    RankingCurves

    Examples
    --------
    >>> curves = ranking_curves([True, True, False, False], [0.9, 0.4, 0.4, 0.1])
    >>> curves.false_positive_rate.tolist(), curves.true_positive_rate.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    >>> float(curves.auroc), curves.recall.tolist()
    (0.875, [0.5, 1.0, 1.0])
    """
    from sklearn import metrics

    given = np.asarray(labels)
    if given.all() or not given.any():
        # scikit-learn warns and returns nan.
        raise ValueError("All labels are the same; expected some of each.")
    false_positive_rate, true_positive_rate, _ = metrics.roc_curve(
        given, scores, drop_intermediate=False
    )
    precision, recall, _ = metrics.precision_recall_curve(given, scores)
    # scikit-learn starts at the lowest score and adds a last point (recall 0, precision 1).
    return RankingCurves(
        false_positive_rate,
        true_positive_rate,
        recall[-2::-1],
        precision[-2::-1],
        float(metrics.auc(false_positive_rate, true_positive_rate)),
        float(metrics.average_precision_score(given, scores)),
    )


def document_scores(matrix: Any, word_scores: ArrayLike) -> NDArray[np.float64]:
    """Return the sum of the scores of the distinct words of each document.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix
        The words of each document. Counts above 1 are treated as 1.
    word_scores : (n_words,) array of float
        The score of each word, such as a logarithm. nan (no evidence) counts as 0.

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
