"""The themes of a page, and when: the bins of time, and curves over them.

A curve is ``{"known": counts, "novel": counts, "first": day, "last": day, "peak": [name, count]}``,
with one count for each bin of the page; the curves of a period also have ``later``, the counts
after it. The peak is that of the description's own curve, which the terminal and JSON have, too:
the bins of a page can be longer, and those with the most documents another part of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.description.timeline import UNITS, CountedTimeline, Curve, Timeline
from newfound.machine.clauses import rows_with
from newfound.show.documents import Excerpts
from newfound.show.sentences import passage, rounded, shortened
from newfound.sides import SIDES
from newfound.text.corpus import Corpus

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.show.collect import Limits
    from newfound.stories.themes import Theme

__all__ = [
    "CountedAxis",
    "TimeAxis",
    "axis_of",
    "end_of_bin",
    "is_training_corpus",
    "shown_document",
    "themes",
]

_EXAMPLE = 160  # characters of a document
_MAX_NAME = 100  # characters of the name of a theme
_MAX_WORD = 60  # characters of a word of a theme
_SHARES = ("share_novel", "share_known", "held_out_share_novel", "held_out_share_known")

Data = dict[str, Any]


def themes(
    description: Description,
    corpus: Corpus | None,
    curve: Callable[[Theme], Data | None],
    document: Callable[[int], Data],
    limits: Limits,
) -> Data:
    """Return the themes of a page, in the order of the description, those beyond chance first.

    Parameters
    ----------
    description : Description
        What was learned.
    corpus : Corpus or None
        Its documents.
    curve : callable
        Returns the curve of a theme; None without dates.
    document : callable
        Returns a document, given its row.
    limits : Limits
        How much is shown.

    Returns
    -------
    dict
        ``rows``, the themes; ``total``, their number; ``may_be_chance``, how many of them may be
        chance; ``gone``, themes of the known documents beyond chance; ``unexplained``, the share of
        the documents with new words that are in no theme; ``loose``, new words in no theme, with a
        document of each, and ``n_loose``, their number.
    """

    def example(place: int, name: str) -> str:
        text = "" if corpus is None else corpus.texts[place]
        return passage(text, name.split(", ")[0], _EXAMPLE)

    def row(theme: Theme) -> Data:
        typical = theme.typical[: limits.theme_documents]
        return {
            **_theme(theme, limits),
            "parts": list(map(row, theme.parts)),
            "example": None if corpus is None else example(theme.typical[0], theme.name),
            "documents": None if corpus is None else [document(place) for place in typical],
            "curve": curve(theme),
        }

    found = description.themes
    gone = [theme for theme in description.gone if not theme.may_be_chance]
    first = sorted(found, key=lambda theme: theme.may_be_chance)[: limits.themes]
    loose = description.loose
    written = description.spellings([word.word for word in loose[: limits.loose]])
    return {
        "rows": [row(theme) for theme in first],
        "total": len(found),
        "may_be_chance": sum(theme.may_be_chance for theme in found),
        "gone": [row(theme) for theme in gone[: limits.gone]],
        "unexplained": rounded(description.unexplained),
        "loose": [
            {
                "word": shortened(written[word.word], _MAX_WORD),
                "example": None if corpus is None else example(word.document, word.word),
            }
            for word in loose[: limits.loose]
        ],
        "n_loose": len(loose),
    }


def _theme(theme: Theme, limits: Limits) -> Data:
    return {
        "name": shortened(theme.name, _MAX_NAME),
        "words": [shortened(word, _MAX_WORD) for word, _ in theme.words[: limits.theme_words]],
        "rules": [
            {
                "words": [shortened(word, _MAX_WORD) for word in rule.words],
                "novel": rule.novel,
                "known": rule.known,
            }
            for rule in theme.rules[: limits.theme_rules]
        ],
        "n_rules": len(theme.rules),
        "documents_novel": theme.documents_novel,
        "documents_known": theme.documents_known,
        **{share: rounded(getattr(theme, share)) for share in _SHARES},
        "evidence": rounded(theme.evidence),
        "may_be_chance": theme.may_be_chance,
        "gone": theme.gone,
        "holds": theme.holds,
    }


def shown_document(
    corpus: Corpus, day: str | None, row: int, excerpts: Excerpts, limits: Limits
) -> Data:
    """Return a document of a theme, with its day."""
    return {
        "name": corpus.names[row][:80],
        "date": day,
        **excerpts.opening(corpus.texts[row].strip(), limits.theme_document),
    }


def is_training_corpus(description: Description, corpus: Corpus) -> bool:
    """Return whether the documents of a describer's themes are rows of a corpus.

    They are not if other texts were passed, or the same ones in another order.
    """
    if corpus is description.corpus:  # of a stream, these are fewer than all documents
        return True
    if corpus.notes or len(corpus) != sum(description.n_documents.values()):
        return False
    if description.corpus is not None and list(corpus.texts) != list(description.corpus.texts):
        return False
    groups = description.all_themes.groups
    return all(_finds_its_documents(theme, description, corpus) for theme in groups)


def _finds_its_documents(theme: Theme, description: Description, corpus: Corpus) -> bool:
    """Return whether each document of a theme is on its side and matches one of the rules."""
    if not corpus.novel[theme.novel_documents].all() or corpus.novel[theme.known_documents].any():
        return False
    vocabulary = description.vectorizer.vocabulary_
    rows = np.concatenate((theme.novel_documents, theme.known_documents))
    matched = np.zeros(len(corpus), bool)
    for rule in theme.rules:
        matched[rows_with(corpus.columns, [vocabulary[word] for word in rule.words])] = True
    return bool(matched[rows].all())


def axis_of(description: Description, most: int) -> TimeAxis | CountedAxis | None:
    """Return the axis of a describer's documents; None if they have no dates."""
    timeline = description.timeline
    if timeline is None:
        return None
    if isinstance(timeline, CountedTimeline):
        return CountedAxis(timeline, description.all_themes.groups, most)
    if description.corpus is not None and len(description.corpus) == len(timeline.dates):
        return TimeAxis(timeline, description.corpus.novel, most)
    # A describer that was loaded has its documents in this order: known, then novel.
    novel = np.arange(len(timeline.dates)) >= description.n_documents["known"]
    return TimeAxis(timeline, novel, most)


