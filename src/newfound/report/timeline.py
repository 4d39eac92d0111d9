"""When: the bins of a page, and the curves of themes and words over them.

A curve is ``{"known": counts, "novel": counts, "first": day, "last": day, "peak": [name, count]}``,
with one count for each bin of the page; the curves of a period also have ``later``, the counts
after it. The peak is that of the describer's own curve, which the terminal and JSON have, too: the
bins of a page can be longer, and those with the most documents another part of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.description.timeline import UNITS, CountedTimeline, Curve, Timeline
from newfound.sides import SIDES
from newfound.text.corpus import Corpus

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.stories.themes import Theme

__all__ = ["CountedAxis", "TimeAxis", "axis_of", "end_of_bin", "with_fewer_bins"]

Data = dict[str, Any]


class TimeAxis:
    """The bins that all curves of a page share.

    Parameters
    ----------
    timeline : Timeline
        The dates of the documents.
    novel : (n_documents,) ndarray of bool
        Which documents are novel.
    most : int
        The maximum number of bins. A coarser unit is used if there are more.

    Examples
    --------
    >>> dates = np.array(["2003-03-30", "2003-03-31", "2003-04-01"], "datetime64[D]")
    >>> axis = TimeAxis(Timeline(dates), np.array([False, False, True]), 100)
    >>> axis.data()["boundary"], axis.curve([0, 2])["novel"]
    ('2003-04-01', [0, 0, 1])
    """

    def __init__(self, timeline: Timeline, novel: NDArray[np.bool_], most: int) -> None:
        self._own = timeline
        for unit in UNITS[UNITS.index(timeline.by) + 1 :]:
            if len(timeline.names) <= most:
                break
            timeline = Timeline(timeline.dates, unit)
        self.timeline = timeline
        self.novel = novel

    def data(self) -> Data:
        """Return the bins with their documents, and the day on which the novel side begins.

        The boundary is None unless all known documents are earlier than all novel ones.
        """
        timeline = self.timeline
        days = timeline.dates
        known, novel = (days[side & ~np.isnat(days)] for side in (~self.novel, self.novel))
        apart = len(known) > 0 and len(novel) > 0 and known.max() < novel.min()
        return {
            **_bins_data(timeline),
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
        found = self._own.curves(members)
        return [
            {**counts, **_ends(curve, self._own.by)}
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
        counts: list[int] = _in_bins(days, self.timeline).tolist()
        return counts

    def peak(self, days: Any) -> list[Any] | None:
        """Return the bin of the timeline with the most of these days, and their number."""
        counts = _in_bins(days, self._own)
        if not counts.any():
            return None
        most = int(counts.argmax())
        return _peak(self._own.names[most], int(counts[most]), self._own.by)

    def _counts(self, members: Any) -> list[Data]:
        table = sparse.csr_array(members, dtype=np.int64)
        novel = self.timeline.counts(table.multiply(self.novel[:, None]))
        known = self.timeline.counts(table) - novel
        sides = (known.tolist(), novel.tolist())
        return [dict(zip(SIDES, counts, strict=True)) for counts in zip(*sides, strict=True)]


class CountedAxis:
    """The bins of a stream, whose documents were counted but are not at hand.

    Parameters
    ----------
    timeline : CountedTimeline
        That of a description.
    themes : sequence of Theme
        Its themes, in their order.
    """

    def __init__(self, timeline: CountedTimeline, themes: Sequence[Theme]) -> None:
        self.timeline, self._themes = timeline, list(map(id, themes))

    def data(self) -> Data:
        """Return the bins with their documents; see `TimeAxis.data`."""
        timeline = self.timeline
        return {
            **_bins_data(timeline),
            "boundary": timeline.boundary,
            "peak": _peak(
                timeline.names[int(timeline.totals.argmax())],
                int(timeline.totals.max()),
                timeline.by,
            ),
            **_by_side(timeline.sides),
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
        return {**_by_side(sides), **_ends(curve, self.timeline.by)}


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


def _by_side(counts: NDArray[np.int64]) -> Data:
    return dict(zip(SIDES, counts.tolist(), strict=True))


def _bins_data(timeline: Timeline) -> Data:
    """Return the bins of a page."""
    return {
        "by": timeline.by,
        "joined": 1,
        "names": list(timeline.names),
        "starts": timeline.starts.astype(str).tolist(),
        "end": end_of_bin(timeline.starts[-1], timeline.by),
        "missing": timeline.n_missing,
    }


def axis_of(description: Description, most: int) -> TimeAxis | CountedAxis | None:
    """Return the axis of a describer's documents; None if they have no dates."""
    timeline = description.timeline
    if timeline is None:
        return None
    if isinstance(timeline, CountedTimeline):
        return CountedAxis(timeline, description.themes)
    if description.corpus is not None and len(description.corpus) == len(timeline.dates):
        return TimeAxis(timeline, description.corpus.novel, most)
    # A describer that was loaded has its documents in this order: known, then novel.
    novel = np.arange(len(timeline.dates)) >= description.n_documents["known"]
    return TimeAxis(timeline, novel, most)


def end_of_bin(start: Any, by: str) -> str:
    """Return the first day after a bin."""
    if by in ("day", "week"):
        return str(start + np.timedelta64(1 if by == "day" else 7, "D"))
    months = {"month": 1, "quarter": 3, "year": 12}[by]
    after = start.astype("datetime64[M]") + np.timedelta64(months, "M")
    return str(after.astype("datetime64[D]"))


def with_fewer_bins(data: Mapping[str, Any], most: int) -> Data:
    """Return the data of a page with neighbouring bins joined, so that at most `most` are left."""
    time = data.get("time")
    if time is None or len(time["names"]) <= most:
        return dict(data)
    size = -(-len(time["names"]) // most)
    first = slice(None, None, size)
    kept = {
        **data,
        "time": {
            **_joined(time, size),
            "names": time["names"][first],
            "starts": time["starts"][first],
            "joined": size * time["joined"],
        },
    }
    if kept.get("cards"):
        kept["cards"] = {number: _with_curve(card, size) for number, card in kept["cards"].items()}
    if kept.get("themes"):
        kept["themes"] = _themes(kept["themes"], size)
    if kept.get("periods"):
        periods = kept["periods"]
        rows = [
            {
                **row,
                "themes": _themes(row["themes"], size),
                "words": [_with_curve(word, size) for word in row["words"]],
            }
            for row in periods["rows"]
        ]
        kept["periods"] = {**periods, "rows": rows}
    return kept


def _themes(themes: Data, size: int) -> Data:
    return {**themes, "rows": [_with_curve(row, size) for row in themes["rows"]]}


def _with_curve(row: Data, size: int) -> Data:
    return row if row.get("curve") is None else {**row, "curve": _joined(row["curve"], size)}


def _joined(curve: Data, size: int) -> Data:
    sides = [side for side in (*SIDES, "later") if side in curve]
    return {**curve, **{side: list(_sums(curve[side], size)) for side in sides}}


def _sums(counts: Sequence[int], size: int) -> Iterator[int]:
    for start in range(0, len(counts), size):
        yield sum(counts[start : start + size])
