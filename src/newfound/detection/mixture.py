"""A pile that mixes known and new documents: which share is new, and which documents are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Mixture", "ShareOfNew", "describe_mixture", "share_of_new", "split_mixture"]

_CUT = 0.5  # p-values above it are taken for those of known documents
_Z = 1.645  # 90 %
_LEAST_NOVEL = 2

Describer = TypeVar("Describer", bound=Any)  # a NoveltyDescriber, which imports this module


@dataclass(frozen=True)
class ShareOfNew:
    """Which share of some documents is new, with a 90 % interval."""

    share: float
    low: float
    high: float


def share_of_new(p_values: ArrayLike, n_held_back: int | None = None) -> ShareOfNew:
    """Estimate which share of documents is new from their p-values.

    p-values of known documents are uniform, so twice those above a half are all known documents
    (Storey's estimator). New documents that look known count as known, so it tends to be too low.

    Parameters
    ----------
    p_values : array of float
        A p-value for each document.
    n_held_back : int, optional
        How many held-back documents they come from. Few of them make all p-values uncertain
        together, and the interval wider; without it they are taken for exact.

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
    above = float((p > _CUT).mean())
    share = 1 - above / (1 - _CUT)
    variance = max(above * (1 - above), 1 / len(p)) / len(p)
    if n_held_back is not None:
        # The share of known documents above the cut varies with those held back, as a rank does.
        known = min(1 - share, 1.0)
        variance += _CUT * (1 - _CUT) * known**2 / (n_held_back + 2)
    error = _Z * np.sqrt(variance) / (1 - _CUT)
    low, middle, high = (float(np.clip(x, 0, 1)) for x in (share - error, share, share + error))
    return ShareOfNew(middle, low, high)


@dataclass(frozen=True)
class Mixture:
    """What was found in an unlabelled pile.

    Attributes
    ----------
    share : ShareOfNew
        Which share of the pile is new.
    novel : ndarray of bool
        The documents taken for new: as many as the share says, those of the highest novelty.
    novelty, p_values : ndarray of float
        The detector's score and p-value of each document.
    """

    share: ShareOfNew
    novel: NDArray[np.bool_]
    novelty: NDArray[np.float64]
    p_values: NDArray[np.float64]


def describe_mixture(
    describer: Describer, texts: list[str], labels: list[str], **options: Any
) -> Describer:
    """Fit a describer on known documents and on those of a mixture that look new.

    Gives it the attribute ``mixture_``. The options are those of its `fit`.
    """
    n = labels.count("known")
    shared = {name: getattr(describer, name) for name in ("n_jobs", "random_state")}
    if describer.language is not None:
        shared["language"] = describer.language
    found = split_mixture(texts[:n], texts[n:], **shared)
    if found.novel.sum() < _LEAST_NOVEL:
        raise ValueError(
            f"Of the {len(found.novel):,} documents of the second pile an estimated "
            f"{found.share.share:.0%} are new, too few to describe."
        )
    kept = [True] * n + found.novel.tolist()
    describer.fit(*(list(compress(column, kept)) for column in (texts, labels)), **options)
    describer.mixture_ = found
    return describer


def split_mixture(known: list[str], unlabelled: list[str], **parameters: Any) -> Mixture:
    """Tell new from known documents in an unlabelled pile.

    Parameters
    ----------
    known : list of str
        Known documents.
    unlabelled : list of str
        Documents of which some are known and some new.
    **parameters
        Those of `NoveltyDetector`; `labels` for the classes of the known documents.

    Returns
    -------
    Mixture
    """
    from newfound.detection.detector import NoveltyDetector

    labels = parameters.pop("labels", None)
    detector = NoveltyDetector(**parameters).fit(known, labels)
    novelty, nearest, bags = detector._scored(unlabelled)
    p_values = detector._p_values(novelty, nearest, bags)
    share = share_of_new(p_values, len(detector.calibration_))
    n = round(share.share * len(novelty))
    novel = np.zeros(len(novelty), dtype=bool)
    novel[np.lexsort((-novelty, p_values))[:n]] = True
    return Mixture(share, novel, novelty, p_values)
