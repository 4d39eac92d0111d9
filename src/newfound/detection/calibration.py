"""From scores to p-values, by held-back known documents: false alarms at the rate asked for.

A new known document is as likely to have any rank among the held-back ones as any other. So
``p = (1 + held-back scores at least as high) / (1 + held-back documents)`` is at most alpha for at
most a share alpha of known documents, whatever the score and however few documents (split conformal
prediction). That is on average over what is held back. Ties count against novelty; nothing is drawn
at random.

One exception: `newfound.detection.split.take_aside` never holds back the last document of a class, as nothing
would be known of the class then. Where many classes have a single document or two, those held back
are therefore of larger classes, which are better known, and false alarms exceed alpha.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Calibration", "check_alpha", "held_back_needed"]

_OWN = 5  # a class has a threshold of its own from so many times 1/alpha held-back documents


def check_alpha(alpha: object) -> float:
    """Give alpha as a float, or say what is wrong with it."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number):
        raise ValueError(f"alpha={alpha!r}: expected a false-alarm rate such as 0.05.")
    if not 0 < float(alpha) < 1:
        raise ValueError(f"alpha={alpha!r}: expected a false-alarm rate between 0 and 1.")
    return float(alpha)


def held_back_needed(alpha: float) -> int:
    """Give how many held-back documents a p-value as low as alpha needs.

    Examples
    --------
    >>> held_back_needed(0.05), held_back_needed(0.01)
    (19, 99)
    """
    return max(1, math.ceil(1 / alpha - 1e-9) - 1)


class Calibration:
    """The scores of held-back known documents, of all and by nearest class.

    A class that is the nearest one of many held-back documents has its own threshold; the others
    share one, made of their documents together. Where `classwise` is false all share one.

    Parameters
    ----------
    scores : ndarray of float
        Novelty of the held-back documents.
    nearest : ndarray of int
        The nearest class of each.
    alpha : float
        The rate of false alarms; with it comes how many are many.
    classwise : bool
        Whether classes may have thresholds of their own.

    Examples
    --------
    >>> calibration = Calibration(np.arange(19.0), np.zeros(19, int), 0.05)
    >>> calibration.p_values(np.array([18.5, 17.5, -1.0]), np.zeros(3, int)).tolist()
    [0.05, 0.1, 1.0]
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
        sizes = np.bincount(nearest, minlength=1)
        enough = sizes >= math.ceil(_OWN / alpha - 1e-9)
        shared = sizes[~enough].sum()
        # What is left over has to be enough for a threshold, too.
        alone = classwise and (not shared or shared >= held_back_needed(alpha))
        self.own = np.flatnonzero(enough) if alone else np.zeros(0, np.int64)
        self._sorted = {k: np.sort(scores[nearest == k]) for k in self.own.tolist()}
        rest = ~np.isin(nearest, self.own)
        # A class that no held-back document is nearest to is measured against all of them.
        self._shared = np.sort(scores[rest] if rest.any() else scores)

    def __len__(self) -> int:
        return len(self.scores)

    def p_values(
        self, scores: NDArray[np.float64], nearest: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Give the p-value of each score, high scores being novel."""
        p = _p_values(self._shared, scores)
        for k, own in self._sorted.items():
            here = nearest == k
            p[here] = _p_values(own, scores[here])
        return p

    def threshold(self, nearest: int) -> float:
        """Give the score above which a text with this nearest class is novel."""
        held_back = self._sorted.get(nearest, self._shared)
        most = math.floor(self.alpha * (len(held_back) + 1) + 1e-9) - 1
        return float(held_back[len(held_back) - 1 - most]) if most >= 0 else math.inf


def _p_values(held_back: NDArray[np.float64], scores: NDArray[Any]) -> NDArray[np.float64]:
    higher = len(held_back) - np.searchsorted(held_back, scores, side="left")
    p: NDArray[np.float64] = (1.0 + higher) / (len(held_back) + 1)
    return p
