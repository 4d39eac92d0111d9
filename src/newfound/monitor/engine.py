"""Windows are filled, closed and tested; what is found becomes topics and alerts."""

from __future__ import annotations

import re
import time as clock
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from newfound.arithmetic import hypergeometric_tail
from newfound.monitor.laws import n_discoveries, rate_p_value
from newfound.monitor.records import (
    SPANS,
    Alert,
    Document,
    MonitorSettings,
    Topic,
    Window,
    format_time,
)
from newfound.monitor.reference import Known, ReferenceWindows
from newfound.monitor.store import Store
from newfound.monitor.topics import (
    MAX_RULES,
    Tokens,
    TopicRules,
    explained_words,
    new_topic,
)
from newfound.monitor.waiting import AGREE, Waiting
from newfound.stories.names import same_stem
from newfound.stories.risen import (
    MIN_DOCUMENTS,
    Bag,
    Reference,
    RisenGroup,
    RisenWord,
    group_words,
    risen_words,
)

__all__ = ["WindowEngine", "excerpt"]

N_TESTS = 3 * len(SPANS)  # the rate, the words of all documents, those of novel ones
MAX_RECENT = 20_000  # documents whose texts are at hand to form topics
_JOIN = 0.5  # share of the documents of risen words that an older topic has
_OTHER_FORM = 0.25  # of the likeness, for documents with another form of a rule
_MANY_TIMES, _MANY = 5.0, 20  # as many documents as expected, and documents, are news in any case
_COHERENT = 0.5  # of the documents of a topic belong to it by more than a frequent word
_IMPURE = 0.1  # share of all documents of a word of novel ones that the reference may explain
_CALM = 0.05  # p-value above which a risen rate is over
_STALE = 1.5  # times as many novel documents as alpha says
_STALE_LEVEL = 0.001
_SHOWN, _BEFORE = 200, 60  # characters of a document in an alert, and of those before the word
_AHEAD = 86400.0  # seconds that a time may be in the future


