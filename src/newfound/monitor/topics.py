"""Topics: how they begin, which documents are theirs, and those that were merged into others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum

import numpy as np

from newfound.monitor.records import SPANS, Document, Topic
from newfound.monitor.reference import ReferenceWindows
from newfound.stories.clusters import characteristic
from newfound.stories.names import phrase_name, strong_words
from newfound.stories.profile import Profile
from newfound.stories.risen import Bag, RisenGroup
from newfound.text.tokens import Token

__all__ = [
    "MAX_RULES",
    "Tokens",
    "TopicRules",
    "explained_words",
    "joined_topic",
    "joined_topics",
    "life_of",
    "lives",
    "new_topic",
    "open_topic",
    "topic_parts",
    "windows_of_topic",
]

MAX_RULES = 12  # of a topic
_TYPICAL = 5
_WORDS = 12
_MANY = 0.3  # of the documents of a topic have a word that it explains
_MOST_EXPLAINED = 30  # of such words

Tokens = Callable[[str], Sequence[Token]]


def new_topic(
    number: int,
    window: int,
    group: RisenGroup,
    rows: Sequence[Document],
    reference: ReferenceWindows,
    tokens: Tokens | None,
) -> Topic:
    """Return a new topic, named by a phrase of its documents or by characteristic words.

    `window` is the number of the window in which it was found; `tokens` returns the words of a
    text.
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
    texts = list(dict.fromkeys(document.text for document in rows))
    name = None
    if tokens is not None:
        name = _written(texts, tokens, strong, (*group.rules, *group.novel_rules))
    bags = list({document.text: document.bag for document in rows}.values())
    topic = Topic(
        number,
        name or " ".join(strong_words(strong)),
        words,
        list(group.rules[:MAX_RULES]),
        min(times, default=None),
        window,
        list(group.novel_rules[: max(MAX_RULES - len(group.rules), 0)]),
        last_window=window,
        typical=_typical(rows, dict(strong)),
        profile=Profile.of(bags, reference.rarity),
        updated=window,
    )
    topic.explained = explained_words(topic, group)
    return topic


def _written(
    texts: Sequence[str],
    tokens: Tokens,
    strong: Sequence[tuple[str, float]],
    rules: Iterable[str],
) -> str:
    """Return a phrase of several words that most texts have, or strong words as they have them."""
    name = phrase_name(texts, tokens, dict(strong), rules)
    if name is not None and " " in name:
        return name
    forms: dict[str, Counter[str]] = {word: Counter() for word in strong_words(strong)}
    for text in texts:
        for token in tokens(text):
            if token.term in forms:
                forms[token.term][token.surface] += 1
    return " ".join(
        min(found.items(), key=lambda item: (-item[1], item[0].swapcase()))[0] if found else word
        for word, found in forms.items()
    )


def explained_words(topic: Topic, group: RisenGroup | None = None) -> list[str]:
    """Return the words that a topic explains: its rules, risen words, and what many documents have.

    Those that it explains already come first.
    """
    risen = () if group is None else (word.word for word in group.words)
    frequent = topic.profile.frequent(_MANY)[:_MOST_EXPLAINED]
    every = (*topic.explained, *topic.rules, *topic.novel_rules, *risen, *frequent)
    return list(dict.fromkeys(every))


def _typical(rows: Sequence[Document], weights: dict[str, float]) -> list[str]:
    """Return the texts with the most weight for their number of words, each once."""
    found = sorted(
        {document.text: document for document in reversed(rows)}.values(),
        # A plain sum would depend on the order of the words of a set.
        key=lambda d: (-fsum(weights.get(w, 0.0) for w in d.bag) / (len(d.bag) + 3), d.number),
    )
    return [document.text for document in found[:_TYPICAL]]


