"""The documents of a page: sentences with marked words, ranks, and how well these tell the sides.

An excerpt is a list of pieces: a plain string, or ``[surface, number]`` for a word of the page.
Joined, they are the original text, so that a browser need not count characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound import metrics
from newfound.baselines import tfidf_by_group, tfidf_difference
from newfound.marks import cut_up
from newfound.show.sentences import rounded
from newfound.text.corpus import LONGEST_SENTENCE, Corpus, SentenceFinder
from newfound.text.tokens import Token
from newfound.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.description.words import WordTable
    from newfound.show.collect import Limits

__all__ = [
    "Excerpts",
    "Pieces",
    "contributions",
    "curves",
    "document_curves",
    "document_scores",
    "documents",
    "score_curves",
    "tfidf_curves",
    "tfidf_held_out",
]

Pieces = list[str | list[Any]]

_SPACE = re.compile(r"\s")
_REASONS = 6
_POINTS = 120  # of a curve
_FOLDS = 3


class Excerpts:
    """Cuts sentences out of texts and marks the words of a page in them.

    Parameters
    ----------
    vectorizer : TextVectorizer
        The vectorizer of the model, which splits texts into words.
    numbers : mapping of str to int
        The number of each word on the page.
    weight : callable
        Returns the weight of a word by its number; of overlapping pairs the heavier is marked.

    Examples
    --------
    >>> vectorizer = TextVectorizer().fit(["Two matches", "A match!"])
    >>> excerpts = Excerpts(vectorizer, {"match": 0})
    >>> excerpts.sentence("It rained. Two Matches were lost. So what?", "match", 100)
    {'pieces': ['Two ', ['Matches', 0], ' were lost.']}
    """

    def __init__(
        self,
        vectorizer: TextVectorizer,
        numbers: Mapping[str, int],
        weight: Callable[[int], float] = lambda number: 0.0,
    ) -> None:
        self.vectorizer = vectorizer
        self.numbers = numbers
        self.words = {number: word for word, number in numbers.items()}
        self.weight = weight
        self.finder = SentenceFinder(vectorizer)

    def sentence(self, text: str, word: str, most: int) -> dict[str, Any] | None:
        """Return the first sentence with a word, cut to about `most` characters around it.

        Returns
        -------
        dict or None
            ``pieces``, and ``before`` and ``after`` if something was cut off; None if the text
            does not have the word.
        """
        for start, end in self.finder.sentences(text, word):
            passage = text[start:end]
            tokens = self.finder.tokens(passage)
            place = next((token for token in tokens if token.term == word), None)
            if place is not None:
                return self._cut(passage, tokens, word, place, most)
        return None

    def opening(
        self, text: str, most: int, reasons: Sequence[tuple[str, float]] = ()
    ) -> dict[str, Any]:
        """Return the beginning of a text, with its words marked.

        Words of the reasons are always marked, with their weight and the number of the reason.
        """
        end = len(text)
        if end > most:
            spaces = [space.start() for space in _SPACE.finditer(text, most // 2, most)]
            end = spaces[-1] if spaces else most
        # Tokenise beyond the cut: half a word would be another word.
        behind = _SPACE.search(text, end)
        tokens = self.finder.tokens(text[: behind.start() if behind else end + LONGEST_SENTENCE])
        excerpt: dict[str, Any] = {"pieces": self._pieces(text, tokens, None, 0, end, reasons)}
        if end < len(text.rstrip()):
            excerpt["after"] = True
        return excerpt

    def _cut(
        self, passage: str, tokens: Sequence[Token], word: str, place: Token, most: int
    ) -> dict[str, Any]:
        start = len(passage) - len(passage.lstrip())
        end = len(passage.rstrip())
        cut_before = cut_after = False
        if end - start > most:
            room = max(most - (place.end - place.start), 0)
            first = max(start, min(place.start - room // 2, end - most))
            last = min(end, max(first + most, place.end))
            cut_before, cut_after = first > start, last < end
            if cut_before:
                space = _SPACE.search(passage, first, place.start)
                first = space.end() if space else first
            if cut_after:
                spaces = [space.start() for space in _SPACE.finditer(passage, place.end, last)]
                last = spaces[-1] if spaces else last
            start, end = first, last
        excerpt: dict[str, Any] = {"pieces": self._pieces(passage, tokens, word, start, end)}
        if cut_before:
            excerpt["before"] = True
        if cut_after:
            excerpt["after"] = True
        return excerpt

    def _pieces(
        self,
        text: str,
        tokens: Sequence[Token],
        wanted: str | None,
        start: int,
        end: int,
        reasons: Sequence[tuple[str, float]] = (),
    ) -> Pieces:
        places = {word: place for place, (word, _) in enumerate(reasons)}
        marked = [token for token in tokens if token.term in self.numbers or token.term in places]
        if self.vectorizer.ngram_range != (1, 1):  # pairs overlap the words that they consist of
            marked.sort(
                key=lambda token: (
                    token.term != wanted,
                    places.get(token.term, len(places)),
                    -abs(self.weight(self.numbers.get(token.term, -1))),
                )
            )
        marks = []
        for token in marked:
            place = places.get(token.term)
            more = [] if place is None else [reasons[place][1], place]
            marks.append((token.start, token.end, [self.numbers.get(token.term, -1), *more]))
        return [
            piece if mark is None else [piece, *mark]
            for piece, mark in cut_up(text, marks, start, end)
        ]


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
    rows = _choose(order, corpus.novel, limits.documents)
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


def _choose(order: NDArray[np.intp], novel: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """Choose documents from a ranking, the most novel first.

    A fifth are the novel documents that rank last, a fifth the known ones that rank first, and
    the others the first of the ranking.

    Examples
    --------
    >>> novel = np.array([True, True, True, False, True, False, True, False, False, False])
    >>> _choose(np.arange(10), novel, 5).tolist()
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


def curves(
    words: WordTable, vocabulary: Mapping[str, int], corpus: Corpus | None
) -> dict[str, Any]:
    """Return all curves of a page."""
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
    made = metrics.ranking_curves(labels, values)
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
        scores[out] = metrics.document_scores(matrix[out], words)
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
