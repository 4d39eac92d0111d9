"""Groups of documents that may be themes: topics of mixtures with several starts.

All topics of a mixture compete for the documents (EM). A topic is a *sparse multinomial*: only the
words that are significantly more frequent in it than elsewhere have a rate of their own. There are
three mixtures. Two start from clusters of all documents, few large ones and many small ones; they
do not see which documents are novel. The third starts from the novel words: the words with the most
evidence are grouped by how often they occur together in novel documents, each group starts one
topic, and clusters of the other documents start the rest. A topic of novel words keeps those of its
documents that give the most evidence.

Topics are learned from at most `MAX_LEARNED` documents, as many of each side as possible. Every
document is then assigned to a topic, in blocks. The time is linear in the number of documents;
beside the sparse matrix, memory is needed for a few numbers for each document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from newfound.arithmetic import exp, log
from newfound.linear import Tfidf, k_means, principal_axes, product, unit_rows
from newfound.stories.evidence import MIN_EVIDENCE, Piles, deviance_root

__all__ = [
    "MAX_LEARNED",
    "MIN_DOCUMENTS",
    "DocumentSpace",
    "Draft",
    "find_groups",
]

MAX_SEEDS = 300
MIN_LINK = 0.2  # average NPMI of the words of one group
MAX_LEARNED = 9_000
N_TOPICS = (60, 120)
N_BACKGROUND = 40  # topics beside those of novel words
DOCUMENTS_A_TOPIC = 30  # at least, on average
DIMENSIONS = 100
SIGNIFICANT = 2.0  # standard deviations, of a word with a rate of its own
PSEUDO_SHARE = 0.05  # words added to a topic, for each word of the vocabulary
PSEUDO_DOCUMENTS = 30.0
NO_LENGTH = 1e-6  # of a reduced vector that is but rounding
NEGLIGIBLE = 0.02  # probability of a topic that is set to 0
LEAST_SCORE = -20.0  # below that of the best topic: too little to change the probability of others
MIN_DOCUMENTS = 5
N_ITERATIONS = 8
BLOCK = 8192
MOST_AVERAGED = 1000  # documents

Matrix = Any
Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Bools = NDArray[np.bool_]
Integers = NDArray[np.intp]
Links = tuple[tuple[int, int, float], ...]


@dataclass(frozen=True)
class Draft:
    """Documents that may be a theme.

    `rows` are the documents of a topic, or those that the rules find; `words` its significant
    columns, the strongest first. `links` say how its first words were joined: two columns and their
    normalised pointwise mutual information, the strongest first; there are none for a topic that
    started from documents. Rules are columns of ANDs.
    """

    rows: Integers
    words: Integers
    weights: Floats
    links: Links = ()
    rules: tuple[tuple[int, ...], ...] = ()
    evidence: float = 0.0


class DocumentSpace:
    """TF-IDF vectors of documents, reduced by a singular value decomposition.

    The decomposition is learned from some documents only; `columns` has the column of each word in
    the matrix that rules refer to.
    """

    def __init__(self, matrix: Matrix, learned: Integers, columns: Integers) -> None:
        self.matrix = matrix
        self._place = {int(column): place for place, column in enumerate(columns)}
        self._scale = Tfidf.of(matrix)
        n = min(DIMENSIONS, len(learned) - 1, matrix.shape[1] - 1)
        self._axes = principal_axes(self.tfidf(learned), n, n_iterations=3) if n > 1 else None
        # Rules of a theme find the same documents again and again.
        self._made = np.zeros(matrix.shape[0], dtype=bool)
        self._vectors = np.zeros((matrix.shape[0], n if n > 1 else 0), dtype=np.float32)

    def tfidf(self, rows: Integers) -> Matrix:
        """Return the TF-IDF vectors of some documents."""
        return self._scale(self.matrix[rows])

    def vectors(self, rows: Integers) -> Vectors:
        """Return the reduced vectors of some documents, of length 1 or 0."""
        if self._axes is None:
            return np.ones((len(rows), 1), dtype=np.float32)
        new = rows[~self._made[rows]]
        if len(new):
            self._vectors[new] = unit_rows(product(self.tfidf(new), self._axes), NO_LENGTH)
            self._made[new] = True
        return self._vectors[rows]

    def mean(self, rows: Integers) -> Vectors:
        """Return the mean vector of documents; of at most about `MOST_AVERAGED` of them.

        The more similar the documents are, the longer it is, from 0 to 1.
        """
        some = rows[:: max(1, len(rows) // MOST_AVERAGED)]
        return np.asarray(self.vectors(some).mean(axis=0), dtype=np.float32)

    def mean_without(self, rows: Integers, words: Sequence[int]) -> Vectors:
        """Return the mean vector of documents from which words, by their columns, are removed."""
        some = rows[:: max(1, len(rows) // MOST_AVERAGED)]
        if self._axes is None:
            return self.mean(some)
        tfidf = self.tfidf(some)
        places = [self._place[word] for word in words if word in self._place]
        kept = np.ones(tfidf.shape[1], dtype=np.float32)
        kept[places] = 0.0
        rest = tfidf.multiply(kept).tocsr()
        found = unit_rows(product(rest, self._axes), NO_LENGTH)
        return np.asarray(found.mean(axis=0), dtype=np.float32)


def find_groups(
    piles: Piles, evidence: Floats, most: int = MAX_LEARNED
) -> tuple[list[Draft], DocumentSpace | None]:
    """Return topics that are more frequent on the novel side, and the space of documents.

    Topics of different mixtures may overlap. The space is None if no word is novel: then nothing
    is new. `most` is the largest number of documents that topics are learned from.
    """
    matrix, novel = piles.matrix, piles.novel
    counts = np.asarray(matrix.sum(axis=0)).ravel()
    often = np.flatnonzero(counts >= 2 + min(matrix.shape[0] // 2000, 4))
    seeds = often[evidence[often] >= MIN_EVIDENCE]
    if not len(seeds):
        return [], None
    narrow = Piles(sparse.csr_matrix(matrix[:, often], dtype=np.float32), novel)
    learned = _learned_rows(novel, most)
    space = DocumentSpace(narrow.matrix, learned, often)
    vectors = space.vectors(learned)
    starts = [_clusters(vectors, n) for n in N_TOPICS]
    found = [group for start in starts for group in _Mixture(narrow, learned, start).groups(often)]
    place = np.full(matrix.shape[1], -1)
    place[often] = np.arange(len(often))
    words = place[seeds[np.argsort(-evidence[seeds], kind="stable")][:MAX_SEEDS]]
    clusters, links = _word_clusters(narrow.matrix[novel][:, words])
    start = _seeded_start(space, learned, vectors, words, clusters, evidence[often[words]])
    n_seeded = int(clusters.max()) + 1
    joined: list[list[tuple[int, int, float]]] = [[] for _ in range(n_seeded)]
    for a, b, strength in links:
        if clusters[a] == clusters[b]:
            joined[clusters[a]].append((int(often[words[a]]), int(often[words[b]]), strength))
    mixture = _Mixture(narrow, learned, start)
    found += mixture.groups(often, [tuple(each) for each in joined])
    return found, space


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


def _seeded_start(
    space: DocumentSpace,
    learned: Integers,
    vectors: Vectors,
    words: Integers,
    clusters: Integers,
    evidence: Floats,
) -> Integers:
    """Assign documents with seed words to the group of these, and cluster the others."""
    n = int(clusters.max()) + 1
    weights = sparse.csr_matrix((evidence, (words, clusters)), shape=(space.matrix.shape[1], n))
    scores = product(space.tfidf(learned), weights.toarray())
    start = np.where(scores.max(axis=1) > 0, scores.argmax(axis=1), -1)
    rest = np.flatnonzero(start < 0)
    if len(rest):
        start[rest] = n + _clusters(vectors[rest], N_BACKGROUND)
    return start.astype(np.intp)


def _word_clusters(matrix: Matrix) -> tuple[Integers, list[tuple[int, int, float]]]:
    """Group the columns by average linkage on NPMI; return also the strongest links."""
    n, size = matrix.shape
    if size == 1:
        return np.zeros(1, dtype=np.intp), []
    together = (matrix.T @ matrix).toarray().astype(np.float64)
    single = np.diag(together)
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = log(together * n / np.outer(single, single))
        npmi = np.where(together > 0, pmi / np.maximum(-log(together / n), 1e-12), -1.0)
    # One document with two words is no evidence that they belong together.
    npmi = np.clip(np.where(together <= 1, np.minimum(npmi, 0.0), npmi), -1.0, 1.0)
    np.fill_diagonal(npmi, 1.0)
    tree = linkage(squareform(1 - npmi, checks=False), "average")
    clusters = fcluster(tree, 1 - MIN_LINK, "distance").astype(np.intp) - 1
    a, b = np.nonzero(np.triu(npmi, 1) >= MIN_LINK)
    order = np.argsort(-npmi[a, b], kind="stable")
    links = [(int(a[i]), int(b[i]), float(npmi[a[i], b[i]])) for i in order]
    return clusters, links


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
                found = [sparse.csr_matrix(_probable(scores)) for scores, _ in self._scores(part)]
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

    def _scores(self, matrix: Matrix) -> Iterator[tuple[Vectors, Vectors]]:
        """Yield log scores of topics, and how well topics explain documents, in blocks."""
        for first in range(0, matrix.shape[0], BLOCK):
            part = matrix[first : first + BLOCK]
            fits = (part @ self.ratios).toarray()
            fits += np.diff(part.indptr)[:, None].astype(np.float32) * self.others
            yield fits + self.log_sizes, fits

    def _assigned(self) -> tuple[Integers, Floats]:
        """Return the topic of each document, and how well it explains the document."""
        topics, fits = [], []
        for scores, found in self._scores(self.piles.matrix):
            best = scores.argmax(axis=1)
            topics.append(best)
            fits.append(found[np.arange(len(best)), best])
        return np.concatenate(topics).astype(np.intp), np.concatenate(fits).astype(np.float64)

    def groups(self, columns: Integers, links: Sequence[Links] = ()) -> list[Draft]:
        """Return the topics that are more frequent on the novel side, but for small ones.

        `columns` has the column of each word in the drafts, `links` the links of the words that
        the first topics started from.
        """
        piles = self.piles
        topics, fits = self._assigned()
        order = np.argsort(topics, kind="stable")
        bounds = np.searchsorted(topics[order], np.arange(self.n_topics + 1))
        drafts = []
        for topic in range(self.n_topics):
            rows = order[bounds[topic] : bounds[topic + 1]]
            if len(rows) < MIN_DOCUMENTS:
                continue
            if topic < len(links):
                rows = rows[_strongest(fits[rows], piles.novel[rows], piles.share)]
            if deviance_root(float(piles.sides(rows)[1]), len(rows), piles.share) <= 0:
                continue
            words, weights = piles.telling(rows)
            if len(words):
                joined = links[topic] if topic < len(links) else ()
                drafts.append(Draft(rows, columns[words], weights, joined))
        return drafts


def _probable(scores: Vectors) -> Vectors:
    """Return the probabilities of topics, negligible ones set to 0."""
    below = scores - scores.max(axis=1, keepdims=True)
    near = below > LEAST_SCORE
    found = np.zeros(scores.shape)
    found[near] = exp(below[near])
    found /= found.sum(axis=1, keepdims=True)
    found[found < NEGLIGIBLE] = 0.0
    return np.asarray(found, dtype=np.float32)


def _strongest(fits: Floats, novel: Bools, share: float) -> Bools:
    """Return which documents fit at least as well as the limit with the most evidence."""
    order = np.argsort(-fits, kind="stable")
    total = np.arange(1, len(order) + 1)
    found = deviance_root(np.cumsum(novel[order]), total, share, PSEUDO_DOCUMENTS)
    last = np.append(np.diff(fits[order]) < -1e-6, True)
    found = np.where(last & (total >= MIN_DOCUMENTS), found, -np.inf)
    return np.asarray(fits >= fits[order][np.argmax(found)] - 1e-6)
