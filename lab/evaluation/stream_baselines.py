"""Other ways to notice a change in a stream, each with the parameters of its source."""

from __future__ import annotations

import re
import warnings
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

__all__ = ["BASELINES", "OF_RIVER", "Reported", "Watched", "bursts"]

_LEVEL = 0.004  # of a test in each window: one false alarm in 50,000 documents of windows of 200
_TOPICS = 20
_PAST, _REST = 28, 14  # days that a day is compared with, and those without an alert of a word


@dataclass(frozen=True)
class Watched:
    """A stream in which a class begins.

    Attributes
    ----------
    onset : int
        The place from which on documents of the class come.
    every : int
        The number of documents of a window.
    own : ndarray of bool
        Which documents are of the class.
    novel, p_values, scores : ndarray
        What the detector says of each document.
    bags : list of frozenset of str
        Its words.
    alerts : list of (int, bool, str)
        The place and the kind of each alert of the monitor, and whether its topic is the class.
    """

    onset: int
    every: int
    own: NDArray[np.bool_]
    novel: NDArray[np.bool_]
    p_values: NDArray[np.float64]
    scores: NDArray[np.float64]
    bags: list[frozenset[str]]
    alerts: list[tuple[int, bool, str]]


def _windows(watched: Watched) -> list[slice]:
    n = watched.every
    return [slice(i, i + n) for i in range(0, len(watched.own) - n + 1, n)]


def threshold(watched: Watched) -> list[int]:
    """Fire after a window with more novel documents than a binomial law with alpha allows."""
    most = stats.binom.isf(_LEVEL, watched.every, 0.05)
    return [part.stop - 1 for part in _windows(watched) if watched.novel[part].sum() > most]


def always(watched: Watched) -> list[int]:
    """Fire after each window."""
    return [part.stop - 1 for part in _windows(watched)]


def _drift(watched: Watched, detector: Any) -> list[int]:
    found = []
    for place, score in enumerate(watched.scores.tolist()):
        detector.update(score)
        if detector.drift_detected:
            found.append(place)
    return found


def page_hinkley(watched: Watched) -> list[int]:
    """Fire by the test of Page and Hinkley on the novelty, with river's parameters."""
    return _drift(watched, import_module("river.drift").PageHinkley(mode="up"))


def adwin(watched: Watched) -> list[int]:
    """Fire by ADWIN on the novelty, with river's parameters."""
    return _drift(watched, import_module("river.drift").ADWIN())


