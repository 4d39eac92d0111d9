"""The linear classifier of a detector learns mixtures of documents as texts of no class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from newfound.detection.linear import _mixtures, train_linear

WORDS = ["account", "balance", "flight", "hotel"]


def train(documents: np.ndarray, codes: list[int], n_classes: int, *, mixed: bool) -> np.ndarray:
    matrix = sparse.csr_matrix(documents.astype(np.float32))
    weights, _ = train_linear(
        matrix,
        np.array(codes),
        n_classes,
        words=WORDS,
        columns=np.arange(4),
        frequencies=np.asarray(matrix.sum(axis=0), np.float64).ravel(),
        mixed=mixed,
        seed=0,
    )
    return weights


@pytest.fixture(scope="module")
def documents() -> np.ndarray:
    return np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0]] * 20) / np.sqrt(2)


def margins(weights: np.ndarray, text: list[float]) -> np.ndarray:
    return weights @ np.array([*text, 1.0])


def test_a_text_of_two_classes_is_further_from_both(documents):
    codes = [0, 0, 1, 1] * 20
    plain, mixed = (train(documents, codes, 2, mixed=mixed) for mixed in (False, True))
    half = [0.5, 0.5, 0.5, 0.5]
    assert margins(mixed, half).max() < margins(plain, half).max() - 0.2
    assert margins(mixed, [0.7, 0.7, 0, 0]).argmax() == 0
    assert margins(mixed, [0, 0, 0.7, 0.7]).argmax() == 1


def test_a_class_without_documents_stays_out(documents):
    weights = train(documents, [0, 0, 2, 2] * 20, 3, mixed=True)
    assert weights.shape == (3, 5)
    assert weights[1].tolist() == [0, 0, 0, 0, -1000]
    assert margins(weights, [0, 0, 0.7, 0.7]).argmax() == 2


def test_documents_of_one_class_are_not_mixed():
    features = sparse.csr_matrix(np.eye(4))
    assert _mixtures(features, np.zeros(4, np.int64), seed=0).shape == (0, 4)


def test_a_mixture_is_as_long_as_documents_are():
    features = sparse.csr_matrix(np.diag([1.0, 2.0, 3.0, 4.0]))
    mixed = _mixtures(features, np.arange(4), seed=3).toarray()
    assert len(mixed) > 0 and np.linalg.norm(mixed, axis=1) == pytest.approx(2.5)
