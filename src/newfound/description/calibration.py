"""What votes mean: the probability that a text is novel, from votes on held-out documents.

Machines do not vote evenly: where one side has more documents or more varied ones, its rules match
more texts of both sides. The votes on documents that a machine was not trained on show where the
two sides divide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import (  # type: ignore[import-untyped,unused-ignore]
    LogisticRegression,
)

__all__ = ["VoteCalibration"]

_MIN_DOCUMENTS = 5  # of each side


@dataclass(frozen=True)
class VoteCalibration:
    """A logistic curve from the lead of novel votes to the probability of novel.

    Attributes
    ----------
    slope, intercept : float
        The log-odds of novel are ``slope * lead + intercept``. The lead is the number of votes for
        novel less that for known, divided by the number of machines.

    Examples
    --------
    >>> leads = np.array([-9, -8, -7, -8, -9, -3, -2, 1, -1, 2.0])
    >>> calibration = VoteCalibration.of(leads, np.arange(10) >= 5)
    >>> [round(calibration.probability(lead), 2) for lead in (-9, -4.5, 1)]
    [0.15, 0.51, 0.9]
    """

    slope: float
    intercept: float

    @classmethod
    def of(cls, leads: NDArray[np.float64], novel: NDArray[np.bool_]) -> VoteCalibration | None:
        """Return the curve of held-out votes, both sides weighted alike.

        Parameters
        ----------
        leads : (n_documents,) array of float
            The lead of novel votes in each document, nan if no machine held it out.
        novel : (n_documents,) array of bool
            Which of them are novel.

        Returns
        -------
        VoteCalibration or None
            None if a side has fewer than five documents with votes, or votes do not tell the sides
            apart.
        """
        there = ~np.isnan(leads)
        leads, novel = leads[there], novel[there]
        if min(int(novel.sum()), int((~novel).sum())) < _MIN_DOCUMENTS:
            return None
        centre, scale = float(leads.mean()), float(leads.std())
        if scale == 0:
            return None
        model = LogisticRegression(class_weight="balanced").fit(
            ((leads - centre) / scale)[:, None], novel
        )
        slope = float(model.coef_[0, 0]) / scale
        if slope <= 0:
            return None
        return cls(slope, float(model.intercept_[0]) - slope * centre)

    def probability(self, lead: float) -> float:
        """Return the probability of novel, if both sides were equally frequent."""
        odds = self.slope * lead + self.intercept
        return 1 / (1 + math.exp(-odds)) if odds >= 0 else 1 - 1 / (1 + math.exp(odds))
