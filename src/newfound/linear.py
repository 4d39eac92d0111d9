"""Linear algebra of documents with the same bits on every processor.

Libraries add up products in an order that depends on the processor. Here the core adds them up, in
a fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped,unused-ignore]

from newfound import _core
from newfound.arithmetic import dot, log

__all__ = [
    "LinearWeights",
    "Tfidf",
    "dense_product",
    "k_means",
    "logistic_regression",
    "polynomial",
    "principal_axes",
    "product",
    "support_vectors",
    "unit_rows",
]

Floats = NDArray[np.float64]


def _rows(matrix: Any) -> dict[str, Any]:
    """Return a sparse matrix as the core takes it."""
    bags = sparse.csr_array(matrix)
    return {
        "indptr": bags.indptr.astype(np.int64, copy=False),
        "indices": bags.indices.astype(np.int32, copy=False),
        "values": np.ascontiguousarray(bags.data, np.float64),
    }


def product(matrix: Any, dense: NDArray[Any]) -> Floats:
    """Return the product of a sparse matrix and a dense matrix or vector.

    Examples
    --------
    >>> product(sparse.csr_array([[1, 0], [2, 3]]), np.array([1.0, 0.5])).tolist()
    [1.0, 3.5]
    """
    columns = np.ascontiguousarray(dense, np.float64)
    found = _core.sparse_product(
        **_rows(matrix), dense=columns if columns.ndim == 2 else columns[:, None]
    )
    return found if columns.ndim == 2 else found.ravel()


_EXACT = 53  # bits of a whole number that a float holds


def dense_product(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Return the products of the rows of a dense matrix with those of another.

    Rows are rounded to whole numbers of so few bits, times a power of two, that all sums are exact.
    A library may therefore add up in any order.

    Examples
    --------
    >>> dense_product(np.array([[1.0, 2.0]]), np.array([[3.0, 0.5], [1.0, -1.0]])).tolist()
    [[4.0, -1.0]]
    """
    bits = (_EXACT - int(a.shape[1]).bit_length()) // 2

    def rounded(rows: NDArray[Any]) -> tuple[Floats, NDArray[np.int32]]:
        _, exponents = np.frexp(np.abs(rows).max(axis=1, initial=0.0))
        scales = (bits - exponents).astype(np.int32)
        return np.rint(np.ldexp(rows.astype(np.float64), scales[:, None])), -scales

    (left, of_left), (right, of_right) = rounded(a), rounded(b)
    found: Floats = np.ldexp(left @ right.T, of_left[:, None] + of_right)
    return found


