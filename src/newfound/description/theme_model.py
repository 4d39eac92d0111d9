"""Groups of documents that may be themes: a mixture of topics that starts from the novel words.

The words with the most evidence are grouped by how often they occur together in novel documents.
Each group starts one topic. Further topics start from clusters of the other documents: they stand
for what both sides talk about, so that a novel topic does not have to absorb it. A topic is a
*sparse multinomial*: only the words that are significantly more frequent in it than elsewhere have
a rate of their own. All topics compete for the documents, in the manner of classification EM. A
topic of novel words keeps those of its documents that give the most evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

__all__ = ["Group", "deviance_root", "find_groups", "marginal_evidence"]

MIN_EVIDENCE = 2.0  # of a word that may start a topic
MAX_SEEDS = 300
MIN_LINK = 0.2  # average NPMI of the words of one group
MAX_BACKGROUND = 40
DOCUMENTS_A_TOPIC = 50  # at least, for a topic of the background on average
SIGNIFICANT = 2.5
PSEUDO_WORDS = 10.0
PSEUDO_DOCUMENTS = 30.0
PSEUDO_CELLS = 16.0
MIN_DOCUMENTS = 5
N_ITERATIONS = 10
SETTLED = 0.002  # share of documents that change their topic
SAMPLE = 2000

Matrix = Any
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.intp]


@dataclass(frozen=True)
class Group:
    """A topic that the mixture found.

    Attributes
    ----------
    rows : ndarray of int
        Its documents.
    fit : ndarray of float64
        For each of these, how much better the topic explains it than the whole corpus does.
    words, weights : ndarray
        The columns of its significant words, the strongest first, and their weights.
    links : tuple of (int, int, float)
        How its first words were joined: two columns and their normalised pointwise mutual
        information, the strongest first. Empty for a topic of the background.
    evidence : float
        Deviance root of its documents: how much more often they are novel than others.
    """

    rows: Integers
    fit: Floats
    words: Integers
    weights: Floats
    links: tuple[tuple[int, int, float], ...]
    evidence: float


def deviance_root(novel: Any, total: Any, share: float, pseudo: float = 0.0) -> Any:
    """Return the signed root of the deviance of `novel` of `total` documents from a share.

    Parameters
    ----------
    novel, total : float or array
        The number of novel documents and of all documents.
    share : float
        The share of novel documents that is expected.
    pseudo : float, default=0.0
        The number of documents with the expected share that are added.

    Examples
    --------
    >>> round(float(deviance_root(30.0, 40.0, 0.5)), 2)
    3.23
    """
    found, count = novel + pseudo * share, np.maximum(total + pseudo, 1e-12)
    expected = count * share
    deviance = special.xlogy(found, np.maximum(found, 1e-12) / expected)
    rest = count - found
    deviance = deviance + special.xlogy(rest, np.maximum(rest, 1e-12) / (count - expected))
    return np.sign(found - expected) * np.sqrt(2 * np.maximum(deviance, 0))


def marginal_evidence(matrix: Matrix, novel: Bools) -> Floats:
    """Return the evidence of each word from weighted counts of documents alone.

    A long document has a small weight. The evidence is 0 where the share of novel documents with
    the word and the weighted counts disagree in sign.
    """
    matrix = matrix.astype(np.float64).tocsr()
    lengths = np.diff(matrix.indptr).astype(np.float64)
    if not matrix.nnz or novel.all() or not novel.any():
        return np.zeros(matrix.shape[1])
    weights = 1 / (1 + lengths / np.median(lengths[lengths > 0]))
    mass = weights * lengths
    share = float(mass[novel].sum() / mass.sum())
    total, found = matrix.T @ weights, matrix.T @ (weights * novel)
    squares = matrix.T @ (weights**2)
    pseudo = PSEUDO_CELLS * total.sum() / matrix.nnz
    spread = (squares + PSEUDO_CELLS * squares.sum() / matrix.nnz) / (total + pseudo)
    evidence = deviance_root(found, total, share, pseudo) / np.sqrt(spread)
    known = np.asarray(matrix[~novel].sum(axis=0)).ravel() / max((~novel).sum(), 1)
    new = np.asarray(matrix[novel].sum(axis=0)).ravel() / max(novel.sum(), 1)
    return np.where((new - known) * evidence > 0, evidence, 0.0)


def find_groups(matrix: Matrix, novel: Bools, evidence: Floats) -> list[Group]:
    """Return the topics of a mixture that starts from the words with the most evidence.

    Parameters
    ----------
    matrix : sparse matrix of bool
        The words of all documents.
    novel : ndarray of bool
        Which documents are novel.
    evidence : ndarray of float64
        The evidence of each word, above 0 for novel words.

    Returns
    -------
    list of Group
        Topics with evidence above 0, in no particular order.
    """
    counts = np.asarray(matrix.sum(axis=0)).ravel()
    often = np.flatnonzero(counts >= 2 + min(matrix.shape[0] // 2000, 4))
    if not len(often) or not novel.any() or novel.all():
        return []
    matrix, evidence = matrix[:, often].astype(np.float64).tocsr(), evidence[often]
    seeds = np.flatnonzero(evidence >= MIN_EVIDENCE)
    seeds = seeds[np.argsort(-evidence[seeds], kind="stable")][:MAX_SEEDS]
    if not len(seeds):
        return []
    clusters, links = _word_clusters(matrix[novel][:, seeds])
    n_seeded = int(clusters.max()) + 1
    weights = sparse.csr_matrix(
        (evidence[seeds], (seeds, clusters)), shape=(matrix.shape[1], n_seeded)
    )
    mixture = _Mixture(matrix, novel, n_seeded)
    mixture.start(_tfidf(matrix), weights)
    mixture.fit()
    found = []
    for topic in range(mixture.n_topics):
        own = [
            (int(often[seeds[a]]), int(often[seeds[b]]), strength)
            for a, b, strength in links
            if clusters[a] == topic == clusters[b]
        ]
        group = mixture.group(topic, often, tuple(own))
        if group is not None:
            found.append(group)
    return found


def _word_clusters(matrix: Matrix) -> tuple[Integers, list[tuple[int, int, float]]]:
    """Group the columns by average linkage on NPMI; return also the strongest links."""
    n, size = matrix.shape
    if size == 1:
        return np.zeros(1, dtype=np.intp), []
    together = (matrix.T @ matrix).toarray()
    single = np.diag(together)
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.log(together * n / np.outer(single, single))
        npmi = np.where(together > 0, pmi / np.maximum(-np.log(together / n), 1e-12), -1.0)
    # One document with two words is no evidence that they belong together.
    npmi = np.clip(np.where(together <= 1, np.minimum(npmi, 0.0), npmi), -1.0, 1.0)
    np.fill_diagonal(npmi, 1.0)
    tree = linkage(squareform(1 - npmi, checks=False), "average")
    clusters = fcluster(tree, 1 - MIN_LINK, "distance").astype(np.intp) - 1
    a, b = np.nonzero(np.triu(npmi, 1) >= MIN_LINK)
    order = np.argsort(-npmi[a, b], kind="stable")
    links = [(int(a[i]), int(b[i]), float(npmi[a[i], b[i]])) for i in order]
    return clusters, links


def _tfidf(matrix: Matrix) -> Matrix:
    counts = np.asarray(matrix.sum(axis=0)).ravel()
    found = matrix @ sparse.diags(np.log((1 + matrix.shape[0]) / (1 + counts)) + 1)
    norms = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
    return (sparse.diags(1 / np.maximum(norms, 1e-12)) @ found).tocsr()


class _Mixture:
    """Topics that compete for documents; topic -1 is the corpus as a whole."""

    def __init__(self, matrix: Matrix, novel: Bools, n_seeded: int) -> None:
        self.matrix, self.transposed = matrix, matrix.T.tocsr()
        self.novel, self.share = novel, float(novel.mean())
        self.n_seeded = self.n_topics = n_seeded
        self.lengths = np.diff(matrix.indptr).astype(np.float64)
        self.rates = np.asarray(matrix.sum(axis=0)).ravel() / max(matrix.nnz, 1)
        self.topics = np.full(matrix.shape[0], -1)

    def start(self, tfidf: Matrix, weights: Matrix) -> None:
        """Assign documents with seed words to their best topic, and cluster the others."""
        scores = (tfidf @ weights).toarray()
        best = scores.argmax(axis=1)
        seeded = scores[np.arange(len(best)), best] > 0
        self.topics = np.where(seeded, best, -1)
        rest = np.flatnonzero(~seeded & (self.lengths > 0))
        n_background = min(MAX_BACKGROUND, len(rest) // DOCUMENTS_A_TOPIC)
        if n_background:
            self.topics[rest] = self.n_seeded + _spherical_clusters(tfidf[rest], n_background)
            self.n_topics += n_background

    def fit(self) -> None:
        """Alternate between the words of topics and the topics of documents."""
        for _ in range(N_ITERATIONS):
            before = self.topics
            self._update_words()
            self._assign()
            if np.mean(self.topics != before) < SETTLED:
                break

    def _update_words(self) -> None:
        there = np.flatnonzero(self.topics >= 0)
        shape = (len(self.topics), self.n_topics)
        members = sparse.csr_matrix((np.ones(len(there)), (there, self.topics[there])), shape=shape)
        counts = (self.transposed @ members).tocoo()
        n_words = np.asarray(counts.sum(axis=0)).ravel()
        words, topics, data = counts.row, counts.col, counts.data
        expected = self.rates[words] * n_words[topics]
        keep = (data >= 2) & ((data - expected) / np.sqrt(expected + 1) > SIGNIFICANT)
        words, topics, data = words[keep], topics[keep], data[keep]
        rates = self.rates[words]
        own = (data + PSEUDO_WORDS * rates) / (n_words[topics] + PSEUDO_WORDS)
        rest = 1 - np.bincount(topics, own, self.n_topics)
        base = 1 - np.bincount(topics, rates, self.n_topics)
        # All words that are not significant share one ratio.
        self.others = np.log(np.maximum(rest, 1e-3) / np.maximum(base, 1e-3))
        ratios = np.log(own / rates) - self.others[topics]
        shape = (self.matrix.shape[1], self.n_topics)
        self.ratios = sparse.csr_matrix((ratios, (words, topics)), shape=shape)
        self.strengths = sparse.csc_matrix((ratios * np.sqrt(data), (words, topics)), shape=shape)
        self.sizes = np.asarray(members.sum(axis=0)).ravel()

    def _fits(self) -> Floats:
        found = (self.matrix @ self.ratios).toarray()
        found += self.lengths[:, None] * self.others
        return np.asarray(found)

    def _assign(self) -> None:
        n = len(self.topics)
        self.fits = self._fits()
        scores = self.fits + np.log((self.sizes + 1) / (n + self.n_topics))
        scores[:, self.sizes < 3] = -np.inf
        best = scores.argmax(axis=1)
        none = np.log(((self.topics < 0).sum() + 1) / (n + self.n_topics))
        topics = np.where(scores[np.arange(n), best] > none, best, -1)
        order = np.argsort(topics, kind="stable")
        bounds = np.searchsorted(topics[order], np.arange(self.n_seeded + 1))
        for topic in range(self.n_seeded):
            rows = order[bounds[topic] : bounds[topic + 1]]
            if len(rows) > MIN_DOCUMENTS:
                kept = self._strongest(self.fits[rows, topic], self.novel[rows])
                topics[rows[~kept]] = -1
        self.topics = topics

    def _strongest(self, fits: Floats, novel: Bools) -> Bools:
        """Return which documents fit at least as well as the limit with the most evidence."""
        order = np.argsort(-fits, kind="stable")
        total = np.arange(1, len(order) + 1)
        found = deviance_root(np.cumsum(novel[order]), total, self.share, PSEUDO_DOCUMENTS)
        last = np.append(np.diff(fits[order]) < -1e-9, True)
        found = np.where(last & (total >= MIN_DOCUMENTS), found, -np.inf)
        return np.asarray(fits >= fits[order][np.argmax(found)] - 1e-9)

    def group(
        self, topic: int, columns: Integers, links: tuple[tuple[int, int, float], ...]
    ) -> Group | None:
        """Return a topic as a group, or None if it is small or not more novel than the rest."""
        rows = np.flatnonzero(self.topics == topic)
        if len(rows) < MIN_DOCUMENTS:
            return None
        evidence = float(deviance_root(float(self.novel[rows].sum()), len(rows), self.share))
        column = self.strengths[:, [topic]]
        order = np.argsort(-column.data, kind="stable")
        if evidence <= 0 or not len(order):
            return None
        words = columns[column.indices[order]]
        return Group(rows, self.fits[rows, topic], words, column.data[order], links, evidence)


def _spherical_clusters(vectors: Matrix, n_clusters: int, n_iterations: int = 4) -> Integers:
    """Return the clusters of unit vectors; the same vectors always give the same clusters."""
    rng = np.random.default_rng(0)
    sample = vectors[rng.permutation(vectors.shape[0])[:SAMPLE]]
    chosen = [0]
    nearest = (sample @ sample[0].T).toarray().ravel()
    for _ in range(n_clusters - 1):
        distance = np.maximum(1 - nearest, 1e-9) ** 2
        chosen.append(int(rng.choice(len(distance), p=distance / distance.sum())))
        nearest = np.maximum(nearest, (sample @ sample[chosen[-1]].T).toarray().ravel())
    centres = sample[chosen].T.tocsc()
    for _ in range(n_iterations):
        clusters = (vectors @ centres).toarray().argmax(axis=1)
        ones, rows = np.ones(len(clusters)), np.arange(len(clusters))
        members = sparse.csr_matrix((ones, (rows, clusters)), shape=(len(rows), n_clusters))
        centres = (vectors.T @ members).toarray()
        centres = sparse.csc_matrix(centres / np.maximum(np.linalg.norm(centres, axis=0), 1e-12))
    return np.asarray(clusters, dtype=np.intp)
