"""Exact laws of counts in a window, if its documents are like those of the reference.

*Rate.* A known document is called novel with a probability u that depends on the held-back
documents: if the threshold is the k-th highest of n scores, u has the law Beta(k, n + 1 - k). When
f of N reference documents were called novel since then, the law is Beta(k + f, n + 1 - k + N - f),
and the number in a window of m documents is Beta-binomial. The same unknown u acts in all windows,
which is why a test that takes alpha for u raises too many alarms. Here the past is part of the law:
the p-value of each window is valid given all windows before it.

*Documents.* Conformal p-values with common held-back documents are positively dependent, and the
procedure of Benjamini and Hochberg controls the false discovery rate among those of a window.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from newfound.arithmetic import beta_binomial_tail

__all__ = ["fewest_discoveries", "n_discoveries", "rate_p_value"]


def rate_p_value(count: int, size: int, before: int, total: int) -> float:
    """Return how probable so many novel documents are in a window, given the reference.

    `count` of the `size` documents of the window are novel, and `before` of `total` of the
    reference, where the held-back documents count as the k that a threshold lets through.

    Examples
    --------
    >>> round(rate_p_value(5, 100, 50, 1000), 2), rate_p_value(20, 100, 50, 1000) < 1e-6
    (0.56, True)
    """
    if count <= 0 or size <= 0:
        return 1.0
    return beta_binomial_tail(count, size, max(before, 1), max(total + 1 - before, 1))


def n_discoveries(p_values: ArrayLike, size: int, fdr: float) -> int:
    """Return how many documents of a window are new (Benjamini and Hochberg).

    The p-values are those of documents called novel, `size` counts all; `fdr` is the expected share
    of false discoveries.

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

    `smallest` is the smallest p-value that the held-back documents allow: 1/(n + 1) for n of them.

    Examples
    --------
    >>> fewest_discoveries(500, 0.1, 1 / 601)
    9
    """
    return max(1, math.ceil(size * smallest / fdr - 1e-9))
