"""The documents of a page, ranked by novelty, with the words that made them rank there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound import metrics
from newfound.report.excerpts import Excerpts
from newfound.report.limits import Limits
from newfound.report.material import Material
from newfound.report.words import rounded

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber
    from newfound.report.measures import Measures

__all__ = ["contributions", "document_scores", "documents"]

_REASONS = 6


def contributions(describer: NoveltyDescriber, measures: Measures) -> NDArray[np.float64]:
    """Give what each word of the vocabulary adds to a document, in the order of the columns."""
    leaning = np.zeros(len(describer.vectorizer_.vocabulary_))
    column = describer.vectorizer_.vocabulary_
    rows = [column[word] for word in describer.words_["word"]]
    leaning[rows] = np.nan_to_num(measures.novelty)
    return leaning


def document_scores(material: Material, leaning: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the novelty of each document: held out where that is known, else by its words."""
    by_words = metrics.document_scores(material.matrix, leaning)
    if material.held_out is None or np.isnan(material.held_out).all():
        return by_words
    scores = material.held_out.copy()
    missing = np.isnan(scores)
    if missing.any():
        # Every machine learned from these: they take the place that their words give them.
        scale = np.sort(by_words[~missing]), np.sort(scores[~missing])
        scores[missing] = np.interp(by_words[missing], *scale)
    return scores


def documents(
    material: Material,
    scores: NDArray[np.float64],
    leaning: NDArray[np.float64],
    vocabulary: list[str],
    excerpts: Excerpts,
    limits: Limits,
) -> dict[str, Any]:
    """Give the ranked documents of a page.

    Most of them are the most novel ones; the others are those that surprise: novel documents that
    look most known, and known ones that look most novel.
    """
    order = np.argsort(-scores, kind="stable")
    rank = np.argsort(order)
    rows = _choose(order, material.novel, limits.documents)
    made = []
    for row in rows.tolist():
        begin, end = material.matrix.indptr[row : row + 2]
        columns = material.matrix.indices[begin:end]
        strongest = columns[np.argsort(-np.abs(leaning[columns]), kind="stable")][:_REASONS]
        made.append(
            {
                "name": material.names[row][:80],
                "novel": bool(material.novel[row]),
                "rank": int(rank[row]) + 1,
                "score": rounded(float(scores[row])),
                "why": [
                    [vocabulary[column], rounded(float(leaning[column]), 3)]
                    for column in strongest.tolist()
                    if leaning[column]
                ],
                **excerpts.opening(material.texts[row].strip(), limits.document),
            }
        )
    held_out = material.held_out is not None and not np.isnan(material.held_out).all()
    return {"rows": made, "total": len(material), "held_out": held_out}


def _choose(order: NDArray[np.intp], novel: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    if len(order) <= most:
        return order
    odd = most // 5
    taken = np.zeros(len(order), bool)
    taken[order[novel[order]][len(order[novel[order]]) - odd :]] = True
    taken[order[~novel[order]][:odd]] = True
    taken[order[~taken[order]][: most - int(taken.sum())]] = True
    return order[taken[order]]
