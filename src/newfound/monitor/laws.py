"""Exact laws of counts in a window, if its documents are like those of the reference.

*Rate.* A known document is called novel with a probability u that depends on the held-back
documents: if the threshold is the k-th highest of n scores, u has the law Beta(k, n + 1 - k). When
f of N reference documents were called novel since then, the law is Beta(k + f, n + 1 - k + N - f),
and the number in a window of m documents is Beta-binomial. The same unknown u acts in all windows,
which is why a test that takes alpha for u raises too many alarms. Here the past is part of the law:
the p-value of each window is valid given all windows before it.

*Words.* If a window and the reference are alike, the documents that have a word are a random draw
from both (Fisher's exact test). Words are tested together with Tarone's correction: a word that is
too rare to be significant does not count.

*Documents.* Conformal p-values with common held-back documents are positively dependent, and the
procedure of Benjamini and Hochberg controls the false discovery rate among those of a window.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.arithmetic import beta_binomial_tail, exp, hypergeometric_tail, log, log_choose

__all__ = [
    "fewest_discoveries",
    "log_probabilities",
    "n_discoveries",
    "rate_p_value",
    "tarone",
    "word_p_values",
]


def rate_p_value(count: int, size: int, before: int, total: int) -> float:
    """Return how probable so many novel documents are in a window, given the reference.

    Parameters
    ----------
    count, size : int
        The number of novel documents in the window, and of all its documents.
    before, total : int
        The number of novel documents in the reference, where the held-back documents count as the
        k that a threshold lets through, and of all reference documents.

    Examples
    --------
    >>> round(rate_p_value(5, 100, 50, 1000), 2), rate_p_value(20, 100, 50, 1000) < 1e-6
    (0.56, True)
    """
    if count <= 0 or size <= 0:
        return 1.0
    return beta_binomial_tail(count, size, max(before, 1), max(total + 1 - before, 1))


def word_p_values(
    counts: ArrayLike, size: int, before: ArrayLike, total: int
) -> NDArray[np.float64]:
    """Return how probable so many documents with each word are in a window.

    Parameters
    ----------
    counts, before : array of int
        The number of documents that have the word, in the window and in the reference.
    size, total : int
        The number of all documents, in the window and in the reference.

    Examples
    --------
    >>> (word_p_values([5, 2], 100, [0, 20], 1000) < 0.001).tolist()
    [True, False]
    """
    x, f = np.asarray(counts), np.asarray(before)
    return hypergeometric_tail(x, size + total, x + f, size)


def log_probabilities(
    counts: ArrayLike, size: int, before: ArrayLike, total: int
) -> NDArray[np.float64]:
    """Return the logarithm of how probable exactly so many documents with each word are.

    Parameters
    ----------
    counts, before : array of int
        The number of documents that have the word, in the window and in the reference.
    size, total : int
        The number of all documents, in the window and in the reference.

    Examples
    --------
    >>> (log_probabilities([5, 2], 100, [0, 20], 1000) < log([1e-4, 0.5])).tolist()
    [True, True]
    """
    x, f = np.asarray(counts, np.int64), np.asarray(before, np.int64)
    found: NDArray[np.float64] = (
        log_choose(size, x) + log_choose(total, f) - log_choose(size + total, x + f)
    )
    return found


def tarone(numbers: ArrayLike, size: int, total: int, level: float) -> float:
    """Return the level of each word, so that one of all is below it with probability `level`.

    Parameters
    ----------
    numbers : array of int
        How many words that number of documents have, the window and the reference taken together:
        the first is the number of words of no document, the second that of words of one.
    size, total : int
        The number of all documents, in the window and in the reference.
    level : float
        The probability of any false alarm.

    Examples
    --------
    >>> numbers = [0, 1000, 0, 0, 0, 10]  # 1,000 words are too rare to be significant
    >>> 0.01 / 20 < tarone(numbers, 100, 1000, 0.01) <= 0.01 / 10
    True
    """
    kinds = np.asarray(numbers, dtype=np.int64)
    values = np.flatnonzero(kinds)
    least = log_choose(size, np.minimum(values, size)) - log_choose(
        size + total, np.minimum(values, size + total)
    )
    least[values > size] = -np.inf
    testable, bound = int(kinds.sum()), log(level)
    for value, smallest in zip(values.tolist(), least.tolist(), strict=True):  # the rarest first
        if smallest <= log(level / testable):
            break
        testable -= int(kinds[value])
        bound = min(bound, smallest - 1e-9)  # out of the reach of the words that do not count
        if not testable:
            break
    return min(level / max(testable, 1), exp(bound))


def n_discoveries(p_values: ArrayLike, size: int, fdr: float) -> int:
    """Return how many documents of a window are new (Benjamini and Hochberg).

    Parameters
    ----------
    p_values : array of float
        The p-values of the documents called novel; the others need not be there.
    size : int
        The number of all documents of the window.
    fdr : float
        The expected share of false discoveries.

    Examples
    --------
    >>> n_discoveries([0.001, 0.002, 0.04], 20, 0.1)
    2
    """
    p = np.sort(np.asarray(p_values, dtype=np.float64))
    below = np.flatnonzero(p <= fdr * np.arange(1, len(p) + 1) / max(size, 1) * (1 + 1e-12))
    return int(below[-1]) + 1 if len(below) else 0


def fewest_discoveries(size: int, fdr: float, smallest: float) -> int:
    """Return the smallest number of new documents that can be found in a window.

    Parameters
    ----------
    size : int
        The number of documents of the window.
    fdr : float
        The expected share of false discoveries.
    smallest : float
        The smallest p-value that the held-back documents allow: 1/(n + 1) for n of them.

    Examples
    --------
    >>> fewest_discoveries(500, 0.1, 1 / 601)
    9
    """
    return max(1, math.ceil(size * smallest / fdr - 1e-9))
