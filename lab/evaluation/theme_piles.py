"""Piles of documents whose topics are known, and how well groups of documents agree with them.

A topic that grew, or that only the novel pile has, is *found* if the documents of some group agree
with its documents with F1 >= 0.5. A group is *about no topic* if no such topic makes up half of its
documents, and *about nothing new* if all of them together do not make up half of them. The
difference is made by groups that join two topics, such as two intents about a shopping list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.evaluation.shifting import shifted_piles
from newfound.description.novelty import word_evidence
from newfound.stories.themes import Theme, Themes, find_themes
from newfound.text.copies import fold_copies
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "Groups",
    "Piles",
    "Topics",
    "agreement",
    "other_piles",
    "other_texts",
    "piles_of",
]

F1 = 0.5

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
    domains : ndarray of str, optional
        The domain of the topic of each document.
    most : int, optional
        How many documents a pile with topics of its own has at most; all of them by default.
    """

    name: str
    matrix: Matrix
    labels: NDArray[np.str_]
    terms: NDArray[np.str_]
    texts: NDArray[np.object_]
    vectorizer: TextVectorizer
    n_topics: int
    n_grown: int
    domains: NDArray[np.str_] | None = None
    most: int | None = None

    @classmethod
    def of(
        cls, name: str, corpus: Any, n_topics: int, n_grown: int, *, most: int | None = None
    ) -> Topics:
        """Return the documents of a corpus that have a topic."""
        labels = np.array(corpus.labels)
        rows = np.flatnonzero(labels != "oos")
        texts = _objects([corpus.texts[row] for row in rows])
        vectorizer = TextVectorizer(min_df=2)
        matrix = vectorizer.fit_transform(texts.tolist())
        terms = np.array(vectorizer.get_feature_names_out(), dtype=str)
        domains = None if corpus.domains is None else np.array(corpus.domains)[rows]
        return cls(
            name, matrix, labels[rows], terms, texts, vectorizer, n_topics, n_grown, domains, most
        )

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
    """Two piles, and the topics that grew or that only the novel one has.

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

    @classmethod
    def of_texts(cls, texts: Sequence[str], novel: NDArray[np.bool_]) -> Piles:
        """Return texts as two piles without topics; copied text counts once."""
        vectorizer = TextVectorizer(min_df=2)
        matrix = vectorizer.fit_transform(list(texts))
        terms = np.array(vectorizer.get_feature_names_out(), dtype=str)
        labels = np.full(len(texts), "")
        topics = Topics("", matrix, labels, terms, _objects(texts), vectorizer, 0, 0)
        return topics.piles(np.arange(len(texts)), novel, ())

    def found(self, part: NDArray[Any] | None = None, seed: int = 0) -> Themes:
        """Return what a describer finds in the documents, or in a part of them."""
        rows = np.arange(len(self.novel)) if part is None else part
        matrix, novel = self.matrix[rows], self.novel[rows]
        evidence = word_evidence(matrix, novel).novelty
        return find_themes(
            matrix, novel, self.terms, evidence=evidence, held_out=False, random_state=seed
        )

    def themes(self, part: NDArray[Any] | None = None, seed: int = 0) -> list[Theme]:
        """Return the themes of the novel documents, without their parts."""
        return list(self.found(part, seed).themes)


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


def _other_rows(topics: Topics, seed: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Draw the documents of two piles without a common topic, and which of them are novel.

    Half of the topics are known, of an odd number the smaller half; where topics have domains, all
    topics of half of the domains.
    """
    rng = np.random.default_rng([seed, 13])
    groups = topics.labels if topics.domains is None else topics.domains
    names = rng.permutation(np.unique(groups))
    is_known = np.isin(groups, names[: len(names) // 2])
    sides = [
        np.sort(rng.permutation(np.flatnonzero(is_known == known))[: topics.most])
        for known in (True, False)
    ]
    rows = np.concatenate(sides)
    return rows, np.arange(len(rows)) >= len(sides[0])


def other_texts(topics: Topics, seed: int) -> tuple[list[str], list[str]]:
    """Return the texts of the known and of the novel pile of `other_piles`."""
    rows, novel = _other_rows(topics, seed)
    known, new = (topics.texts[rows[novel == side]].tolist() for side in (False, True))
    return known, new


def other_piles(topics: Topics, seed: int) -> Piles:
    """Draw two piles without a common topic; all topics of the novel one count as grown."""
    rows, novel = _other_rows(topics, seed)
    grown = np.unique(topics.labels[rows[novel]]).tolist()
    return topics.piles(rows, novel, tuple(grown))


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


def _objects(texts: Sequence[str]) -> NDArray[np.object_]:
    """Return texts as an array of strings of any length."""
    found = np.empty(len(texts), dtype=object)
    found[:] = texts
    return found
