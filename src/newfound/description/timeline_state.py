"""Dates and curves in a model file; docs/model-file.md lists their fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.description.timeline import NO_DAY, CountedTimeline, Timeline, timeline_of
from newfound.storage.fields import MAX_DOCUMENTS, Fields

__all__ = ["timeline_from_state", "timeline_state"]

_NO_DATE = -(2**31)
_LEAST_DAYS, _MOST_DAYS = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, from 1970-01-01

Integers = NDArray[np.int64]


def timeline_state(timeline: Timeline | None) -> dict[str, Any]:
    """Return the field ``dates`` or ``curves`` of a state; nothing without dates."""
    if timeline is None:
        return {}
    if isinstance(timeline, CountedTimeline):
        return {"curves": _curves_state(timeline)}
    days = timeline.dates.astype(np.int64)
    missing = np.isnat(timeline.dates)
    return {"dates": {"days": np.where(missing, _NO_DATE, days).astype(np.int32)}}


def _curves_state(timeline: CountedTimeline) -> dict[str, Any]:
    """Return the state of curves: days from 1970-01-01, and numbers of documents."""
    sides = [sparse.csr_array(side) for side in timeline.words]
    for side in sides:
        side.sort_indices()
    return {
        "days": timeline.dates.astype(np.int64),
        "documents": timeline.day_counts,
        "missing": timeline.n_missing,
        "starts": np.stack([side.indptr for side in sides]),
        "bins": np.concatenate([side.indices for side in sides]),
        "counts": np.concatenate([side.data for side in sides]),
        "themes": timeline.themes,
        "word_days": _kept_days(timeline.word_days),
        "theme_days": _kept_days(timeline.theme_days),
    }


def _kept_days(days: Integers) -> Integers:
    return np.where(np.abs(days) >= NO_DAY, _NO_DATE, days)


def timeline_from_state(
    fields: Fields, n_documents: int, n_words: int, n_themes: int
) -> Timeline | None:
    """Return the timeline of a state, or None if it has no dates.

    Parameters
    ----------
    fields : Fields
        The state of a describer.
    n_documents, n_words, n_themes : int
        The numbers of its documents, words and themes.
    """
    if "curves" in fields:
        return _curves(fields.fields("curves"), n_documents, n_words, n_themes)
    if "dates" not in fields:
        return None
    dates = fields.fields("dates")
    days = dates.integers("days", np.int64, (n_documents,), least=_NO_DATE, most=_MOST_DAYS)
    there = days[days != _NO_DATE]
    sound = len(there) > 0 and int(there.min()) >= _LEAST_DAYS
    dates.require(sound, "days", "dates from the year 1 to 9999")
    return timeline_of(np.where(days == _NO_DATE, np.datetime64("NaT"), days.astype("M8[D]")))


def _curves(fields: Fields, n_documents: int, n_words: int, n_themes: int) -> CountedTimeline:
    n = fields.length("days")
    days = fields.integers("days", np.int64, (n,), least=_LEAST_DAYS, most=_MOST_DAYS)
    fields.require(n > 0 and bool((np.diff(days) > 0).all()), "days", "days in their order")
    counts = fields.integers("documents", np.int64, (2, n), most=MAX_DOCUMENTS)
    missing = fields.integer("missing", most=n_documents)
    whole = int(counts.sum()) + missing == n_documents
    fields.require(whole, "documents", f"{n_documents:,} documents, with those without a date")
    dates = days.astype("datetime64[D]")
    n_bins = len(CountedTimeline(dates, counts, missing).starts)
    size = fields.length("bins")
    starts = fields.integers("starts", np.int64, (2, n_words + 1), most=size)
    ends = starts[:, -1]
    sound = bool((np.diff(starts) >= 0).all()) and not starts[:, 0].any() and ends.sum() == size
    fields.require(sound, "starts", f"places that end with {size:,} numbers")
    bins = fields.integers("bins", np.int64, (size,), most=n_bins - 1)
    documents = fields.integers("counts", np.int64, (size,), most=MAX_DOCUMENTS)
    first = int(ends[0])
    parts = (slice(0, first), slice(first, size))
    known, novel = (
        sparse.csr_array((documents[part], bins[part], start), shape=(n_words, n_bins))
        for part, start in zip(parts, starts, strict=True)
    )
    themes = fields.integers("themes", np.int64, (n_themes, 2, n_bins), most=MAX_DOCUMENTS)
    word_days, theme_days = (
        _days(fields, name, size)
        for name, size in (("word_days", n_words), ("theme_days", n_themes))
    )
    return CountedTimeline(dates, counts, missing, (known, novel), themes, word_days, theme_days)


def _days(fields: Fields, name: str, n: int) -> Integers:
    """Return the first and the last day of words or themes."""
    days = fields.integers(name, np.int64, (n, 2), least=_NO_DATE, most=_MOST_DAYS)
    none = (days == _NO_DATE).all(axis=1)
    fine = (days[:, 0] <= days[:, 1]) & (days >= _LEAST_DAYS).all(axis=1)
    fields.require(bool((none | fine).all()), name, "a first and a last day")
    found: Integers = np.where(none[:, None], np.array([NO_DAY, -NO_DAY]), days)
    return found
