"""Find the new documents in an unlabelled mixture of known and new ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from newfound.description.describer import NoveltyDescriber
from newfound.detection.calibration import ShareOfNew, share_of_new
from newfound.detection.detector import NoveltyDetector

__all__ = ["Mixture", "describe_mixture", "split_mixture"]

_MIN_NOVEL = 2

Describer = TypeVar("Describer", bound=NoveltyDescriber)


@dataclass(frozen=True)
class Mixture:
    """The new documents of an unlabelled mixture.

    Attributes
    ----------
    share : ShareOfNew
        The estimated share of new documents.
    novel : ndarray of bool
        The documents taken as new: as many as the share says, those with the lowest p-values.
    novelty, p_values : ndarray of float
        The detector's score and p-value of each document.
    """

    share: ShareOfNew
    novel: NDArray[np.bool_]
    novelty: NDArray[np.float64]
    p_values: NDArray[np.float64]


def describe_mixture(
    describer: Describer, texts: list[str], labels: list[str], dates: list[Any], **options: Any
) -> Describer:
    """Fit a describer on known documents and on those of a mixture that look new.

    Sets its attribute ``mixture_``. The options are those of its `fit`.
    """
    n = labels.count("known")
    shared = {name: getattr(describer, name) for name in ("n_jobs", "random_state")}
    if describer.language is not None:
        shared["language"] = describer.language
    found = split_mixture(texts[:n], texts[n:], **shared)
    if found.novel.sum() < _MIN_NOVEL:
        raise ValueError(
            f"An estimated {found.share.share:.0%} of the {len(found.novel):,} documents of the "
            "mixture are new, too few to describe."
        )
    kept = [True] * n + found.novel.tolist()
    texts, labels, dates = (list(compress(column, kept)) for column in (texts, labels, dates))
    describer.fit(texts, labels, dates=dates, **options)
    describer.description_ = replace(describer.description_, mixture=found)
    return describer


def split_mixture(known: list[str], unlabelled: list[str], **parameters: Any) -> Mixture:
    """Separate new from known documents in an unlabelled mixture.

    The parameters are those of `NoveltyDetector`, and `labels`, the classes of the known documents.
    """
    labels = parameters.pop("labels", None)
    detector = NoveltyDetector(**parameters).fit(known, labels)
    scores = detector.score_texts(unlabelled)
    novelty, p_values = scores.novelty, scores.judged(detector.calibration_).p_values
    share = share_of_new(p_values, len(detector.calibration_))
    n = round(share.share * len(novelty))
    novel = np.zeros(len(novelty), dtype=bool)
    novel[np.lexsort((-novelty, p_values))[:n]] = True
    return Mixture(share, novel, novelty, p_values)
