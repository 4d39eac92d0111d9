"""Groups of similar documents: k-means on TF-IDF, after a singular value decomposition."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.table import Table

__all__ = ["Group", "characteristic", "find_groups", "group_bags", "how_many_groups"]

_DIMENSIONS = 50
_MAX_GROUPS = 8
_MAX_CLUSTERED = 5000  # further documents are assigned to the nearest group
_WORDS = 20  # listed for each group


@dataclass(frozen=True)
class Group:
    """Similar novel documents.

    Attributes
    ----------
    documents : ndarray of int
        Their rows in the detection.
    words : Table
        The words that characterise the group, the most characteristic first. Columns: ``word``;
        ``score``, the log of how many times as frequent the word is in the group as in all other
        documents, times its share of the group; ``documents``, the number of documents of the group
        that have it; ``known``, the number of known documents that have it.
    """

    documents: NDArray[np.int64]
    words: Table

    @property
    def size(self) -> int:
        """The number of documents."""
        return len(self.documents)

    @property
    def name(self) -> str:
        """The first words."""
        return ", ".join(self.words["word"][:3].tolist())


def find_groups(
    matrix: Any,
    words: Sequence[str],
    known: Mapping[str, int],
    n_known: int,
    seed: int,
) -> list[tuple[NDArray[np.int64], Table]]:
    """Group novel documents; return the rows and the words of each group, the largest first.

    Parameters
    ----------
    matrix : Boolean CSR matrix
        Bags of novel documents.
    words : sequence of str
        The name of each column.
    known : mapping of str to int
        The number of known documents that have a word; 0 for a word that is not in it.
    n_known : int
        The number of known documents.
    seed : int
        Seed of the clustering.

    Returns
    -------
    list of (ndarray of int, Table)
    """
    n = matrix.shape[0]
    codes = how_many_groups(matrix[:_MAX_CLUSTERED], _MAX_GROUPS, seed)
    if n > _MAX_CLUSTERED:
        centres = np.stack(
            [_mean(matrix[: len(codes)][codes == k]) for k in range(codes.max() + 1)]
        )
        codes = np.concatenate((codes, np.argmax(matrix[_MAX_CLUSTERED:] @ centres.T, axis=1)))
    in_known = np.array([known.get(word, 0) for word in words])
    frequencies = in_known + np.asarray(matrix.sum(axis=0)).ravel()
    found = []
    for k in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == k)
        counts = np.asarray(matrix[rows].sum(axis=0)).ravel()
        scores = characteristic(counts, len(rows), frequencies, n_known + n)
        top = np.argsort(-scores, kind="stable")[:_WORDS]
        top = top[counts[top] > 0]
        columns = {
            "word": np.array([words[j] for j in top.tolist()], dtype=object),
            "score": scores[top],
            "documents": counts[top],
            "known": in_known[top].astype(np.int64),
        }
        found.append((rows, Table(columns)))
    return found


def characteristic(
    counts: NDArray[Any], size: int, frequencies: NDArray[Any], n_all: int
) -> NDArray[np.float64]:
    """Return how characteristic each word is of a group; see `Group`."""
    here = (counts + 0.5) / (size + 1)
    elsewhere = (frequencies - counts + 0.5) / (n_all - size + 1)
    scores: NDArray[np.float64] = counts / size * np.log(here / elsewhere)
    return scores


def _mean(matrix: Any) -> NDArray[np.float64]:
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    return mean / (np.linalg.norm(mean) or 1.0)


def group_bags(matrix: Any, n_groups: int, seed: int) -> NDArray[np.int64]:
    """Return the index of the group of each bag; group 0 is the largest.

    Examples
    --------
    >>> from scipy import sparse
    >>> bags = sparse.csr_matrix(np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 3 + [[1, 1, 0, 0]]) > 0)
    >>> group_bags(bags, 2, seed=0).tolist()
    [0, 1, 0, 1, 0, 1, 0]
    """
    n = matrix.shape[0]
    if n_groups <= 1 or n <= 1:
        return np.zeros(n, np.int64)
    return _k_means(_points(matrix, seed), n_groups, seed)


def how_many_groups(matrix: Any, most: int, seed: int) -> NDArray[np.int64]:
    """Group bags; the silhouette decides how many groups, and it is one if none fits.

    Examples
    --------
    >>> from scipy import sparse
    >>> bags = sparse.csr_matrix(np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 3 + [[1, 1, 0, 0]]) > 0)
    >>> int(how_many_groups(bags, 4, seed=0).max()) + 1
    2
    """
    from sklearn.metrics import silhouette_score

    n = matrix.shape[0]
    best, best_score = np.zeros(n, np.int64), 0.1
    if n < 4:
        return best
    points = _points(matrix, seed)
    for k in range(2, min(most, n - 1) + 1):
        codes = _k_means(points, k, seed)
        if codes.max() + 1 < 2 or np.bincount(codes).min() < 2:
            continue
        score = silhouette_score(points, codes, sample_size=min(n, 1000), random_state=seed)
        if score > best_score:
            best, best_score = codes, score
    return best


def _points(matrix: Any, seed: int) -> NDArray[np.float64]:
    """Return bags as unit vectors in a few dimensions."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    weighted = TfidfTransformer().fit_transform(matrix.astype(np.float64))
    size = min(_DIMENSIONS, min(weighted.shape) - 1)
    if size < 1:
        return np.asarray(weighted.todense())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # equal documents have no variance
        points = TruncatedSVD(size, random_state=seed).fit_transform(weighted)
    directions: NDArray[np.float64] = normalize(points)
    return directions


def _k_means(points: NDArray[np.float64], n_groups: int, seed: int) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct documents than groups
        found = KMeans(n_groups, n_init=4, random_state=seed).fit_predict(points)
    _, codes = np.unique(found, return_inverse=True)
    order = np.argsort(-np.bincount(codes), kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    numbered: NDArray[np.int64] = places[codes].astype(np.int64)
    return numbered
