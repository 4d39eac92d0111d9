"""Times and settings of a monitor, and what it remembers: documents, windows, topics, alerts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from numbers import Real
from typing import Any

from newfound.checks import check_whole_number
from newfound.marks import counted
from newfound.stories.profile import Profile

__all__ = [
    "SPANS",
    "Alert",
    "Document",
    "Length",
    "MonitorSettings",
    "Topic",
    "Window",
    "format_time",
    "make_settings",
    "parse_length",
    "parse_time",
]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_LENGTH = re.compile(r"(\d{1,12})\s*([smhdw]?)")
_SHOWN = 40  # characters of a time that cannot be read
_DAY = 8  # digits of a day such as 20030320; other texts of digits are numbers
_SECONDS = 1e11  # since 1970: a number is of seconds up to the year 5138
_PARTS = (1, 1000, 1_000_000, 1_000_000_000)  # of a second


@dataclass(frozen=True)
class Length:
    """A number of documents, or of seconds if `timed`."""

    size: int
    timed: bool = False

    def __str__(self) -> str:
        if not self.timed:
            return f"{self.size:,} documents"
        number, unit = self._parts()
        name = {"s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week"}[unit]
        return f"{number:,} {name}{'' if number == 1 else 's'}"

    def short(self) -> str:
        """Return it as `parse_length` reads it, such as 500 or 30d.

        Examples
        --------
        >>> Length(500).short(), Length(2592000, timed=True).short()
        ('500', '30d')
        """
        return "".join(map(str, self._parts())) if self.timed else str(self.size)

    def _parts(self) -> tuple[int, str]:
        """Return a number of the largest unit of time that divides it, and that unit."""
        unit = next(unit for unit in reversed(_UNITS) if self.size % _UNITS[unit] == 0)
        return self.size // _UNITS[unit], unit


def parse_length(value: Any, name: str = "every") -> Length:
    """Return the length that a number of documents or a text such as "1h" names.

    Units are s, m (minutes), h, d and w.

    Examples
    --------
    >>> parse_length(500), str(parse_length("36h")), str(parse_length("30d"))
    (Length(size=500, timed=False), '36 hours', '30 days')
    """
    if isinstance(value, Length):
        return value
    match = None if isinstance(value, bool) else _LENGTH.fullmatch(str(value).strip())
    if match is None or not 0 < int(match[1]) * _UNITS.get(match[2], 1) < 10**12:
        raise ValueError(
            f"{name}={value!r}: expected a number of documents such as 500, or a span of time such "
            "as 30m, 1h or 7d."
        )
    return Length(int(match[1]) * _UNITS.get(match[2], 1), timed=bool(match[2]))


def parse_time(value: Any, where: str = "A document") -> float | None:
    """Return a time in seconds since 1970, or None for a missing one.

    A time is a text in ISO form (``2003-03-20``, ``2003-03-20T05:34:00+03:00``), a number of
    seconds since 1970, or a `datetime`. Without a time zone it is in UTC. Numbers too large for
    seconds are milliseconds, microseconds or nanoseconds.

    Examples
    --------
    >>> parse_time("1970-01-02"), parse_time("1970-01-01T01:00:00+01:00"), parse_time(None)
    (86400.0, 0.0, None)
    >>> parse_time(1048138440), parse_time(1048138440000), parse_time("1048138440000000")
    (1048138440.0, 1048138440.0, 1048138440.0)
    """
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if type(value).__name__ in ("datetime64", "Timestamp"):
        value = str(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    given = value
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) != _DAY:
        value = int(value)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            try:
                value = float(value)
            except ValueError:
                value = math.inf
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        for unit in _PARTS:
            if value / unit < _SECONDS:
                return float(value / unit)
    raise ValueError(
        f"{where} has a time that cannot be read, {str(given)[:_SHOWN]!r}; write it as "
        "2003-03-20T05:34:00+00:00, as a day such as 2003-03-20, or in seconds since 1970."
    )


def format_time(time: float | None) -> str | None:
    """Return a time in ISO form; a midnight as a day.

    Examples
    --------
    >>> format_time(86400.0), format_time(90000.0), format_time(None)
    ('1970-01-02', '1970-01-02T01:00:00Z', None)
    """
    if time is None:
        return None
    shown = datetime.fromtimestamp(time, UTC)
    if time % 86400 == 0:
        return shown.strftime("%Y-%m-%d")
    return shown.strftime("%Y-%m-%dT%H:%M:%SZ")


SPANS = (1, 4, 16)  # numbers of windows that are tested together
_FALSE_ALARMS = 100  # windows to one false alarm, by default


@dataclass(frozen=True)
class MonitorSettings:
    """How a monitor tests; see `newfound.monitor.monitor.Monitor`."""

    every: str
    false_alarm_every: str
    fdr: float
    reference: int
    delay: int
    keep: int
    late: int = 0

    @property
    def length(self) -> Length:
        """The length of a window."""
        return parse_length(self.every)

    @property
    def level(self) -> float:
        """The probability of a false alarm in a window."""
        return self.length.size / parse_length(self.false_alarm_every).size


def make_settings(
    every: int | str,
    false_alarm_every: int | str | None,
    fdr: float,
    reference: int,
    delay: int,
    keep: int,
    late: int | str = 0,
) -> MonitorSettings:
    """Return settings; raise a ValueError for those that cannot be used.

    Examples
    --------
    >>> settings = make_settings("1h", None, 0.1, 200, 16, 1000)
    >>> settings.false_alarm_every, settings.level
    ('360000s', 0.01)
    """
    length = parse_length(every)
    apart = (
        Length(length.size * _FALSE_ALARMS, length.timed)
        if false_alarm_every is None
        else parse_length(false_alarm_every, "false_alarm_every")
    )
    check_whole_number("reference", reference, 1)
    check_whole_number("delay", delay, SPANS[-1])
    check_whole_number("keep", keep, reference + delay + 1)
    if isinstance(fdr, bool) or not isinstance(fdr, Real) or not 0 < fdr < 1:
        raise ValueError(f"fdr={fdr!r}: expected a share between 0 and 1, such as 0.1.")
    if length.timed != apart.timed:
        raise ValueError(
            f"A window is {length}, but false alarms are counted in {apart}; give both as numbers "
            "of documents, or both as spans of time."
        )
    if apart.size < 2 * length.size:
        raise ValueError(
            f"false_alarm_every is {apart}: expected at least two windows, and a window is "
            f"{length}."
        )
    grace = 0
    if late:
        grace = parse_length(late, "late").size
        if not length.timed or not parse_length(late, "late").timed:
            raise ValueError(
                f"late={late!r}: expected a span of time such as 2h, for windows of time."
            )
    return MonitorSettings(_plain(length), _plain(apart), float(fdr), reference, delay, keep, grace)


def _plain(length: Length) -> str:
    return f"{length.size}s" if length.timed else str(length.size)


@dataclass
class Document:
    """A scored document of the stream; `number`, `window` and `topic` are 0 if it has none.

    `counted` says whether its words are counted in its window; those of a copy are not.
    """

    id: str
    text: str
    time: float | None
    p_value: float
    novel: bool
    bag: frozenset[str]
    number: int = 0
    window: int = 0
    topic: int = 0
    counted: bool = False


@dataclass
class Window:
    """Documents that are tested together.

    Attributes
    ----------
    number : int
        Its number, from 1.
    key : int or None
        For windows of time: its start, divided by its length.
    first, last : float or None
        The earliest and the latest time of its documents.
    size, novel : int
        The number of its documents, and of those called novel.
    in_topics, novel_in_topics : int
        The same for documents of topics.
    discoveries : int
        The number of new documents at the false discovery rate.
    late, duplicates, empty, timeless, ahead : int
        Documents that came after their window was closed, that had an id seen before, that had no
        text, that had no time, and whose time was far ahead of all others. Only the last two are in
        `size`.
    rate_p : float or None
        The smallest p-value of the tests of the rate, times the number of tests.
    epoch : int
        The version of the detector.
    words, novel_words : Counter
        The number of documents that have each word, and of novel ones; not of those whose topic
        explains the word.
    """

    number: int
    key: int | None = None
    first: float | None = None
    last: float | None = None
    size: int = 0
    novel: int = 0
    in_topics: int = 0
    novel_in_topics: int = 0
    discoveries: int = 0
    late: int = 0
    duplicates: int = 0
    empty: int = 0
    timeless: int = 0
    ahead: int = 0
    rate_p: float | None = None
    epoch: int = 0
    closed: bool = False
    words: Counter[str] = field(default_factory=Counter)
    novel_words: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without the words."""
        names = (
            "number", "size", "novel", "in_topics", "novel_in_topics", "discoveries", "late",
            "duplicates", "empty", "timeless", "ahead", "rate_p", "epoch",
        )  # fmt: skip
        times = {"first": format_time(self.first), "last": format_time(self.last)}
        return {**{name: getattr(self, name) for name in names}, **times}