class TimeAxis:
    """The bins that all curves of a page share.

    Examples
    --------
    >>> dates = np.array(["2003-03-30", "2003-03-31", "2003-04-01"], "datetime64[D]")
    >>> axis = TimeAxis(Timeline(dates), np.array([False, False, True]), 100)
    >>> axis.data()["boundary"], axis.curve([0, 2])["novel"]
    ('2003-04-01', [0, 0, 1])
    """

    def __init__(self, timeline: Timeline, novel: NDArray[np.bool_], most: int) -> None:
        self.given = timeline
        for unit in UNITS[UNITS.index(timeline.by) + 1 :]:
            if len(timeline.names) <= most:
                break
            timeline = Timeline(timeline.dates, unit)
        self.timeline = timeline
        self.novel = novel
        self.size = _bins_joined(timeline, most)

    def data(self) -> Data:
        """Return the bins with their documents, and the day on which the novel side begins.

        The boundary is None unless all known documents are earlier than all novel ones.
        """
        timeline = self.timeline
        days = timeline.dates
        known, novel = (days[side & ~np.isnat(days)] for side in (~self.novel, self.novel))
        apart = len(known) > 0 and len(novel) > 0 and known.max() < novel.min()
        return {
            **_bins_data(timeline, self.size),
            "boundary": str(novel.min()) if apart else None,
            "peak": self.peak(days),
            **self._counts(np.ones((len(days), 1), bool))[0],
        }

    def curve(self, rows: Sequence[int] | NDArray[np.intp]) -> Data:
        """Return the curve of some documents."""
        members = np.zeros((len(self.novel), 1), bool)
        members[np.asarray(rows, np.intp)] = True
        return self.curves(members)[0]

    def curves(self, members: Any) -> list[Data]:
        """Return the curve of each column of a Boolean matrix of documents."""
        found = self.given.curves(members)
        return [
            {**counts, **_ends(curve, self.given.by)}
            for counts, curve in zip(self._counts(members), found, strict=True)
        ]

    def theme_curve(self, theme: Theme) -> Data:
        """Return the curve of the documents of a theme."""
        return self.curve(np.concatenate((theme.known_documents, theme.novel_documents)))

    def word_curves(self, columns: Sequence[int], corpus: Corpus | None) -> list[Data] | None:
        """Return the curve of each word; None without the documents."""
        return None if corpus is None else self.curves(corpus.columns[:, columns])

    def day(self, row: int) -> str | None:
        """Return the day of a document; None if it is missing."""
        day = self.timeline.dates[row]
        return None if np.isnat(day) else str(day)

    def count_days(self, days: Any) -> list[int]:
        """Return the number of days in each bin; missing ones are not counted."""
        return _joined(_in_bins(days, self.timeline), self.size)

    def peak(self, days: Any) -> list[Any] | None:
        """Return the bin of the timeline with the most of these days, and their number."""
        counts = _in_bins(days, self.given)
        if not counts.any():
            return None
        most = int(counts.argmax())
        return _peak(self.given.names[most], int(counts[most]), self.given.by)

    def _counts(self, members: Any) -> list[Data]:
        table = sparse.csr_array(members, dtype=np.int64)
        novel = self.timeline.counts(table.multiply(self.novel[:, None]))
        known = self.timeline.counts(table) - novel
        return [_by_side(counts, self.size) for counts in zip(known, novel, strict=True)]


