"""Known documents by term and class."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from newfound.detection import class_statistics
from newfound.detection.class_statistics import Neighbours, density_of, weight_by_density

SIZES = (3, 5, 6, 17, 30, 0, 1)  # of classes


def test_every_weight_is_found_by_term_class_and_document() -> None:
    rng = np.random.RandomState(1)
    codes = rng.permutation(np.repeat(np.arange(len(SIZES)), SIZES))
    weights = (rng.rand(len(codes), 40) * (rng.rand(len(codes), 40) < 0.3)).astype(np.float32)
    weights[:, 7] = 0  # a term that no document has
    found = Neighbours.of(sparse.csr_matrix(weights), codes, len(SIZES))
    entries = {}
    for term in range(40):
        some = slice(found.class_begin[term], found.class_begin[term + 1])
        assert np.all(np.diff(found.classes[some]) > 0)
        for number in range(some.start, some.stop):
            documents = slice(found.document_begin[number], found.document_begin[number + 1])
            assert np.all(np.diff(found.places[documents]) > 0)
            own = np.flatnonzero(codes == found.classes[number])
            for place, value in zip(found.places[documents], found.values[documents], strict=True):
                entries[own[place], term] = value
    rows, columns = np.nonzero(weights)
    assert entries == {(i, j): weights[i, j] for i, j in zip(rows, columns, strict=True)}


def unit_documents(codes: np.ndarray) -> np.ndarray:
    rng = np.random.RandomState(2)
    weights = rng.rand(len(codes), 20) * (rng.rand(len(codes), 20) < 0.5)
    weights[:, 0] += 0.1  # no document is empty
    found: np.ndarray = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    return found


def test_density_is_the_mean_cosine_to_the_five_nearest_others_of_the_class() -> None:
    codes = np.random.RandomState(1).permutation(np.repeat(np.arange(len(SIZES)), SIZES))
    weights = unit_documents(codes)
    found = density_of(sparse.csr_matrix(weights.astype(np.float32)), codes, seed=0)
    for i, code in enumerate(codes.tolist()):
        others = np.setdiff1d(np.flatnonzero(codes == code), i)
        nearest = np.sort(weights[others] @ weights[i])[::-1][:5]
        several = np.flatnonzero(np.bincount(codes)[codes] > 1)
        expected = nearest.mean() if len(others) else found[several].mean()
        assert abs(found[i] - expected) < 1e-6


def test_density_of_a_large_class_is_measured_with_documents_that_are_drawn(monkeypatch) -> None:
    codes = np.zeros(60, np.int64)
    documents = sparse.csr_matrix(unit_documents(codes).astype(np.float32))
    all_others = density_of(documents, codes, seed=0)
    monkeypatch.setattr(class_statistics, "_MAX_OTHERS", 30)
    monkeypatch.setattr(class_statistics, "_ROWS", 7)
    drawn = density_of(documents, codes, seed=0)
    assert (drawn <= all_others + 1e-6).all() and (drawn < all_others - 1e-6).any()
    assert np.array_equal(drawn, density_of(documents, codes, seed=0))


def test_a_document_like_many_others_counts_less() -> None:
    documents = sparse.csr_matrix(np.eye(2, dtype=np.float32))
    weighted = weight_by_density(documents, np.array([0.0, 0.9])).diagonal()
    assert np.allclose(weighted, [np.sqrt(10), 1])
    assert documents.diagonal().tolist() == [1, 1]
