"""Scales of the parts of a score, and p-values of the whole, both measured on known documents.

p-values are those of split conformal prediction. A future known document is equally likely to have
any rank among the held-back ones. Therefore
``p = (1 + held-back scores at least as high) / (1 + held-back documents)`` is at most alpha for at
most a share alpha of known documents, for any score and any number of documents. This holds on
average over the choice of held-back documents. Ties count against novelty; nothing is randomised.

One exception: `newfound.detection.split.draw_held_back` never holds back the last document of a
class. Where many classes have only one or two documents, the held-back documents come from larger
classes, which the detector knows better, and the false-alarm rate exceeds alpha.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.arithmetic import binomial_tail, log1p
from newfound.linear import polynomial

__all__ = [
    "CUT",
    "LONG",
    "PARTS",
    "WEIGHTS",
    "WEIGHTS_OF_LONG",
    "WEIGHTS_WITHOUT_LABELS",
    "Calibration",
    "Scales",
    "ShareOfNew",
    "check_alpha",
    "held_back_needed",
    "share_from_counts",
    "share_of_new",
]

PARTS = ("margin", "surprise", "neighbours", "pairs", "rules")

# The weight of each part, in units of its spread over known documents; how they were chosen is in
# lab/notes/detector-constants.md.
WEIGHTS = {"margin": 1.75, "surprise": 1.0, "neighbours": 0.5, "pairs": 1.0, "rules": 1.75}

# Long documents of a new kind are often near a known class; their neighbours and pairs tell more.
WEIGHTS_OF_LONG = {"margin": 0.25, "surprise": 0.5, "neighbours": 3.0, "pairs": 1.5, "rules": 0.5}

# Without labels there is one class, which has no margin and no rules, and of which surprise says
# only which words are unseen; or there are groups made of words, which new words fit as well.
WEIGHTS_WITHOUT_LABELS = {
    "margin": 0.5,
    "surprise": 0.5,
    "neighbours": 2.0,
    "pairs": 1.0,
    "rules": 0.5,
}

LONG = 20  # different words, in the median
_MIN_FOR_LENGTH = 200  # documents; with fewer, those of all lengths have the same centre


@dataclass(frozen=True)
class Scales:
    """How the parts are centred and scaled: ``(parts - centres) * scale`` adds up to the novelty.

    The parts of a short document vary more, and in another way, than those of a long one. They are
    compared with what is expected of a known document with as many words: a polynomial of the
    second degree of the logarithm of the number of words. With fewer than 200 documents to fit it
    to, the number of words does not matter.

    Attributes
    ----------
    centre : (degree + 1, n_parts) array
        The coefficients of the polynomial, the constant last.
    scale : (n_parts,) array
        What each part is multiplied by.
    low, high : float
        The shortest and the longest documents that the polynomial was fitted to, as logarithms of
        1 + their words. Beyond them it is constant.
    """

    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    low: float = 0.0
    high: float = 0.0

    @classmethod
    def of(
        cls,
        parts: NDArray[np.float64],
        n_words: NDArray[np.int64],
        weights: Mapping[str, float] = WEIGHTS,
        *,
        constant: Sequence[str] = (),
    ) -> Scales:
        """Return the scales that give the parts of some texts mean 0 and their weights as spread.

        `n_words` has the number of different words of each text; parts named in `constant` have the
        same centre for documents of all lengths.

        Examples
        --------
        >>> parts = np.array([[0.0, 1, 2, 3, 4], [2.0, 1, 2, 3, 4]])
        >>> scales = Scales.of(parts, np.array([5, 9]))
        >>> scales.centre.round(9).tolist(), scales.scale.tolist()
        ([[1.0, 1.0, 2.0, 3.0, 4.0]], [1.75, 1.0, 0.5, 1.0, 1.75])
        """
        lengths = log1p(n_words)
        low, high = (float(x) for x in np.quantile(lengths, (0.01, 0.99)))
        lengths = np.clip(lengths, low, high)
        degree = 2 if len(parts) >= _MIN_FOR_LENGTH and len(np.unique(lengths)) > 2 else 0
        centre = polynomial(lengths, parts, degree)
        fixed = [PARTS.index(name) for name in constant]
        centre[:, fixed], centre[-1, fixed] = 0.0, parts[:, fixed].mean(axis=0)
        scales = cls(np.ascontiguousarray(centre), np.ones(parts.shape[1]), low, high)
        spread = (parts - scales.centres(n_words)).std(axis=0)
        wanted = np.array([weights[name] for name in PARTS])
        return replace(scales, scale=wanted / np.where(spread > 1e-9, spread, 1.0))

    @classmethod
    def of_known(
        cls,
        parts: NDArray[np.float64],
        n_words: NDArray[np.int64],
        n_classes: int,
        *,
        labelled: bool = True,
    ) -> Scales:
        """Return the scales for the parts of some known documents.

        The weights depend on whether there are classes, on whether these are labels or groups that
        were found, and on how long the documents are.
        """
        if n_classes == 1:
            return cls.of(parts, n_words, WEIGHTS_WITHOUT_LABELS)
        if np.median(n_words) >= LONG:
            return cls.of(parts, n_words, WEIGHTS_OF_LONG, constant=PARTS)
        # Similarities are those of texts of length 1. A known class has documents of many lengths,
        # and a text shorter than they are is new.
        weights = WEIGHTS if labelled else WEIGHTS_WITHOUT_LABELS
        return cls.of(parts, n_words, weights, constant=("neighbours",))

    @classmethod
    def none(cls) -> Scales:
        """Return the scales that leave the parts as they are."""
        return cls(np.zeros((1, len(PARTS))), np.ones(len(PARTS)))

    def centres(self, n_words: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the expected parts of known documents with so many words.

        One row for all documents if their length does not matter.
        """
        lengths = np.minimum(np.maximum(log1p(n_words), self.low), self.high)[:, None]
        centres = self.centre[:1]
        for coefficients in self.centre[1:]:
            centres = centres * lengths + coefficients
        return centres