def unit_rows(rows: Any, least: float = 0.0) -> Any:
    """Return rows, dense or sparse, divided by their lengths; those up to `least` stay as they are.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if not sparse.issparse(rows):
        lengths = np.sqrt((rows * rows).sum(axis=1))
        return rows / np.where(lengths > least, lengths, 1.0)[:, None]
    found = sparse.csr_array(rows)
    row_of = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    values = found.data.astype(np.float64)
    lengths = np.sqrt(np.bincount(row_of, values * values, found.shape[0]))
    # Divisions are slower than the one of each row.
    values *= (1 / np.where(lengths > least, lengths, 1.0))[row_of]
    return sparse.csr_array((values, found.indices, found.indptr), shape=found.shape)


@dataclass(frozen=True, eq=False)
class Tfidf:
    """Words weighted by how rare they are, each document as long as any other.

    The weight of a word is log((1 + documents) / (1 + documents with the word)) + 1.

    Examples
    --------
    >>> bags = sparse.csr_array([[1, 1], [0, 1]])
    >>> weighted = Tfidf.of(bags)
    >>> weighted.idf.round(3).tolist(), weighted(bags).toarray().round(3).tolist()
    ([1.405, 1.0], [[0.815, 0.58], [0.0, 1.0]])
    """

    idf: Floats

    @classmethod
    def of(cls, bags: Any) -> Self:
        """Learn the weights from documents."""
        matrix = sparse.csr_array(bags)
        frequencies = np.bincount(matrix.indices, minlength=matrix.shape[1])
        return cls(log((1 + matrix.shape[0]) / (1 + frequencies)) + 1)

    def __call__(self, bags: Any) -> Any:
        """Return documents as unit vectors, a CSR array."""
        matrix = sparse.csr_array(bags)
        values = matrix.data * self.idf[matrix.indices]
        return unit_rows(
            sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
        )


def principal_axes(matrix: Any, n: int, *, n_iterations: int = 5, seed: int = 0) -> Floats:
    """Return the directions in which rows vary most: the first right singular vectors, as columns.

    `n` is at most the number of rows and of columns; more iterations make the last directions more
    exact.

    Examples
    --------
    >>> principal_axes(sparse.csr_array([[2, 0], [2, 0], [0, 1]]), 1).round(6).tolist()
    [[1.0], [0.0]]
    """
    return _core.principal_axes(
        **_rows(matrix), n_columns=matrix.shape[1], n=n, n_iterations=n_iterations, seed=seed
    )


def polynomial(x: Floats, values: Floats, degree: int) -> Floats:
    """Fit polynomials by least squares; return coefficients, the highest power first.

    One polynomial is fitted for each column of `values`; there must be more distinct points than
    `degree`.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> (polynomial(x, np.stack((x * x, 1 - x), axis=1), 2).round(9) + 0.0).tolist()
    [[1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]
    """
    found = np.zeros((degree + 1, values.shape[1]))
    # The powers of x, each made orthogonal to the lower ones, and their coefficients.
    powers: list[tuple[Floats, Floats]] = []
    for _ in range(degree + 1):
        if powers:
            column, name = x * powers[-1][0], np.roll(powers[-1][1], -1)
        else:
            column, name = np.ones(len(x)), np.eye(degree + 1)[-1]
        for lower, of_lower in powers:
            share = dot(lower, column) / dot(lower, lower)
            column, name = column - share * lower, name - share * of_lower
        powers.append((column, name))
        square = dot(column, column)
        shares = np.array([dot(column, each) / square for each in values.T])
        found += name[:, None] * shares
    return found


def k_means(
    points: NDArray[Any], n_clusters: int, *, n_starts: int, n_iterations: int = 300, seed: int = 0
) -> NDArray[np.int64]:
    """Return the cluster of each point; of several starts the best one.

    Examples
    --------
    >>> found = k_means(np.array([[0.0], [5.0], [0.1], [5.1]]), 2, n_starts=1)
    >>> bool(found[0] == found[2] != found[1] == found[3])
    True
    """
    return _core.k_means(
        points=np.ascontiguousarray(points, np.float64),
        n_clusters=n_clusters,
        n_starts=n_starts,
        n_iterations=n_iterations,
        seed=seed,
    ).astype(np.int64)


@dataclass(frozen=True, eq=False)
class LinearWeights:
    """A linear classifier.

    With a row of coefficients and an intercept for each class; of two classes, for the second one
    only.
    """

    coefficients: Floats
    intercepts: Floats

    def decisions(self, rows: Any) -> Floats:
        """Return a score of each row for the second of two classes."""
        scores: Floats = product(rows, self.coefficients[0]) + self.intercepts[0]
        return scores


def logistic_regression(
    rows: Any,
    codes: NDArray[Any],
    *,
    C: float,
    balanced: bool = False,
    intercept: bool = True,
    n_iterations: int = 1000,
) -> LinearWeights:
    """Learn a logistic regression, multinomial for more than two classes.

    `codes` are the classes of the rows, from 0 on, with none left out. `C` says how much the errors
    count, against the squared length of the coefficients; `balanced`, whether all classes count
    alike, however many rows they have.

    Examples
    --------
    >>> learned = logistic_regression(sparse.csr_array([[1.0], [0], [1]]), np.array([1, 0, 1]), C=1)
    >>> learned.decisions(sparse.csr_array([[0.0], [1]])).round(2).tolist()
    [0.32, 0.9]
    """
    sizes = np.bincount(codes)
    of_class = len(codes) / (len(sizes) * sizes) if balanced else np.ones(len(sizes))
    found = _core.logistic_regression(
        **_rows(rows),
        n_columns=rows.shape[1],
        classes=codes.astype(np.int32),
        n_classes=len(sizes),
        row_weights=of_class[codes.astype(np.intp)],
        C=C,
        intercept=intercept,
        tolerance=1e-4,
        n_iterations=n_iterations,
    )
    return LinearWeights(found[:-1].T, found[-1])


def support_vectors(
    rows: Any,
    codes: NDArray[Any],
    *,
    C: float,
    intercept: bool = True,
    seed: int = 0,
) -> LinearWeights:
    """Learn support vector machines with a squared loss, each class against all others.

    The parameters are those of `logistic_regression`. The intercept is the coefficient of a feature
    that is 1 everywhere; the seed is that of the order in which rows are visited.

    Examples
    --------
    >>> learned = support_vectors(sparse.csr_array([[1.0], [0], [1]]), np.array([1, 0, 1]), C=1)
    >>> learned.decisions(sparse.csr_array([[0.0], [1]])).round(2).tolist()
    [-0.31, 0.74]
    """
    found = _core.support_vectors(
        **_rows(rows),
        n_columns=rows.shape[1],
        classes=codes.astype(np.int32),
        n_classes=int(codes.max()) + 1,
        C=C,
        intercept=intercept,
        tolerance=0.01,
        n_iterations=1000,
        seed=seed,
    )
    return LinearWeights(found[:-1].T, found[-1])
