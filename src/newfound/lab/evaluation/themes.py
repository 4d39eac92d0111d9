"""The suite for themes: which topics that grew have a theme, beside topic models of scikit-learn.

Both piles have all topics. In the novel pile some topics are several times as frequent as in the
known pile, and as many are rarer. A method returns groups of novel documents. A topic that grew is
*found* if the documents of some group agree with its documents with F1 >= 0.5. A group is *about
no topic* if no topic that grew makes up half of its documents, and *about nothing new* if all
topics that grew together do not make up half of them. The difference is made by groups that join
two topics that grew, such as two intents about a shopping list.

Topic models cluster the novel pile. They are given the benefit of a test that they do not have:
each known document is assigned to its cluster too, and only the clusters that hold significantly
more of the novel pile than of the known pile count (one-sided z test, Bonferroni at 5 %). The
number of topics is the one of `GRID` with the best silhouette (k-means, NMF) or perplexity on
held-out documents (LDA). The rows "best number" show the number with the most topics found, chosen
with the labels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import silhouette_score

from newfound.description.themes import find_themes
from newfound.lab.datasets import load_20newsgroups, load_clinc150
from newfound.lab.evaluation.suites import SuiteSetting
from newfound.lab.tables import table_of
from newfound.table import Table
from newfound.text.vectorizer import TextVectorizer

__all__ = ["SUITES", "Piles", "Setting", "agreement", "shifted_piles"]

OURS = "newfound: themes"
GRID = (10, 20, 40, 80)
F1 = 0.5
LEVEL = 0.05
FIRST_SEED = 100  # the method was developed on other draws

Matrix = Any
Groups = list[NDArray[np.intp]]
Model = Callable[[Matrix, Matrix, int], tuple[NDArray[np.intp], NDArray[np.intp], float]]


@dataclass(frozen=True)
class Piles:
    """Two piles with the same topics, some of which grew.

    Attributes
    ----------
    matrix : CSR matrix of bool
        The words of all documents.
    novel : ndarray of bool
        Which documents are in the novel pile.
    labels : ndarray of str
        The topic of each document.
    grown : tuple of str
        The topics that grew.
    terms : list of str
        The words.
    """

    matrix: Matrix
    novel: NDArray[np.bool_]
    labels: NDArray[np.str_]
    grown: tuple[str, ...]
    terms: list[str]


@dataclass(frozen=True)
class Setting(SuiteSetting):
    """The setting of the suite, and the corpora that it uses.

    Attributes
    ----------
    seeds : int
        The number of draws of topics.
    """

    seeds: int = 5

    @cached_property
    def requests(self) -> tuple[Matrix, NDArray[np.str_], list[str]]:
        """Requests of CLINC150 with their intents."""
        corpus = load_clinc150(self.data)
        return _bags(corpus.texts, corpus.labels)

    @cached_property
    def newsgroups(self) -> tuple[Matrix, NDArray[np.str_], list[str]]:
        """Posts of 20 Newsgroups without headers."""
        corpus = load_20newsgroups(self.data, remove=("headers",))
        return _bags(corpus.texts, corpus.labels)


def shifted_piles(
    bags: tuple[Matrix, NDArray[np.str_], list[str]],
    seed: int,
    *,
    n_topics: int,
    n_grown: int,
    times: int,
) -> Piles:
    """Draw two piles in which some topics are `times` as frequent, and as many rarer.

    Parameters
    ----------
    bags : (matrix, labels, terms)
        The corpus.
    seed : int
        Seed of the draw.
    n_topics : int
        The number of topics in both piles.
    n_grown : int
        The number of topics that grow, and of those that shrink.
    times : int
        By how much.
    """
    matrix, labels, terms = bags
    rng = np.random.default_rng([seed, times])
    topics = rng.permutation(np.unique(labels[labels != "oos"]))[:n_topics]
    size = min(int((labels == topic).sum()) for topic in topics) // (times + 1)
    rows, sides = [], []
    for number, topic in enumerate(topics):
        known = times * size if n_grown <= number < 2 * n_grown else size
        new = times * size if number < n_grown else size
        drawn = rng.permutation(np.flatnonzero(labels == topic))[: known + new]
        rows.append(drawn)
        sides.append(np.arange(known + new) >= known)
    taken, novel = np.concatenate(rows), np.concatenate(sides)
    chosen = matrix[taken]
    kept = np.flatnonzero(np.asarray(chosen.sum(axis=0)).ravel() >= 2)
    return Piles(
        chosen[:, kept].tocsr(),
        novel,
        labels[taken],
        tuple(str(topic) for topic in topics[:n_grown]),
        [terms[column] for column in kept],
    )


def agreement(groups: Groups, piles: Piles) -> dict[str, float]:
    """Return the share of grown topics that are found, and of groups about none of them.

    Parameters
    ----------
    groups : list of ndarray of int
        Rows of novel documents.
    piles : Piles
        The documents and their topics.
    """
    largest, together = [], []
    scores = {topic: 0.0 for topic in piles.grown}
    sizes = {topic: int((piles.labels[piles.novel] == topic).sum()) for topic in piles.grown}
    for rows in groups:
        labels = piles.labels[rows]
        hits = {topic: int((labels == topic).sum()) for topic in piles.grown}
        for topic, count in hits.items():
            scores[topic] = max(scores[topic], 2 * count / (len(rows) + sizes[topic]))
        largest.append(max(hits.values()) < 0.5 * len(rows))
        together.append(sum(hits.values()) < 0.5 * len(rows))
    found = float(np.mean([score >= F1 for score in scores.values()]))
    return {
        "topics found": found,
        "mean F1": float(np.mean(list(scores.values()))),
        "about no topic": float(np.mean(largest)) if groups else 0.0,
        "about nothing new": float(np.mean(together)) if groups else 0.0,
        "themes": float(len(groups)),
    }


def shift(setting: Setting) -> Table:
    """Topics that grew in the novel pile, and the groups of documents that methods find.

    "topics found": share of the grown topics with a group of novel documents that agrees with
    F1 >= 0.5. "about no topic": share of the groups in which no grown topic makes up half of the
    documents; "about nothing new": in which all grown topics together do not. Of 100 intents of
    CLINC150 10 grow and 10 shrink; of the 20 newsgroups (without headers) 3 grow and 3 shrink. The
    topic models cluster the novel pile; only their clusters that are significantly more frequent
    there than in the known pile count, and their number of topics (10, 20, 40 or 80) is chosen by
    silhouette (k-means, NMF) or held-out perplexity (LDA), or, in the rows "best number", with the
    labels.
    """
    rows: dict[tuple[str, str], list[dict[str, float]]] = {}
    for name, times, piles in _draws(setting):
        setting.say(f"themes: {name}, {times} times")
        for method, figures in _measured(piles):
            rows.setdefault((f"{name}, {times} times", method), []).append(figures)
    return _means(rows)


def stability(setting: Setting) -> Table:
    """Agreement of the themes of newfound between seeds, and between halves of the documents.

    Jaccard index of the 12 strongest words of each theme and of its best counterpart, means over
    themes and draws. "another seed": the same documents in another order and with another seed.
    "another half": two halves of the documents that share none.
    """
    rows: dict[tuple[str, str], list[dict[str, float]]] = {}
    for name, times, piles in _draws(setting):
        setting.say(f"stability of themes: {name}, {times} times")
        rng = np.random.default_rng(0)
        order = rng.permutation(len(piles.novel))
        half = rng.random(len(order)) < 0.5
        first, second, *parts = (
            find_themes(
                piles.matrix[part], piles.novel[part], piles.terms, held_out=False, random_state=s
            )
            for s, part in enumerate((np.arange(len(order)), order, half, ~half))
        )
        rows.setdefault((f"{name}, {times} times", OURS), []).append(
            {"another seed": _overlap(first, second), "another half": _overlap(*parts)}
        )
    return _means(rows)


SUITES: Mapping[str, Callable[[Setting], Table]] = MappingProxyType(
    {"shift": shift, "stability": stability}
)


def _bags(
    texts: Sequence[str], labels: Sequence[str] | None
) -> tuple[Matrix, NDArray[np.str_], list[str]]:
    vectorizer = TextVectorizer(min_df=2)
    matrix = vectorizer.fit_transform(texts)
    return (
        matrix,
        np.array(labels or ()),
        [str(term) for term in vectorizer.get_feature_names_out()],
    )


def _draws(setting: Setting) -> Iterator[tuple[str, int, Piles]]:
    for name, n_topics, n_grown in (("CLINC150", 100, 10), ("20 Newsgroups", 20, 3)):
        bags = setting.requests if name == "CLINC150" else setting.newsgroups
        for times in (3, 5):
            for seed in range(FIRST_SEED, FIRST_SEED + setting.seeds):
                yield (
                    name,
                    times,
                    shifted_piles(bags, seed, n_topics=n_topics, n_grown=n_grown, times=times),
                )


def _measured(piles: Piles) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the figures of newfound, and of each model with two choices of the number."""
    began = time.perf_counter()
    themes = find_themes(piles.matrix, piles.novel, piles.terms, held_out=False)
    seconds = time.perf_counter() - began
    groups = [theme.novel_documents for theme in themes]
    yield OURS, {**agreement(groups, piles), "seconds": seconds}
    for name, model in _MODELS.items():
        tried = []
        for n_topics in GRID:
            began = time.perf_counter()
            new, known, quality = model(
                piles.matrix[piles.novel], piles.matrix[~piles.novel], n_topics
            )
            figures = agreement(_grown(new, known, piles.novel), piles)
            tried.append((quality, {**figures, "seconds": time.perf_counter() - began}))
        yield name, max(tried, key=lambda one: one[0])[1]
        best = max(tried, key=lambda one: (one[1]["topics found"], -one[1]["about no topic"]))
        yield f"{name}, best number", best[1]


