"""Other ways to find new documents, trained on known ones only: the baselines of `documents`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RIVALS", "Rival"]

Scorer = Callable[[Sequence[str]], NDArray[np.float64]]

_NEIGHBOURS = 5


class Rival:
    """TF-IDF of known documents, and scorers of novelty that start from it.

    Parameters
    ----------
    texts : sequence of str
        Known documents.
    labels : array
        Their classes.
    stop_words : bool
        Leave out English stop words, as is good for long documents.
    seed : int
        The seed.
    """

    def __init__(
        self, texts: Sequence[str], labels: Any, *, stop_words: bool, seed: int = 0
    ) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.labels, self.seed = np.asarray(labels), seed
        self.vectorizer = TfidfVectorizer(
            sublinear_tf=True, stop_words="english" if stop_words else None
        )
        self.matrix = self.vectorizer.fit_transform(texts)
        self._models: dict[str, Any] = {}

    def transform(self, texts: Sequence[str]) -> Any:
        """Give the TF-IDF of texts."""
        return self.vectorizer.transform(texts)

    def classify(self, texts: Sequence[str]) -> NDArray[Any]:
        """Give the classes of texts, by logistic regression."""
        labels: NDArray[Any] = self._logistic().predict(self.transform(texts))
        return labels

    def logistic(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give how improbable the most probable class is, by logistic regression."""
        return -np.asarray(self._logistic().predict_proba(self.transform(texts)).max(axis=1))

    def support_vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give how little a linear support vector machine decides for the best class."""
        from sklearn.svm import LinearSVC

        model = self._model("svc", lambda: LinearSVC(random_state=self.seed), self.labels)
        scores = np.asarray(model.decision_function(self.transform(texts)), dtype=np.float64)
        return -np.abs(scores) if scores.ndim == 1 else -scores.max(axis=1)

    def neighbours(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give the mean cosine distance to the nearest known documents."""
        from sklearn.neighbors import NearestNeighbors

        model = self._model(
            "knn", lambda: NearestNeighbors(n_neighbors=_NEIGHBOURS, metric="cosine")
        )
        return np.asarray(model.kneighbors(self.transform(texts))[0].mean(axis=1))

    def local_outliers(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give the local outlier factor, by cosine distance."""
        from sklearn.neighbors import LocalOutlierFactor

        model = self._model(
            "lof", lambda: LocalOutlierFactor(n_neighbors=20, novelty=True, metric="cosine")
        )
        return -np.asarray(model.score_samples(self.transform(texts)))

    def one_class(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give how far outside a one-class support vector machine puts the text."""
        from sklearn.svm import OneClassSVM

        model = self._model("ocsvm", lambda: OneClassSVM(nu=0.1, gamma="scale"))
        return -np.asarray(model.decision_function(self.transform(texts)))

    def forest(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give how soon an isolation forest isolates the text."""
        from sklearn.ensemble import IsolationForest

        model = self._model("forest", lambda: IsolationForest(random_state=self.seed))
        return -np.asarray(model.score_samples(self.transform(texts)))

    def unseen(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give the share of the words that were never seen."""
        analyse, known = self.vectorizer.build_analyzer(), self.vectorizer.vocabulary_
        found = [set(analyse(text)) for text in texts]
        return np.array(
            [sum(w not in known for w in words) / max(len(words), 1) for words in found]
        )

    def _logistic(self) -> Any:
        from sklearn.linear_model import LogisticRegression

        return self._model("lr", lambda: LogisticRegression(C=10, max_iter=200), self.labels)

    def _model(self, name: str, make: Callable[[], Any], labels: Any = None) -> Any:
        if name not in self._models:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._models[name] = make().fit(self.matrix, labels)
        return self._models[name]


RIVALS: dict[str, Callable[[Rival, Sequence[str]], NDArray[np.float64]]] = {
    "TF-IDF + logistic regression, max probability": Rival.logistic,
    "TF-IDF + LinearSVC, max decision": Rival.support_vectors,
    "TF-IDF + 5 nearest neighbours, cosine": Rival.neighbours,
    "TF-IDF + local outlier factor, cosine": Rival.local_outliers,
    "TF-IDF + one-class SVM": Rival.one_class,
    "TF-IDF + isolation forest": Rival.forest,
    "share of unseen words": Rival.unseen,
}
