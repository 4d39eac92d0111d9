"""Topics by number, with those that were merged into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from newfound.monitor.records import Topic

__all__ = ["joined_topic", "joined_topics", "open_topic", "topic_parts", "windows_of_topic"]


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

    Parameters
    ----------
    topics : mapping of int to Topic
        All topics.
    number : int
        The number of the topic. Topics that were merged into it are part of it.
    counts : mapping of int to mapping of int to int
        The number of documents of each topic by window, without those that were merged into it.
    """
    found: Counter[int] = Counter()
    for part in topic_parts(topics, number):
        found.update(counts.get(part, {}))
    return dict(sorted(found.items()))