def _grown(new: NDArray[np.intp], known: NDArray[np.intp], novel: NDArray[np.bool_]) -> Groups:
    """Return the novel documents of the clusters that grew significantly."""
    rows = np.flatnonzero(novel)
    n = int(max(new.max(initial=0), known.max(initial=0))) + 1
    counts = [np.bincount(side, minlength=n) for side in (known, new)]
    sizes = [max(len(known), 1), max(len(new), 1)]
    pooled = (counts[0] + counts[1]) / sum(sizes)
    spread = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12) * (1 / sizes[0] + 1 / sizes[1]))
    z = (counts[1] / sizes[1] - counts[0] / sizes[0]) / spread
    limit = stats.norm.isf(LEVEL / n)
    return [rows[new == cluster] for cluster in np.flatnonzero(z > limit)]


def _k_means(
    new: Matrix, known: Matrix, n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], float]:
    transformer = TfidfTransformer()
    vectors = transformer.fit_transform(new.astype(float))
    model = KMeans(n, n_init=3, random_state=0).fit(vectors)
    others = model.predict(transformer.transform(known.astype(float)))
    return model.labels_, others, _silhouette(vectors, model.labels_)


def _nmf(new: Matrix, known: Matrix, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp], float]:
    transformer = TfidfTransformer()
    vectors = transformer.fit_transform(new.astype(float))
    model = NMF(n, init="nndsvd", tol=1e-3, max_iter=200, random_state=0)
    labels = model.fit_transform(vectors).argmax(axis=1)
    others = model.transform(transformer.transform(known.astype(float))).argmax(axis=1)
    return labels, others, _silhouette(vectors, labels)


