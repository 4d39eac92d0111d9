"""Word scores, contextual scores and ratios of frequencies: pure functions on counts.

F_K and F_N count how often a word is in the bags B_K and B_N (see `newfound.rules`). Logarithms
are natural ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.arithmetic import exp, log, log_logistic

__all__ = [
    "SHARED_HIGH",
    "SHARED_LOW",
    "ContextCounts",
    "ContextScores",
    "Strength",
    "WordScores",
    "context_counts",
    "context_scores",
    "frequency_ratios",
    "pair_strength",
    "shared_role",
    "stability",
    "word_scores",
]

# The paper gives no cut-offs: four times as frequent in one bag as in the other.
SHARED_LOW = 0.25
SHARED_HIGH = 4.0
CONFIDENCE = 0.9
_GRID = np.linspace(-7.0, 7.0, 141)  # logarithms of ratios, up to about 1,100 times
_STEP = float(_GRID[1] - _GRID[0])
_WIDTHS = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
_ITERATIONS = 200


class WordScores(NamedTuple):
    """The scores of all words, as arrays.

    Attributes
    ----------
    score, log_score : ndarray of float64
        p_N / p_K and its natural logarithm; nan for a word that is not ranked.
    p_K, p_N : ndarray of float64
        The share of each bag that is this word, a count of 0 taken as 1; 0 if it is not ranked.
    ranked : ndarray of bool
        Whether any clause includes the word.
    """

    score: NDArray[np.float64]
    log_score: NDArray[np.float64]
    p_K: NDArray[np.float64]
    p_N: NDArray[np.float64]
    ranked: NDArray[np.bool_]


class ContextCounts(NamedTuple):
    """The number of clauses in which words have a role, alone (F_i, F_j) and together (F_ij)."""

    F_i: NDArray[np.int64]
    F_j: NDArray[np.int64]
    F_ij: NDArray[np.int64]


class ContextScores(NamedTuple):
    """The scores of pairs of words, as arrays of one shape.

    Attributes
    ----------
    lift : ndarray of float64
        M · F_ij / (F_i · F_j); 1 means no relation. It is what the paper's tables print.
    pmi : ndarray of float64
        Its natural logarithm; -inf for words that are never together.
    equation : ndarray of float64
        The paper's equation: (F_ij / m) / (p_i · p_j).
    """

    lift: NDArray[np.float64]
    pmi: NDArray[np.float64]
    equation: NDArray[np.float64]


def word_scores(F_K: ArrayLike, F_N: ArrayLike) -> WordScores:
    """Score words by the ratio of their shares of the bags B_N and B_K.

    Score(w) = (max(F_N(w), 1) / ΣF_N) / (max(F_K(w), 1) / ΣF_K). The floor of 1 keeps scores from
    0 and ∞; the totals are without it. A word in no clause has no evidence and is not ranked.

    Parameters
    ----------
    F_K, F_N : (n_words,) array of int
        How often each word is in the bags. An empty bag counts as one of size 1.

    Returns
    -------
    WordScores

    Examples
    --------
    >>> scores = word_scores([4, 1, 0], [0, 2, 0])
    >>> scores.score.round(3).tolist(), scores.ranked.tolist()
    ([0.625, 5.0, nan], [True, True, False])
    """
    known, novel = _counts("F_K", F_K), _counts("F_N", F_N)
    if known.shape != novel.shape:
        raise ValueError(f"F_K has {known.size} words, F_N {novel.size}; expected the same number.")
    ranked: NDArray[np.bool_] = (known > 0) | (novel > 0)
    total_known, total_novel = max(int(known.sum()), 1), max(int(novel.sum()), 1)
    above, below = np.maximum(novel, 1), np.maximum(known, 1)
    # One division of whole numbers: exact where they are below 2**53.
    score = np.where(ranked, (above * total_known) / (below * total_novel), np.nan)
    return WordScores(
        score=score,
        log_score=log(score),
        p_K=np.where(ranked, below / total_known, 0.0),
        p_N=np.where(ranked, above / total_novel, 0.0),
        ranked=ranked,
    )


def check_cut_offs(low: object, high: object, *, of: str = "") -> None:
    """Raise a ValueError unless they are numbers from 0, the first one below the second."""
    real = all(isinstance(one, Real) and not isinstance(one, bool) for one in (low, high))
    if not real or not 0 <= cast("float", low) < cast("float", high):
        raise ValueError(f"{of}low={low!r}, {of}high={high!r}: expected 0 <= low < high.")


def shared_role(
    score: ArrayLike, low: float = SHARED_LOW, high: float = SHARED_HIGH
) -> NDArray[np.str_]:
    """Return the role of words that both sides use, by their score.

    Examples
    --------
    >>> shared_role([0.1, 1.0, 9.0, float("nan")]).tolist()
    ['known', 'common', 'novel', 'common']
    """
    check_cut_offs(low, high)
    scores = np.asarray(score, np.float64)
    return np.select([scores <= low, scores >= high], ["known", "novel"], "common")


def stability(
    bags: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]],
    together: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> NDArray[np.float64]:
    """Return the share of machines that put each word on the same side as all machines together.

    Examples
    --------
    >>> one, other = (np.array([5, 0]), np.array([1, 5])), (np.array([4, 3]), np.array([5, 2]))
    >>> together = np.array([14, 3]), np.array([7, 12])
    >>> stability([one, other, one], together).round(3).tolist()
    [0.667, 0.667]
    """
    whole = _leaning(*together)
    using, agreeing = np.zeros(len(whole), np.int64), np.zeros(len(whole), np.int64)
    for F_K, F_N in bags:
        side = _leaning(F_K, F_N)
        using += F_K + F_N > 0
        agreeing += (side == whole) & (side != 0)
    share = np.full(len(whole), np.nan)
    np.divide(agreeing, using, out=share, where=using > 0)
    return share


def _leaning(F_K: Any, F_N: Any) -> NDArray[np.float64]:
    known, novel = np.asarray(F_K, np.float64), np.asarray(F_N, np.float64)
    leaning: NDArray[np.float64] = np.sign(
        novel / max(novel.sum(), 1) - known / max(known.sum(), 1)
    )
    return leaning


def context_counts(
    roles: Any,
    words: ArrayLike,
    others: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
) -> ContextCounts:
    """Count the clauses in which words have a role, alone and together.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> roles = csr_array([[1, 1, 0], [1, 0, 1], [1, 1, 1]])
    >>> F_i, F_j, F_ij = context_counts(roles, [1])
    >>> F_i.tolist(), F_j.tolist(), F_ij.tolist()
    ([2], [3, 2, 2], [[2, 2, 1]])
    """
    n = roles.shape[0]
    weight = np.ones(n, np.int64) if counts is None else np.asarray(counts, np.int64)
    whole = roles.astype(np.int64, copy=False)
    left = whole[:, np.atleast_1d(np.asarray(words, np.intp))]
    right = whole if others is None else whole[:, np.atleast_1d(np.asarray(others, np.intp))]
    left_weighted = left.multiply(weight[:, None]) if counts is not None else left
    return ContextCounts(
        F_i=left.T @ weight,
        F_j=right.T @ weight,
        F_ij=(left_weighted.T @ right).toarray(),
    )


def context_scores(
    F_i: ArrayLike,
    F_j: ArrayLike,
    F_ij: ArrayLike,
    M: int,
    *,
    bag_size: int | None = None,
    m: int | None = None,
) -> ContextScores:
    """Score pairs of words by how often they have a role in the same clause.

    The paper's equation mixes two normalisations: pairs are counted over the m clauses of a side,
    words over the bag. Its tables print the lift over all M clauses instead. Both are returned.

    Parameters
    ----------
    F_i, F_j, F_ij : array of int
        Clauses with the one word, the other, both; broadcast against each other.
    M : int
        The number of all clauses.
    bag_size : int, optional
        The size of the bag of this role, ΣF; without it the equation's value is nan.
    m : int, optional
        The number of clauses of this side; by default M.

    Returns
    -------
    ContextScores
        nan where one of the words never has the role.

    Examples
    --------
    The paper's table for BBC Sport, rugby and fly-half:

    >>> lift, pmi, _ = context_scores(1282, 300, 76, 20_000)
    >>> round(float(lift), 3), round(float(pmi), 3)
    (3.952, 1.374)
    """
    alone = np.asarray(F_i, np.float64) * np.asarray(F_j, np.float64)
    together = np.asarray(F_ij, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.asarray(np.where(alone > 0, M * together / alone, np.nan))
        pmi = np.asarray(log(lift))
        size = np.nan if bag_size is None else float(bag_size)
        share = together / (M if m is None else m)
        equation = np.asarray(np.where(alone > 0, share * size * size / alone, np.nan))
    return ContextScores(lift=lift, pmi=pmi, equation=equation)


def pair_strength(F_ij: ArrayLike, pmi: ArrayLike) -> NDArray[np.float64]:
    """Return the strength of pairs of words, (F_ij - 1) · PMI.

    PMI is weighted by how often the pair occurs beyond the first time: a pair in a single clause
    is no evidence and has the strength 0.

    Examples
    --------
    >>> pair_strength([0, 1, 3], [-np.inf, 2.0, 2.0]).tolist()
    [0.0, 0.0, 4.0]
    """
    together = np.asarray(F_ij)
    several = together > 1
    strength: NDArray[np.float64] = np.where(
        several, (together - 1) * np.where(several, pmi, 0.0), 0.0
    )
    return strength


def _counts(name: str, given: ArrayLike) -> NDArray[np.int64]:
    counts = np.asarray(given)
    if counts.ndim != 1 or (counts.size and (counts.dtype.kind not in "iu" or counts.min() < 0)):
        raise ValueError(f"{name}: expected a list of counts, whole numbers from 0.")
    return counts.astype(np.int64)


class Strength(NamedTuple):
    """How many times more frequent each word is, as arrays."""

    times: NDArray[np.float64]  # share of the novel over share of the known documents, shrunk
    low: NDArray[np.float64]  # of its 90 % interval
    high: NDArray[np.float64]
    less: NDArray[np.float64]  # the probability that the ratio is at most 1
    more: NDArray[np.float64]  # that it is at least 1


def frequency_ratios(
    known: NDArray[np.int64], novel: NDArray[np.int64], sizes: tuple[int, int]
) -> Strength:
    """Estimate how many times more frequent each word is in novel documents than in known ones.

    The plain ratio of two shares is extreme for rare words: 3 documents against 0 are infinitely
    many times more. Each ratio is therefore shrunk by what the ratios of all words of the same two
    piles are like (empirical Bayes). The logarithm of the ratio has a prior that is a mixture of
    normal laws around 0, of fixed widths; their weights are fitted to all words by expectation
    maximisation. Given its two counts, each word has a posterior law on a grid: its mean is the
    shrunk ratio, its 5 % and 95 % points are the interval.

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
