"""Faithfulness of explanations: whether a judge changes its mind without the words they name."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.describer import NoveltyDescriber
from newfound.tables import Table

__all__ = ["N_POSTS", "N_WORDS", "faithfulness"]

N_POSTS = 100
N_WORDS = 10
LIME_SAMPLES = 5000  # what the library does by default


def faithfulness(
    texts: Sequence[str],
    novel: NDArray[np.bool_],
    train: NDArray[np.bool_],
    parameters: Mapping[str, Any],
) -> Table:
    """Measure explanations of novel posts by a judge that knows nothing of them.

    The judge is a logistic regression on TF-IDF, trained on the same posts as the describer. Each
    explanation names ten words of a post. Comprehensiveness is how much the judge's probability of
    novel falls when they are taken away (the more, the better), sufficiency how much it falls when
    only they are left (the less, the better).

    Parameters
    ----------
    texts : sequence of str
        The posts.
    novel : (n,) array of bool
        Which of them are novel.
    train : (n,) array of bool
        Which of them to learn from.
    parameters : mapping
        Those of the describer.

    Returns
    -------
    Table
        A row for each way to explain, with the seconds that it takes for a post.
    """
    judge = _Judge([texts[i] for i in np.flatnonzero(train).tolist()], novel[train], parameters)
    rows = np.flatnonzero(~train & novel).tolist()
    posts = [row for row in rows if len(judge.words(texts[row])) > N_WORDS]
    chosen = np.random.default_rng(0).permutation(posts)[:N_POSTS].tolist()
    found: dict[str, list[tuple[float, float, float]]] = {}
    for name, explain in judge.ways.items():
        for row in chosen:
            began = time.perf_counter()
            named = explain(texts[row])[:N_WORDS]
            seconds = time.perf_counter() - began
            found.setdefault(name, []).append((*judge.falls(texts[row], named), seconds))
    values = {name: np.mean(rows, axis=0) for name, rows in found.items()}
    columns: dict[str, NDArray[Any]] = {"scorer": np.array(list(values), dtype=object)}
    for number, column in enumerate(("comprehensiveness", "sufficiency", "seconds a post")):
        columns[column] = np.array([float(value[number]) for value in values.values()])
    return Table(columns)


class _Judge:
    """The judge, and the ways to explain what it says."""

    def __init__(
        self, texts: list[str], novel: NDArray[np.bool_], parameters: Mapping[str, Any]
    ) -> None:
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression

        labels = np.where(novel, "novel", "known")
        self.describer = NoveltyDescriber(**parameters, random_state=0).fit(texts, labels)
        self.vectorizer = self.describer.vectorizer_
        self.names = np.array(list(self.vectorizer.vocabulary_), dtype=object)
        matrix = self.vectorizer.transform(texts).astype(np.float64)
        self.tfidf = TfidfTransformer().fit(matrix)
        self.model = LogisticRegression(max_iter=1000).fit(self.tfidf.transform(matrix), novel)
        numbers = [self.describer.words_.number(name) for name in self.names]
        self.novelty = self.describer.words_["novelty"][numbers]
        self.ways: dict[str, Callable[[str], list[int]]] = {
            "newfound: novelty": self._by(self.novelty),
            "newfound: score of the committee": self._by(
                np.nan_to_num(self.describer.words_["log_score"][numbers])
            ),
            "exact, from the judge's own weights": self._by(self.model.coef_[0] * self.tfidf.idf_),
            "TF-IDF weight": self._by(self.tfidf.idf_),
            "random words": self._random,
        }
        try:
            import_module("lime")
        except ImportError:
            return
        self.ways["LIME"] = self._lime

    def words(self, text: str) -> list[int]:
        """Give the numbers of the different words of a text, in their order."""
        found = (token.index for token in self.vectorizer.tokens(text) if token.index >= 0)
        return list(dict.fromkeys(found))

    def falls(self, text: str, named: Sequence[int]) -> tuple[float, float]:
        """Give comprehensiveness and sufficiency."""
        words = self.words(text)
        without = [word for word in words if word not in set(named)]
        whole, less, only = self._probabilities([words, without, list(named)])
        return whole - less, whole - only

    def _probabilities(self, bags: Sequence[Sequence[int]]) -> list[float]:
        indptr = np.concatenate(([0], np.cumsum([len(bag) for bag in bags])))
        indices = np.array([word for bag in bags for word in sorted(bag)], np.int64)
        matrix = sparse.csr_array(
            (np.ones(len(indices)), indices, indptr), (len(bags), len(self.names))
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

    def _random(self, text: str) -> list[int]:
        words = self.words(text)
        order = np.random.default_rng(len(text)).permutation(len(words))
        return [words[i] for i in order]

    def _lime(self, text: str) -> list[int]:
        """Explain the bag of words: LIME is given its words, one for each, and no others."""
        lime_text = import_module("lime.lime_text")
        words = self.words(text)
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
