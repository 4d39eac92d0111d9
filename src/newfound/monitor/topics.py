"""Topics: how they begin, which documents are theirs, and those that were merged into others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum

import numpy as np

from newfound.monitor.records import Document, Topic
from newfound.monitor.reference import ReferenceWindows
from newfound.stories.clusters import characteristic
from newfound.stories.names import same_stem, strong_words
from newfound.stories.risen import Bag, RisenGroup

__all__ = [
    "TopicRules",
    "joined_topic",
    "joined_topics",
    "new_topic",
    "open_topic",
    "topic_parts",
    "windows_of_topic",
]

_TYPICAL = 5
_WORDS = 12


def new_topic(
    number: int,
    window: int,
    group: RisenGroup,
    rows: Sequence[Document],
    reference: ReferenceWindows,
) -> Topic:
    """Return a new topic, named by the words that are characteristic of its documents.

    `window` is the number of the window in which it was found.
    """
    counts = Counter(word for document in rows for word in document.bag)
    risen = {word.word: word for word in group.words}
    names = [word for word, n in counts.items() if n > 1 or word in risen]
    own = np.array([counts[word] for word in names])
    frequencies = own + np.array([reference.frequency(word) for word in names])
    scores = characteristic(own, len(rows), frequencies, reference.size + len(rows))
    order = sorted(range(len(names)), key=lambda i: (-scores[i], names[i]))[:_WORDS]
    strong = [(names[i], float(scores[i])) for i in order]
    times = [document.time for document in rows if document.time is not None]
    words: list[dict[str, object]] = [
        {
            "word": word,
            "documents": counts[word],
            "expected": risen[word].expected if word in risen else None,
        }
        for word, _ in strong
    ]
    return Topic(
        number,
        " ".join(strong_words(strong)),
        words,
        list(group.rules),
        min(times, default=None),
        window,
        list(group.novel_rules),
        last_window=window,
        typical=_typical(rows, dict(strong)),
    )


def _typical(rows: Sequence[Document], weights: dict[str, float]) -> list[str]:
    """Return the texts with the most weight for their number of words, each once."""
    found = sorted(
        {document.text: document for document in reversed(rows)}.values(),
        # A plain sum would depend on the order of the words of a set.
        key=lambda d: (-fsum(weights.get(w, 0.0) for w in d.bag) / (len(d.bag) + 3), d.number),
    )
    return [document.text for document in found[:_TYPICAL]]


class TopicRules:
    """Which topic a document belongs to, by its words.

    A word that is a rule of several topics stands for the first of them.

    Examples
    --------
    >>> topic = Topic(1, "sars", [], ["sars"], None, 1, ["mask"])
    >>> rules = TopicRules([topic])
    >>> [rules.topic_of(frozenset({"mask"}), novel) for novel in (True, False)]
    [1, 0]
    """

    def __init__(self, topics: Iterable[Topic] = ()) -> None:
        self._of_all: dict[str, int] = {}
        self._of_novel: dict[str, int] = {}
        for topic in topics:
            self.add(topic)

    def add(self, topic: Topic) -> None:
        """Add the rules of a topic."""
        for word in topic.rules:
            self._of_all.setdefault(word, topic.number)
        for word in topic.novel_rules:
            self._of_novel.setdefault(word, topic.number)

    def topic_of(self, bag: Bag, novel: bool) -> int:
        """Return the topic whose rules a document matches, 0 for none."""
        found = []
        if not self._of_all.keys().isdisjoint(bag):  # most bags are; in fewer steps
            found = [self._of_all[word] for word in bag if word in self._of_all]
        if novel:
            found += [self._of_novel[word] for word in bag if word in self._of_novel]
        return min(found, default=0)

    def with_form_of(self, words: Iterable[str]) -> int:
        """Return the topic that has another form of one of some words as a rule, 0 for none."""
        for word in words:
            for rule, number in self._of_all.items():
                if same_stem(word, rule, most=2):
                    return number
        return 0


def open_topic(topics: Mapping[int, Topic], number: int) -> Topic:
    """Return a topic that was neither merged, promoted nor dismissed; else raise a ValueError."""
    topic = topics.get(number)
    if topic is None:
        there = f"there are topics 1 to {len(topics)}" if topics else "there is no topic yet"
        raise ValueError(f"There is no topic {number}; {there}.")
    if topic.merged_into is not None:
        raise ValueError(f"Topic {number} is part of topic {topic.merged_into}; name that one.")
    if topic.status != "open":
        raise ValueError(f"Topic {number} was already {topic.status}; undo takes steps back.")
    return topic


def topic_parts(topics: Mapping[int, Topic], number: int) -> list[int]:
    """Return the numbers of a topic and of all that were merged into it.

    Examples
    --------
    >>> topics = {n: Topic(n, "", [], [], None, 1, merged_into=m) for n, m in ((1, None), (2, 1))}
    >>> topic_parts(topics, 1)
    [1, 2]
    """
    if number not in topics:
        open_topic(topics, number)
    found = [number]
    for part in found:
        found += [other.number for other in topics.values() if other.merged_into == part]
    return found


def joined_topic(topics: Mapping[int, Topic], number: int) -> Topic:
    """Return a topic with the rules and documents of those that were merged into it."""
    parts = [topics[part] for part in topic_parts(topics, number)]
    if len(parts) == 1:
        return parts[0]
    first = [topic.first_seen for topic in parts if topic.first_seen is not None]
    last = [topic.last_seen for topic in parts if topic.last_seen is not None]
    return replace(
        parts[0],
        rules=[rule for topic in parts for rule in topic.rules],
        novel_rules=[rule for topic in parts for rule in topic.novel_rules],
        first_seen=min(first, default=None),
        last_seen=max(last, default=None),
        documents=sum(topic.documents for topic in parts),
    )


def joined_topics(topics: Mapping[int, Topic]) -> list[Topic]:
    """Return all topics that were not merged into others, each with those that were, in order."""
    return [joined_topic(topics, n) for n, topic in topics.items() if topic.merged_into is None]


def windows_of_topic(
    topics: Mapping[int, Topic], number: int, counts: Mapping[int, Mapping[int, int]]
) -> dict[int, int]:
    """Return the number of documents of a topic in each window that has some, in order.

    Topics that were merged into it are part of it; `counts` has the documents of each topic by
    window without them.
    """
    found: Counter[int] = Counter()
    for part in topic_parts(topics, number):
        found.update(counts.get(part, {}))
    return dict(sorted(found.items()))
