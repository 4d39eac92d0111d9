"""What a monitor remembers: documents, windows, topics and alerts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from newfound.marks import counted
from newfound.monitor.clock import format_time

__all__ = ["Alert", "Document", "Topic", "Window"]


@dataclass
class Document:
    """A document of the stream; `topic` is 0 if it is in none."""

    number: int
    id: str
    text: str
    time: float | None
    window: int
    p_value: float
    novel: bool
    bag: frozenset[str]
    topic: int = 0


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
    late, duplicates, empty, timeless : int
        Documents that came after their window was closed, that had an id seen before, that had no
        text, and that had no time. Only the last are in `size`.
    rate_p : float or None
        The smallest p-value of the tests of the rate, times the number of tests.
    epoch : int
        The version of the detector.
    words, novel_words : Counter
        The number of documents outside of topics that have each word; of novel ones.
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
    rate_p: float | None = None
    epoch: int = 0
    closed: bool = False
    words: Counter[str] = field(default_factory=Counter)
    novel_words: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without the words."""
        names = (
            "number", "size", "novel", "in_topics", "novel_in_topics", "discoveries", "late",
            "duplicates", "empty", "timeless", "rate_p", "epoch",
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
        Its strongest words.
    words : list of dict
        The risen words: `word`, `documents` and `expected` when it was found.
    rules : list of str
        A document with one of these words is in the topic.
    novel_rules : list of str
        A document with one of these words is in the topic if it is called novel.
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
    typical : list of str
        Typical documents.
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

    def seen(self, counts: Mapping[int, int]) -> str:
        """Return how many documents were seen and when; by windows, if they have no time.

        Parameters
        ----------
        counts : mapping of int to int
            The number of its documents in each window.
        """
        windows = sorted(number for number, n in counts.items() if n)
        first, last = format_time(self.first_seen), format_time(self.last_seen)
        if first is None and windows:
            first, last = f"in window {windows[0]}", f"in window {windows[-1]}"
        when = f", first seen {first}, last {last}" if first is not None else ""
        return f"{counted(self.documents, 'document')}{when}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "number": self.number,
            "name": self.name,
            "status": self.status,
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
        "topic" for a new topic, "rate" for more novel documents than before.
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
        }
