"""How many times more frequent a word is on the novel side, shrunk, with an interval.

The plain ratio of two shares is extreme for rare words: 3 documents against 0 are infinitely many
times more. Each ratio is therefore shrunk by what the ratios of all words of the same two piles are
like (empirical Bayes). The logarithm of the ratio has a prior that is a mixture of normal laws
around 0, of fixed widths; their weights are fitted to all words by expectation maximisation. Given
its two counts, each word has a posterior law on a grid: its mean is the shrunk ratio, its 5 % and
95 % points are the interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.arithmetic import exp, log, log_logistic

__all__ = ["Strength", "frequency_ratios"]

CONFIDENCE = 0.9
_GRID = np.linspace(-7.0, 7.0, 141)  # logarithms of ratios, up to about 1,100 times
_STEP = float(_GRID[1] - _GRID[0])
_WIDTHS = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
_ITERATIONS = 200


class Strength(NamedTuple):
    """How many times more frequent each word is, as arrays.

    Attributes
    ----------
    times : ndarray of float64
        Share of the novel documents over share of the known documents, shrunk.
    low, high : ndarray of float64
        Its 90 % interval.
    less, more : ndarray of float64
        Probability that the ratio is at most 1, and that it is at least 1.
    """

    times: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    less: NDArray[np.float64]
    more: NDArray[np.float64]


def frequency_ratios(
    known: NDArray[np.int64], novel: NDArray[np.int64], sizes: tuple[int, int]
) -> Strength:
    """Estimate how many times more frequent each word is in novel documents than in known ones.

    Parameters
    ----------
    known, novel : (n_words,) array of int
        How many documents of each side have each word.
    sizes : (int, int)
        How many known and how many novel documents there are.

    Returns
    -------
    Strength

    Examples
    --------
    >>> known, novel = np.array([50, 20, 0, 10]), np.array([50, 60, 3, 9])
    >>> ratios = frequency_ratios(known, novel, (1000, 1000))
    >>> ratios.times.round(1).tolist()
    [1.0, 2.8, 1.6, 1.0]
    >>> (ratios.low > 1).tolist()
    [False, True, False, False]
    """
    total = known + novel
    if not len(total):
        return Strength(*(np.zeros(0) for _ in Strength._fields))
    # A word of nearly all documents varies less than its counts say.
    scale = 1.0 / np.maximum(1.0 - total / max(sum(sizes), 1), 0.05)
    pairs, place, how_often = np.unique(
        np.stack([known, novel, total]), axis=1, return_inverse=True, return_counts=True
    )
    widen = np.zeros(pairs.shape[1])
    widen[place.ravel()] = scale
    offset = log(max(sizes[1], 1) / max(sizes[0], 1)) + _GRID
    likelihood = np.outer(pairs[1] * widen, log_logistic(offset))
    likelihood += np.outer(pairs[0] * widen, log_logistic(-offset))
    likelihood = exp(likelihood - likelihood.max(axis=1, keepdims=True))
    posterior = likelihood * _prior(likelihood, how_often)
    posterior /= posterior.sum(axis=1, keepdims=True)
    below = np.cumsum(posterior, axis=1)
    half = posterior[:, len(_GRID) // 2] / 2  # the middle of the grid, a ratio of 1
    less = below[:, len(_GRID) // 2] - half
    tail = (1 - CONFIDENCE) / 2
    found = Strength(
        times=exp((posterior * _GRID).sum(axis=1)),
        low=exp(_quantile(posterior, below, tail)),
        high=exp(_quantile(posterior, below, 1 - tail)),
        less=less,
        more=1 - less,
    )
    return Strength(*(values[place.ravel()] for values in found))


def _prior(likelihood: NDArray[np.float64], how_often: NDArray[np.intp]) -> NDArray[np.float64]:
    """Fit the weights of the normal laws to all words; return the prior on the grid."""
    laws = exp(-0.5 * (_GRID / _WIDTHS[:, None]) ** 2)
    laws /= laws.sum(axis=1, keepdims=True)
    evidence = np.stack([(likelihood * law).sum(axis=1) for law in laws], axis=1)
    weights = np.full(len(_WIDTHS), 1 / len(_WIDTHS))
    for _ in range(_ITERATIONS):
        shares = evidence * weights
        shares /= shares.sum(axis=1, keepdims=True)
        weights = (how_often[:, None] * shares).sum(axis=0)
        weights /= weights.sum()
    prior: NDArray[np.float64] = (weights[:, None] * laws).sum(axis=0)
    return prior


def _quantile(
    posterior: NDArray[np.float64], below: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """Return the point of each posterior law below which a share of it lies."""
    place = np.minimum((below < level).sum(axis=1), len(_GRID) - 1)
    rows = np.arange(len(place))
    here = np.maximum(posterior[rows, place], 1e-12)
    point: NDArray[np.float64] = (
        _GRID[place] - _STEP / 2 + _STEP * (level - below[rows, place] + here) / here
    )
    return point
