"""Documents in time: how often something occurs by day, week or month.

The bins of a `Timeline` are chosen by the span from the first to the last date: days up to
`MAX_DAYS` days, weeks (from Monday) up to `MAX_WEEKS` weeks, and months beyond. All curves of a
timeline have the same bins, empty ones included, so that they can be laid over one another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from newfound.text.dates import UNITS, parse_dates

__all__ = [
    "NO_DAY",
    "UNITS",
    "CountedTimeline",
    "Curve",
    "Timeline",
    "as_days",
    "period_rows",
    "spark",
    "timeline_of",
]

NO_DAY = 1 << 40  # the first day of what has no dated document; its negative is the last

MAX_DAYS, MAX_WEEKS = 45, 60
_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-=+*#@"
Days = NDArray[np.datetime64]
_MONDAY = 3  # 1970-01-01 was a Thursday


def as_days(dates: Iterable[Any]) -> Days:
    """Return dates as an array of days; see `parse_dates`.

    Examples
    --------
    >>> as_days(["2003-04-01", None])
    array(['2003-04-01',        'NaT'], dtype='datetime64[D]')
    """
    if isinstance(dates, np.ndarray) and dates.dtype.kind == "M":
        return dates.astype("datetime64[D]")
    return np.array(parse_dates(dates), dtype="datetime64[D]")


def _bin_starts(dates: Days, by: str) -> Days:
    """Return the first day of the bin of each date."""
    if by == "day":
        return dates
    if by == "week":
        days = dates.astype(np.int64)
        starts = (days - (days + _MONDAY) % 7).astype("datetime64[D]")
        return np.where(np.isnat(dates), dates, starts)
    if by == "quarter":
        months = dates.astype("datetime64[M]")
        numbers = months.astype(np.int64)
        starts = (numbers - numbers % 3).astype("datetime64[M]").astype("datetime64[D]")
        return np.where(np.isnat(dates), dates, starts)
    return dates.astype({"month": "datetime64[M]", "year": "datetime64[Y]"}[by]).astype(
        "datetime64[D]"
    )


def _bins(first: np.datetime64, last: np.datetime64, by: str) -> Days:
    """Return the first days of all bins from the one of a date to that of another."""
    begin, end = _bin_starts(np.array([first, last]), by)
    if by in ("day", "week"):
        step = np.timedelta64(1 if by == "day" else 7, "D")
        return np.arange(begin, end + step, step)
    months = {"month": 1, "quarter": 3, "year": 12}[by]
    begin, end = begin.astype("datetime64[M]"), end.astype("datetime64[M]")
    return np.arange(begin, end + 1, np.timedelta64(months, "M")).astype("datetime64[D]")


def _name(start: np.datetime64, by: str) -> str:
    """Return the name of a bin: 2003, 2003-Q2, 2003-04 or its first day."""
    text = str(start)
    if by == "quarter":
        return f"{text[:4]}-Q{(int(text[5:7]) + 2) // 3}"
    return {"year": text[:4], "month": text[:7]}.get(by, text)


def period_rows(dates: Iterable[Any], by: str = "month") -> list[tuple[str, NDArray[np.intp]]]:
    """Return the periods that have documents, in order, with the rows of their documents.

    Documents without a date are in no period. A week begins on Monday and is named by its first
    day.

    Examples
    --------
    >>> dates = ["2003-04-30", "2003-02-01", "2003-04-01", None]
    >>> [(name, rows.tolist()) for name, rows in period_rows(dates, by="month")]
    [('2003-02', [1]), ('2003-04', [0, 2])]
    >>> [name for name, _ in period_rows(dates, by="quarter")]
    ['2003-Q1', '2003-Q2']
    """
    if by not in UNITS:
        raise ValueError(f"by={by!r}: expected one of {', '.join(UNITS)}.")
    days = as_days(dates)
    rows = np.flatnonzero(~np.isnat(days))
    starts = _bin_starts(days[rows], by)
    order = np.argsort(starts, kind="stable")
    values, begins = np.unique(starts[order], return_index=True)
    parts = np.split(rows[order], begins[1:]) if len(values) else []
    return [(_name(start, by), part) for start, part in zip(values, parts, strict=True)]


@dataclass(frozen=True)
class Curve:
    """How often something occurs in each bin of a timeline.

    Attributes
    ----------
    counts : ndarray of int
        Number of documents in each bin.
    shares : ndarray of float
        Their share of all documents of the bin; nan where a bin has no documents.
    first, last : str or None
        Day of the first and of the last document; None if there is none.
    peak : str or None
        Name of the bin with the most documents, the earliest of equals.
    """

    counts: NDArray[np.int64]
    shares: NDArray[np.float64]
    first: str | None
    last: str | None
    peak: str | None

    @property
    def highest(self) -> int:
        """The number of documents in the bin `peak`."""
        return int(self.counts.max(initial=0))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; a share without documents is None."""
        shares = [None if share != share else round(share, 6) for share in self.shares.tolist()]
        return {
            "counts": self.counts.tolist(),
            "shares": shares,
            "first": self.first,
            "last": self.last,
            "peak": self.peak,
        }


