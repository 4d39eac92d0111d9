"""Describe novel documents, each period against all before, or each label against the rest."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from newfound.description.describer import NoveltyDescriber
from newfound.description.description import Description
from newfound.description.timeline import Timeline, as_days, period_rows
from newfound.description.within import matched
from newfound.machine.native import EpochInfo
from newfound.marks import counted
from newfound.text.dates import parse_start
from newfound.text.documents import DocumentError, Documents, as_documents, as_sides
from newfound.text.validation import NothingToLearnError, NoWordsWarning

__all__ = [
    "Period",
    "Periods",
    "describe",
    "describe_each",
    "describe_periods",
    "describe_values",
    "join_piles",
    "split_by_date",
]

MAX_VALUES = 200
MIN_DOCUMENTS = 2  # of each side, to describe a period
_NAMED = 5  # periods that a warning names


def describe(
    known: object,
    novel: object,
    *,
    mixture: bool = False,
    dates: tuple[Iterable[Any], Iterable[Any]] | None = None,
    within: tuple[Iterable[Any], Iterable[Any]] | None = None,
    callback: Callable[[EpochInfo], bool | None] | None = None,
    **parameters: Any,
) -> NoveltyDescriber:
    """Describe what is new in novel documents, compared with known ones.

    Parameters
    ----------
    known, novel : iterable of str, series, frame or Documents
        The documents of each side; anything that `newfound.as_documents` accepts.
    mixture : bool, default=False
        Whether `novel` is a mixture of known and novel documents. Those that a `NoveltyDetector`
        takes for known are then left out, and ``mixture_`` of the describer says which these are
        and which share of the mixture is new.
    dates : pair of iterables, optional
        The dates of the known and of the novel documents, if they are not in them: Documents that
        were read with a date column have dates. With dates, `NoveltyDescriber.curve` tells how
        often a word or a theme occurs over time.
    within : pair of iterables, optional
        A value of each known and of each novel document, such as its source or region, that is to
        make no difference: documents are left out until both sides have the same share of each
        value. See `newfound.description.within`.
    callback : callable, optional
        Called with an `EpochInfo` after each epoch; a true result ends training.
    **parameters
        Those of `NoveltyDescriber`.

    Returns
    -------
    NoveltyDescriber
        Fitted.

    Examples
    --------
    >>> known = [f"{who} took a wicket in the {when} over" for who in ("Ann", "Bob", "Cy")
    ...          for when in ("first", "third", "sixth", "ninth", "last")]
    >>> novel = [f"{who} scored a try after the {when} scrum" for who in ("Ann", "Bob", "Cy")
    ...          for when in ("first", "third", "sixth", "ninth", "last")]
    >>> describer = describe(known, novel, n_clauses=20, T=5, random_state=1)
    >>> sorted(describer.words_.top(3)["word"].tolist())
    ['scored', 'scrum', 'try']
    """
    describer = NoveltyDescriber(**parameters)
    sides = as_sides(known, novel, dates, redact=describer.redact)
    if within is not None:
        sides = _within(sides, within)
    texts = [text for documents in sides.values() for text in documents.texts]
    labels = [side for side, documents in sides.items() for _ in documents.texts]
    piles = sides.values()
    days = [day for pile in piles for day in pile.dates or (None,) * len(pile)]
    if not mixture:
        return describer.fit(texts, labels, dates=days, callback=callback)
    from newfound.detection.mixture import describe_mixture

    return describe_mixture(describer, texts, labels, dates=days, callback=callback)


def _within(
    sides: Mapping[str, Documents], within: tuple[Iterable[Any], Iterable[Any]]
) -> dict[str, Documents]:
    """Return the documents of both sides that can be compared within each value."""
    valued = []
    for (side, pile), values in zip(sides.items(), within, strict=True):
        given = tuple(values)
        if len(given) != len(pile):
            raise ValueError(
                f"within has {len(given):,} values for {len(pile):,} {side} documents; pass one "
                "for each, and leave out documents without text before."
            )
        valued.append(replace(pile, columns={"within": given}))
    found = matched(valued[0], valued[1], "within")
    return {"known": found.known, "novel": found.novel}


@dataclass(frozen=True)
class Period:
    """A period, described against all documents before it; or a label, against all others.

    Attributes
    ----------
    name : str
        Such as "2003-04"; a day or week is named by its first day. Or the label.
    describer : NoveltyDescriber
        Fitted: the documents of the period are novel, all earlier ones known; those of the label
        are novel, all others known. It is kept without its automata.
    known, novel : Documents
        These documents.
    """

    name: str
    describer: NoveltyDescriber
    known: Documents
    novel: Documents

    @property
    def description(self) -> Description:
        """What the describer learned."""
        return self.describer.description_


@dataclass(frozen=True)
class Periods:
    """Periods in order, each described against all documents before it; or labels.

    Attributes
    ----------
    by : str
        The length of a period; or what the labels are called, each of which is described against
        all other documents.
    periods : tuple of Period
        Those that were described.
    timeline : Timeline or None
        All documents, by this length; None for labels.
    """

    by: str
    periods: tuple[Period, ...]
    timeline: Timeline | None

    def __len__(self) -> int:
        """Return the number of periods."""
        return len(self.periods)

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, force: bool = False
    ) -> None:
        """Write a report: one HTML page with a strip of all periods, that works offline.

        Parameters
        ----------
        path : path
            The file.
        title : str, optional
            The title of the page.
        force : bool, default=False
            Overwrite an existing file.
        """
        from newfound.show.page import write_periods_report

        write_periods_report(path, self, title=title, force=force)


def split_by_date(documents: object, start: object, **reading: Any) -> tuple[Documents, Documents]:
    """Split documents by a date: earlier ones are known, the others novel.

    Parameters
    ----------
    documents : Documents, or what `as_documents` takes
        With dates. Documents without a date are left out.
    start : str, date or timestamp
        The first day of the novel documents; a month or a year stands for its first day.
    **reading
        Those of `as_documents`, such as ``date_column="date"`` or ``dates=[...]``.

    Returns
    -------
    known, novel : Documents

    Examples
    --------
    >>> known, novel = split_by_date(
    ...     ["a war", "a virus", "a try"], "2003-04", dates=["2003-03-31", "2003-04-01", None])
    >>> known.texts, novel.texts
    (('a war',), ('a virus',))
    """
    whole = _dated(as_documents(documents, **reading))
    first = parse_start(start)
    if first is None:
        raise ValueError("The start is missing; pass a date such as 2003-04-01.")
    days = as_days(whole.dates or ())
    begin = np.datetime64(first)
    parts = []
    for side, mask, when in (("known", days < begin, "before"), ("novel", days >= begin, "from")):
        if not mask.any():
            raise DocumentError(
                f"No document of {whole.source} is {side}, {when} {first}: the dates are "
                f"{np.nanmin(days)} to {np.nanmax(days)}; pass another date."
            )
        parts.append(whole.take(np.flatnonzero(mask).tolist()))
    missing = int(np.isnat(days).sum())
    if missing:
        parts[0] = replace(parts[0], found={"undated": missing})
    return parts[0], parts[1]


def describe_periods(
    documents: object,
    *,
    by: str = "month",
    start: object = None,
    reading: dict[str, Any] | None = None,
    callback: Callable[[str, int, int], None] | None = None,
    **parameters: Any,
) -> Periods:
    """Describe each period of dated documents against all documents before it.

    Parameters
    ----------
    documents : Documents, or what `as_documents` takes
        With dates. Documents without a date are left out.
    by : {"day", "week", "month", "quarter", "year"}, default="month"
        The length of a period.
    start : str, date or timestamp, optional
        The first period to describe is that of this day, or of the first day of a month or year; by
        default the second one of all.
    reading : dict, optional
        Parameters of `as_documents`, such as ``{"date_column": "date"}``.
    callback : callable, optional
        Called with the name of each period before it is described, how many are done, and how
        many there are.
    **parameters
        Those of `NoveltyDescriber`.

    Returns
    -------
    Periods
        A period with fewer than two documents, or with fewer than two before it, is left out.

    Examples
    --------
    >>> texts = [f"{what} {n}" for what in ("rain falls", "virus spreads") for n in "abcdefgh"]
    >>> dates = ["2003-03-01"] * 8 + ["2003-04-01"] * 8
    >>> found = describe_periods(
    ...     texts, reading={"dates": dates}, n_machines=2, n_clauses=10, T=5, random_state=0)
    >>> [(period.name, period.describer.words_["word"][0]) for period in found.periods]
    [('2003-04', 'spreads')]
    """
    redact = bool(parameters.get("redact"))
    whole = _dated(as_documents(documents, redact=redact, **(reading or {})))
    rows = period_rows(whole.dates or (), by)
    days = as_days(whole.dates or ())
    first = parse_start(start)
    chosen = []
    for number, (name, own) in enumerate(rows):
        before = np.concatenate([np.empty(0, np.intp), *(earlier for _, earlier in rows[:number])])
        late = first is None or bool((days[own] >= np.datetime64(first)).any())
        if late and min(len(before), len(own)) >= MIN_DOCUMENTS:
            chosen.append((name, before, own))
    if not chosen:
        raise DocumentError(
            f"{whole.source} has no {by} to describe: its dates are {np.nanmin(days)} to "
            f"{np.nanmax(days)}, and a {by} needs two documents and two before it."
        )
    sides = [(name, np.sort(before).tolist(), own.tolist()) for name, before, own in chosen]
    described = describe_each(whole, sides, callback, parameters, by)
    return Periods(by, described, Timeline(days, by))


def describe_values(
    documents: object,
    *,
    by: str = "label",
    reading: dict[str, Any] | None = None,
    callback: Callable[[str, int, int], None] | None = None,
    **parameters: Any,
) -> Periods:
    """Describe the documents of each label against all other documents.

    Parameters
    ----------
    documents : Documents, or what `as_documents` takes
        With labels.
    by : str, default="label"
        What the labels are called, such as the name of their column.
    reading : dict, optional
        Parameters of `as_documents`, such as ``{"label_column": "topic"}``.
    callback : callable, optional
        Called with the name of each label before it is described, how many are done, and how many
        there are.
    **parameters
        Those of `NoveltyDescriber`.

    Returns
    -------
    Periods
        With one entry for each label, in alphabetical order. A label of a single document is not
        described; its document belongs to the others.

    Examples
    --------
    >>> texts = [f"{what} {n}" for what in ("rain falls", "virus spreads") for n in "abcdefgh"]
    >>> found = describe_values(
    ...     Documents(tuple(texts), tuple(texts), labels=("weather",) * 8 + ("health",) * 8),
    ...     by="topic", n_machines=2, n_clauses=10, T=5, random_state=0)
    >>> [(value.name, value.describer.words_["word"][0]) for value in found.periods]
    [('health', 'spreads'), ('weather', 'falls')]
    """
    whole = as_documents(documents, redact=bool(parameters.get("redact")), **(reading or {}))
    if whole.labels is None:
        raise DocumentError(f"{whole.source} has no labels; name their column.")
    sizes = Counter(whole.labels)
    chosen = sorted(
        name for name, n in sizes.items() if MIN_DOCUMENTS <= n <= len(whole) - MIN_DOCUMENTS
    )
    if not chosen:
        raise DocumentError(
            f"{whole.source} has no {by} to describe: it has {len(sizes):,} different values for "
            f"{len(whole):,} documents, and a value needs two documents and two others."
        )
    if len(chosen) > MAX_VALUES:
        raise DocumentError(
            f"{by!r} has {len(chosen):,} values, and at most {MAX_VALUES} are described; name a "
            "column with fewer, or leave documents out."
        )
    labels = np.array(whole.labels, dtype=object)
    sides = [
        (name, np.flatnonzero(labels != name).tolist(), np.flatnonzero(labels == name).tolist())
        for name in chosen
    ]
    return Periods(by, describe_each(whole, sides, callback, parameters), None)


def describe_each(
    whole: Documents,
    sides: Sequence[tuple[str, Sequence[int], Sequence[int]]],
    callback: Callable[[str, int, int], None] | None,
    parameters: Mapping[str, Any],
    by: str | None = None,
) -> tuple[Period, ...]:
    """Describe some of the documents against others, several times, given name and places of each.

    Documents that have no words left after cleaning cause one warning, which names where they are.
    """
    described = []
    for number, (name, old, new) in enumerate(sides):
        if callback is not None:
            callback(name, number, len(sides))
        known, novel = whole.take(old), whole.take(new)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NoWordsWarning)
                describer = describe(known, novel, **parameters)
        except NothingToLearnError as error:
            raise NothingToLearnError(f"{name}: {error}") from error
        description = describer.description_
        if by is not None and isinstance(description.timeline, Timeline):
            timeline = Timeline(description.timeline.dates, by)
            description = replace(description, timeline=timeline)
        # The automata take far more memory than all that they found.
        kept = NoveltyDescriber.from_description(description)
        described.append(Period(name, kept, known, novel))
    _warn_of_documents_without_words(described)
    return tuple(described)


def _warn_of_documents_without_words(described: Sequence[Period]) -> None:
    """Give one warning for all descriptions; a document counts where it is novel."""
    places, total = [], 0
    for period in described:
        corpus = period.describer.corpus_
        if corpus is None:
            continue
        empty = int((np.diff(corpus.matrix.indptr)[corpus.novel] == 0).sum())
        if empty:
            places.append(f"{period.name} ({empty:,} of {len(period.novel):,})")
            total += empty
    if total:
        more = [f"{len(places) - _NAMED:,} more"] if len(places) > _NAMED else []
        warnings.warn(
            f"{counted(total, 'document')} {'has' if total == 1 else 'have'} no words left after "
            f"cleaning: {', '.join(places[:_NAMED] + more)}.",
            NoWordsWarning,
            stacklevel=4,
        )


def _dated(documents: Documents) -> Documents:
    """Return documents that have dates; raise an error if none has."""
    if documents.dates is None or not any(documents.dates):
        raise DocumentError(
            f"{documents.source} has no dates; name the column with the dates, or pass them."
        )
    return documents


def join_piles(piles: Mapping[str, Documents]) -> Documents:
    """Return the documents of several piles as one, each with the name of its pile as its label.

    Examples
    --------
    >>> joined = join_piles({"old": as_documents(["a try"]), "new": as_documents(["a goal"])})
    >>> joined.texts, joined.labels, joined.ids
    (('a try', 'a goal'), ('old', 'new'), ('old: 0', 'new: 0'))
    """
    found: Counter[str] = Counter()
    for pile in piles.values():
        found.update(pile.found)
    parts = [
        replace(pile, labels=(name,) * len(pile), ids=tuple(f"{name}: {i}" for i in pile.ids))
        for name, pile in piles.items()
    ]
    return Documents(
        texts=tuple(text for part in parts for text in part.texts),
        ids=tuple(i for part in parts for i in part.ids),
        labels=tuple(label for part in parts for label in part.labels or ()),
        source=f"{len(parts)} piles",
        found=dict(found),
    )
