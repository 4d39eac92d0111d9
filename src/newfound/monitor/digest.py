"""What a monitor has seen in its last windows, for people who did not watch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from newfound.marks import counted
from newfound.monitor.records import Alert, format_time, parse_length
from newfound.monitor.store import Store
from newfound.monitor.topics import joined_topics, lives, windows_of_topic

__all__ = ["Digest"]

_STANDING = 10  # topics that are listed in text
_SECTIONS = (("topic", "New"), ("update", "Updates"), ("rate", "Novel documents"))


@dataclass(frozen=True)
class Digest:
    """The alerts of some windows, and the topics that had documents in them.

    Attributes
    ----------
    since, until : float or None
        The time of the first and the last document; None without times.
    windows, documents, novel : int
        How many windows there were, documents, and documents called novel.
    alerts : tuple of Alert
        In order.
    topics : tuple of dict
        ``number``, ``name``, ``life``, ``status`` and ``documents`` of each topic, the one with
        most documents first.
    """

    since: float | None
    until: float | None
    windows: int
    documents: int
    novel: int
    alerts: tuple[Alert, ...]
    topics: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, store: Store, span: str) -> Digest:
        """Return what is in the windows of the last span of a stream: 1d, or 5000 documents."""
        length = parse_length(span, "since")
        windows = [window for window in store.windows() if window.size]
        chosen, size = windows[:0], 0
        latest = max((w.last for w in windows if w.last is not None), default=None)
        for window in reversed(windows):
            if length.timed and (window.last is None or latest is None):
                raise ValueError(f"since={span!r}: the documents have no times; give a number.")
            if length.timed and (window.last or 0.0) <= (latest or 0.0) - length.size:
                break
            if not length.timed and size >= length.size:
                break
            chosen.insert(0, window)
            size += window.size
        numbers = {window.number for window in chosen}
        topics, counts = {topic.number: topic for topic in store.topics()}, store.topic_counts()
        life = lives(topics, counts, int(store.get("window", 1)) - 1)
        found: list[dict[str, Any]] = []
        for topic in joined_topics(topics):
            by_window = windows_of_topic(topics, topic.number, counts)
            n = sum(m for window, m in by_window.items() if window in numbers)
            about = {"number": topic.number, "name": topic.name, "life": life[topic.number]}
            found.append({**about, "status": topic.status, "documents": n})
        return cls(
            min((w.first for w in chosen if w.first is not None), default=None),
            max((w.last for w in chosen if w.last is not None), default=None),
            len(chosen),
            size,
            sum(window.novel for window in chosen),
            tuple(alert for alert in store.alerts() if alert.window in numbers),
            tuple(
                topic
                for topic in sorted(found, key=lambda one: (-one["documents"], one["number"]))
                if topic["documents"]
            ),
        )

    def summary(self) -> str:
        """Return how much was seen and told, in a sentence."""
        first, last = format_time(self.since), format_time(self.until)
        when = "" if first is None else f", {first} to {last}" if first != last else f", {first}"
        return (
            f"{counted(len(self.alerts), 'alert')} in {counted(self.documents, 'document')}{when}; "
            f"{self.novel:,} were called novel."
        )

    def lines(self, *, markdown: bool = False) -> Iterator[str]:
        """Yield the lines of a text, or of Markdown."""
        yield f"# {self.summary()}" if markdown else self.summary()
        heading, item = ("## ", "- ") if markdown else ("", "  ")
        for kind, title in _SECTIONS:
            told = [alert for alert in self.alerts if alert.kind == kind]
            if told:
                yield ""
                yield f"{heading}{title}"
                yield from (f"{item}{_one_line(alert.line())}" for alert in told)
        alerted = {alert.topic["number"] for alert in self.alerts if alert.topic}
        standing = [topic for topic in self.topics if topic["number"] not in alerted]
        if standing:
            yield ""
            yield f"{heading}Older topics"
        for topic in standing[:_STANDING]:
            number = counted(topic["documents"], "document")
            yield f"{item}Topic {topic['number']}, {topic['name']}: {number}, {topic['life']}"
        if len(standing) > _STANDING:
            yield f"{item}and {counted(len(standing) - _STANDING, 'topic')} with fewer documents"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "since": format_time(self.since),
            "until": format_time(self.until),
            "windows": self.windows,
            "documents": self.documents,
            "novel": self.novel,
            "alerts": [alert.to_dict() for alert in self.alerts],
            "topics": list(self.topics),
        }


def _one_line(text: str) -> str:
    return " ".join(text.split())