class CountedAxis:
    """The bins of a stream, whose documents were counted but are not at hand."""

    def __init__(self, timeline: CountedTimeline, themes: Sequence[Theme], most: int) -> None:
        self.timeline, self._themes = timeline, list(map(id, themes))
        self.size = _bins_joined(timeline, most)

    def data(self) -> Data:
        """Return the bins with their documents; see `TimeAxis.data`."""
        timeline = self.timeline
        return {
            **_bins_data(timeline, self.size),
            "boundary": timeline.boundary,
            "peak": _peak(
                timeline.names[int(timeline.totals.argmax())],
                int(timeline.totals.max()),
                timeline.by,
            ),
            **_by_side(timeline.sides, self.size),
        }

    def theme_curve(self, theme: Theme) -> Data:
        """Return the curve of a theme."""
        place = self._themes.index(id(theme))
        return self._curve(self.timeline.themes[place], self.timeline.theme_curve(place))

    def word_curves(self, columns: Sequence[int], corpus: Corpus | None) -> list[Data] | None:
        """Return the curve of each word."""
        del corpus  # a sample only
        sides = self.timeline.sides_of_word
        return [self._curve(sides(c), self.timeline.word_curve(c)) for c in columns]

    def day(self, row: int) -> str | None:
        """Return None: the days of single documents are not kept."""
        return None

    def _curve(self, sides: NDArray[np.int64], curve: Curve) -> Data:
        return {**_by_side(sides, self.size), **_ends(curve, self.timeline.by)}


def _ends(curve: Curve, by: str) -> Data:
    """Return the first and the last day of a curve, and its peak."""
    peak = None if curve.peak is None else _peak(curve.peak, curve.highest, by)
    return {"first": curve.first, "last": curve.last, "peak": peak}


def _peak(name: str, documents: int, by: str) -> list[Any]:
    return [f"week of {name}" if by == "week" else name, documents]


def _in_bins(days: Any, timeline: Timeline) -> NDArray[np.intp]:
    bins = np.searchsorted(timeline.starts, days[~np.isnat(days)], side="right") - 1
    counts: NDArray[np.intp] = np.bincount(bins[bins >= 0], minlength=len(timeline.starts))
    return counts


def _bins_joined(timeline: Timeline, most: int) -> int:
    """Return how many neighbouring bins are one bin of the page, so that it has at most `most`."""
    return -(-len(timeline.names) // most)


def _joined(counts: Any, size: int) -> list[int]:
    """Return counts of bins with so many neighbours added up."""
    joined: list[int] = np.add.reduceat(counts, np.arange(0, len(counts), size)).tolist()
    return joined


def _by_side(counts: Iterable[Any], size: int) -> Data:
    return {side: _joined(one, size) for side, one in zip(SIDES, counts, strict=True)}


def _bins_data(timeline: Timeline, size: int) -> Data:
    """Return the bins of a page."""
    return {
        "by": timeline.by,
        "joined": size,
        "names": list(timeline.names[::size]),
        "starts": timeline.starts[::size].astype(str).tolist(),
        "end": end_of_bin(timeline.starts[-1], timeline.by),
        "missing": timeline.n_missing,
    }


def end_of_bin(start: Any, by: str) -> str:
    """Return the first day after a bin."""
    if by in ("day", "week"):
        return str(start + np.timedelta64(1 if by == "day" else 7, "D"))
    months = {"month": 1, "quarter": 3, "year": 12}[by]
    after = start.astype("datetime64[M]") + np.timedelta64(months, "M")
    return str(after.astype("datetime64[D]"))
