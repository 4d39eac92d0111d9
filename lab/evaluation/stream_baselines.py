"""Other ways to notice a change in a stream, each with the parameters of its source."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

__all__ = ["BASELINES", "OF_RIVER", "Watched"]

_LEVEL = 0.004  # of a test in each window: one false alarm in 50,000 documents of windows of 200
_TOPICS = 20


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
