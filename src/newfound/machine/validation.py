"""Checks of the classifier's input and parameters, with errors that say what to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from newfound.checks import check_number, check_switch, check_verbose, check_whole_number

# The power of a class's update probability that it is drawn in proportion to.
NEGATIVE_SAMPLING = {"uniform": 0, "focused": 4}

_SWITCHES = ("boost_true_positive", "weighted", "negations")


def boolean_csr(
    estimator: BaseEstimator, X: Any, *, y: Any = "no_validation", reset: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return X as the rows of a Boolean CSR matrix: indptr and sorted indices."""
    if y is None:
        raise ValueError(
            "This TsetlinMachineClassifier requires y to be passed, but the target y is None."
        )
    if _holds_texts(X):
        raise ValueError(
            "X holds text; turn documents into a Boolean matrix first, for example with "
            "newfound.TextVectorizer."
        )
    checked = validate_data(estimator, X, accept_sparse="csr", dtype=None, reset=reset)
    matrix: sp.csr_matrix | sp.csr_array
    if sp.issparse(checked):
        matrix = _checked_copy(checked)
        if not (matrix.has_canonical_format and np.all(matrix.data)):
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
        _zero_or_one(matrix.data, lambda at: _place(matrix, at))
    else:
        dense = _numbers(checked)
        _zero_or_one(dense, lambda at: (int(at // dense.shape[1]), int(at % dense.shape[1])))
        matrix = sp.csr_array(dense != 0)
    if matrix.shape[1] > 2**24:
        raise ValueError(f"X has {matrix.shape[1]:,} features; at most {2**24:,} are possible.")
    return (
        np.ascontiguousarray(matrix.indptr, np.int64),
        np.ascontiguousarray(matrix.indices, np.int32),
    )


def _holds_texts(X: Any) -> bool:
    """Return whether X is an array of texts, or a list or column that begins with one."""
    if getattr(getattr(X, "dtype", None), "kind", "") in ("U", "S"):
        return True
    if isinstance(X, list | tuple) or (getattr(X, "ndim", None) == 1 and not sp.issparse(X)):
        return isinstance(next(iter(X), None), str)
    return False


def _checked_copy(given: Any) -> Any:
    """Return a copy of a CSR matrix whose indices are sound.

    scipy's compiled functions trust the indices of a matrix: a wrong one, or one that another
    thread changes meanwhile, ends the process. So the copy is made first and checked then.
    """
    n_rows, n_columns = given.shape
    indptr, indices = np.array(given.indptr, np.int64), np.array(given.indices)
    data = np.array(given.data)
    stored = int(indptr[-1]) if len(indptr) == n_rows + 1 else -1
    rising = indptr[0] == 0 and bool((indptr[1:] >= indptr[:-1]).all())
    if not rising or not 0 <= stored <= min(len(indices), len(data)):
        raise ValueError(
            "X is not a sound CSR matrix: its indptr must rise from 0 to the number of its "
            "indices, with one entry more than it has rows; X.check_format() tells more."
        )
    indices, data = indices[:stored], data[:stored]
    if stored and not (indices.min() >= 0 and indices.max() < n_columns):
        raise ValueError(
            f"X is not a sound CSR matrix: its indices must be from 0 to {n_columns - 1}; "
            "X.check_format() tells more."
        )
    return sp.csr_array((data, indices, indptr), shape=given.shape)


def reject_keywords(unsupported: dict[str, Any]) -> None:
    """Raise an error for sample_weight or any other keyword that `fit` does not accept."""
    if unsupported.pop("sample_weight", None) is not None:
        raise ValueError(
            "TsetlinMachineClassifier takes no sample_weight: every document gives the same "
            "feedback. Repeat documents to give them weight."
        )
    if unsupported:
        raise TypeError(f"unexpected keyword argument '{next(iter(unsupported))}'")


def _numbers(dense: NDArray[Any]) -> NDArray[Any]:
    if dense.dtype.kind in "buif":
        return dense
    if dense.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must be Boolean or 0 and 1.")
    try:
        return dense.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X must be Boolean or 0 and 1, but has other objects ({error}); turn documents into "
            "a Boolean matrix first, for example with newfound.TextVectorizer."
        ) from None


def _zero_or_one(values: NDArray[Any], place: Callable[[int], tuple[int, int]]) -> None:
    if values.dtype.kind == "b" or values.size == 0:
        return
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        at = int(np.argmax(wrong.ravel()))
        row, column = place(at)
        raise ValueError(
            f"X must be Boolean or 0 and 1, but has {values.ravel()[at].item()!r} in row {row}, "
            f"column {column}; binarise it first, for example with X > 0."
        )


def _place(matrix: Any, at: int) -> tuple[int, int]:
    return int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])