class WindowEngine:
    """The windows, topics and reference of a monitor, in memory and in its store.

    Every method that changes something must be called in a transaction of the store; if it fails,
    `load` returns to what the store has.
    """

    def __init__(self, store: Store, settings: MonitorSettings) -> None:
        self.store, self.settings, self.every = store, settings, settings.length
        self.level = settings.level / N_TESTS

    def load(self, known: Known, epoch: int, tokens: Tokens | None = None) -> None:
        """Return to what the store has.

        `epoch` is the version of the detector, and `tokens` returns the words of a text, for names.
        """
        self.known, self.epoch, self.tokens = known, epoch, tokens
        self.topics = {topic.number: topic for topic in self.store.topics()}
        self.n_documents = int(self.store.get("n_documents", 0))
        self.n_alerts = int(self.store.get("n_alerts", 0))
        self.latest: float | None = self.store.get("latest")
        self.arrived: float | None = self.store.get("arrived")  # by the clock of the machine
        self.risen = bool(self.store.get("risen", False))
        newest = int(self.store.get("window", 1))
        settings = self.settings
        windows = list(
            self.store.windows(after=newest - settings.delay - settings.reference - 1, words=True)
        )
        if not windows or windows[-1].closed:
            windows.append(Window(newest if not windows else windows[-1].number + 1, epoch=epoch))
        self.window = windows.pop()
        self.recent = deque(windows[-settings.delay :])
        self.reference = ReferenceWindows(self.store, known, settings.reference)
        for window in windows[: -settings.delay]:
            self.reference.add(window)
        documents = self.store.documents(after=self.window.number - SPANS[-1], last=MAX_RECENT)
        self.documents: deque[Document] = deque(documents, MAX_RECENT)
        here = self.store.documents(after=self.window.number - 1)
        self.p_values = [document.p_value for document in here if document.novel]
        self.texts = {_key(document.text) for document in here if document.counted}
        self.rules = self._recent_rules()
        waiting = self.store.get("waiting")
        self.waiting = Waiting() if waiting is None else Waiting.of(waiting)
        self.waits = bool(self.waiting)  # in the store
        self.unsaved: list[Document] = []
        self.counted: Counter[tuple[int, int]] = Counter()  # documents by topic and window
        self.touched: set[int] = set()  # topics that have changed otherwise
        self.changed: set[int] = set()  # closed windows some of whose documents got a topic

    def _recent_rules(self) -> TopicRules:
        """Return the rules of all topics but those that were not seen for long.

        They are looked through when something expires; a monitor that was opened again has the same
        ones.
        """
        expired = (self.window.number - 1) // SPANS[-1] * SPANS[-1]
        oldest = expired - self.settings.keep
        return TopicRules(topic for topic in self.topics.values() if topic.last_window > oldest)

    # Documents come

    def add_all(self, batch: Sequence[Document]) -> list[Alert]:
        """Add documents that came now; return the alerts of the windows that they close."""
        now = clock.time()
        times = (document.time for document in batch)
        first = next((time for time in times if time is not None and time <= now + _AHEAD), now)
        return [alert for document in batch for alert in self._add(document, now, first)]

    def add(self, document: Document, now: float) -> list[Alert]:
        """Add a document that came before; return the alerts of the windows that it closes."""
        return self._add(document, now, now)

    def _add(
        self, document: Document, now: float, first: float, *, agreed: bool = False
    ) -> list[Alert]:
        alerts: list[Alert] = []
        time, key = document.time, None
        timeless = time is None or time > now + _AHEAD
        if self.every.timed:
            if timeless:
                time = self._time_without(now, first)
            assert time is not None
            key = int(time // self.every.size)
            earliest = self._earliest()
            if earliest is not None and key < earliest and not self._is_first_wrong(key):
                self.window.late += 1
                return alerts
            document.time = time
            open_key = self.window.key
            over = None if open_key is None else (open_key + 1) * self.every.size
            if not agreed and over is not None and over <= time < over + self.settings.late:
                self.waiting.early.append(document)
                return alerts
            if not agreed and self._is_far_ahead(key, time, now):
                self.waiting.ahead.append(document)
                return self._agreed(now, first)
            if open_key is not None and key > open_key:
                alerts += self.close_over(now, first)
                return [*alerts, *self._add(document, now, first, agreed=True)]
        document.time = time
        self._put(document, key, timeless, now)
        if not self.every.timed and self.window.size >= self.every.size:
            alerts += self.close()
        if self.waiting.ahead:
            self.waiting.others += 1
            alerts += self._agreed(now, first)
        return alerts

    def _is_first_wrong(self, key: int) -> bool:
        """Return whether the documents of the first window were ahead of the stream.

        That is so if they are few, and more documents come for an earlier one.
        """
        window = self.window
        few = window.number == 1 and window.size <= AGREE
        if not few or window.late < window.size or window.key is None:
            return False
        window.key, self.latest = key, None
        window.first = window.last = None
        return True

    def close_over(self, now: float, first: float) -> list[Alert]:
        """Close the open window; documents of the next one that have come go there."""
        alerts = self.close()
        for document in self.waiting.take_early():
            alerts += self._add(document, now, first)
        return alerts

    def _is_far_ahead(self, key: int, time: float, now: float) -> bool:
        """Return whether a time is beyond the next window, and the clock does not explain that."""
        there, before = self.stream_time(now), self.window.key
        if before is None and self.recent:
            before = self.recent[-1].key
        late = there is None or time > there + self.every.size
        return before is not None and key > before + 1 and late

    def _agreed(self, now: float, first: float) -> list[Alert]:
        """Take in the documents that are far ahead of the others, once it is clear who is right."""
        alerts: list[Alert] = []
        believed = self.waiting.take_agreed(self.every.size, self.window.size)
        for document in believed:
            alerts += self._add(document, now, first, agreed=True)
        if not believed and self.waiting.are_wrong():
            for document in self.waiting.take_ahead():
                self.window.ahead += 1
                document.time = self.latest
                alerts += self._add(document, now, first, agreed=True)
        return alerts

    def take_waiting(self) -> list[Alert]:
        """Take in all documents that wait, as at the end of a stream; return the alerts."""
        now, alerts = clock.time(), list[Alert]()
        for document in [*self.waiting.take_early(), *self.waiting.take_ahead()]:
            alerts += self._add(document, now, now, agreed=True)
        return alerts

    def stream_time(self, now: float) -> float | None:
        """Return the time of the stream: its latest document, and the time since that came.

        A stream may be behind the clock of the machine. Then its windows are, too.
        """
        if self.latest is None or self.arrived is None:
            return self.latest
        return self.latest + max(0.0, now - self.arrived)

    def _earliest(self) -> int | None:
        """Return the key of the earliest window of time that a document can still be in, if any."""
        if self.window.key is not None:
            return self.window.key
        closed = self.recent[-1].key if self.recent else None
        return None if closed is None else closed + 1

    def _time_without(self, now: float, first: float) -> float:
        """Return the time of a document without one: the latest, if its window is not over."""
        time = self.stream_time(now)
        if self.latest is None or time is None:
            return first
        size = self.every.size
        same = self.latest // size == time // size
        earliest = self._earliest()
        there = self.latest if same else time
        return there if earliest is None else max(there, float(earliest * size))

    def _put(self, document: Document, key: int | None, timeless: bool, now: float) -> None:
        window, time = self.window, document.time
        window.key, window.epoch = key, self.epoch
        window.size += 1
        window.novel += document.novel
        window.timeless += timeless
        if time is not None:
            window.first = time if window.first is None else min(window.first, time)
            window.last = time if window.last is None else max(window.last, time)
            if self.latest is None or time > self.latest or (time == self.latest and not timeless):
                self.latest, self.arrived = time, now
        self.n_documents += 1
        document.number, document.window = self.n_documents, window.number
        document.topic = self.topic_of(document.bag, document.novel)
        if document.novel:
            self.p_values.append(document.p_value)
        words = document.bag
        if document.topic:
            topic = self.topics[document.topic]
            words = words.difference(topic.explained)
            topic.profile.add(document.bag)
            self._count(document)
        if (text := _key(document.text)) not in self.texts:
            # Words of a copy count once in a window, here as in the reference.
            self.texts.add(text)
            document.counted = True
            window.words.update(words)
            if document.novel:
                window.novel_words.update(words)
        self.documents.append(document)
        self.unsaved.append(document)

    def topic_of(self, bag: Bag, novel: bool) -> int:
        """Return the topic that a document is most like, of those whose rules it matches, or 0."""
        best, most = 0, 1.0
        for number in sorted(self.rules.topics_of(bag, novel)):
            topic = self.topics[number]
            if not self._belongs(topic, bag):
                continue
            alike = topic.profile.likeness(bag, self.reference.rarity)
            if alike > most or (alike == most and not best):
                best, most = number, alike
        return best

    def _belongs(self, topic: Topic, bag: Bag) -> bool:
        """Return whether a document has a rare rule of a topic, or two words of many of its own."""
        rules = bag.intersection((*topic.rules, *topic.novel_rules))
        if any(self.reference.is_rare(word) for word in rules):
            return True
        return topic.profile.shared(bag) > 1

    def _count(self, document: Document) -> None:
        """Count a document of a topic."""
        topic = self.topics[document.topic]
        topic.documents += 1
        topic.last_window = max(topic.last_window, document.window)
        times = [time for time in (topic.last_seen, document.time) if time is not None]
        topic.last_seen = max(times, default=None)
        self.counted[topic.number, document.window] += 1
        window = self._window(document.window)
        if window is not None:
            window.in_topics += 1
            window.novel_in_topics += document.novel

    def _window(self, number: int) -> Window | None:
        if number == self.window.number:
            return self.window
        return next((window for window in self.recent if window.number == number), None)

    def save(self) -> None:
        """Write what has changed since the last window was closed."""
        self.store.put_documents(self.unsaved)
        self.unsaved = []
        self.store.put_window(self.window)
        for (number, window), n in self.counted.items():
            self.store.count_topic(number, window, n)
        for number in self.touched.union(number for number, _ in self.counted):
            self.store.put_topic(self.topics[number])
        self.counted.clear()
        self.touched.clear()
        if self.waiting or self.waits:
            self.store.put("waiting", self.waiting.to_data())
            self.waits = bool(self.waiting)
        values = ("n_documents", "n_alerts", "latest", "arrived", "risen")
        for name in values:
            self.store.put(name, getattr(self, name))
        self.store.put("window", self.window.number)

    # Windows end

    def close(self) -> list[Alert]:
        """Test the open window and begin another one; return the alerts."""
        window = self.window
        window.closed = True
        window.discoveries = n_discoveries(self.p_values, window.size, self.settings.fdr)
        self.save()
        self.recent.append(window)
        for one in self.recent:
            self.reference.tallies(one)  # all words have numbers before the reference is looked at
        references = self.reference.counts()
        found = [alert for span in SPANS for alert in self._new_topics(span, references)]
        alerts = [*self._rate(explained=bool(found)), *found]
        for number in sorted({topic for topic, at in self.counted if at == window.number}):
            if self._is_young(self.topics[number]):
                self._explain(self.topics[number])
        for alert in alerts:
            self.store.put_alert(alert)
        self.save()
        for number in self.changed:
            if (changed := self._window(number)) is not None:
                self.store.put_window(changed)
        self.changed.clear()
        if len(self.recent) > self.settings.delay:
            self.reference.add(self.recent.popleft())
        while self.documents and self.documents[0].window <= window.number + 1 - SPANS[-1]:
            self.documents.popleft()
        if window.number % SPANS[-1] == 0:
            self._expire(window.number)
        self.window = Window(window.number + 1, epoch=self.epoch)
        self.p_values, self.texts = [], set()
        return alerts

    def _expire(self, number: int) -> None:
        settings = self.settings
        self.store.expire(
            recent=number - SPANS[-1],
            words=number - settings.delay - settings.reference - 1,
            keep=number - settings.keep,
        )
        self.rules = self._recent_rules()
        self.reference.forget_words()

    def _span(self, length: int) -> list[Window]:
        """Return the last closed windows, or none if there are not as many."""
        return list(self.recent)[-length:] if len(self.recent) >= length else []

    def _when(self, length: int) -> str:
        """Return which of the last windows were tested, in words; nothing for a single one."""
        if length == 1:
            return ""
        first, *_, last = (window.key for window in self._span(length))
        if first is None or last is None:
            return f" in the last {length} windows"
        unit = str(self.every).removeprefix("1 ")
        if unit[0].isdigit() or last - first != length - 1:  # spans without documents have none
            return f" in the last {length} windows of {self.every}"
        return f" in the last {length} {unit}s"

    def _rate(self, *, explained: bool) -> list[Alert]:
        """Test whether documents outside of topics are called novel more often than before."""
        referred = [window for window in self.reference if window.epoch == self.epoch]
        before = self.known.let_through + sum(w.novel - w.novel_in_topics for w in referred)
        total = self.known.held_back + sum(w.size - w.in_topics for w in referred)
        tests = []
        for length in SPANS:
            span = [window for window in self._span(length) if window.epoch == self.epoch]
            count = sum(w.novel - w.novel_in_topics for w in span)
            size = sum(w.size - w.in_topics for w in span)
            if len(span) == length:
                p = rate_p_value(count, size, before, total)
                tests.append((p, length, count, size * before / max(total, 1), size))
        if not tests:
            return []
        p, length, count, expected, size = min(tests)
        self.window.rate_p = min(1.0, p * len(SPANS))
        if self.risen or p > self.level:
            # The longest span holds the documents of the alert until they have left it.
            self.risen = self.risen and p <= _CALM
            return []
        self.risen = True
        why = (
            "New topics explain a part of them."
            if explained
            else "No new topic explains them: the style of the documents may have changed."
        )
        summary = (
            f"Novel documents have become more frequent: {count:,} of {size:,} documents outside "
            f"of topics{self._when(length)}, where {expected:.1f} were expected. {why}"
        )
        return [self._alert("rate", summary, length, count, expected, p, None)]

    def warning(self, alpha: float) -> str | None:
        """Return a sentence if the held-back documents are too old to be trusted."""
        windows = [*self.reference, *self.recent]
        windows = [window for window in windows if window.epoch == self.epoch]
        count = sum(window.novel - window.novel_in_topics for window in windows)
        size = sum(window.size - window.in_topics for window in windows)
        every = sum(window.novel for window in windows), sum(window.size for window in windows)

        def stale(count: int, size: int) -> bool:
            p = rate_p_value(count, size, self.known.let_through, self.known.held_back)
            return bool(size and count > _STALE * alpha * size and p < _STALE_LEVEL)

        if not stale(count, size):
            if not stale(*every):
                return None
            return (
                f"The held-back documents may be too old: {every[0] / every[1]:.1%} of all "
                f"documents are called novel, where alpha is {alpha:.1%}, and most of these are in "
                "topics. Promote the topics that are no news any more, or learn a detector from "
                "newer documents."
            )
        return (
            f"The held-back documents are too old to be trusted: {count / size:.1%} of the "
            f"documents outside of topics are called novel, where alpha is {alpha:.1%}. Learn a "
            "detector from newer documents; p-values of single documents are too small until then."
        )

    def _alert(
        self, kind: str, summary: str, windows: int, documents: int, expected: float, p: float,
        topic: Topic | None,
    ) -> Alert:  # fmt: skip
        self.n_alerts += 1
        return Alert(
            self.n_alerts, kind, self.window.number, self.window.last, summary, windows,
            documents, expected, p, self.level, None if topic is None else topic.to_dict(),
        )  # fmt: skip

    # Topics are found

    def _new_topics(self, length: int, references: tuple[Reference, Reference]) -> list[Alert]:
        """Find words that have become more frequent in the last windows, and form topics."""
        span = self._span(length)
        if not span:
            return []
        words = self._risen(span, references)
        if not words:
            return []
        first = span[0].number
        documents = [document for document in self.documents if document.window >= first]
        groups = group_words(
            words,
            [document.bag for document in documents],
            [document.novel for document in documents],
        )
        found = [self._form(group, documents, length) for group in groups]
        return [alert for alert in found if alert is not None]

    def _risen(
        self, span: Sequence[Window], references: tuple[Reference, Reference]
    ) -> list[RisenWord]:
        """Return the words that are more frequent in a span, the most significant first."""
        vocabulary, size = self.reference.vocabulary, sum(window.size for window in span)
        tallies = [self.reference.tallies(window) for window in span]
        every, of_novel = (vocabulary.added_up(some) for some in zip(*tallies, strict=True))
        risen = risen_words(every, size, references[0], self.level, vocabulary.names)
        novel = [
            replace(word, novel=True)
            for word in risen_words(of_novel, size, references[1], self.level, vocabulary.names)
        ]
        found: dict[str, RisenWord] = {}
        for word in self.reference.never_as_often([*risen, *novel], span):
            if not word.novel:
                found[word.word] = word
            elif word.word not in found:
                # The reference may explain some of all documents that have the word.
                number = vocabulary[word.word]
                usual = references[0].counts[number] * size / references[0].size
                found[word.word] = replace(word, pure=bool(usual <= _IMPURE * every[number]))
        return sorted(found.values(), key=lambda word: word.p_value)

    def _form(self, group: RisenGroup, documents: Sequence[Document], length: int) -> Alert | None:
        """Make a topic and its alert, or add the words to an older topic."""
        rows = [documents[row] for row in group.rows]
        if not rows:
            return None
        topic = self._older(group, rows)
        if topic is not None:
            return self._grow(topic, group, rows, length)
        topic = new_topic(
            max(self.topics, default=0) + 1,
            self.window.number,
            group,
            rows,
            self.reference,
            self.tokens,
        )
        own = {document.text: document.bag for document in rows}
        strongest = group.words[0]
        many = strongest.documents >= max(_MANY_TIMES * strongest.expected, _MANY)
        coherent = sum(self._belongs(topic, bag) for bag in own.values())
        if not many and coherent < _COHERENT * len(own):
            return None  # a frequent word is a little more frequent, in documents of many kinds
        self.topics[topic.number] = topic
        self._claim(topic, rows)
        return self._told("topic", f"New topic {topic.number}, {topic.name}", topic, group, length)

    def _told(self, kind: str, what: str, topic: Topic, group: RisenGroup, length: int) -> Alert:
        """Return an alert of a group of words: a new topic, or something new in one."""
        strongest = group.words[0]
        typical = topic.typical[:1] if kind == "topic" else []
        shown = [d for d in self.documents if d.topic == topic.number and strongest.word in d.bag]
        document = next((d for d in shown if d.text in typical), shown[-1] if shown else None)
        first = "" if document is None else f' "{excerpt(document.text, strongest.word)}"'
        summary = (
            f"{what}: {strongest.documents:,} documents "
            f"{'called novel ' if strongest.novel else ''}with {strongest.word}"
            f"{self._when(length)}, where {strongest.expected:.1f} were expected.{first}"
        )
        made = self._alert(
            kind, summary, length, strongest.documents, strongest.expected, strongest.p_value,
            topic,
        )  # fmt: skip
        if document is None:
            return made
        text = excerpt(document.text, strongest.word)
        about = {"id": document.id, "time": format_time(document.time), "text": text}
        return replace(made, document=about)

    def _older(self, group: RisenGroup, rows: Sequence[Document]) -> Topic | None:
        """Return the topic that has, or is like, most of the documents."""
        oldest = self.window.number - SPANS[-1]
        best, most = None, _JOIN * len(rows)
        for number in sorted(self.rules.numbers):
            topic = self.topics[number]
            own = sum(row.topic == number for row in rows)
            if not own and topic.last_window < oldest:
                continue
            least = _OTHER_FORM if self._has_form(topic, group) else 1.0
            n = sum(
                row.topic == number
                or (
                    not row.topic
                    and topic.profile.likeness(row.bag, self.reference.rarity) >= least
                )
                for row in rows
            )
            if n >= most and (n > most or best is None):
                best, most = topic, n
        return best

    def _has_form(self, topic: Topic, group: RisenGroup) -> bool:
        """Return whether a rule of a topic is another form of a word of a group: iraq, iraqi."""
        rules = (*topic.rules, *topic.novel_rules)
        return any(
            word != rule and same_stem(word, rule, most=2) for word in group.rules for rule in rules
        )

    def _is_young(self, topic: Topic) -> bool:
        """Return whether a topic began so lately that its documents still tell what it is about."""
        return self.window.number - topic.alerted < SPANS[1]

    def _grow(
        self, topic: Topic, group: RisenGroup, rows: Sequence[Document], length: int
    ) -> Alert | None:
        """Add risen words to an older topic; return an alert if they are new to it."""
        is_new = not self._is_young(topic) and self._is_update(topic, group, rows)
        room = MAX_RULES - len(topic.rules) - len(topic.novel_rules)
        known = {*topic.rules, *topic.novel_rules, *topic.removed}
        topic.rules += [word for word in group.rules if word not in known][: max(room, 0)]
        room = MAX_RULES - len(topic.rules) - len(topic.novel_rules)
        known.update(topic.rules)
        more = [word for word in group.novel_rules if word not in known]
        topic.novel_rules += more[: max(room, 0)]
        self._claim(topic)
        self._explain(topic, group)
        if not is_new:
            return None
        topic.updated = self.window.number
        words = " ".join(word.word for word in group.words[:2])
        what = f"Update of topic {topic.number}, {topic.name}: {words}"
        return self._told("update", what, topic, group, length)

    def _is_update(self, topic: Topic, group: RisenGroup, rows: Sequence[Document]) -> bool:
        """Return whether the strongest word of a group is new to an older topic.

        Its documents in the span are compared with the earlier ones; and it has no other update for
        some windows.
        """
        if self.window.number - topic.updated < SPANS[1]:
            return False
        word, first = group.words[0].word, min(row.window for row in rows)
        own = [d for d in self.documents if d.topic == topic.number]
        span = [document for document in own if document.window >= first]
        with_word = sum(word in document.bag for document in span)
        recent = [document for document in own if document.window < first]
        earlier, before = len(recent), sum(word in document.bag for document in recent)
        if not recent:  # the topic is back; what it remembers has the documents of the span, too
            earlier = max(round(topic.profile.documents) - len(span), 0)
            before = max(round(topic.profile.counts.get(word, 0.0)) - with_word, 0)
        if with_word < MIN_DOCUMENTS or not earlier:
            return False
        p = hypergeometric_tail(
            np.array([with_word]), len(span) + earlier, np.array([with_word + before]), len(span)
        )
        return bool(p[0] <= self.level)

    def _claim(self, topic: Topic, first: Sequence[Document] = ()) -> None:
        """Move its first documents, and recent ones that belong to it, into a topic.

        Its profile has the `first` ones.
        """
        self.rules.add(topic)
        moved, known = [], {document.number for document in first}
        for document in self.documents:
            is_first = document.number in known
            if document.topic or not (
                is_first or topic.number == self.topic_of(document.bag, document.novel)
            ):
                continue
            document.topic = topic.number
            if not is_first:
                topic.profile.add(document.bag)
            self._count(document)
            moved.append(document)
            self._forget(document, topic.explained)
        times = [document.time for document in moved if document.time is not None]
        if topic.first_seen is not None:
            topic.first_seen = min([topic.first_seen, *times])
        self.store.set_topics(moved)
        self.touched.add(topic.number)

    def _explain(self, topic: Topic, group: RisenGroup | None = None) -> None:
        """Let a topic explain more words, also those of its documents that came before."""
        before = set(topic.explained)
        topic.explained = explained_words(topic, group)
        new = [word for word in topic.explained if word not in before]
        if new:
            for document in self.documents:
                if document.topic == topic.number:
                    self._forget(document, new)
        self.touched.add(topic.number)

    def _forget(self, document: Document, words: Sequence[str]) -> None:
        """Take words of a document that are explained out of the counts of its window."""
        explained = document.bag.intersection(words)
        window = self._window(document.window)
        if not document.counted or not explained or window is None:
            return
        self.changed.add(document.window)
        self.reference.recount(window)
        _subtract(window.words, explained)
        if document.novel:
            _subtract(window.novel_words, explained)


def excerpt(text: str, word: str) -> str:
    """Return a line of a text that shows a word, or the beginning if none of it is like the word.

    Examples
    --------
    >>> excerpt("The library  is hardened.", "harden")
    'The library is hardened.'
    >>> shown = excerpt("A party, " * 40 + "and art. " + "More. " * 40, "art")
    >>> "and art." in shown
    True
    >>> shown = excerpt("A long list. " * 40 + "It is hardened. " + "More. " * 40, "harden")
    >>> shown.startswith("…"), "is hardened. More." in shown, shown.endswith("…"), len(shown)
    (True, True, True, 202)
    """
    line = _key(text)
    lower = line.lower()
    at_start = re.search(rf"\b{re.escape(word)}", lower)
    place = lower.find(word) if at_start is None else at_start.start()
    start = 0 if place < _SHOWN - _BEFORE else max(min(place - _BEFORE, len(line) - _SHOWN), 0)
    end = start + _SHOWN
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _key(text: str) -> str:
    return " ".join(text.split())


def _subtract(counts: Counter[str], bag: Bag) -> None:
    """Take the words of a document out of a count; those that reach 0 are removed."""
    for word in bag:
        left = counts[word] - 1
        if left > 0:
            counts[word] = left
        else:
            counts.pop(word, None)
