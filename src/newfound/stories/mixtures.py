"""Topics of documents, found by mixtures with several starts.

All topics of a mixture compete for the documents (EM). A topic is a *sparse multinomial*: only the
words that are significantly more frequent in it than elsewhere have a rate of their own. The
mixtures start from clusters of all documents, from few large ones to many small ones. They do not
see which documents are novel.

Topics are learned from at most `MAX_LEARNED` documents, as many of each side as possible. Every
document is then assigned to a topic, in blocks. The time is linear in the number of documents;
beside the sparse matrix, memory is needed for a few numbers for each document.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.arithmetic import exp, log
from newfound.linear import Tfidf, k_means, principal_axes, product, unit_rows
from newfound.stories.evidence import Piles

__all__ = ["MAX_LEARNED", "MIN_DOCUMENTS", "DocumentSpace", "MixtureTopic", "find_topics"]

MAX_LEARNED = 9_000
N_TOPICS = (30, 100, 240)
DOCUMENTS_A_TOPIC = 30  # at least, on average
DIMENSIONS = 100
SIGNIFICANT = 2.0  # standard deviations, of a word with a rate of its own
PSEUDO_SHARE = 0.05  # words added to a topic, for each word of the vocabulary
NO_LENGTH = 1e-6  # of a reduced vector that is but rounding
NEGLIGIBLE = 0.02  # probability of a topic that is set to 0
LEAST_SCORE = -20.0  # below that of the best topic: too little to change the probability of others
MIN_DOCUMENTS = 5
N_ITERATIONS = 8
BLOCK = 8192

Matrix = Any
Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Bools = NDArray[np.bool_]
Integers = NDArray[np.intp]


class MixtureTopic(NamedTuple):
    """The documents of a topic, and its significant words as columns, the strongest first."""

    rows: Integers
    words: Integers


class DocumentSpace:
    """TF-IDF vectors of documents, reduced by a singular value decomposition.

    The decomposition is learned from some documents only.
    """

    def __init__(self, matrix: Matrix, learned: Integers) -> None:
        self.matrix = matrix
        self._scale = Tfidf.of(matrix)
        n = min(DIMENSIONS, len(learned) - 1, matrix.shape[1] - 1)
        self._axes = principal_axes(self.tfidf(learned), n, n_iterations=3) if n > 1 else None

    def tfidf(self, rows: Integers) -> Matrix:
        """Return the TF-IDF vectors of some documents."""
        return self._scale(self.matrix[rows])

    def vectors(self, rows: Integers) -> Vectors:
        """Return the reduced vectors of some documents, of length 1 or 0."""
        if self._axes is None:
            return np.ones((len(rows), 1), dtype=np.float32)
        found = unit_rows(product(self.tfidf(rows), self._axes), NO_LENGTH)
        return np.asarray(found, dtype=np.float32)


def find_topics(
    piles: Piles, columns: Integers, most: int = MAX_LEARNED
) -> tuple[list[MixtureTopic], DocumentSpace]:
    """Return the topics of several mixtures, which overlap, and the space of the documents.

    `columns` are the words that topics may have; `most` is the largest number of documents that
    topics are learned from.
    """
    narrow = Piles(sparse.csr_matrix(piles.matrix[:, columns], dtype=np.float32), piles.novel)
    learned = _learned_rows(piles.novel, most)
    space = DocumentSpace(narrow.matrix, learned)
    vectors = space.vectors(learned)
    starts = [_clusters(vectors, n) for n in N_TOPICS]
    # With few documents, several numbers of topics give the same clusters.
    sizes = [int(start.max()) for start in starts]
    distinct = [start for place, start in enumerate(starts) if sizes[place] not in sizes[:place]]
    topics = [topic for start in distinct for topic in _Mixture(narrow, learned, start).topics()]
    return [MixtureTopic(topic.rows, columns[topic.words]) for topic in topics], space


def _learned_rows(novel: Bools, most: int) -> Integers:
    """Return the documents that topics are learned from: all, or a sample of both sides."""
    if len(novel) <= most:
        return np.arange(len(novel))
    sides = [np.flatnonzero(novel == side) for side in (False, True)]
    few = min(len(sides[0]), len(sides[1]), most // 2)
    rng = np.random.default_rng(0)
    sizes = [few if len(side) == few else min(len(side), most - few) for side in sides]
    chosen = [rng.permutation(side)[:size] for side, size in zip(sides, sizes, strict=True)]
    return np.sort(np.concatenate(chosen))


def _clusters(vectors: Vectors, n_clusters: int) -> Integers:
    """Return the k-means cluster of each vector; the same vectors give the same clusters."""
    n_clusters = min(n_clusters, len(vectors) // DOCUMENTS_A_TOPIC)
    if n_clusters < 2:
        return np.zeros(len(vectors), dtype=np.intp)
    return k_means(vectors, n_clusters, n_starts=1, n_iterations=20)


class _Mixture:
    """Topics that compete for documents, learned by EM from a start.

    `start` is the first topic of each document that topics are learned from.
    """

    def __init__(self, piles: Piles, learned: Integers, start: Integers) -> None:
        self.piles, self.n_topics = piles, int(start.max()) + 1
        matrix = piles.matrix
        part = matrix if len(learned) == matrix.shape[0] else matrix[learned]
        transposed = part.T.tocsr()
        ones = np.ones(len(start), dtype=np.float32)
        shape = (len(start), self.n_topics)
        members = sparse.csr_matrix((ones, (np.arange(len(start)), start)), shape=shape)
        for iteration in range(N_ITERATIONS):
            self._update_words(transposed, members)
            if iteration < N_ITERATIONS - 1:
                found = [sparse.csr_matrix(_probable(scores)) for scores in self._scores(part)]
                members = sparse.vstack(found, format="csr")

    def _update_words(self, transposed: Matrix, members: Matrix) -> None:
        all_rates, counts = self.piles.rates, (transposed @ members).tocoo()
        words, topics, data = counts.row, counts.col, counts.data.astype(np.float64)
        n_words = np.bincount(topics, data, self.n_topics)
        expected = all_rates[words] * n_words[topics]
        keep = (data - expected) / np.sqrt(expected + 1) > SIGNIFICANT
        words, topics, data = words[keep], topics[keep], data[keep]
        rates, added = all_rates[words], PSEUDO_SHARE * len(all_rates)
        own = (data + added * rates) / (n_words[topics] + added)
        rest = 1 - np.bincount(topics, own, self.n_topics)
        base = 1 - np.bincount(topics, rates, self.n_topics)
        # All words that are not significant share one ratio.
        others = log(np.maximum(rest, 1e-3) / np.maximum(base, 1e-3))
        self.others = others.astype(np.float32)
        ratios = (log(own / rates) - others[topics]).astype(np.float32)
        shape = (len(all_rates), self.n_topics)
        self.ratios = sparse.csr_matrix((ratios, (words, topics)), shape=shape)
        sizes = np.asarray(members.sum(axis=0)).ravel()
        self.log_sizes = log(sizes + 1).astype(np.float32)

    def _scores(self, matrix: Matrix) -> Iterator[Vectors]:
        """Yield log scores of topics, in blocks of documents."""
        for first in range(0, matrix.shape[0], BLOCK):
            part = matrix[first : first + BLOCK]
            fits = (part @ self.ratios).toarray()
            fits += np.diff(part.indptr)[:, None].astype(np.float32) * self.others
            yield fits + self.log_sizes

    def topics(self) -> list[MixtureTopic]:
        """Return the topics with all of their documents, but for small ones."""
        assigned = [scores.argmax(axis=1) for scores in self._scores(self.piles.matrix)]
        topic_of = np.concatenate(assigned)
        order = np.argsort(topic_of, kind="stable")
        bounds = np.searchsorted(topic_of[order], np.arange(self.n_topics + 1))
        found = []
        for first, last in pairwise(bounds.tolist()):
            rows = order[first:last]
            if len(rows) >= MIN_DOCUMENTS:
                words, _ = self.piles.telling(rows)
                found.append(MixtureTopic(rows, words))
        return [topic for topic in found if len(topic.words)]


def _probable(scores: Vectors) -> Vectors:
    """Return the probabilities of topics, negligible ones set to 0."""
    below = scores - scores.max(axis=1, keepdims=True)
    near = below > LEAST_SCORE
    found = np.zeros(scores.shape)
    found[near] = exp(below[near])
    found /= found.sum(axis=1, keepdims=True)
    found[found < NEGLIGIBLE] = 0.0
    return np.asarray(found, dtype=np.float32)