@dataclass
class Topic:
    """Documents with words that have become more frequent; its name and number stay.

    Attributes
    ----------
    number : int
        Its number, from 1.
    name : str
        A phrase of its documents, or words that are characteristic of them.
    words : list of dict
        Characteristic words: `word`, `documents`, and what was `expected` of risen ones when it was
        found.
    rules : list of str
        A document with one of these words is in the topic, if it is like the others.
    novel_rules : list of str
        A document with one of these words is in the topic if it is called novel, too.
    first_seen : float or None
        The time of its first document, which may be earlier than the alert.
    alerted : int
        The window of the alert.
    status : str
        "open", "promoted" or "dismissed".
    known_as : str or None
        The class that it was promoted to.
    merged_into : int or None
        The topic that it is part of.
    documents : int
        The number of its documents so far.
    last_seen : float or None
        The time of its last document.
    last_window : int
        The window of its last document.
    typical : list of str
        Typical documents.
    profile : Profile
        What its documents have in common.
    explained : list of str
        Words that the topic explains: in its documents they are not tested.
    updated : int
        The window of its last alert.
    removed : list of str
        Words that a person took from its rules.
    """

    number: int
    name: str
    words: list[dict[str, Any]]
    rules: list[str]
    first_seen: float | None
    alerted: int
    novel_rules: list[str] = field(default_factory=list)
    status: str = "open"
    known_as: str | None = None
    merged_into: int | None = None
    documents: int = 0
    last_seen: float | None = None
    last_window: int = 0
    typical: list[str] = field(default_factory=list)
    profile: Profile = field(default_factory=Profile)
    explained: list[str] = field(default_factory=list)
    updated: int = 0
    removed: list[str] = field(default_factory=list)

    def seen(self, counts: Mapping[int, int]) -> str:
        """Return how many documents were seen and when; by windows, if they have no time.

        `counts` has the number of its documents in each window.
        """
        windows = sorted(number for number, n in counts.items() if n)
        first, last = format_time(self.first_seen), format_time(self.last_seen)
        if first is None and windows:
            first, last = f"in window {windows[0]}", f"in window {windows[-1]}"
        when = f", first seen {first}, last {last}" if first is not None else ""
        return f"{counted(self.documents, 'document')}{when}"

    def to_dict(self, life: str | None = None) -> dict[str, Any]:
        """Return plain data, with where it is in its life."""
        return {
            "number": self.number,
            "name": self.name,
            "status": self.status,
            "life": life,
            "known_as": self.known_as,
            "merged_into": self.merged_into,
            "first_seen": format_time(self.first_seen),
            "last_seen": format_time(self.last_seen),
            "alerted": self.alerted,
            "documents": self.documents,
            "words": [dict(word) for word in self.words],
            "rules": [*self.rules, *(f"{word} AND novel" for word in self.novel_rules)],
            "typical": list(self.typical),
        }


