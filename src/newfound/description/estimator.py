"""The methods by which scikit-learn scores a describer: it tells known from novel texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from newfound.description.explanation import Explanation
from newfound.sides import SIDES
from newfound.text.validation import check_texts, is_novel

__all__ = ["SideClassifierMixin"]


class _Fitted(Protocol):
    def explain(self, text: str) -> Explanation: ...
    def predict(self, texts: Iterable[str]) -> NDArray[np.str_]: ...


class SideClassifierMixin(ClassifierMixin):
    """Predictions of an estimator that explains whether a text is known or novel."""

    def predict(self: _Fitted, texts: Iterable[str]) -> NDArray[np.str_]:
        """Return the verdict of `explain` for each text.

        Parameters
        ----------
        texts : iterable of str
            Any texts.

        Returns
        -------
        ndarray of str
            "known" or "novel"; another word if the text cannot be judged.
        """
        return np.array([self.explain(text).verdict for text in check_texts(texts)], dtype=np.str_)

    def score(self: _Fitted, X: Iterable[str], y: ArrayLike, sample_weight: Any = None) -> float:
        """Return the accuracy of `predict`; a text that cannot be judged is an error.

        Parameters
        ----------
        X : iterable of str
            Any texts.
        y : array
            "known" or "novel" for each, or 0 and 1 (novel).
        sample_weight : array, optional
            The weight of each text.

        Returns
        -------
        float
        """
        predicted = self.predict(X).tolist()
        expected = [SIDES[is_novel(label)] for label in np.asarray(y).tolist()]
        if len(expected) != len(predicted):
            raise ValueError(
                f"y has {len(expected):,} labels for {len(predicted):,} texts; pass one for each."
            )
        right = [a == b for a, b in zip(predicted, expected, strict=True)]
        return float(np.average(right, weights=sample_weight))