CUT = 0.5  # p-values above it are taken as those of known documents
_Z = 1.645  # 90 %
MIN_ALPHA = 1e-9  # it needs a thousand million held-back documents
_OWN = 100  # held-back documents from which on a class is judged by its own; and the hundredths
_FEW = 5  # below _FEW / alpha held-back documents, the rate may well be twice alpha
_HALVINGS = 40


def check_alpha(alpha: object) -> float:
    """Return alpha as a float; raise a ValueError if it is not a rate."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number):
        raise ValueError(f"alpha={alpha!r}: expected a false-alarm rate such as 0.05.")
    if not 0 < float(alpha) < 1:
        raise ValueError(f"alpha={alpha!r}: expected a false-alarm rate between 0 and 1.")
    if float(alpha) < MIN_ALPHA:
        raise ValueError(
            f"alpha={alpha!r}: expected at least {MIN_ALPHA:g}; a rate of alpha needs 1/alpha "
            "known documents to be held back."
        )
    return float(alpha)


def held_back_needed(alpha: float) -> int:
    """Return the number of held-back documents that a p-value as low as alpha needs.

    Examples
    --------
    >>> held_back_needed(0.05), held_back_needed(0.01)
    (19, 99)
    """
    return max(1, math.ceil(1 / alpha - 1e-9) - 1)


class Calibration:
    """The scores of held-back known documents, overall and by nearest class.

    A class that is the nearest one of 100 held-back documents is judged by its own ones: its texts
    are ranked among them, in hundredths. Texts of all classes are then compared by these
    hundredths first, and by their scores within one, so that alpha may be less than a hundredth.
    The other classes are ranked together, or among all if they have fewer. If `classwise` is false,
    all are ranked together.

    A p-value does not depend on alpha, so that a higher alpha never finds fewer texts.

    Examples
    --------
    >>> calibration = Calibration(np.arange(19.0), np.zeros(19, int), 0.05)
    >>> calibration.p_values(np.array([18.5, 17.5, -1.0]), np.zeros(3, int)).tolist()
    [0.05, 0.1, 1.0]
    >>> calibration.is_novel(np.array([0.05, 0.1])).tolist(), calibration.threshold(0)
    ([True, False], 18.0)
    """

    def __init__(
        self,
        scores: NDArray[np.float64],
        nearest: NDArray[np.int64],
        alpha: float,
        *,
        classwise: bool = True,
    ) -> None:
        self.scores, self.nearest, self.alpha, self.classwise = scores, nearest, alpha, classwise
        self._all = np.sort(scores)
        sizes = np.bincount(nearest, minlength=1)
        own = np.flatnonzero(sizes >= _OWN) if classwise else np.zeros(0, np.int64)
        self._sorted = {k: np.sort(scores[nearest == k]) for k in own.tolist()}
        rest = ~np.isin(nearest, own)
        self._shared = np.sort(scores[rest]) if rest.sum() >= _OWN else self._all
        if own.size:
            bins = _bins(self._shared, scores)
            for k, mine in self._sorted.items():
                here = nearest == k
                bins[here] = _bins(mine, scores[here])
            order = np.lexsort((-scores, bins))
            # Held-back documents in the order of their p-values, the most novel first.
            self._by_bin = np.split(
                -scores[order], np.searchsorted(bins[order], np.arange(1, _OWN))
            )
            self._before = np.cumsum([0, *map(len, self._by_bin)])
        self._thresholds = np.zeros(0)  # by class, when they are first asked for

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def own(self) -> NDArray[np.int64]:
        """The classes that are judged by their own held-back documents."""
        return np.array(list(self._sorted), np.int64)

    @property
    def interval(self) -> tuple[float, float]:
        """Between which two rates the false-alarm rate of nine in ten such calibrations is.

        With n held-back documents the rate of known documents that are called novel follows the
        Beta distribution with parameters k and n + 1 - k, where k is alpha (n + 1), rounded down.

        Examples
        --------
        >>> low, high = Calibration(np.arange(200.0), np.zeros(200, int), 0.05).interval
        >>> round(low, 3), round(high, 3)
        (0.027, 0.077)
        """
        n = len(self.scores)
        k = math.floor(self.alpha * (n + 1) + 1e-9)
        return _beta_quantile(0.05, k, n), _beta_quantile(0.95, k, n)

    @property
    def is_small(self) -> bool:
        """Whether there are so few held-back documents that the rate may be twice alpha."""
        return len(self.scores) < self.few

    @property
    def few(self) -> int:
        """The number of held-back documents below which there are few: 5/alpha."""
        return math.ceil(_FEW / self.alpha - 1e-9)

    def p_values(
        self,
        scores: NDArray[np.float64],
        nearest: NDArray[np.int64],
        has_words: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """Return the p-value of each text."""
        if self._sorted:
            p = self._among_bins(self._shared, scores)
            for k, own in self._sorted.items():
                here = nearest == k
                p[here] = self._among_bins(own, scores[here])
        else:
            p = (1.0 + _n_higher(self._all, scores)) / (len(self) + 1)
        if has_words is not None:
            p[~has_words] = 1.0
        return p

    def _among_bins(
        self, held_back: NDArray[np.float64], scores: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        bins = -(-_OWN * (1 + _n_higher(held_back, scores)) // (len(held_back) + 1)) - 1
        higher = self._before[bins]
        for b in np.unique(bins).tolist():
            here = bins == b
            higher[here] += np.searchsorted(self._by_bin[b], -scores[here], side="right")
        p: NDArray[np.float64] = (1.0 + higher) / (len(self) + 1)
        return p

    def is_novel(self, p_values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which p-values are at most alpha."""
        novel: NDArray[np.bool_] = p_values <= self.alpha * (1 + 1e-12)
        return novel

    def thresholds(self, nearest: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the threshold of each text, given its nearest class."""
        by_class = {k: self.threshold(k) for k in np.unique(nearest).tolist()}
        return np.array([by_class[k] for k in nearest.tolist()], dtype=np.float64)

    def thresholds_of(self, n_classes: int) -> NDArray[np.float64]:
        """Return the threshold of each of so many classes."""
        found = self._thresholds
        if len(found) != n_classes:
            shared = self.threshold(-1)
            found = np.full(n_classes, shared)
            found[self.own] = [self.threshold(k) for k in self.own.tolist()]
            self._thresholds = found
        return found

    def threshold(self, nearest: int) -> float:
        """Return the score above which a text with this nearest class is novel."""
        scores = np.append(self._all, math.inf)
        p = self.p_values(scores, np.full(len(scores), nearest))
        # Between two held-back scores the p-value is that of the higher one.
        return float(scores[np.flatnonzero(~self.is_novel(p))[-1]])


def _n_higher(held_back: NDArray[np.float64], scores: NDArray[Any]) -> NDArray[np.int64]:
    higher: NDArray[np.int64] = len(held_back) - np.searchsorted(held_back, scores, side="left")
    return higher


def _bins(held_back: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the hundredth, from 0, of each of some held-back scores among them, ascending."""
    found: NDArray[np.int64] = -(-_OWN * _n_higher(held_back, scores) // len(held_back)) - 1
    return found


def _beta_quantile(share: float, k: int, n: int) -> float:
    """Return a quantile of the Beta distribution with parameters k and n + 1 - k.

    Examples
    --------
    >>> round(_beta_quantile(0.5, 1, 1), 6), _beta_quantile(0.9, 0, 10)
    (0.5, 0.0)
    """
    if k < 1:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if binomial_tail(k, n, middle) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@dataclass(frozen=True)
class ShareOfNew:
    """The estimated share of new documents, with a 90 % confidence interval."""

    share: float
    low: float
    high: float


def share_of_new(p_values: ArrayLike, n_held_back: int | None = None) -> ShareOfNew:
    """Estimate the share of new documents from p-values (Storey's estimator).

    p-values of known documents are uniform, so twice the number of p-values above 0.5 estimates the
    number of known documents. New documents that look known count as known, so the estimate tends
    to be too low.

    Parameters
    ----------
    p_values : array of float
        A p-value for each document.
    n_held_back : int, optional
        The number of held-back documents that they come from. With few of them, all p-values are
        uncertain together and the interval is wider; without it they are taken as exact.

    Returns
    -------
    ShareOfNew

    Examples
    --------
    >>> found = share_of_new([0.01] * 40 + [(i + 0.5) / 60 for i in range(60)])
    >>> round(found.share, 2), round(found.low, 2), round(found.high, 2)
    (0.4, 0.25, 0.55)
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not len(p) or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p_values must be one or more numbers from 0 to 1, in one dimension.")
    return share_from_counts(int((p > CUT).sum()), len(p), n_held_back)


def share_from_counts(n_above: int, n: int, n_held_back: int | None = None) -> ShareOfNew:
    """Return the same as `share_of_new`, from the number of p-values above `CUT`.

    Examples
    --------
    >>> share_from_counts(30, 100) == share_of_new([0.01] * 70 + [0.9] * 30)
    True
    """
    above = n_above / n
    share = 1 - above / (1 - CUT)
    variance = max(above * (1 - above), 1 / n) / n
    if n_held_back is not None:
        # The share of known documents above the cut varies with the choice of held-back documents.
        known = min(1 - share, 1.0)
        variance += CUT * (1 - CUT) * known * known / (n_held_back + 2)
    error = _Z * np.sqrt(variance) / (1 - CUT)
    low, middle, high = (float(np.clip(x, 0, 1)) for x in (share - error, share, share + error))
    return ShareOfNew(middle, low, high)
