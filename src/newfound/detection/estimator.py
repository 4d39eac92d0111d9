"""The methods by which scikit-learn scores a detector, with its signs for outlier detectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from newfound.detection.calibration import Calibration
from newfound.detection.scoring import Scorer, Scores

__all__ = ["OpenSetClassifierMixin"]


class _Fitted(Protocol):
    scorer_: Scorer

    @property
    def calibration_(self) -> Calibration: ...
    def predict(self, texts: Iterable[str]) -> NDArray[np.object_]: ...
    def score_texts(self, texts: Iterable[str]) -> Scores: ...


class OpenSetClassifierMixin(ClassifierMixin):
    """Scores of a classifier that also says "novel".

    To scikit-learn the detector is a classifier, so that `cross_val_score` and `GridSearchCV` use
    stratified folds if labels are given. `score_samples` and `decision_function` have the signs of
    scikit-learn's outlier detectors: higher is more like the known documents, and a negative
    `decision_function` is novel.
    """

    def score_samples(self: _Fitted, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return how normal each text is: minus its `novelty`, so that lower is more novel.

        Parameters
        ----------
        texts : iterable of str
            Any texts.

        Returns
        -------
        ndarray of float
        """
        return -self.score_texts(texts).novelty

    def decision_function(self: _Fitted, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return how far each text is from being novel: negative for novel texts.

        It is the threshold of the nearest class minus the novelty. A text without words cannot be
        judged; its value is at least 0.

        Parameters
        ----------
        texts : iterable of str
            Any texts.

        Returns
        -------
        ndarray of float
        """
        scores = self.score_texts(texts)
        distance = self.calibration_.thresholds(scores.nearest) - scores.novelty
        return np.where(scores.has_words, distance, np.maximum(distance, 0.0))

    def score(
        self: _Fitted, X: Iterable[str], y: ArrayLike | None = None, sample_weight: Any = None
    ) -> float:
        """Return the accuracy of `predict`; a known document that is called novel is an error.

        Parameters
        ----------
        X : iterable of str
            Any texts.
        y : array, optional
            The class of each text, or "novel". Without it all texts count as known, and the result
            is the share of them that is not called novel.
        sample_weight : array, optional
            The weight of each text.

        Returns
        -------
        float
        """
        predicted = self.predict(X).tolist()
        if y is None:
            right = [label != "novel" for label in predicted]
        else:
            labels = np.asarray(y, dtype=object).tolist()
            if len(labels) != len(predicted):
                raise ValueError(
                    f"y has {len(labels):,} labels for {len(predicted):,} texts; pass one for each."
                )
            right = [a == b for a, b in zip(predicted, labels, strict=True)]
        return float(np.average(right, weights=sample_weight))