class Timeline:
    """The bins of a set of dated documents, and the curves of words and themes over them.

    Parameters
    ----------
    dates : iterable
        The date of each document: what `parse_dates` takes.
    by : {"day", "week", "month", "quarter", "year"}, optional
        The length of a bin; by default chosen by the span of the dates, see the module.

    Attributes
    ----------
    by : str
        The length of a bin.
    starts : ndarray of datetime64[D]
        The first day of each bin.
    names : list of str
        The name of each bin: ``2003-04`` for a month, else its first day.
    totals : ndarray of int
        Number of documents in each bin.
    n_missing : int
        Number of documents without a date. No curve counts them.

    Examples
    --------
    >>> timeline = Timeline(["2003-01-05", "2003-02-01", "2003-04-09", "2003-04-10"])
    >>> timeline.by, timeline.starts[0].astype(str).item(), len(timeline.totals)
    ('week', '2002-12-30', 15)
    >>> timeline = Timeline(timeline.dates, by="month")
    >>> timeline.names, timeline.totals.tolist()
    (['2003-01', '2003-02', '2003-03', '2003-04'], [1, 1, 0, 2])
    >>> curve = timeline.curve([1, 2])
    >>> curve.counts.tolist(), curve.first, curve.peak
    ([0, 1, 0, 1], '2003-02-01', '2003-02')
    """

    def __init__(self, dates: Iterable[Any], by: str | None = None) -> None:
        if by is not None and by not in UNITS:
            raise ValueError(f"by={by!r}: expected one of {', '.join(UNITS)}.")
        self.dates = as_days(dates)
        dated = ~np.isnat(self.dates)
        self.n_missing = int((~dated).sum())
        if not dated.any():
            raise ValueError(f"None of the {len(self.dates)} documents has a date.")
        first, last = self.dates[dated].min(), self.dates[dated].max()
        self.by = by or _choose_unit(int((last - first).astype(int)) + 1)
        self.starts = _bins(first, last, self.by)
        self.names = [_name(start, self.by) for start in self.starts]
        bins = self.bins_of(self.dates[dated])
        rows = np.flatnonzero(dated)
        shape = (len(self.starts), len(self.dates))
        # One row a bin, one column a document: counts by bin are one product.
        self._members = sparse.csr_matrix((np.ones(len(rows), np.int64), (bins, rows)), shape=shape)
        self.totals: NDArray[np.int64] = np.bincount(bins, minlength=len(self.starts))

    def counts(self, members: Any) -> NDArray[np.int64]:
        """Return the documents by bin, for each column of a Boolean matrix of documents.

        Parameters
        ----------
        members : (n_documents, n) sparse matrix or array
            Which documents have each word or belong to each theme.

        Returns
        -------
        (n, n_bins) array of int
        """
        table = sparse.csr_matrix(members).astype(np.int64)
        counts: NDArray[np.int64] = np.asarray((self._members @ table).T.todense())
        return counts

    def curves(self, members: Any) -> list[Curve]:
        """Return the curve of each column of a Boolean matrix of documents; see `counts`."""
        table = sparse.csc_matrix(members)
        table.eliminate_zeros()
        curves = []
        for column, counts in enumerate(self.counts(table)):
            days = self.dates[table.indices[table.indptr[column] : table.indptr[column + 1]]]
            curves.append(self._curve(counts, days[~np.isnat(days)]))
        return curves

    def curve(self, rows: ArrayLike) -> Curve:
        """Return the curve of some documents, given by their rows or by a Boolean mask."""
        members = np.zeros((len(self.dates), 1), dtype=bool)
        places = np.asarray(rows)
        members[places if len(places) else places.astype(int)] = True
        return self.curves(members)[0]

    def bins_of(self, days: Days) -> NDArray[np.intp]:
        """Return the bin of each day; none of them may be missing."""
        return np.searchsorted(self.starts, days, side="right") - 1

    def _curve(self, counts: NDArray[np.int64], days: Days) -> Curve:
        """Return a curve of counts by bin; its first and its last day are among those given."""
        shares = np.where(self.totals, counts / np.maximum(self.totals, 1), np.nan)
        if not len(days):
            return Curve(counts, shares, None, None, None)
        peak = self.names[int(counts.argmax())]
        return Curve(counts, shares, str(days.min()), str(days.max()), peak)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: the bins and their totals."""
        return {
            "by": self.by,
            "bins": self.names,
            "starts": self.starts.astype(str).tolist(),
            "totals": self.totals.tolist(),
            "missing": self.n_missing,
        }


class CountedTimeline(Timeline):
    """The bins of documents that were counted batch by batch, and curves of words and themes.

    Its ``dates`` are the days that have documents, in their order.

    Parameters
    ----------
    days : ndarray of datetime64[D]
        The days that have documents; at least one.
    day_counts : (2, n_days) ndarray of int64
        The number of known and of novel documents of each day.
    n_missing : int
        The number of documents without a date.
    words : (2, n_words, n_bins) pair of CSR matrices, optional
        The number of known and of novel documents with each word.
    themes : (n_themes, 2, n_bins) ndarray of int64, optional
        The same for themes.
    word_days, theme_days : (n, 2) ndarray of int64, optional
        The first and the last day of each, from 1970-01-01; `NO_DAY` and its negative for none.

    Attributes
    ----------
    sides : (2, n_bins) ndarray of int64
        The number of known and of novel documents of each bin.
    boundary : str or None
        The first novel day, if all known documents are earlier.

    Examples
    --------
    >>> days = np.array(["2003-03-30", "2003-04-01"], "datetime64[D]")
    >>> timeline = CountedTimeline(days, np.array([[3, 0], [0, 4]]), 1)
    >>> timeline.by, timeline.sides.tolist(), timeline.boundary
    ('day', [[3, 0, 0], [0, 0, 4]], '2003-04-01')
    """

    def __init__(
        self,
        days: Days,
        day_counts: NDArray[np.int64],
        n_missing: int,
        words: tuple[Any, Any] = ((), ()),
        themes: Any = (),
        word_days: Any = (),
        theme_days: Any = (),
    ) -> None:
        super().__init__(days)
        self.day_counts, self.n_missing = day_counts, n_missing
        self.words, self.themes = words, themes
        self.word_days, self.theme_days = word_days, theme_days
        self.sides = np.zeros((2, len(self.starts)), np.int64)
        np.add.at(self.sides.T, self.bins_of(days), day_counts.T)
        self.totals = self.sides.sum(axis=0)
        known, novel = (days[side > 0] for side in day_counts)
        apart = len(known) > 0 and len(novel) > 0 and known.max() < novel.min()
        self.boundary = str(novel.min()) if apart else None

    def sides_of_word(self, column: int) -> NDArray[np.int64]:
        """Return the known and the novel documents of a word, by bin."""
        return np.concatenate([side[[column]].toarray() for side in self.words])

    def word_curve(self, column: int) -> Curve:
        """Return the curve of a word."""
        return self._counted(self.sides_of_word(column), self.word_days[column])

    def theme_curve(self, number: int) -> Curve:
        """Return the curve of a theme, given its place among all."""
        return self._counted(self.themes[number], self.theme_days[number])

    def _counted(self, sides: NDArray[np.int64], days: NDArray[np.int64]) -> Curve:
        return self._curve(sides.sum(axis=0), days[np.abs(days) < NO_DAY].astype("datetime64[D]"))


def timeline_of(dates: Iterable[Any] | None) -> Timeline | None:
    """Return the timeline of documents that may have dates; None if none has one.

    Examples
    --------
    >>> timeline_of(None) is None, timeline_of([None, None]) is None, timeline_of(["2003-04"]).by
    (True, True, 'day')
    """
    if dates is None:
        return None
    days = as_days(dates)
    return None if np.isnat(days).all() else Timeline(days)


def _choose_unit(n_days: int) -> str:
    if n_days <= MAX_DAYS:
        return "day"
    return "week" if n_days <= 7 * MAX_WEEKS else "month"


def spark(values: ArrayLike, *, width: int | None = None, unicode: bool = True) -> str:
    """Return a small curve of one character a value, for a terminal.

    The heights go from 0 to the largest value. A value of 0 or nan is a space, any other one is
    visible. Neighbouring values are joined by their mean to fit a width.

    Examples
    --------
    >>> spark([0, 1, 2, 4, 8])
    ' ▁▂▄█'
    >>> spark([0, 1, 2, 4, 8], unicode=False)
    ' _.=@'
    """
    heights = np.nan_to_num(np.asarray(values, dtype=float))
    if width is not None and len(heights) > width > 0:
        edges = np.arange(width + 1) * len(heights) // width
        heights = np.add.reduceat(heights, edges[:-1]) / np.diff(edges)
    top = heights.max(initial=0.0)
    marks = _BLOCKS if unicode else _ASCII
    levels = (
        np.ceil(heights / top * len(marks)).astype(int) if top > 0 else np.zeros(len(heights), int)
    )
    return "".join(" " if level < 1 else marks[level - 1] for level in levels.tolist())
