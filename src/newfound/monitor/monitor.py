"""The monitor: a stream of documents, its new topics and its alerts."""

from __future__ import annotations

import hashlib
import os
import time as clock
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from newfound.detection.detector import NoveltyDetector
from newfound.detection.meaning import TextEncoder
from newfound.marks import counted
from newfound.monitor.engine import WindowEngine
from newfound.monitor.laws import fewest_discoveries
from newfound.monitor.records import (
    Alert,
    Document,
    Length,
    MonitorSettings,
    Topic,
    Window,
    make_settings,
    parse_length,
    parse_time,
)
from newfound.monitor.reference import ScoringReader, fingerprint, from_bytes, to_bytes
from newfound.monitor.store import StateError, Store
from newfound.monitor.topics import (
    joined_topic,
    joined_topics,
    lives,
    open_topic,
    topic_parts,
    windows_of_topic,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Monitor"]

_UNDOABLE = 5  # models that are kept, for undo
_NOISE = "noise"  # the class of what was dismissed


class Monitor:
    """Watch a stream: tell when something new begins, and what it is.

    Documents are collected in windows. After each window it is tested whether words, or novel
    documents, have become more frequent than in the reference: the known documents and earlier
    windows. Words that have are grouped into topics; a topic keeps its number and its name. All
    tests together raise one false alarm in `false_alarm_every`, on average, as long as nothing
    changes.

    Parameters
    ----------
    detector : NoveltyDetector
        Fitted on known documents. It is not changed.
    every : int or str, default=500
        The length of a window: a number of documents, or a span of time such as "1h" or "1d".
    false_alarm_every : int or str, optional
        How far apart false alarms may be on average, in the unit of `every`, such as 50000 or
        "30d". By default 100 windows.
    state : path, optional
        The file that keeps everything. If it exists, the monitor continues where it was. Without
        it the state is in memory.
    fdr : float, default=0.1
        The expected share of false discoveries among the documents of a window that are counted
        as new.
    reference : int, default=200
        The number of earlier windows that the reference has.
    delay : int, default=16
        The number of windows before one becomes part of the reference, so that a topic that grows
        slowly is not taken for normal.
    keep : int, default=1000
        The number of windows for which texts of topics, counts and alerts are kept.
    late : int or str, default=0
        How long a window of time waits for documents that come late, such as "2h".

    Attributes
    ----------
    detector : NoveltyDetector
        The detector in use. It changes with `promote` and `dismiss`.
    alerts : list of Alert
        All alerts, in order.
    topics_ : list of Topic
        All topics that were not merged into others, in order.

    Examples
    --------
    >>> known = [f"{verb} my {kind} {thing}" for verb in ("pay", "check", "close", "open", "show")
    ...          for kind in ("new", "old", "other", "joint", "first")
    ...          for thing in ("bill", "account", "card", "loan", "deposit", "mortgage")]
    >>> detector = NoveltyDetector(alpha=0.2, random_state=1).fit(known)
    >>> monitor = Monitor(detector, every=20)
    >>> monitor.update(known[::7][:20])
    []
    >>> new = [f"the printer {what}" for what in ("jams", "smokes", "beeps", "is broken", "died")]
    >>> for alert in monitor.update(new + known[3::7][:15]):
    ...     print(alert.kind, alert.topic["rules"], alert.topic["documents"])
    topic ['printer'] 5
    """

    detector: NoveltyDetector

    def __init__(
        self,
        detector: NoveltyDetector,
        *,
        every: int | str = 500,
        false_alarm_every: int | str | None = None,
        state: str | os.PathLike[str] | None = None,
        fdr: float = 0.1,
        reference: int = 200,
        delay: int = 16,
        keep: int = 1000,
        late: int | str = 0,
    ) -> None:
        settings = make_settings(every, false_alarm_every, fdr, reference, delay, keep, late)
        detector.require_held_back_texts("watch a stream")  # before there is a file
        self._store = Store(state)
        try:
            self._begin(detector, settings)
            self._engine = WindowEngine(self._store, settings)
            self._load()
        except BaseException:
            self._store.close()
            raise

    @classmethod
    def open(cls, state: str | os.PathLike[str], *, encoder: TextEncoder | None = None) -> Self:
        """Go on with a state: its detector and its settings are used.

        Parameters
        ----------
        state : path
            The file that an earlier monitor has written.
        encoder : object with a method ``encode``, or None, default=None
            The encoder of its detector, if it learned with one that has no name; see
            `NoveltyDetector.use_encoder`.
        """
        if not Path(state).exists():
            raise StateError(f"There is no state {state}; make it with a detector.")
        store = Store(state)
        try:
            settings = store.get("settings")
            if settings is None:
                raise StateError(f"{state} has no detector; begin again with another file.")
            detector = from_bytes(store.model(store.get("version")))
        finally:
            store.close()
        if encoder is not None:
            detector.use_encoder(encoder)
        return cls(detector, state=state, **settings)

    def _begin(self, detector: NoveltyDetector, settings: MonitorSettings) -> None:
        """Check that the state is of this detector and has these settings, or write them."""
        store, mark = self._store, fingerprint(detector)
        before = store.get("settings")
        if before is None:
            detector.require_encoder()
            with store.transaction():
                # A state in memory is not loaded again, so that it can wait for the first step.
                version = store.put_model(to_bytes(detector) if store.path else None)
                store.put("settings", asdict(settings))
                store.put("version", version)
                store.put("begun_with", mark)
                store.put("fingerprint", mark)
            self.detector = detector
            return
        changed = [name for name, value in asdict(settings).items() if before[name] != value]
        if changed:
            name = changed[0]
            raise StateError(
                f"{store.path} was begun with {name}={_shown(before[name])}, not "
                f"{_shown(getattr(settings, name))}; keep it, or name another file."
            )
        self.check_begun_with(detector)
        if mark != store.get("fingerprint"):
            detector = from_bytes(store.model(store.get("version")), detector)
        self.detector = detector

    def check_begun_with(self, detector: NoveltyDetector) -> None:
        """Raise a `StateError` unless the state was begun with this detector."""
        if fingerprint(detector) not in map(self._store.get, ("begun_with", "fingerprint")):
            raise StateError(
                f"{self._store.path} was begun with another detector; name that one or another "
                "file."
            )

    def _load(self) -> None:
        self._reader = ScoringReader(self.detector)
        engine, store = self._engine, self._store
        epoch = int(store.get("version", 0))
        engine.load(self._reader.known(), epoch, self._reader.tokens)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Keep all changes, in memory and in the file, or none."""
        try:
            with self._store.transaction():
                yield
        except BaseException:
            self._load()
            raise

    def update(
        self,
        texts: Iterable[str | None],
        times: Iterable[Any] | None = None,
        ids: Iterable[Any] | None = None,
        *,
        position: Any = None,
    ) -> list[Alert]:
        """Take in documents; return the alerts of the windows that they close.

        All of them are kept in the state, or none if it fails or the process is killed.

        Parameters
        ----------
        texts : iterable of str
            The documents, in the order in which they came. Those without text are counted.
        times : iterable, optional
            The time of each: ISO text, seconds since 1970, or `datetime`. A document without one
            gets the latest time so far.
        ids : iterable, optional
            The id of each. A document whose id was seen before is counted as a duplicate.
        position : object, optional
            Where the source is after these documents, as plain data; see `position`.

        Returns
        -------
        list of Alert
        """
        given = list(texts)
        seconds = _as_many("times", times, len(given))
        names = _as_many("ids", ids, len(given))
        when = [parse_time(time, f"Document {row}") for row, time in enumerate(seconds)]
        with self._changing():
            rows = self._fresh(given, names)
            incoming = self._reader.read(
                [str(given[row]) for row in rows],
                [when[row] for row in rows],
                ["" if names[row] is None else str(names[row]) for row in rows],
            )
            alerts = self._engine.add_all(incoming)
            self._engine.save()
            if position is not None:
                self._store.put("position", position)
        return alerts

    def _fresh(self, texts: Sequence[Any], ids: Sequence[Any]) -> list[int]:
        """Return the rows of documents with text that did not come before; count the others."""
        rows, window = [], self._engine.window
        for row, (text, name) in enumerate(zip(texts, ids, strict=True)):
            if text is not None and not isinstance(text, str):
                raise ValueError(f"Document {row} is {type(text).__name__}, not a str.")
            if text is None or not text.strip():
                window.empty += 1
                continue
            if name is not None:
                digest = hashlib.blake2b(str(name).encode("utf-8", "replace"), digest_size=12)
                if not self._store.add_seen(digest.digest(), window.number):
                    window.duplicates += 1
                    continue
            rows.append(row)
        return rows

    def close_window(self) -> list[Alert]:
        """Close the open window now, as at the end of a stream; return its alerts.

        Documents of the same window of time that come later are late, and are not tested.
        """
        engine = self._engine
        if not engine.window.size and not engine.waiting:
            return []
        with self._changing():
            alerts = engine.take_waiting()
            if engine.window.size:
                alerts += engine.close()
            engine.save()
        return alerts

    def close_if_over(self, now: float | None = None) -> list[Alert]:
        """Close the open window if it is one of time and its time is over; return its alerts.

        What counts is the time of the stream: that of the latest document, and the time since that
        document came. So a stream that is behind the clock, such as an old file, has whole windows
        while it continues.

        Parameters
        ----------
        now : float, optional
            The time in seconds since 1970; by default that of the clock.
        """
        engine = self._engine
        key, time = engine.window.key, engine.stream_time(clock.time() if now is None else now)
        end = None if key is None else (key + 1) * engine.every.size + engine.settings.late
        if end is None or time is None or time < end:
            return []
        there = clock.time() if now is None else now
        with self._changing():
            alerts = engine.close_over(there, there)
            for document in engine.waiting.take_ahead():  # the clock may explain them now
                alerts += engine.add(document, there)
            engine.save()
        return alerts

    @property
    def position(self) -> Any:
        """Where the source was when the last documents were taken in; None at the beginning."""
        return self._store.get("position")

    @property
    def alerts(self) -> list[Alert]:
        """All alerts, in order."""
        return self._store.alerts()

    def unsent_alerts(self) -> list[Alert]:
        """Return the alerts that were not marked as sent."""
        return self._store.alerts(unsent=True)

    def mark_sent(self, alert: Alert) -> None:
        """Remember that an alert was sent."""
        self._store.mark_sent(alert.number)

    @property
    def topics_(self) -> list[Topic]:
        """All topics that were not merged into others, in order."""
        return joined_topics(self._engine.topics)

    def topic(self, number: int) -> Topic:
        """Return a topic with those that were merged into it."""
        return joined_topic(self._engine.topics, number)

    @property
    def windows_(self) -> list[Window]:
        """All windows that are closed, in order, without their words."""
        return [window for window in self._store.windows() if window.closed]

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, force: bool = False
    ) -> None:
        """Write one HTML page with the rate, alerts and topics over time; it works offline.

        Parameters
        ----------
        path : path
            The file to write.
        title : str, optional
            The title of the page.
        force : bool, default=False
            Replace an existing file.
        """
        from newfound.show.monitor import write_monitor_report

        write_monitor_report(path, self, title=title, force=force)

    def warning(self) -> str | None:
        """Return a sentence if the held-back documents are no longer like the stream, else None.

        They are too old if documents outside of topics are called novel more than 1.5 times as
        often as alpha says, and chance does not explain that (p < 0.001).
        """
        return self._engine.warning(float(self.detector.alpha))

    @property
    def every(self) -> Length:
        """The length of a window."""
        return self._engine.every

    @property
    def false_alarm_every(self) -> Length:
        """How far apart false alarms may be on average."""
        return parse_length(self._engine.settings.false_alarm_every)

    @property
    def open_window(self) -> Window:
        """The window that documents are added to now."""
        return self._engine.window

    @property
    def n_documents(self) -> int:
        """The number of documents that were taken in so far."""
        return self._engine.n_documents

    def summary(self) -> str:
        """Return what was seen so far, in a sentence."""
        engine = self._engine
        documents, closed = counted(engine.n_documents, "document"), engine.window.number - 1
        found = f"{counted(engine.n_alerts, 'alert')}, {counted(len(self.topics_), 'topic')}"
        also = " and an open one" if engine.window.size else ""
        return (
            f"{documents} in {counted(closed, 'closed window')} of {engine.every}{also}, {found}; "
            f"at most one false alarm in {self.false_alarm_every} on average, if nothing changes."
        )

    def left_out(self) -> str | None:
        """Return a sentence about documents that were not tested or had no time; None without any.

        It counts those of the windows that are kept.
        """
        windows = [*self.windows_, self._engine.window]

        def total(name: str) -> int:
            return sum(getattr(window, name) for window in windows)

        late, duplicates, empty = map(total, ("late", "duplicates", "empty"))
        waiting = len(self._engine.waiting)
        named = [
            counted(late, "late document") if late else "",
            f"{counted(duplicates, 'document')} with an id that came before" if duplicates else "",
            f"{counted(empty, 'line')} without a text that can be read" if empty else "",
        ]
        found = ", ".join(filter(None, named))
        about = f"Not tested: {found}." if found else ""
        if waiting:
            about += (
                f" {counted(waiting, 'document')} of later windows wait: for late ones, or because "
                "they are far ahead of the others."
            )
        if ahead := total("ahead"):
            about += (
                f" {counted(ahead, 'document')} far ahead of all others got the time of the stream."
            )
        if late > total("size"):
            about += (
                " Late means that a document of a later window came first: sort the documents by "
                "time, the oldest first."
            )
        if self._engine.every.timed and (timeless := total("timeless")):
            about += (
                f" {counted(timeless, 'document')} without a time that can be read got the time of "
                "the stream."
            )
        return about.strip() or None

    @property
    def fewest_discoveries(self) -> int | None:
        """The smallest number of new documents that can be found in a window of documents.

        None for windows of time, whose number of documents is not known.
        """
        if self._engine.every.timed:
            return None
        return fewest_discoveries(
            self._engine.every.size, self._engine.settings.fdr, self._reader.smallest_p_value()
        )

    def documents(self, number: int) -> list[Document]:
        """Return the documents of a topic, in order, as far as they are kept.

        Parameters
        ----------
        number : int
            The number of the topic. Topics that were merged into it are part of it.
        """
        return self._store.documents(topics=topic_parts(self._engine.topics, number))

    def lives(self) -> dict[int, str]:
        """Return where each topic is in its life: new, growing, steady, fading, over or back."""
        return lives(
            self._engine.topics, self._store.topic_counts(), self._engine.window.number - 1
        )

    def rename(self, number: int, name: str) -> Topic:
        """Give a topic another name.

        Parameters
        ----------
        number : int
            The number of the topic.
        name : str
            Its name from now on.
        """
        topic = open_topic(self._engine.topics, number)
        if not isinstance(name, str) or not name.strip():
            raise ValueError("A topic needs a name; pass one that is not empty.")
        with self._changing():
            details = {"topic": number, "name": topic.name, "to": name.strip()}
            self._store.add_log(clock.time(), "rename", details)
            topic.name = name.strip()
            self._store.put_topic(topic)
        return topic

    def remove_rule(self, number: int, word: str) -> Topic:
        """Take a rule away from a topic; its documents stay.

        Parameters
        ----------
        number : int
            The number of the topic.
        word : str
            A word of its rules. One rule has to stay.
        """
        topic = open_topic(self._engine.topics, number)
        rules = [*topic.rules, *topic.novel_rules]
        if word not in rules:
            raise ValueError(f"{word!r} is no rule of topic {number}; it has {', '.join(rules)}.")
        if len(rules) == 1:
            raise ValueError(f"{word!r} is the only rule of topic {number}; dismiss the topic.")
        with self._changing():
            details = {"topic": number, "name": topic.name, "word": word}
            novel = word not in topic.rules
            place = (topic.novel_rules if novel else topic.rules).index(word)
            details |= {"novel": novel, "place": place}
            self._store.add_log(clock.time(), "rules", details)
            topic.rules = [rule for rule in topic.rules if rule != word]
            topic.novel_rules = [rule for rule in topic.novel_rules if rule != word]
            topic.removed = [*topic.removed, word]
            self._store.put_topic(topic)
        self._load()
        return self._engine.topics[number]

    def counts(self, number: int) -> dict[int, int]:
        """Return the number of documents of a topic in each window that has some."""
        return windows_of_topic(self._engine.topics, number, self._store.topic_counts())

    def promote(self, number: int, name: str) -> Topic:
        """Make a topic a known class: the detector learns its documents.

        A share of them is held back, so that p-values stay valid. The rate is compared from now on
        with the held-back documents, until there are windows that the new detector has scored.

        Parameters
        ----------
        number : int
            The number of the topic.
        name : str
            The name of the class, new or known.

        Returns
        -------
        Topic
        """
        if not isinstance(name, str) or not name.strip():
            raise ValueError("A class needs a name; pass one that is not empty.")
        return self._learn(number, name.strip(), "promote", "promoted")

    def dismiss(self, number: int) -> Topic:
        """Teach that a topic is noise: the detector learns its documents as the class "noise".

        Parameters
        ----------
        number : int
            The number of the topic.
        """
        return self._learn(number, _NOISE, "dismiss", "dismissed")

    def _learn(self, number: int, name: str, action: str, status: str) -> Topic:
        topic = open_topic(self._engine.topics, number)
        texts = [document.text for document in self.documents(number)]
        if not texts:
            raise ValueError(
                f"The documents of topic {number} have expired; pass a larger keep next time."
            )
        store, before = self._store, int(self._store.get("version"))
        content = to_bytes(self.detector)
        learned = from_bytes(content, self.detector)
        learned.partial_fit(texts, [name] * len(texts))
        with self._changing():
            store.fill_model(before, content)
            version = store.put_model(to_bytes(learned))
            topic.status, topic.known_as = status, name
            store.put_topic(topic)
            details = {"topic": number, "name": topic.name, "before": before, "after": version}
            store.add_log(clock.time(), action, {**details, "known_as": name})
            self._use(version, learned)
        self.detector = learned
        self._load()
        return self._engine.topics[number]

    def _use(self, version: int, detector: NoveltyDetector) -> None:
        """Note which version of the detector is in use, and drop those that no undo needs."""
        self._store.put("version", version)
        self._store.put("fingerprint", fingerprint(detector))
        steps = [step["before"] for step in self._store.log() if "before" in step]
        undoable = [step for step in steps if step != version][-_UNDOABLE:]
        self._store.drop_models([version, *undoable])

    def merge(self, number: int, other: int) -> Topic:
        """Make one topic part of another; return the latter.

        Parameters
        ----------
        number : int
            The topic that stays.
        other : int
            The topic that becomes part of it.
        """
        topics = self._engine.topics
        topic, part = open_topic(topics, number), open_topic(topics, other)
        if number == other:
            raise ValueError(f"Topic {number} cannot be merged into itself.")
        with self._changing():
            part.merged_into = number
            self._store.put_topic(part)
            details = {"topic": number, "name": topic.name, "part": other, "part_name": part.name}
            self._store.add_log(clock.time(), "merge", details)
        return self.topic(number)

    def undo(self) -> dict[str, Any]:
        """Take back the last step of a person that was not taken back.

        Returns
        -------
        dict
            The step, as in `log`.
        """
        steps = [step for step in self._store.log() if not step["undone"]]
        if not steps:
            raise ValueError("There is no step to undo.")
        step = steps[-1]
        detector = self.detector
        with self._changing():
            topics = self._engine.topics
            if step["action"] == "merge":
                part = topics[step["part"]]
                part.merged_into = None
                self._store.put_topic(part)
            elif step["action"] == "rename":
                topics[step["topic"]].name = step["name"]
                self._store.put_topic(topics[step["topic"]])
            elif step["action"] == "rules":
                topic = topics[step["topic"]]
                rules = topic.novel_rules if step["novel"] else topic.rules
                rules.insert(step["place"], step["word"])
                topic.removed.remove(step["word"])
                self._store.put_topic(topic)
            else:
                topic = topics[step["topic"]]
                topic.status, topic.known_as = "open", None
                self._store.put_topic(topic)
                detector = from_bytes(self._store.model(step["before"]), self.detector)
                self._use(step["before"], detector)
            self._store.mark_undone(step["number"])
        self.detector = detector
        self._load()
        return step

    @property
    def log(self) -> list[dict[str, Any]]:
        """What people have changed in topics, and when; in order."""
        return self._store.log()

    def close(self) -> None:
        """Close the state file. Everything is already in it."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _shown(setting: Any) -> str:
    """Return a setting as a person would write it: "30d" for "2592000s"."""
    return parse_length(setting).short() if isinstance(setting, str) else str(setting)


def _as_many(name: str, values: Iterable[Any] | None, n: int) -> list[Any]:
    found = [None] * n if values is None else list(values)
    if len(found) != n:
        raise ValueError(f"There are {len(found):,} {name} for {n:,} texts; pass one for each.")
    return found
