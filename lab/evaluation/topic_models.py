"""Topic models as baselines for themes: k-means, NMF, LDA, and BERTopic if it is installed.

A model clusters the novel pile and assigns each known document to a cluster too. `grown_clusters`
then gives it a test that it does not have itself: only the clusters that hold significantly more of
the novel pile than of the known pile count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import silhouette_score

__all__ = ["MODELS", "Clustering", "bertopic", "grown_clusters", "has_bertopic"]

LEVEL = 0.05
DIMENSIONS = 100  # of documents, for BERTopic without a sentence model

Matrix = Any
Integers = NDArray[np.intp]


class Clustering(NamedTuple):
    """The clusters of a model.

    Attributes
    ----------
    novel, known : ndarray of int
        The cluster of each document; -1 for none.
    quality : float
        The larger, the better; compares different numbers of clusters of the same model.
    """

    novel: Integers
    known: Integers
    quality: float


def grown_clusters(found: Clustering) -> list[Integers]:
    """Return the novel documents of each cluster that grew: a z test, Bonferroni at 5 %.

    Examples
    --------
    >>> new, known = np.repeat([0, 1], [60, 40]), np.repeat([0, 1], [20, 80])
    >>> [len(rows) for rows in grown_clusters(Clustering(new, known, 0.0))]
    [60]
    """
    n = int(max(found.novel.max(initial=0), found.known.max(initial=0))) + 1
    sides = (found.known, found.novel)
    counts = [np.bincount(side[side >= 0], minlength=n) for side in sides]
    sizes = [max(len(side), 1) for side in sides]
    pooled = (counts[0] + counts[1]) / sum(sizes)
    spread = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12) * (1 / sizes[0] + 1 / sizes[1]))
    z = (counts[1] / sizes[1] - counts[0] / sizes[0]) / spread
    return [
        np.flatnonzero(found.novel == one) for one in np.flatnonzero(z > stats.norm.isf(LEVEL / n))
    ]


def _k_means(new: Matrix, known: Matrix, n: int) -> Clustering:
    transformer = TfidfTransformer()
    vectors = transformer.fit_transform(new.astype(float))
    model = KMeans(n, n_init=3, random_state=0).fit(vectors)
    others = model.predict(transformer.transform(known.astype(float)))
    return Clustering(model.labels_, others, _silhouette(vectors, model.labels_))


def _nmf(new: Matrix, known: Matrix, n: int) -> Clustering:
    transformer = TfidfTransformer()
    vectors = transformer.fit_transform(new.astype(float))
    model = NMF(n, init="nndsvd", tol=1e-3, max_iter=200, random_state=0)
    labels = model.fit_transform(vectors).argmax(axis=1)
    others = model.transform(transformer.transform(known.astype(float))).argmax(axis=1)
    return Clustering(labels, others, _silhouette(vectors, labels))


def _lda(new: Matrix, known: Matrix, n: int) -> Clustering:
    held_out = np.random.default_rng(0).random(new.shape[0]) < 0.2
    trial = LatentDirichletAllocation(n, random_state=0).fit(new[~held_out])
    model = LatentDirichletAllocation(n, random_state=0)
    labels = model.fit_transform(new).argmax(axis=1)
    others = model.transform(known).argmax(axis=1)
    return Clustering(labels, others, -float(trial.perplexity(new[held_out])))


def _silhouette(vectors: Matrix, labels: Integers) -> float:
    if len(np.unique(labels)) < 2:
        return -1.0
    sample = min(2000, len(labels) - 1)
    return float(
        silhouette_score(vectors, labels, metric="cosine", sample_size=sample, random_state=0)
    )


MODELS: Mapping[str, Callable[[Matrix, Matrix, int], Clustering]] = MappingProxyType(
    {"k-means on TF-IDF": _k_means, "NMF on TF-IDF": _nmf, "LDA": _lda}
)


def has_bertopic() -> bool:
    """Return whether BERTopic is installed."""
    return find_spec("bertopic") is not None


def bertopic(
    matrix: Matrix, novel: NDArray[np.bool_], texts: list[str], model: str | None = None
) -> Clustering:
    """Cluster with BERTopic, which chooses the number of topics itself.

    Parameters
    ----------
    matrix : CSR matrix
        The words of all documents.
    novel : ndarray of bool
        Which documents are novel.
    texts : list of str
        The documents.
    model : str, optional
        The folder of a sentence-transformers model. Without it, documents are represented by a
        singular value decomposition of their TF-IDF vectors.
    """
    from bertopic import BERTopic  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from umap import UMAP  # type: ignore[import-not-found,import-untyped,unused-ignore]

    if model is not None:
        from sentence_transformers import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
            SentenceTransformer,
        )

        vectors = SentenceTransformer(model, device="cpu").encode(texts, batch_size=64)
    else:
        tfidf = TfidfTransformer().fit_transform(matrix.astype(float))
        n = min(DIMENSIONS, tfidf.shape[1] - 1)
        vectors = TruncatedSVD(n, random_state=0).fit_transform(tfidf)
    vectors = np.asarray(vectors, dtype=np.float32)
    # The reduction that BERTopic uses by default, with a seed.
    reduction = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=0)
    topics = BERTopic(umap_model=reduction)
    sides = [np.flatnonzero(novel == side) for side in (True, False)]
    new, _ = topics.fit_transform([texts[row] for row in sides[0]], vectors[sides[0]])
    known, _ = topics.transform([texts[row] for row in sides[1]], vectors[sides[1]])
    return Clustering(np.asarray(new, np.intp), np.asarray(known, np.intp), 0.0)