class TopicRules:
    """Which topics a document may belong to, by its words.

    Examples
    --------
    >>> topic = Topic(1, "sars", [], ["sars"], None, 1, ["mask"])
    >>> rules = TopicRules([topic])
    >>> [sorted(rules.topics_of(frozenset({"mask"}), novel)) for novel in (True, False)]
    [[1], []]
    """

    def __init__(self, topics: Iterable[Topic] = ()) -> None:
        self.numbers: set[int] = set()
        self._of_all: dict[str, set[int]] = {}
        self._of_novel: dict[str, set[int]] = {}
        for topic in topics:
            self.add(topic)

    def add(self, topic: Topic) -> None:
        """Add the rules of a topic."""
        self.numbers.add(topic.number)
        for word in topic.rules:
            self._of_all.setdefault(word, set()).add(topic.number)
        for word in topic.novel_rules:
            self._of_novel.setdefault(word, set()).add(topic.number)

    def topics_of(self, bag: Bag, novel: bool) -> set[int]:
        """Return the topics one of whose rules a document matches."""
        found = set[int]()
        if not self._of_all.keys().isdisjoint(bag):  # most bags are; in fewer steps
            found.update(*(self._of_all[word] for word in bag if word in self._of_all))
        if novel and not self._of_novel.keys().isdisjoint(bag):
            found.update(*(self._of_novel[word] for word in bag if word in self._of_novel))
        return found


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
    return _parts(_merged(topics), number)


def _merged(topics: Mapping[int, Topic]) -> dict[int, list[int]]:
    """Return the numbers of the topics that were merged into each that has some."""
    found: dict[int, list[int]] = {}
    for topic in topics.values():
        if topic.merged_into is not None:
            found.setdefault(topic.merged_into, []).append(topic.number)
    return found


def _parts(merged: Mapping[int, Sequence[int]], number: int) -> list[int]:
    found = [number]
    for part in found:
        found += merged.get(part, ())
    return found


def joined_topic(topics: Mapping[int, Topic], number: int) -> Topic:
    """Return a topic with the rules and documents of those that were merged into it."""
    return _joined([topics[part] for part in topic_parts(topics, number)])


def _joined(parts: Sequence[Topic]) -> Topic:
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
    merged = _merged(topics)
    return [
        _joined([topics[part] for part in _parts(merged, n)])
        for n, topic in topics.items()
        if topic.merged_into is None
    ]


def life_of(topic: Topic, counts: Mapping[int, int], last: int) -> str:
    """Return where a topic is in its life: new, growing, steady, fading, over or back.

    `counts` has the number of its documents in each window, and `last` is the last closed one. The
    last four windows are compared with the twelve before.

    Examples
    --------
    >>> topic = Topic(1, "sars", [], ["sars"], None, 10)
    >>> [life_of(topic, counts, 60) for counts in ({60: 9, 50: 3}, {50: 9, 60: 1}, {10: 5})]
    ['growing', 'fading', 'over']
    >>> life_of(topic, {10: 5, 60: 4}, 60), life_of(topic, {10: 5}, 11)
    ('back', 'new')
    """
    short, long = SPANS[1], SPANS[-1]
    now = sum(n for window, n in counts.items() if window > last - short)
    before = sum(n for window, n in counts.items() if last - long < window <= last - short)
    if last - topic.alerted < short:
        return "new"
    if not now + before:
        return "over"
    earlier = [window for window, n in counts.items() if n and window <= last - long]
    if not before and earlier:
        return "back"
    usual = before * short / (long - short)
    if now >= 2 * usual:
        return "growing"
    return "fading" if 2 * now <= usual else "steady"


def lives(
    topics: Mapping[int, Topic], counts: Mapping[int, Mapping[int, int]], last: int
) -> dict[int, str]:
    """Return where all topics are in their lives that were not merged into others."""
    merged, found = _merged(topics), dict[int, str]()
    for topic in joined_topics(topics):
        by_window: Counter[int] = Counter()
        for part in _parts(merged, topic.number):
            by_window.update(counts.get(part, {}))
        found[topic.number] = life_of(topic, by_window, last)
    return found


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
