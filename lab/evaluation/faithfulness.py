"""Faithfulness of explanations: how the words that they name change the output of a classifier."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.description.describer import NoveltyDescriber
from newfound.table import Table

__all__ = ["N_POSTS", "SHARE", "STRENGTHS", "faithfulness"]

N_POSTS = 100
SHARE = 0.2
STRENGTHS = (1.0, 10.0)
LIME_SAMPLES = 5000  # the library's default


def faithfulness(
    texts: Sequence[str],
    novel: NDArray[np.bool_],
    train: NDArray[np.bool_],
    parameters: Mapping[str, Any],
) -> Table:
    """Measure explanations of novel posts by a classifier, the judge, that does not use them.

    The judge is a logistic regression on TF-IDF, trained on the same posts as the describer, once
    with C = 1 and once with C = 10. Each explanation names a fifth of the words of a post.
    Comprehensiveness is the drop of the judge's probability of novel when these words are removed
    (higher is better); sufficiency is the drop when only they are kept (lower is better).

    Parameters
    ----------
    texts : sequence of str
        The posts.
    novel : (n,) array of bool
        Which of them are novel.
    train : (n,) array of bool
        Which of them to train on.
    parameters : mapping
        The parameters of the describer.

    Returns
    -------
    Table
        A row for each method, with the seconds that it takes for a post.
    """
    learned = [texts[i] for i in np.flatnonzero(train).tolist()]
    labels = np.where(novel[train], "novel", "known")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some posts have no words
        describer = NoveltyDescriber(**parameters, random_state=0).fit(learned, labels)
    rows = np.flatnonzero(~train & novel).tolist()
    chosen = np.random.default_rng(0).permutation(rows)[:N_POSTS].tolist()
    columns: dict[str, NDArray[Any]] = {}
    for C in STRENGTHS:
        judge = _Judge(describer, learned, novel[train], C)
        found = {
            name: np.mean([judge.measured(texts[row], explain) for row in chosen], axis=0)
            for name, explain in judge.methods.items()
        }
        columns["scorer"] = np.array(list(found), dtype=object)
        for number, column in enumerate(("comprehensiveness", "sufficiency", "seconds a post")):
            values = [float(value[number]) for value in found.values()]
            columns[f"C = {C:g}, {column}"] = np.array(values)
    return Table(columns)


class _Judge:
    """The judge, and the methods that explain its output."""

    def __init__(
        self, describer: NoveltyDescriber, texts: list[str], novel: NDArray[np.bool_], C: float
    ) -> None:
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression

        self.describer, self.vectorizer = describer, describer.vectorizer_
        names = list(self.vectorizer.vocabulary_)
        self.n_words = len(names)
        matrix = self.vectorizer.transform(texts).astype(np.float64)
        self.tfidf = TfidfTransformer().fit(matrix)
        weighted = self.tfidf.transform(matrix)
        self.model = LogisticRegression(C=C, max_iter=3000).fit(weighted, novel)
        words = describer.words_
        numbers = [words.number(name) for name in names]
        self.methods: dict[str, Callable[[str], list[int]]] = {
            "newfound: explanation": self._explained,
            "newfound: novelty": self._by(words["novelty"][numbers]),
            "newfound: score of the committee": self._by(
                np.nan_to_num(words["log_score"][numbers])
            ),
            "exact, from the judge's own weights": self._by(self.model.coef_[0] * self.tfidf.idf_),
            "TF-IDF weight": self._by(self.tfidf.idf_),
            "random words": self._random,
        }
        if find_spec("lime") is not None:
            self.methods["LIME"] = self._lime

    def words(self, text: str) -> list[int]:
        """Return the columns of the distinct words of a text."""
        numbers: list[int] = self.vectorizer.transform([text]).indices.tolist()
        return numbers

    def measured(
        self, text: str, explain: Callable[[str], list[int]]
    ) -> tuple[float, float, float]:
        """Return comprehensiveness, sufficiency and the seconds of the explanation."""
        began = time.perf_counter()
        ranked = explain(text)
        seconds = time.perf_counter() - began
        named = ranked[: max(1, math.ceil(SHARE * len(ranked)))]
        return (*self.drops(text, named), seconds)

    def drops(self, text: str, named: Sequence[int]) -> tuple[float, float]:
        """Return comprehensiveness and sufficiency."""
        words = self.words(text)
        without = [word for word in words if word not in set(named)]
        whole, less, only = self._probabilities([words, without, list(named)])
        return whole - less, whole - only

    def _probabilities(self, bags: Sequence[Sequence[int]]) -> list[float]:
        indptr = np.concatenate(([0], np.cumsum([len(bag) for bag in bags])))
        indices = np.array([word for bag in bags for word in sorted(bag)], np.int64)
        matrix = sparse.csr_array(
            (np.ones(len(indices)), indices, indptr), (len(bags), self.n_words)
        )
        probabilities: list[float] = self.model.predict_proba(self.tfidf.transform(matrix))[
            :, 1
        ].tolist()
        return probabilities

    def _by(self, weights: NDArray[np.float64]) -> Callable[[str], list[int]]:
        def explain(text: str) -> list[int]:
            words = np.array(self.words(text))
            return [int(word) for word in words[np.argsort(-weights[words], kind="stable")]]

        return explain

    def _explained(self, text: str) -> list[int]:
        """Rank the words of a text by what they add in its explanation."""
        added = self.describer.explain(text).contributions
        place = self.vectorizer.vocabulary_
        ranked = sorted(added.items(), key=lambda pair: -pair[1])
        return [int(place[word]) for word, _ in ranked if word in place]

    def _random(self, text: str) -> list[int]:
        words = self.words(text)
        order = np.random.default_rng(len(text)).permutation(len(words))
        return [words[i] for i in order]

    def _lime(self, text: str) -> list[int]:
        """Explain the bag of words: LIME gets a text with each distinct word once."""
        lime_text = import_module("lime.lime_text")
        words = self.words(text)
        if len(words) < 2:
            return words
        number = {f"w{word}": word for word in words}

        def judge(samples: Sequence[str]) -> NDArray[np.float64]:
            bags = [
                [number[name] for name in sample.split() if name in number] for sample in samples
            ]
            novel = np.array(self._probabilities(bags))
            return np.stack((1 - novel, novel), axis=1)

        explainer = lime_text.LimeTextExplainer(random_state=0, bow=True)
        explained = explainer.explain_instance(
            " ".join(number), judge, num_features=len(words), num_samples=LIME_SAMPLES
        )
        ranked = sorted(explained.as_list(), key=lambda pair: -pair[1])
        return [number[name] for name, _ in ranked]
