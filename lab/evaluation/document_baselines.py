"""Baselines for novelty detection, trained on known documents only.

They are tuned as the detector is: TF-IDF of words and word pairs, and of character n-grams; the C
of linear models is chosen by cross-validation on the training documents.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.evaluation.suites import C_GRID, N_CV_FOLDS
from newfound.baselines import one_blas_thread

__all__ = ["DOCUMENT_BASELINES", "DocumentBaselines"]

Scores = NDArray[np.float64]

_NEIGHBOURS = 5


class DocumentBaselines:
    """Novelty scores of the baselines; each model is trained when it is first used.

    Parameters
    ----------
    texts : sequence of str
        Known documents.
    labels : array
        Their classes.
    stop_words : bool
        Whether to leave out English stop words, which helps with long documents.
    seed : int
        The seed.
    """

    def __init__(
        self, texts: Sequence[str], labels: Any, *, stop_words: bool, seed: int = 0
    ) -> None:
        self.texts, self.labels = texts, np.asarray(labels)
        self.stop_words, self.seed = stop_words, seed
        self._models: dict[str, Any] = {}

    @cached_property
    def words(self) -> _Features:
        """TF-IDF of words and word pairs."""
        stop_words = "english" if self.stop_words else None
        return _Features(self.texts, ngram_range=(1, 2), stop_words=stop_words)

    @cached_property
    def characters(self) -> _Features:
        """TF-IDF of character n-grams within words."""
        return _Features(self.texts, analyzer="char_wb", ngram_range=(2, 5), min_df=2)

    def classify(self, texts: Sequence[str]) -> NDArray[Any]:
        """Return the classes of texts, by logistic regression."""
        labels: NDArray[Any] = self._logistic().predict(self.words(texts))
        return labels

    def logistic(self, texts: Sequence[str]) -> Scores:
        """Return the negative probability of the most probable class, by logistic regression."""
        return -np.asarray(self._logistic().predict_proba(self.words(texts)).max(axis=1))

    def word_svm(self, texts: Sequence[str]) -> Scores:
        """Return the negative greatest decision value of a linear SVM on words and pairs."""
        return self._svm("word SVM", self.words, texts)

    def character_svm(self, texts: Sequence[str]) -> Scores:
        """Return the negative greatest decision value of a linear SVM on character n-grams."""
        return self._svm("character SVM", self.characters, texts)

    def word_neighbours(self, texts: Sequence[str]) -> Scores:
        """Return the mean cosine distance to the nearest known documents, by words and pairs."""
        return self._neighbours("word neighbours", self.words, texts)

    def character_neighbours(self, texts: Sequence[str]) -> Scores:
        """Return the mean cosine distance to the nearest known documents, by characters."""
        return self._neighbours("character neighbours", self.characters, texts)

    def local_outlier_factor(self, texts: Sequence[str]) -> Scores:
        """Return the local outlier factor, by cosine distance."""
        from sklearn.neighbors import LocalOutlierFactor

        model = self._fitted(
            "local outlier factor",
            self.words,
            lambda: LocalOutlierFactor(n_neighbors=20, novelty=True, metric="cosine"),
        )
        return -np.asarray(model.score_samples(self.words(texts)))

    def one_class_svm(self, texts: Sequence[str]) -> Scores:
        """Return the negative decision value of a one-class SVM."""
        from sklearn.svm import OneClassSVM

        model = self._fitted(
            "one-class SVM", self.words, lambda: OneClassSVM(nu=0.1, gamma="scale")
        )
        return -np.asarray(model.decision_function(self.words(texts)))

    def unseen(self, texts: Sequence[str]) -> Scores:
        """Return the share of the words and pairs that no known document contains."""
        analyse, known = self.words.vectorizer.build_analyzer(), self.words.vectorizer.vocabulary_
        terms = [set(analyse(text)) for text in texts]
        return np.array(
            [sum(t not in known for t in found) / max(len(found), 1) for found in terms]
        )

    def _logistic(self) -> Any:
        from sklearn.linear_model import LogisticRegression

        return self._fitted(
            "logistic regression",
            self.words,
            lambda: self._tuned(LogisticRegression(max_iter=200)),
            self.labels,
        )

    def _svm(self, name: str, features: _Features, texts: Sequence[str]) -> Scores:
        from sklearn.svm import LinearSVC

        model = self._fitted(
            name, features, lambda: self._tuned(LinearSVC(random_state=self.seed)), self.labels
        )
        scores = np.asarray(model.decision_function(features(texts)), dtype=np.float64)
        # With two classes there is one value, and its sign is the class.
        return -np.abs(scores) if scores.ndim == 1 else -scores.max(axis=1)

    def _neighbours(self, name: str, features: _Features, texts: Sequence[str]) -> Scores:
        from sklearn.neighbors import NearestNeighbors

        model = self._fitted(
            name, features, lambda: NearestNeighbors(n_neighbors=_NEIGHBOURS, metric="cosine")
        )
        return np.asarray(model.kneighbors(features(texts))[0].mean(axis=1))

    def _tuned(self, model: Any) -> Any:
        """Return a model whose C is chosen by the accuracy in cross-validation."""
        from sklearn.model_selection import GridSearchCV, StratifiedKFold

        folds = StratifiedKFold(N_CV_FOLDS, shuffle=True, random_state=self.seed)
        return GridSearchCV(model, {"C": list(C_GRID)}, cv=folds)

    def _fitted(
        self, name: str, features: _Features, make: Callable[[], Any], labels: Any = None
    ) -> Any:
        if name not in self._models:
            with one_blas_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of convergence, and of classes with few documents
                self._models[name] = make().fit(features.matrix, labels)
        return self._models[name]


class _Features:
    """TF-IDF, fitted to the known documents."""

    def __init__(self, texts: Sequence[str], **options: Any) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.vectorizer = TfidfVectorizer(sublinear_tf=True, **options)
        self.matrix = self.vectorizer.fit_transform(texts)

    def __call__(self, texts: Sequence[str]) -> Any:
        return self.vectorizer.transform(texts)


DOCUMENT_BASELINES: Mapping[str, Callable[[DocumentBaselines, Sequence[str]], Scores]] = (
    MappingProxyType(
        {
            "words and pairs, logistic regression, max probability": DocumentBaselines.logistic,
            "words and pairs, LinearSVC, max decision": DocumentBaselines.word_svm,
            "character n-grams, LinearSVC, max decision": DocumentBaselines.character_svm,
            "words and pairs, 5 nearest neighbours": DocumentBaselines.word_neighbours,
            "character n-grams, 5 nearest neighbours": DocumentBaselines.character_neighbours,
            "words and pairs, local outlier factor": DocumentBaselines.local_outlier_factor,
            "words and pairs, one-class SVM": DocumentBaselines.one_class_svm,
            "share of unseen words and pairs": DocumentBaselines.unseen,
        }
    )
)
