"""The suites for themes: which topics that grew have a theme, beside topic models.

Both piles have all topics. In the novel pile some topics are several times as frequent as in the
known pile, and as many are rarer. A method returns groups of novel documents. A topic that grew is
*found* if the documents of some group agree with its documents with F1 >= 0.5. A group is *about
no topic* if no topic that grew makes up half of its documents, and *about nothing new* if all
topics that grew together do not make up half of them. The difference is made by groups that join
two topics that grew, such as two intents about a shopping list.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
from joblib import Parallel, delayed  # type: ignore[import-untyped,unused-ignore]
from numpy.typing import NDArray

from lab.datasets import load_20newsgroups, load_clinc150
from lab.evaluation.shifting import shifted_piles
from lab.evaluation.suites import SuiteSetting, Values, add_value, means
from lab.evaluation.topic_models import MODELS, bertopic, grown_clusters, has_bertopic
from lab.tables import table_of
from newfound.description.novelty import word_evidence
from newfound.processes import safe_path
from newfound.stories.themes import Theme, find_themes
from newfound.table import Table
from newfound.text.copies import fold_copies
from newfound.text.vectorizer import TextVectorizer

__all__ = ["SUITES", "Piles", "Setting", "Topics", "agreement", "piles_of"]

OURS = "newfound: themes"
GRID = (10, 20, 40, 80)
F1 = 0.5
N_SPLITS = 10
N_COMPARED = 3  # draws of the suites that take long

Matrix = Any
Groups = list[NDArray[np.intp]]
Figures = dict[str, float]


@dataclass(frozen=True)
class Topics:
    """A corpus with the topic of each document, and how many topics grow in a draw.

    Attributes
    ----------
    name : str
        The name of the corpus.
    matrix : CSR matrix of bool
        The words of the documents.
    labels : ndarray of str
        The topic of each document.
    terms : ndarray of str
        The word of each column.
    texts : ndarray of str
        The documents.
    vectorizer : TextVectorizer
        What made the matrix.
    n_topics, n_grown : int
        The number of topics of a draw, and of those that grow.
    """

    name: str
    matrix: Matrix
    labels: NDArray[np.str_]
    terms: NDArray[np.str_]
    texts: NDArray[np.object_]
    vectorizer: TextVectorizer
    n_topics: int
    n_grown: int

    @classmethod
    def of(cls, name: str, corpus: Any, n_topics: int, n_grown: int) -> Topics:
        """Return the documents of a corpus that have a topic."""
        labels = np.array(corpus.labels)
        rows = np.flatnonzero(labels != "oos")
        texts = np.empty(len(rows), dtype=object)
        texts[:] = [corpus.texts[row] for row in rows]
        vectorizer = TextVectorizer(min_df=2)
        matrix = vectorizer.fit_transform(texts.tolist())
        terms = np.array(vectorizer.get_feature_names_out(), dtype=str)
        return cls(name, matrix, labels[rows], terms, texts, vectorizer, n_topics, n_grown)

    def piles(
        self, rows: NDArray[np.intp], novel: NDArray[np.bool_], grown: tuple[str, ...]
    ) -> Piles:
        """Return some documents as two piles; copied text counts once, as in a description."""
        texts = self.texts[rows].tolist()
        bags = fold_copies(texts, novel, self.matrix[rows], self.vectorizer).first
        kept = np.flatnonzero(np.asarray(bags.sum(axis=0)).ravel() >= 2)
        terms = self.terms[kept].tolist()
        return Piles(bags[:, kept].tocsr(), novel, self.labels[rows], grown, terms, texts)


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
    texts : list of str
        The documents.
    """

    matrix: Matrix
    novel: NDArray[np.bool_]
    labels: NDArray[np.str_]
    grown: tuple[str, ...]
    terms: list[str]
    texts: list[str]

    def themes(self, part: NDArray[Any] | None = None, seed: int = 0) -> list[Theme]:
        """Return the themes of the documents, or of a part of them, as a describer finds them."""
        rows = np.arange(len(self.novel)) if part is None else part
        matrix, novel = self.matrix[rows], self.novel[rows]
        evidence = word_evidence(matrix, novel).novelty
        found = find_themes(
            matrix, novel, self.terms, evidence=evidence, held_out=False, random_state=seed
        )
        return list(found.themes)


