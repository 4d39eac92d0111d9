"""Reliability: curves on held-out documents and the distribution of scores, beside TF-IDF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.baselines import tfidf_by_group, tfidf_difference
from newfound.metrics import document_scores, ranking_curves
from newfound.report.words import rounded

if TYPE_CHECKING:
    from newfound.description.words import WordTable
    from newfound.text.corpus import Corpus

__all__ = ["curves", "document_curves", "score_curves", "tfidf_curves", "tfidf_held_out"]

_POINTS = 120
_FOLDS = 3


def curves(
    words: WordTable, vocabulary: Mapping[str, int], corpus: Corpus | None
) -> dict[str, Any]:
    """Return all curves of a page.

    Parameters
    ----------
    words : WordTable
        All words.
    vocabulary : mapping of str to int
        The column of each word in the matrix.
    corpus : Corpus or None
        The documents; without them, only the curves of the scores are returned.
    """
    found: dict[str, Any] = {"scores": {"newfound": score_curves(words["score"], words["group"])}}
    if corpus is None:
        return found
    found["scores"]["tfidf"] = tfidf_curves(words, vocabulary, corpus)
    baseline = tfidf_held_out(corpus.matrix, corpus.novel)
    both = {"newfound": corpus.held_out, "tfidf": baseline}
    found["documents"] = {
        name: made
        for name, scores in both.items()
        if scores is not None and (made := document_curves(scores, corpus.novel)) is not None
    }
    return found


def score_curves(scores: ArrayLike, group: ArrayLike) -> dict[str, Any]:
    """Return the cumulative curve of the scores of known, novel and shared words."""
    values, groups = np.asarray(scores, float), np.asarray(group)
    return {name: _cumulative(values[groups == name]) for name in ("known", "novel", "shared")}


def tfidf_curves(words: WordTable, vocabulary: Mapping[str, int], corpus: Corpus) -> dict[str, Any]:
    """Return the cumulative curves of TF-IDF: shared words have one on each side."""
    tfidf = tfidf_by_group(corpus.matrix, corpus.novel)
    columns = np.array([vocabulary[word] for word in words["word"]], np.intp)
    known, novel, groups = tfidf.known[columns], tfidf.novel[columns], words["group"]
    return {
        "known": _cumulative(known[groups == "known"]),
        "novel": _cumulative(novel[groups == "novel"]),
        "shared, in known": _cumulative(known[groups == "shared"]),
        "shared, in novel": _cumulative(novel[groups == "shared"]),
    }


def document_curves(scores: ArrayLike, novel: ArrayLike) -> dict[str, Any] | None:
    """Return the ROC and precision-recall curves of scores of documents.

    Documents without a score (nan) are left out; None if one side has none left.

    Examples
    --------
    >>> made = document_curves([0.9, 0.8, 0.3, 0.1, float("nan")], [True, True, False, False, True])
    >>> made["auroc"], made["average_precision"], made["n"]
    (1.0, 1.0, 4)
    """
    values, labels = np.asarray(scores, float), np.asarray(novel, bool)
    labels, values = labels[~np.isnan(values)], values[~np.isnan(values)]
    if labels.all() or not labels.any():
        return None
    made = ranking_curves(labels, values)
    return {
        "n": len(labels),
        "auroc": rounded(made.auroc),
        "average_precision": rounded(made.average_precision),
        "roc": _thinned(made.false_positive_rate, made.true_positive_rate),
        "pr": _thinned(made.recall, made.precision),
    }


def tfidf_held_out(
    matrix: Any, novel: NDArray[np.bool_], folds: int = _FOLDS
) -> NDArray[np.float64] | None:
    """Score each document by the TF-IDF difference of its words, computed on the other folds.

    The folds are stratified, with a fixed seed; None if a side has too few documents.
    """
    if min(int(novel.sum()), int((~novel).sum())) < folds:
        return None
    generator = np.random.default_rng(0)
    fold = np.empty(len(novel), np.intp)
    for side in (novel, ~novel):
        fold[side] = generator.permutation(int(side.sum())) % folds
    scores = np.empty(len(novel))
    for number in range(folds):
        out = fold == number
        words = tfidf_difference(matrix[~out], novel[~out])
        scores[out] = document_scores(matrix[out], words)
    return scores


def _cumulative(values: NDArray[np.float64]) -> dict[str, Any]:
    """Return scores and the share of words up to each, at equal steps of the share."""
    values = np.sort(values[np.isfinite(values)])
    n = len(values)
    if not n:
        return {"n": 0, "x": [], "share": []}
    places = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).astype(np.intp))
    return {
        "n": n,
        "x": [rounded(x) for x in values[places].tolist()],
        "share": [rounded(x) for x in ((places + 1) / n).tolist()],
    }


def _thinned(x: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, list[float | None]]:
    """Return points at equal distances along a curve, with its ends."""
    path = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))))
    steps = np.searchsorted(path, np.linspace(0, path[-1], _POINTS))
    places = np.unique(np.concatenate((steps, [0, len(x) - 1]))).clip(0, len(x) - 1)
    return {
        "x": [rounded(value) for value in x[places].tolist()],
        "y": [rounded(value) for value in y[places].tolist()],
    }