def check_one_type(y: object) -> None:
    """Raise a `ValueError` for texts among other labels.

    NumPy would turn those of a list into texts, and cannot sort those of an array of objects.
    """
    if getattr(y, "ndim", None) == 1 and getattr(getattr(y, "dtype", None), "kind", "") == "O":
        y = list(cast("Iterable[object]", y))
    if isinstance(y, list | tuple):
        texts = sum(isinstance(label, str) for label in y)
        if 0 < texts < len(y):
            other = next(label for label in y if not isinstance(label, str))
            raise ValueError(
                f"y mixes texts with other labels, such as {other!r}; pass labels of one type."
            )


def encode_labels(
    y: ArrayLike, n_documents: int, at_least: int = 2
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted classes of y, and for each document the index of its class."""
    check_one_type(y)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = column_or_1d(labels, warn=True)
    if labels.ndim != 1 or len(labels) != n_documents:
        raise ValueError(
            f"y has the shape {labels.shape}, but there are {n_documents} documents: it must hold "
            "one label for each."
        )
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < at_least:
        raise ValueError(
            f"y has only the class {classes.tolist()[0]!r}; a classifier can't train when only one "
            "class is present: give documents of at least two."
        )
    return classes, codes.astype(np.int32)


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that n_jobs asks for: None is 1, -1 all available cores.

    Examples
    --------
    >>> thread_count(None), thread_count(3), thread_count(-1) >= 1
    (1, 3, True)
    """
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return int(n_jobs)
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def encode_known_labels(y: ArrayLike, n_documents: int, classes: NDArray[Any]) -> NDArray[np.int32]:
    """Return for each document the index of its class among known classes."""
    labels, codes = encode_labels(y, n_documents, at_least=1)
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(
            f"y has the label {labels[unknown].tolist()[0]!r}, which is not among the classes "
            f"{classes.tolist()}; name all classes on the first call to partial_fit."
        )
    found: NDArray[np.int32] = np.searchsorted(classes, labels).astype(np.int32)[codes]
    return found


def check_machine_parameters(
    *,
    n_clauses: Any,
    T: Any,
    s: Any,
    epochs: Any,
    max_literals: Any,
    n_jobs: Any,
    negative_sampling: Any = "uniform",
    **others: Any,
) -> None:
    """Raise a ValueError that names the first parameter with an impossible value."""
    check_whole_number("n_clauses", n_clauses, 2)
    if n_clauses % 2:
        raise ValueError(
            f"n_clauses={n_clauses} must be even: half vote for a class, half against it."
        )
    check_whole_number("T", T, 1)
    check_whole_number("epochs", epochs, 1)
    check_number("s", s, 1, 8000)
    if max_literals is not None:
        check_whole_number("max_literals", max_literals, 1)
    if not isinstance(negative_sampling, str) or negative_sampling not in NEGATIVE_SAMPLING:
        raise ValueError(
            f"negative_sampling={negative_sampling!r} must be "
            f"{' or '.join(repr(name) for name in NEGATIVE_SAMPLING)}."
        )
    for name in _SWITCHES:
        check_switch(name, others.get(name, False))
    check_verbose(others.get("verbose", 0))
    if n_jobs is not None and (
        isinstance(n_jobs, bool)
        or not isinstance(n_jobs, Integral)
        or n_jobs == 0
        or int(n_jobs) > 1024
    ):
        raise ValueError(
            f"n_jobs={n_jobs!r} must be None, a number of threads up to 1024, or -1 for all."
        )
