"""The page about several periods, each against all documents before it; or labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.description.timeline import Timeline
from newfound.machine.clauses import rows_with
from newfound.show.collect import Limits, gather, how_made
from newfound.show.documents import Excerpts
from newfound.show.sentences import periods_summary, rounded
from newfound.show.themes import TimeAxis, end_of_bin, is_training_corpus, shown_document, themes
from newfound.table import jsonable
from newfound.text.corpus import Corpus

if TYPE_CHECKING:
    from newfound.description.describe import Period, Periods
    from newfound.description.description import Description
    from newfound.stories.themes import Theme

__all__ = ["collect_periods"]

_MAX_WORD = 60  # characters

Data = dict[str, Any]
Rows = NDArray[np.intp]


def collect_periods(
    periods: Periods, limits: Limits, piles: Mapping[str, Any] | None = None
) -> Data:
    """Return everything that a page about several periods shows; of too many periods the last ones.

    Returns
    -------
    dict
        Plain data, with the keys ``summary``, ``time``, ``periods``, ``notes`` and ``made``.
    """
    timeline, last = periods.timeline, periods.periods[-1]
    axis, n = None, len(last.known) + len(last.novel)
    if timeline is not None:
        first = timeline.starts[timeline.names.index(periods.periods[0].name)]
        axis = TimeAxis(timeline, timeline.dates >= first, limits.bins)
        n = len(timeline.dates)
    whole = _Dated(last.description, last.description.corpus)
    rows = [
        _period(period, _Curves(period, whole, axis), limits)
        for period in periods.periods[-limits.periods :]
    ]
    return {
        "summary": periods_summary(rows, periods.by, n, rest=axis is None),
        "time": None if axis is None else {**axis.data(), "boundary": None},
        "periods": {
            "rows": rows,
            "total": len(periods.periods),
            "by": periods.by,
            "rest": axis is None,
        },
        "notes": [],
        "made": {**how_made(last.description, None), "piles": jsonable(piles or {})},
    }


class _Dated:
    """The texts of a description and their dates; each is None if it is missing."""

    def __init__(self, description: Description, corpus: Corpus | None) -> None:
        timeline = description.timeline
        if corpus is not None and not is_training_corpus(description, corpus):
            corpus = None
        self.corpus, self.dates = corpus, None
        if corpus is not None and isinstance(timeline, Timeline):
            self.dates = timeline.dates
        self.vocabulary = description.vectorizer.vocabulary_

    def days_with(self, rules: Iterable[Sequence[str]], first: np.datetime64) -> Any:
        """Return the days of the documents that have all words of a rule, from a day on."""
        if self.corpus is None or self.dates is None:
            return np.empty(0, "datetime64[D]")
        found = np.zeros(len(self.corpus), bool)
        for words in rules:
            if all(word in self.vocabulary for word in words):
                columns = [self.vocabulary[word] for word in words]
                found[rows_with(self.corpus.columns, columns)] = True
        return self.dates[found & (self.dates >= first)]


class _Curves(_Dated):
    """The texts of a period; curves of its words and themes before, in and after it.

    The description of the last period has the documents of all periods (`whole`), and so those
    after this one. Without an axis, as of labels, there are no dates and no curves.
    """

    def __init__(self, period: Period, whole: _Dated, axis: TimeAxis | None) -> None:
        super().__init__(period.description, gather(period.description, period.known, period.novel))
        self._whole, self._axis = whole, axis
        if axis is None:
            self.dates = None
        else:
            start = axis.given.starts[axis.given.names.index(period.name)]
            self._end = np.datetime64(end_of_bin(start, axis.given.by))

    def of_word(self, word: str) -> Data | None:
        """Return the curve of a word; None without dates."""
        if self.corpus is None:
            return None
        rows = self.corpus.with_word(self.vocabulary[word])
        novel = self.corpus.novel[rows]
        return self.of_documents(rows[~novel], rows[novel], [(word,)])

    def of_theme(self, theme: Theme) -> Data | None:
        """Return the curve of a theme; None without dates."""
        rules = [rule.words for rule in theme.rules]
        return self.of_documents(theme.known_documents, theme.novel_documents, rules)

    def of_documents(self, known: Rows, novel: Rows, rules: Iterable[Sequence[str]]) -> Data | None:
        """Return the curve of some documents, and of those after the period that rules match."""
        if self.dates is None or self._axis is None:
            return None
        days = np.concatenate((self.dates[known], self.dates[novel]))
        days = days[~np.isnat(days)]
        return {
            "known": self._axis.count_days(self.dates[known]),
            "novel": self._axis.count_days(self.dates[novel]),
            "later": self._axis.count_days(self._whole.days_with(rules, self._end)),
            "first": str(days.min()) if len(days) else None,
            "last": str(days.max()) if len(days) else None,
            "peak": self._axis.peak(days),
        }


def _period(period: Period, curves: _Curves, limits: Limits) -> Data:
    description = period.description
    sides = description.words.sides
    weights = np.where(sides == "neither", np.nan, description.words["novelty"])
    excerpts = _excerpts(description, weights)

    def document(row: int) -> Data:
        if curves.corpus is None:
            return {}
        dated = curves.dates is not None and not np.isnat(curves.dates[row])
        day = str(curves.dates[row]) if curves.dates is not None and dated else None
        shown = shown_document(curves.corpus, day, row, excerpts, limits)
        _weigh(shown, weights)
        return shown

    found = themes(description, curves.corpus, curves.of_theme, document, limits)
    return {
        "name": period.name,
        "n_known": description.n_documents["known"],
        "n_novel": description.n_documents["novel"],
        "themes": found,
        "words": _words(description, curves, limits),
        "new": int((sides == "novel").sum()),
    }


def _words(description: Description, curves: _Curves, limits: Limits) -> list[Data]:
    """Return the most novel words of a period."""
    table = description.words
    order = np.argsort(-np.nan_to_num(table["novelty"], nan=-np.inf), kind="stable")
    chosen = order[table["novelty"][order] > 0][: limits.period_words].tolist()
    figures = ("novelty", "times", "low", "high", "q")
    written = description.spellings([str(table["word"][row]) for row in chosen])
    return [
        {
            "word": written[str(table["word"][row])][:_MAX_WORD],
            "side": str(table.sides[row]),
            **{name: rounded(float(table[name][row])) for name in figures},
            "documents_novel": int(table["documents_novel"][row]),
            "documents_known": int(table["documents_known"][row]),
            "curve": curves.of_word(str(table["word"][row])),
        }
        for row in chosen
    ]


def _excerpts(description: Description, weights: NDArray[np.float64]) -> Excerpts:
    """Return what cuts documents and marks the words that indicate a side."""
    marked = np.flatnonzero(~np.isnan(weights)).tolist()
    numbers = {str(description.words["word"][row]): row for row in marked}
    return Excerpts(description.vectorizer, numbers, lambda row: float(weights[row]))


def _weigh(document: Data, weights: NDArray[np.float64]) -> None:
    """Set the weights of marked words, because a page of periods has no table of words."""
    document["pieces"] = [
        piece if isinstance(piece, str) else [piece[0], -1, rounded(float(weights[piece[1]]), 3)]
        for piece in document["pieces"]
    ]
    document["fullest"] = rounded(float(np.nanmax(np.abs(weights), initial=1e-9)), 3)