@dataclass(frozen=True)
class Alert:
    """Something that has changed, with the evidence.

    Attributes
    ----------
    number : int
        Its number, from 1.
    kind : str
        "topic" for a new topic, "update" for something new in an older one, "rate" for more novel
        documents than before.
    window : int
        The window after which it was raised.
    time : float or None
        The latest time of the documents of the window.
    summary : str
        What has changed, in a sentence.
    windows : int
        The number of windows that were tested together.
    documents : int
        The number of documents that were counted, outside of older topics: those with the strongest
        word (only those called novel, if the summary says so), or novel ones.
    expected : float
        The number expected from the reference.
    p_value, level : float
        How probable so many are by chance, and the value below which an alert is raised.
    topic : dict or None
        The topic as it was then.
    document : dict or None
        ``id``, ``time`` and ``text`` of a document that shows what is new.
    """

    number: int
    kind: str
    window: int
    time: float | None
    summary: str
    windows: int
    documents: int
    expected: float
    p_value: float
    level: float
    topic: dict[str, Any] | None = None
    document: dict[str, Any] | None = None

    def line(self) -> str:
        """Return when it was raised, and what has changed."""
        return f"{format_time(self.time) or f'window {self.window}'}  {self.summary}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "alert": self.number,
            "kind": self.kind,
            "window": self.window,
            "time": format_time(self.time),
            "summary": self.summary,
            "windows": self.windows,
            "documents": self.documents,
            "expected": self.expected,
            "p_value": self.p_value,
            "level": self.level,
            "topic": self.topic,
            "document": self.document,
        }
