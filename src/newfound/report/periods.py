"""The page about several periods: what was new in each, against all documents before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.report.collect import how_made
from newfound.report.excerpts import Excerpts
from newfound.report.limits import Limits
from newfound.report.measures import Measures
from newfound.report.summary import periods_summary
from newfound.report.themes import is_training_corpus, themes
from newfound.report.timeline import TimeAxis, end_of_bin, with_fewer_bins
from newfound.report.words import rounded
from newfound.table import jsonable

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber
    from newfound.description.periods import Period, Periods

__all__ = ["collect_periods"]

_MAX_WORD = 60  # characters

Data = dict[str, Any]
Rows = NDArray[np.intp]


def collect_periods(
    periods: Periods, limits: Limits, piles: Mapping[str, Any] | None = None
) -> Data:
    """Return everything that a page about several periods shows.

    Parameters
    ----------
    periods : Periods
        Each described against all documents before it.
    limits : Limits
        The maximum number of each thing on the page. If there are too many periods, the last ones
        are shown.
    piles : mapping, optional
        Where the documents came from.

    Returns
    -------
    dict
        Plain data, with the keys ``summary``, ``time``, ``periods``, ``notes`` and ``made``.
    """
    timeline, last = periods.timeline, periods.periods[-1].describer
    first = timeline.starts[timeline.names.index(periods.periods[0].name)]
    axis = TimeAxis(timeline, timeline.dates >= first, limits.bins)
    rows = []
    for period in periods.periods[-limits.periods :]:
        start = timeline.starts[timeline.names.index(period.name)]
        end = np.datetime64(end_of_bin(start, timeline.by))
        rows.append(_period(period, _Curves(period.describer, axis, last, end), limits))
    data = {
        "summary": periods_summary(rows, periods.by, len(timeline.dates)),
        "time": {**axis.data(), "boundary": None},
        "periods": {"rows": rows, "total": len(periods.periods), "by": periods.by},
        "notes": [],
        "made": {**how_made(last, None), "piles": jsonable(piles or {})},
    }
    return with_fewer_bins(data, limits.bins)


class _Curves:
    """Curves of the words and themes of a period, before, in and after it.

    The describer of the last period has the documents of all periods, and so those after this one.
    """

    def __init__(
        self,
        describer: NoveltyDescriber,
        axis: TimeAxis,
        last: NoveltyDescriber,
        end: np.datetime64,
    ) -> None:
        self.axis = axis
        self.corpus, self.dates = _dated_corpus(describer)
        self.vocabulary = describer.vectorizer_.vocabulary_
        self._last_corpus, self._last_dates = _dated_corpus(last)
        self._last_vocabulary = last.vectorizer_.vocabulary_
        self._end = end

    def of_word(self, word: str) -> Data | None:
        """Return the curve of a word; None without dates."""
        if self.corpus is None:
            return None
        rows = self.corpus.with_word(self.vocabulary[word])
        novel = self.corpus.novel[rows]
        return self.of_documents(rows[~novel], rows[novel], [(word,)])

    def of_documents(self, known: Rows, novel: Rows, rules: Iterable[Sequence[str]]) -> Data | None:
        """Return the curve of some documents, and of those after the period that rules match."""
        if self.dates is None:
            return None
        days = np.concatenate((self.dates[known], self.dates[novel]))
        days = days[~np.isnat(days)]
        return {
            "known": self.axis.count_days(self.dates[known]),
            "novel": self.axis.count_days(self.dates[novel]),
            "later": self.axis.count_days(self._days_after(rules)),
            "first": str(days.min()) if len(days) else None,
            "last": str(days.max()) if len(days) else None,
        }

    def _days_after(self, rules: Iterable[Sequence[str]]) -> Any:
        if self._last_corpus is None or self._last_dates is None:
            return np.empty(0, "datetime64[D]")
        found = np.zeros(len(self._last_corpus), bool)
        for words in rules:
            if all(word in self._last_vocabulary for word in words):
                columns = [self._last_vocabulary[word] for word in words]
                found[reduce(np.intersect1d, map(self._last_corpus.with_word, columns))] = True
        return self._last_dates[found & (self._last_dates >= self._end)]


def _dated_corpus(describer: NoveltyDescriber) -> tuple[Any, Any]:
    """Return the texts of a describer and their dates; None and None if they do not agree."""
    corpus, timeline = describer.corpus_, describer.timeline_
    if corpus is None or timeline is None or not is_training_corpus(describer, corpus):
        return None, None
    return corpus, timeline.dates


def _period(period: Period, curves: _Curves, limits: Limits) -> Data:
    describer = period.describer
    measures = Measures.of(describer)
    weights = np.where(measures.sides == "neither", np.nan, measures.novelty)
    excerpts = _excerpts(describer, weights)
    found = themes(describer, curves.corpus, None, excerpts, limits)
    for row, theme in zip(found["rows"], describer.themes_, strict=False):
        rules = [rule.words for rule in theme.rules]
        row["curve"] = curves.of_documents(theme.known_documents, theme.novel_documents, rules)
        for document, place in zip(row["documents"] or (), theme.typical, strict=False):
            _weigh(document, weights)
            if curves.dates is not None and not np.isnat(curves.dates[place]):
                document["date"] = str(curves.dates[place])
    return {
        "name": period.name,
        "n_known": describer.n_documents_["known"],
        "n_novel": describer.n_documents_["novel"],
        "themes": found,
        "words": _words(describer, measures, curves, limits),
        "new": int(measures.new.sum()),
    }


def _words(
    describer: NoveltyDescriber, measures: Measures, curves: _Curves, limits: Limits
) -> list[Data]:
    """Return the most novel words of a period."""
    table = describer.words_
    order = np.argsort(-np.nan_to_num(measures.novelty, nan=-np.inf), kind="stable")
    chosen = order[measures.novelty[order] > 0][: limits.period_words].tolist()
    figures = ("novelty", "times", "low", "high", "q")
    return [
        {
            "word": str(table["word"][row])[:_MAX_WORD],
            "side": str(measures.sides[row]),
            **{name: rounded(float(getattr(measures, name)[row])) for name in figures},
            "documents_novel": int(table["documents_novel"][row]),
            "documents_known": int(table["documents_known"][row]),
            "curve": curves.of_word(str(table["word"][row])),
        }
        for row in chosen
    ]


def _excerpts(describer: NoveltyDescriber, weights: NDArray[np.float64]) -> Excerpts:
    """Return what cuts documents and marks the words that indicate a side."""
    marked = np.flatnonzero(~np.isnan(weights)).tolist()
    numbers = {str(describer.words_["word"][row]): row for row in marked}
    return Excerpts(describer.vectorizer_, numbers, lambda row: float(weights[row]))


def _weigh(document: Data, weights: NDArray[np.float64]) -> None:
    """Set the weights of marked words, because a page of periods has no table of words."""
    document["pieces"] = [
        piece if isinstance(piece, str) else [piece[0], -1, rounded(float(weights[piece[1]]), 3)]
        for piece in document["pieces"]
    ]
    document["fullest"] = rounded(float(np.nanmax(np.abs(weights), initial=1e-9)), 3)