def _lda(new: Matrix, known: Matrix, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp], float]:
    held_out = np.random.default_rng(0).random(new.shape[0]) < 0.2
    trial = LatentDirichletAllocation(n, random_state=0).fit(new[~held_out])
    model = LatentDirichletAllocation(n, random_state=0)
    labels = model.fit_transform(new).argmax(axis=1)
    others = model.transform(known).argmax(axis=1)
    return labels, others, -float(trial.perplexity(new[held_out]))


def _silhouette(vectors: Matrix, labels: NDArray[np.intp]) -> float:
    if len(np.unique(labels)) < 2:
        return -1.0
    sample = min(2000, len(labels) - 1)
    return float(
        silhouette_score(vectors, labels, metric="cosine", sample_size=sample, random_state=0)
    )


_MODELS: Mapping[str, Model] = MappingProxyType(
    {"k-means on TF-IDF": _k_means, "NMF on TF-IDF": _nmf, "LDA": _lda}
)


def _overlap(ones: Sequence[Any], others: Sequence[Any]) -> float:
    """Return the mean Jaccard index of the words of each theme and of its best counterpart."""
    sets = [[{word for word, _ in theme.words[:12]} for theme in side] for side in (ones, others)]
    best = [max((len(a & b) / len(a | b) for b in sets[1]), default=0.0) for a in sets[0]]
    return float(np.mean(best)) if best else float(not sets[1])


def _means(rows: Mapping[tuple[str, str], Sequence[Mapping[str, float]]]) -> Table:
    made = []
    for (data, method), figures in rows.items():
        row: dict[str, Any] = {"data": data, "method": method}
        for name in figures[0]:
            values = [each[name] for each in figures]
            row[name] = float(np.mean(values))
            row[f"{name}, sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        made.append(row)
    return table_of(made)
