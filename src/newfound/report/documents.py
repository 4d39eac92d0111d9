"""The documents of a page, ranked by novelty, with the words that contribute most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound import metrics
from newfound.report.excerpts import Excerpts
from newfound.report.limits import Limits
from newfound.report.words import rounded
from newfound.text.corpus import Corpus

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["choose_documents", "contributions", "document_scores", "documents"]

_REASONS = 6


def contributions(description: Description) -> NDArray[np.float64]:
    """Return what each word of the vocabulary adds to the novelty of a document, by column."""
    leaning = np.zeros(len(description.vectorizer.vocabulary_))
    column = description.vectorizer.vocabulary_
    rows = [column[word] for word in description.words["word"]]
    leaning[rows] = np.nan_to_num(description.words["novelty"])
    return leaning


def document_scores(corpus: Corpus, leaning: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the novelty of each document: its held-out vote, or else that of its words."""
    by_words = metrics.document_scores(corpus.matrix, leaning)
    if not corpus.has_votes:
        return by_words
    scores = corpus.held_out.copy()
    missing = np.isnan(scores)
    if missing.any():
        # All machines were trained on these: interpolate their votes by their words.
        scale = np.sort(by_words[~missing]), np.sort(scores[~missing])
        scores[missing] = np.interp(by_words[missing], *scale)
    return scores


def documents(
    corpus: Corpus,
    scores: NDArray[np.float64],
    leaning: NDArray[np.float64],
    vocabulary: list[str],
    excerpts: Excerpts,
    limits: Limits,
) -> dict[str, Any]:
    """Return the ranked documents of a page.

    Most of them are the most novel ones; the others are surprising: novel documents that look
    known, and known documents that look novel.
    """
    order = np.argsort(-scores, kind="stable")
    rank = np.argsort(order)
    rows = choose_documents(order, corpus.novel, limits.documents)
    made = []
    for row in rows.tolist():
        begin, end = corpus.matrix.indptr[row : row + 2]
        columns = corpus.matrix.indices[begin:end]
        strongest = columns[np.argsort(-np.abs(leaning[columns]), kind="stable")][:_REASONS]
        why = [
            (vocabulary[column], float(f"{leaning[column]:.3g}"))
            for column in strongest.tolist()
            if leaning[column]
        ]
        made.append(
            {
                "name": corpus.names[row][:80],
                "novel": bool(corpus.novel[row]),
                "rank": int(rank[row]) + 1,
                "score": rounded(float(scores[row])),
                "why": [list(reason) for reason in why],
                **excerpts.opening(corpus.texts[row].strip(), limits.document, why),
            }
        )
    return {"rows": made, "total": len(corpus), "held_out": corpus.has_votes}


def choose_documents(
    order: NDArray[np.intp], novel: NDArray[np.bool_], most: int
) -> NDArray[np.intp]:
    """Choose documents from a ranking, the most novel first.

    A fifth are the novel documents that rank last, a fifth the known ones that rank first, and
    the others the first of the ranking.

    Examples
    --------
    >>> novel = np.array([True, True, True, False, True, False, True, False, False, False])
    >>> choose_documents(np.arange(10), novel, 5).tolist()
    [0, 1, 2, 3, 6]
    """
    if len(order) <= most:
        return order
    odd = most // 5
    taken = np.zeros(len(order), bool)
    taken[order[novel[order]][len(order[novel[order]]) - odd :]] = True
    taken[order[~novel[order]][:odd]] = True
    taken[order[~taken[order]][: most - int(taken.sum())]] = True
    return order[taken[order]]
