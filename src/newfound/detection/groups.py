"""Groups of similar documents: k-means on TF-IDF, after a singular value decomposition."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["group_bags", "how_many_groups"]

_DIMENSIONS = 50


def group_bags(matrix: Any, n_groups: int, seed: int) -> NDArray[np.int64]:
    """Give the number of the group of each bag, the largest group first.

    Examples
    --------
    >>> bags = sparse.csr_matrix(np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 3 + [[1, 1, 0, 0]]) > 0)
    >>> group_bags(bags, 2, seed=0).tolist()
    [0, 1, 0, 1, 0, 1, 0]
    """
    n = matrix.shape[0]
    if n_groups <= 1 or n <= 1:
        return np.zeros(n, np.int64)
    return _k_means(_points(matrix, seed), n_groups, seed)


def how_many_groups(matrix: Any, most: int, seed: int) -> NDArray[np.int64]:
    """Group bags into as many groups as fit best, by the silhouette; one where none fits.

    Examples
    --------
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
    """Give bags as directions in a few dimensions."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    n = matrix.shape[0]
    frequencies = np.asarray(matrix.sum(axis=0)).ravel()
    rarity = np.log((n + 1) / (frequencies + 1)) + 1
    weighted = normalize(matrix.astype(np.float64) @ sparse.diags(rarity))
    size = min(_DIMENSIONS, min(weighted.shape) - 1)
    if size < 1:
        return np.asarray(weighted.todense())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no variance at all, for equal documents
        points = TruncatedSVD(size, random_state=seed).fit_transform(weighted)
    directions: NDArray[np.float64] = normalize(points)
    return directions


def _k_means(points: NDArray[np.float64], n_groups: int, seed: int) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different documents than groups
        found = KMeans(n_groups, n_init=4, random_state=seed).fit_predict(points)
    _, codes = np.unique(found, return_inverse=True)
    order = np.argsort(-np.bincount(codes), kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    numbered: NDArray[np.int64] = places[codes].astype(np.int64)
    return numbered