@dataclass(frozen=True)
class Setting(SuiteSetting):
    """The setting of the suites, and the corpora that they use.

    Attributes
    ----------
    seeds : int
        The number of draws of topics.
    first_seed : int
        The seed of the first draw; the others follow it.
    sentence_model : str, optional
        The folder of a sentence-transformers model for BERTopic.
    """

    seeds: int = 5
    first_seed: int = 200  # the method was developed on draws below 10
    sentence_model: str | None = None

    @cached_property
    def requests(self) -> Topics:
        """Requests of CLINC150 with their intents: of 100 in a draw 10 grow."""
        return Topics.of("CLINC150", load_clinc150(self.data), 100, 10)

    @cached_property
    def newsgroups(self) -> Topics:
        """Posts of 20 Newsgroups without headers: 3 of the groups grow."""
        corpus = load_20newsgroups(self.data, remove=("headers",))
        return Topics.of("20 Newsgroups", corpus, 20, 3)


def piles_of(topics: Topics, seed: int, times: int) -> Piles:
    """Draw two piles in which some topics are `times` as frequent, and as many rarer.

    Parameters
    ----------
    topics : Topics
        The corpus.
    seed : int
        Seed of the draw.
    times : int
        How many times as frequent a topic that grew is.
    """
    drawn = shifted_piles(
        topics.labels, seed=seed, times=times, n_topics=topics.n_topics, n_grown=topics.n_grown
    )
    rows = np.concatenate((drawn.known, drawn.novel))
    novel = np.arange(len(rows)) >= len(drawn.known)
    return topics.piles(rows, novel, tuple(drawn.grown))


def agreement(groups: Groups, piles: Piles) -> Figures:
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
    """Topics that grew in the novel pile, and the themes that newfound finds.

    "topics found": share of the grown topics with a theme whose novel documents agree with theirs
    with F1 >= 0.5. "about no topic": share of the themes in which no grown topic makes up half of
    the documents; "about nothing new": in which all grown topics together do not. Of 100 intents of
    CLINC150 10 grow and 10 shrink; of the 20 newsgroups (without headers) 3 grow and 3 shrink.
    Copied text counts once, as in a description, also for the topic models.
    """
    return _measured(setting, "themes", _ours, setting.seeds)


def topic_models(setting: Setting) -> Table:
    """Topics that grew, and the clusters of topic models: the first three draws of "shift".

    The models cluster the novel pile; only their clusters that are significantly more frequent
    there than in the known pile count, and their number of topics (10, 20, 40 or 80) is chosen by
    silhouette (k-means, NMF) or held-out perplexity (LDA), or, in the rows "best number", with the
    labels. BERTopic is included if it is installed; it chooses its number of topics itself.
    "seconds" are those of one number of topics.
    """
    return _measured(setting, "topic models", _all_methods, min(setting.seeds, N_COMPARED))


def stability(setting: Setting) -> Table:
    """Agreement of the themes of newfound between seeds, and between halves of the documents.

    Jaccard index of the 12 strongest words of each theme and of its best counterpart, means over
    themes and draws. "another seed": the same documents in another order and with another seed.
    "another half": two halves of the documents that share none. The first three draws of "shift".
    """
    return _measured(setting, "stability of themes", _stable, min(setting.seeds, N_COMPARED))


def no_novelty(setting: Setting) -> Table:
    """Themes of random halves of a corpus, of which nothing is novel: ten splits of each.

    "splits with a theme": the share of splits with at least one theme. "themes": how many there are
    on average.
    """
    rows = []
    for topics in (setting.requests, setting.newsgroups):
        setting.say(f"no novelty: {topics.name}")
        counts = []
        for seed in range(setting.first_seed, setting.first_seed + N_SPLITS):
            rng = np.random.default_rng([seed, 12])
            chosen = rng.permutation(len(topics.labels))[:8000]
            piles = topics.piles(chosen, np.arange(len(chosen)) % 2 == 1, ())
            counts.append(len(piles.themes()))
        rows.append(
            {
                "data": topics.name,
                "splits with a theme": float(np.mean(np.array(counts) > 0)),
                "themes": float(np.mean(counts)),
            }
        )
    return table_of(rows)


