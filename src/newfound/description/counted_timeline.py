"""Documents in time that were counted batch by batch: the curves of words and themes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.description.timeline import Curve, Timeline

__all__ = ["NO_DAY", "CountedTimeline", "DayCounts"]

NO_DAY = 1 << 40  # the first day of what has no dated document; its negative is the last

Integers = NDArray[np.int64]


class DayCounts:
    """The number of documents of each day, and the bins that all curves share.

    Parameters
    ----------
    days : ndarray of datetime64[D]
        The days that have documents; at least one.
    counts : (2, n_days) ndarray of int64
        The number of known and of novel documents of each day.
    n_missing : int
        The number of documents without a date.

    Attributes
    ----------
    bins : Timeline
        The bins are those of `Timeline` for all these documents.
    sides : (2, n_bins) ndarray of int64
        The number of known and of novel documents of each bin.
    boundary : str or None
        The first novel day, if all known documents are earlier.

    Examples
    --------
    >>> days = np.array(["2003-03-30", "2003-04-01"], "datetime64[D]")
    >>> found = DayCounts(days, np.array([[3, 0], [0, 4]]), 1)
    >>> found.bins.by, found.sides.tolist(), found.boundary
    ('day', [[3, 0, 0], [0, 0, 4]], '2003-04-01')
    """

    def __init__(self, days: NDArray[np.datetime64], counts: Integers, n_missing: int) -> None:
        self.days, self.counts = days, counts
        self.bins, self.n_missing = Timeline(days), n_missing
        self.sides = np.zeros((2, len(self.bins.starts)), np.int64)
        np.add.at(self.sides.T, self.places(days), counts.T)
        known, novel = (days[side > 0] for side in counts)
        apart = len(known) > 0 and len(novel) > 0 and known.max() < novel.min()
        self.boundary = str(novel.min()) if apart else None

    def places(self, days: NDArray[np.datetime64]) -> NDArray[np.intp]:
        """Return the bin of each day; none of them may be missing."""
        return np.searchsorted(self.bins.starts, days, side="right") - 1


@dataclass(frozen=True)
class CountedTimeline:
    """The bins of documents, and the documents of each word and theme in them.

    It has ``by``, ``starts``, ``names``, ``totals``, ``n_missing`` and ``to_dict`` of a `Timeline`,
    but not the dates of the documents.

    Attributes
    ----------
    days : DayCounts
        The bins, and all documents.
    words : (2, n_words, n_bins) pair of CSR matrices
        The number of known and of novel documents with each word.
    themes : (n_themes, 2, n_bins) ndarray of int64
        The same for themes.
    word_days, theme_days : (n, 2) ndarray of int64
        The first and the last day of each, from 1970-01-01; `NO_DAY` and its negative for none.
    """

    days: DayCounts
    words: tuple[Any, Any]
    themes: Integers
    word_days: Integers
    theme_days: Integers

    @property
    def by(self) -> str:
        """The length of a bin."""
        return self.days.bins.by

    @property
    def starts(self) -> NDArray[np.datetime64]:
        """The first day of each bin."""
        return self.days.bins.starts

    @property
    def names(self) -> list[str]:
        """The name of each bin."""
        return self.days.bins.names

    @property
    def totals(self) -> Integers:
        """The number of documents in each bin."""
        totals: Integers = self.days.sides.sum(axis=0)
        return totals

    @property
    def n_missing(self) -> int:
        """The number of documents without a date."""
        return self.days.n_missing

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: the bins and their totals."""
        whole = {"totals": self.totals.tolist(), "missing": self.n_missing}
        return {**self.days.bins.to_dict(), **whole}

    def sides_of_word(self, column: int) -> Integers:
        """Return the known and the novel documents of a word, by bin."""
        return np.concatenate([side[[column]].toarray() for side in self.words])

    def word_curve(self, column: int) -> Curve:
        """Return the curve of a word."""
        return self._curve(self.sides_of_word(column), self.word_days[column])

    def theme_curve(self, number: int) -> Curve:
        """Return the curve of a theme, given its place among all."""
        return self._curve(self.themes[number], self.theme_days[number])

    def _curve(self, sides: Integers, days: Integers) -> Curve:
        counts, totals = sides.sum(axis=0), self.totals
        shares = np.where(totals, counts / np.maximum(totals, 1), np.nan)
        if days[0] >= NO_DAY:
            return Curve(counts, shares, None, None, None)
        first, last = days.astype("datetime64[D]").astype(str).tolist()
        return Curve(counts, shares, first, last, self.names[int(counts.argmax())])