def _by_window(watched: Watched, topics_of: Callable[[Any], NDArray[np.int64]]) -> list[int]:
    """Fire when half of the documents of a topic of a window are of the new class.

    Labels tell which topics are right, and no other topic is counted as an alarm: the result is the
    best that a reader of all topics of all windows could do.
    """
    words = {word: i for i, word in enumerate(sorted(set().union(*watched.bags)))}
    found = []
    for part in _windows(watched)[watched.onset // watched.every :]:
        bags = watched.bags[part]
        rows = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
        columns = [words[word] for bag in bags for word in bag]
        matrix = sparse.csr_matrix(
            (np.ones(len(columns)), (rows, columns)), (len(bags), len(words))
        )
        topics = topics_of(matrix[:, np.asarray(matrix.sum(axis=0)).ravel() > 1])
        own = watched.own[part]
        sizes = np.bincount(topics, minlength=_TOPICS)
        hits = np.bincount(topics[own], minlength=_TOPICS)
        if (hits >= np.maximum(3, 0.5 * sizes)).any():
            found.append(part.stop - 1)
            break
    return found


def _weighted(matrix: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit_transform(matrix)


def _k_means(matrix: Any) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    found: NDArray[np.int64] = KMeans(_TOPICS, n_init=1, random_state=0).fit_predict(
        _weighted(matrix)
    )
    return found


def _nmf(matrix: Any) -> NDArray[np.int64]:
    from sklearn.decomposition import NMF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = NMF(_TOPICS, init="nndsvd", max_iter=100).fit_transform(_weighted(matrix))
    found: NDArray[np.int64] = np.argmax(weights, axis=1)
    return found


def k_means(watched: Watched) -> list[int]:
    """Group each window by k-means; see `_by_window`."""
    return _by_window(watched, _k_means)


def nmf(watched: Watched) -> list[int]:
    """Group each window by NMF; see `_by_window`."""
    return _by_window(watched, _nmf)


BASELINES: dict[str, Callable[[Watched], list[int]]] = {
    "threshold on the rate": threshold,
    "Page-Hinkley on the novelty": page_hinkley,
    "ADWIN on the novelty": adwin,
    "always": always,
    "k-means of each window, topics chosen by labels": k_means,
    "NMF of each window, topics chosen by labels": nmf,
}
# Those that need the package river.
OF_RIVER = ("Page-Hinkley on the novelty", "ADWIN on the novelty")


@dataclass(frozen=True)
class Reported:
    """An alert in dated documents.

    Attributes
    ----------
    day : str
        The day after whose documents it was raised.
    name : str
        The name of its topic, or its word.
    documents : list of (str, str)
        The day and the text of each document that it is about.
    line : str
        The beginning of one of them.
    """

    day: str
    name: str
    documents: list[tuple[str, str]]
    line: str


_Day = tuple[str, list[tuple[float, str, set[int]]]]
"""A day, and of its words the logarithm of the p-value, the word, and the documents with it."""


def bursts(
    days: Mapping[str, Sequence[str]], first: str, n_alerts: int, *, joined: bool = False
) -> list[Reported]:
    """Report words that are in more documents of a day than in those of the 28 days before.

    The documents of a day that have a word are compared with a Poisson distribution. Its mean is
    the share of the past documents with the word times the documents of the day, plus 1/28. A word
    that was reported is not reported again for 14 days.

    Parameters
    ----------
    days : mapping of str to sequence of str
        The documents of each day, in order.
    first : str
        The first day that is tested.
    n_alerts : int
        The number of alerts; the level of the p-value is the one that gives so many, at most 0.01.
    joined : bool, default=False
        Whether a word is part of the alert of a stronger word of the same day if they share half of
        the documents of one of them.

    Returns
    -------
    list of Reported
    """
    tested = _tested(days, first)
    levels = sorted({log for _, words in tested for log, _, _ in words})
    low, high = 0, len(levels)  # of the levels, the first `low` give few enough alerts
    while low < high:
        middle = (low + high + 1) // 2
        if len(_raised(tested, levels[middle - 1], joined)) <= n_alerts:
            low = middle
        else:
            high = middle - 1
    # Of words at the next level, which many may share, come as many as are left.
    level = levels[min(low, len(levels) - 1)]
    found = sorted(_raised(tested, level, joined), key=lambda row: row[:3])[:n_alerts]
    made = []
    for _, day, word, rows in sorted(found, key=lambda row: row[1]):
        own = [(day, days[day][row]) for row in sorted(rows)]
        made.append(Reported(day, word, own, " ".join(own[0][1].split())[:100]))
    return made


def _tested(days: Mapping[str, Sequence[str]], first: str) -> list[_Day]:
    """Return the words of each day with a p-value of at most 0.01, the strongest first."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    past: deque[tuple[Counter[str], int]] = deque(maxlen=_PAST)
    tested = []
    for day, texts in days.items():
        having: dict[str, set[int]] = {}
        for row, text in enumerate(texts):
            for word in set(re.findall(r"[a-z]{3,}", text.lower())) - ENGLISH_STOP_WORDS:
                having.setdefault(word, set()).add(row)
        if day >= first:
            total, size = Counter[str](), sum(n for _, n in past)
            for before, _ in past:
                total.update(before)
            expected = [total[word] * len(texts) / max(size, 1) + 1 / _PAST for word in having]
            logs = stats.poisson.logsf([len(rows) - 1 for rows in having.values()], expected)
            found = zip(logs.tolist(), having, having.values(), strict=True)
            tested.append((day, sorted(row for row in found if row[0] <= np.log(0.01))))
        past.append((Counter({word: len(rows) for word, rows in having.items()}), len(texts)))
    return tested


def _raised(
    tested: Sequence[_Day], level: float, joined: bool
) -> list[tuple[float, str, str, set[int]]]:
    """Return the alerts at a level: the logarithm of the p-value, day, word and documents."""
    latest: dict[str, int] = {}
    found = []
    for place, (day, words) in enumerate(tested):
        groups: list[tuple[float, str, set[int], list[str]]] = []
        for log, word, rows in words:
            if log > level:
                break
            stronger = (
                names
                for _, _, others, names in groups
                if joined and len(rows & others) >= 0.5 * min(len(rows), len(others))
            )
            if (names := next(stronger, None)) is not None:
                names.append(word)
            else:
                groups.append((log, word, rows, [word]))
        for log, word, rows, names in groups:
            rested = [name for name in names if place - latest.get(name, -_REST) >= _REST]
            latest |= dict.fromkeys(rested, place)
            if len(rested) == len(names):
                found.append((log, day, word, rows))
    return found