SUITES: Mapping[str, Callable[[Setting], Table]] = MappingProxyType(
    {
        "shift": shift,
        "topic-models": topic_models,
        "stability": stability,
        "no-novelty": no_novelty,
    }
)


def _measured(
    setting: Setting,
    title: str,
    measure: Callable[[Topics, int, int, str | None], list[tuple[str, Figures]]],
    n_draws: int,
) -> Table:
    """Measure draws of both corpora, several at a time, and return the means of the figures."""
    values: Values = {}
    names: dict[str, tuple[str, str]] = {}
    for topics in (setting.requests, setting.newsgroups):
        for times in (3, 5):
            data = f"{topics.name}, {times} times"
            setting.say(f"{title}: {data}")
            draws = range(setting.first_seed, setting.first_seed + n_draws)
            run = Parallel(n_jobs=setting.n_jobs)
            model = setting.sentence_model
            with safe_path():
                done = run(delayed(measure)(topics, seed, times, model) for seed in draws)
            for method, figures in chain.from_iterable(done):
                row = f"{data}: {method}"
                names[row] = (data, method)
                for column, value in figures.items():
                    add_value(values, row, column, value)
    rows = []
    for record in means(values, row_name="row").to_records():
        data, method = names[record.pop("row")]
        rows.append({"data": data, "method": method, **record})
    return table_of(rows)


def _ours(
    topics: Topics, seed: int, times: int, sentence_model: str | None
) -> list[tuple[str, Figures]]:
    """Return the figures of newfound."""
    return [(OURS, _own_figures(piles_of(topics, seed, times)))]


def _own_figures(piles: Piles) -> Figures:
    began = time.perf_counter()
    groups = [theme.novel_documents for theme in piles.themes()]
    return {**agreement(groups, piles), "seconds": time.perf_counter() - began}


def _all_methods(
    topics: Topics, seed: int, times: int, sentence_model: str | None
) -> list[tuple[str, Figures]]:
    """Return the figures of newfound, and of each model with two choices of the number."""
    piles = piles_of(topics, seed, times)
    return list(_figures(piles, sentence_model))


def _figures(piles: Piles, sentence_model: str | None) -> Iterator[tuple[str, Figures]]:
    yield OURS, _own_figures(piles)
    rows = np.flatnonzero(piles.novel)
    for name, model in MODELS.items():
        tried = []
        for n_topics in GRID:
            began = time.perf_counter()
            found = model(piles.matrix[rows], piles.matrix[~piles.novel], n_topics)
            figures = agreement([rows[one] for one in grown_clusters(found)], piles)
            figures["seconds"] = time.perf_counter() - began
            tried.append((found.quality, figures))
        yield name, max(tried, key=lambda one: one[0])[1]
        best = max(tried, key=lambda one: (one[1]["topics found"], -one[1]["about no topic"]))
        yield f"{name}, best number", best[1]
    if has_bertopic():
        began = time.perf_counter()
        found = bertopic(piles.matrix, piles.novel, piles.texts, sentence_model)
        figures = agreement([rows[one] for one in grown_clusters(found)], piles)
        name = "BERTopic" if sentence_model else "BERTopic on TF-IDF"
        yield name, {**figures, "seconds": time.perf_counter() - began}


def _stable(
    topics: Topics, seed: int, times: int, sentence_model: str | None
) -> list[tuple[str, Figures]]:
    """Return how well themes agree between orders and seeds, and between halves."""
    piles = piles_of(topics, seed, times)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(piles.novel))
    half = rng.random(len(order)) < 0.5
    first, second, *parts = (
        piles.themes(part, number)
        for number, part in enumerate((np.arange(len(order)), order, half, ~half))
    )
    figures = {"another seed": _overlap(first, second), "another half": _overlap(*parts)}
    return [(OURS, figures)]


def _overlap(ones: Sequence[Theme], others: Sequence[Theme]) -> float:
    """Return the mean Jaccard index of the words of each theme and of its best counterpart."""
    sets = [[{word for word, _ in theme.words[:12]} for theme in side] for side in (ones, others)]
    best = [max((len(a & b) / len(a | b) for b in sets[1]), default=0.0) for a in sets[0]]
    return float(np.mean(best)) if best else float(not sets[1])
