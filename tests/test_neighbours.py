"""The known documents that are most similar to a text."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from newfound.detection import neighbours
from newfound.detection.neighbours import Neighbours

N_TERMS = 40
SIZES = (3, 5, 6, 17, 30, 0, 1)  # of classes


def drawn(n: int, seed: int) -> sparse.csr_matrix:
    rng = np.random.RandomState(seed)
    weights = rng.rand(n, N_TERMS) * (rng.rand(n, N_TERMS) < 0.3)
    return sparse.csr_matrix(weights.astype(np.float32))


@pytest.fixture
def known() -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
    codes = np.random.RandomState(1).permutation(np.repeat(np.arange(len(SIZES)), SIZES))
    return drawn(len(codes), 2), codes


def expected(
    documents: sparse.csr_matrix, codes: NDArray[np.int64], text: NDArray[np.float32], k: int
) -> float:
    similar = np.sort(documents[codes == k].toarray() @ text)[::-1][:5]
    return float(similar.mean()) if len(similar) else 0.0


@pytest.mark.parametrize("most", [1, 100, 5_000_000])
@pytest.mark.parametrize("table", [0, 20_000_000])
def test_similarity_is_the_mean_of_the_five_nearest_documents_of_the_class(
    known: tuple[sparse.csr_matrix, NDArray[np.int64]],
    most: int,
    table: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbours, "_MAX_SIMILARITIES", most)
    monkeypatch.setattr(neighbours, "_MAX_TABLE", table)
    texts = drawn(50, 3)
    classes = np.arange(50) % len(SIZES)
    near = Neighbours(*known, len(SIZES))
    rows = np.repeat(np.arange(50), np.diff(texts.indptr))
    found = near.similarities(rows, texts.indices, texts.data, classes)
    dense = texts.toarray()
    assert found == pytest.approx([expected(*known, dense[i], classes[i]) for i in range(50)])
    for i in range(50):  # alone as among others, to the last digit
        own = rows == i
        alone = near.similarities(rows[own] - i, texts.indices[own], texts.data[own], classes[[i]])
        assert alone[0] == found[i]


def test_a_table_changes_no_digit(
    known: tuple[sparse.csr_matrix, NDArray[np.int64]], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, near = drawn(50, 4), Neighbours(*known, len(SIZES))
    rows = np.repeat(np.arange(50), np.diff(texts.indptr))
    text = (rows, texts.indices, texts.data, np.arange(50) % len(SIZES))
    found = near.similarities(*text)
    copied = pickle.loads(pickle.dumps(near))  # the table stays behind
    monkeypatch.setattr(neighbours, "_MAX_TABLE", 0)
    for other in (copied, Neighbours(*known, len(SIZES))):
        assert np.array_equal(other.similarities(*text), found)
        for i, text_of in enumerate(texts):
            terms = (text_of.indices.astype(np.int64), text_of.data.astype(np.float64))
            assert np.array_equal(
                other.shares(*terms, i % len(SIZES)), near.shares(*terms, i % len(SIZES))
            )


def test_shares_of_terms_add_up_to_the_similarity(
    known: tuple[sparse.csr_matrix, NDArray[np.int64]],
) -> None:
    texts, near = drawn(20, 5), Neighbours(*known, len(SIZES))
    for i, text in enumerate(texts.toarray()):
        columns = np.flatnonzero(text)
        shares = near.shares(columns, text[columns].astype(np.float64), i % len(SIZES))
        assert shares.sum() == pytest.approx(expected(*known, text, i % len(SIZES)))
        assert shares.shape == columns.shape


def test_a_text_without_terms_is_like_nothing(
    known: tuple[sparse.csr_matrix, NDArray[np.int64]],
) -> None:
    near = Neighbours(*known, len(SIZES))
    none, empty = np.zeros(0, np.int64), np.zeros(0, np.float32)
    assert near.similarities(none, none, empty, np.array([3])).tolist() == [0.0]
    assert near.shares(none, empty.astype(np.float64), 3).tolist() == []
