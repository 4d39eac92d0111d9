"""Linear algebra of a fixed order, beside scikit-learn: as good, whatever the data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from newfound import linear


@pytest.fixture(scope="module")
def bags() -> sparse.csr_array:
    """Return documents of four kinds, with words of their kind, others and an empty one."""
    random = np.random.default_rng(1)
    kinds = np.arange(400) % 4
    rate = np.where(np.arange(120) % 4 == kinds[:, None], 0.2, 0.03)
    words = random.random((400, 120)) < rate
    words[7] = False
    return sparse.csr_array(words.astype(np.float64))


@pytest.fixture(scope="module")
def rows(bags) -> sparse.csr_array:
    return linear.Tfidf.of(bags)(bags)


KINDS = np.arange(400) % 4


def test_tfidf_is_that_of_scikit_learn(bags, rows) -> None:
    expected = TfidfTransformer().fit_transform(sparse.csr_matrix(bags)).toarray()
    assert rows.toarray() == pytest.approx(expected, rel=1e-14)


def test_products_of_matrices_and_vectors(rows) -> None:
    dense = np.random.default_rng(2).random((120, 13))
    assert linear.product(rows, dense) == pytest.approx(rows.toarray() @ dense, rel=1e-12)
    assert linear.product(rows, dense[:, 0]) == pytest.approx(rows.toarray() @ dense[:, 0])
    assert linear.product(rows[:0], dense).shape == (0, 13)


def test_principal_axes_are_orthonormal_and_explain_as_much(rows) -> None:
    axes = linear.principal_axes(rows, 10, n_iterations=8)
    assert axes.T @ axes == pytest.approx(np.eye(10), abs=1e-12)
    lengths = np.sqrt((linear.product(rows, axes) ** 2).sum(axis=0))
    exact = TruncatedSVD(10, algorithm="arpack", random_state=0).fit(sparse.csr_matrix(rows))
    assert lengths[:4] == pytest.approx(exact.singular_values_[:4], rel=1e-6)
    assert lengths == pytest.approx(exact.singular_values_, rel=0.02)


def test_principal_axes_of_few_distinct_rows_are_zero_beyond_their_rank() -> None:
    axes = linear.principal_axes(sparse.csr_array([[1.0, 2, 0, 0]] * 5), 3)
    assert np.abs(axes[:, 0]) == pytest.approx([0.4472136, 0.8944272, 0, 0])
    assert (axes[:, 1:] == 0).all()
    assert (linear.principal_axes(sparse.csr_array(np.zeros((4, 4))), 2) == 0).all()


def test_k_means_finds_clusters_as_tight(rows) -> None:
    points = linear.unit_rows(linear.product(rows, linear.principal_axes(rows, 4)))

    def spread(clusters: np.ndarray) -> float:
        of_each = (points[clusters == k] for k in np.unique(clusters))
        return sum(float(((each - each.mean(axis=0)) ** 2).sum()) for each in of_each)

    found = linear.k_means(points, 6, n_starts=4)
    theirs = KMeans(6, n_init=4, random_state=0).fit_predict(points)
    assert spread(found) <= 1.02 * spread(theirs)
    assert len(np.unique(found)) == 6


def test_k_means_of_fewer_distinct_points_than_clusters() -> None:
    found = linear.k_means(np.array([[0.0, 1.0]] * 3 + [[1.0, 0.0]] * 3), 4, n_starts=2)
    assert len(set(found[:3])) == len(set(found[3:])) == 1
    assert found[0] != found[5]


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_logistic_regression_is_that_of_scikit_learn(rows, n_classes: int, balanced: bool) -> None:
    codes = np.minimum(KINDS, n_classes - 1)
    found = linear.logistic_regression(rows, codes, C=3.0, balanced=balanced)
    weight = "balanced" if balanced else None
    theirs = LogisticRegression(C=3.0, tol=1e-8, max_iter=5000, class_weight=weight)
    theirs.fit(sparse.csr_matrix(rows), codes)
    assert found.coefficients == pytest.approx(theirs.coef_, abs=0.03)
    assert found.intercepts - found.intercepts.mean() == pytest.approx(
        theirs.intercept_ - theirs.intercept_.mean(), abs=0.03
    )


def test_logistic_regression_without_intercept(rows) -> None:
    codes = np.minimum(KINDS, 1)
    found = linear.logistic_regression(rows, codes, C=3.0, intercept=False)
    theirs = LogisticRegression(C=3.0, tol=1e-8, fit_intercept=False).fit(
        sparse.csr_matrix(rows), codes
    )
    assert found.intercepts.tolist() == [0]
    assert np.abs(found.coefficients - theirs.coef_).mean() < 0.015  # both end near the best


@pytest.mark.parametrize("n_classes", [2, 4])
def test_support_vectors_are_those_of_scikit_learn(rows, n_classes: int) -> None:
    codes = np.minimum(KINDS, n_classes - 1)
    found = linear.support_vectors(rows, codes, C=0.5)
    theirs = LinearSVC(C=0.5, tol=1e-8, max_iter=10_000).fit(sparse.csr_matrix(rows), codes)
    assert found.coefficients == pytest.approx(theirs.coef_, abs=0.02)
    assert found.intercepts == pytest.approx(theirs.intercept_, abs=0.02)


def test_polynomials_fit_by_least_squares() -> None:
    random = np.random.default_rng(3)
    x, values = random.random(50) * 4 + 1, random.random((50, 3))
    for degree in range(3):
        expected = np.polynomial.polynomial.polyfit(x, values, degree)[::-1]
        assert linear.polynomial(x, values, degree) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"indptr": [0, 3]}, "bounds"),
        ({"indices": [0, 9]}, "out of range"),
        ({"indices": [0, -1]}, "out of range"),
        ({"values": [1.0]}, "do not fit"),
    ],
)
def test_a_matrix_that_is_none_is_refused(arrays: dict, message: str) -> None:
    from newfound import _core

    sound = {"indptr": [0, 2], "indices": [0, 1], "values": [1.0, 2.0]} | arrays
    types = {"indptr": np.int64, "indices": np.int32, "values": np.float64}
    made = {name: np.array(value, types[name]) for name, value in sound.items()}
    with pytest.raises(ValueError, match=message):
        _core.sparse_product(**made, dense=np.ones((2, 1)))


SPARSE = {
    "indptr": np.array([0, 1, 2]),
    "indices": np.array([0, 1], np.int32),
    "values": np.array([1.0, 2.0]),
    "n_columns": 2,
}
LINEAR = SPARSE | {
    "classes": np.array([0, 1], np.int32),
    "n_classes": 2,
    "C": 1.0,
    "intercept": True,
    "tolerance": 0.01,
    "n_iterations": 5,
}
LOGISTIC = LINEAR | {"row_weights": np.ones(2)}
SUPPORT = LINEAR | {"seed": 0}
AXES = SPARSE | {"n": 1, "n_iterations": 1, "seed": 0}
MEANS = {"points": np.eye(2), "n_clusters": 1, "n_starts": 1, "n_iterations": 1, "seed": 0}


@pytest.mark.parametrize(
    ("name", "sound", "changed", "message"),
    [
        ("logistic_regression", LOGISTIC, {"row_weights": np.ones(3)}, "a weight"),
        ("logistic_regression", LOGISTIC, {"values": np.array([1.0, np.nan])}, "finite"),
        ("logistic_regression", LOGISTIC, {"C": np.inf}, "C and the tolerance"),
        ("support_vectors", SUPPORT, {"classes": np.array([0, 2], np.int32)}, "out of range"),
        ("support_vectors", SUPPORT, {"classes": np.array([0], np.int32)}, "have a class"),
        ("support_vectors", SUPPORT, {"n_classes": 1}, "two classes"),
        ("support_vectors", SUPPORT, {"n_classes": 1 << 60}, "row for each class"),
        ("support_vectors", SUPPORT, {"C": 0.0}, "C and the tolerance"),
        ("principal_axes", AXES, {"n": 3}, "no more axes"),
        ("principal_axes", AXES, {"n": 0}, "no more axes"),
        ("k_means", MEANS, {"n_clusters": 3}, "no more clusters"),
        ("k_means", MEANS, {"points": np.full((2, 2), np.inf)}, "finite"),
    ],
)
def test_odd_arguments_are_refused(name: str, sound: dict, changed: dict, message: str) -> None:
    from newfound import _core

    function = getattr(_core, name)
    function(**sound)
    with pytest.raises(ValueError, match=message):
        function(**sound | changed)


def test_a_product_that_no_memory_holds_is_refused() -> None:
    from newfound import _core

    with pytest.raises(ValueError, match="too large"):
        _core.sparse_product(
            indptr=np.zeros(33, np.int64),
            indices=np.zeros(0, np.int32),
            values=np.zeros(0),
            dense=np.zeros((0, 2**59)),
        )
