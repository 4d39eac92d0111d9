"""Words and word pairs planted in documents, so that it is known what a scorer should find."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = [
    "PlantedPairs",
    "PlantedWords",
    "pair_columns",
    "plant_pairs",
    "plant_words",
    "random_halves",
]

Matrix = Any

N_WORDS, N_PAIRS = 30, 3
PAIR_SHARE = 0.1
_LEAST, _MOST = 10, 60  # documents that contain a word that may be planted
_CHUNK = 20_000  # pairs at a time, so that memory stays bounded


class PlantedWords(NamedTuple):
    """Documents, which of them are novel, and which columns were planted."""

    matrix: Matrix
    novel: NDArray[np.bool_]
    planted: NDArray[np.bool_]


class PlantedPairs(NamedTuple):
    """Documents, which of them are novel, and the pairs of columns that were planted."""

    matrix: Matrix
    novel: NDArray[np.bool_]
    pairs: list[tuple[int, int]]


def random_halves(n: int, seed: int, share: float = 0.5) -> NDArray[np.bool_]:
    """Return which of n documents are drawn as the novel side."""
    novel = np.zeros(n, bool)
    novel[np.random.default_rng(seed).permutation(n)[: round(share * n)]] = True
    return novel


def plant_words(matrix: Matrix, novel: NDArray[np.bool_], seed: int, q: float) -> PlantedWords:
    """Add 30 words to novel documents, each with probability q.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix of bool
        Documents of one kind.
    novel : (n_documents,) array of bool
        Which of them count as novel.
    seed : int
        The seed.
    q : float
        The probability that a novel document gets a planted word.

    Returns
    -------
    PlantedWords
        Without the words of a single document.
    """
    rng = np.random.default_rng([seed, round(1000 * q)])
    words = rng.choice(_candidates(matrix, novel), N_WORDS, replace=False)
    added = (rng.random((matrix.shape[0], N_WORDS)) < q) & novel[:, None]
    planted, kept = _with(matrix, words, added)
    return PlantedWords(planted, novel, np.isin(kept, words))


def plant_pairs(matrix: Matrix, novel: NDArray[np.bool_], seed: int) -> PlantedPairs:
    """Add three pairs of words: in known documents one word or the other, in novel ones both.

    Each word is added to a tenth of the documents of each side, so that it is only the pair that
    tells the sides apart. The parameters are those of `plant_words`.
    """
    rng = np.random.default_rng([seed, 7])
    words = rng.choice(_candidates(matrix, novel), 2 * N_PAIRS, replace=False)
    draw = rng.random((matrix.shape[0], N_PAIRS))
    added = np.zeros((matrix.shape[0], 2 * N_PAIRS), bool)
    for pair in range(N_PAIRS):
        first = draw[:, pair] < PAIR_SHARE
        second = (draw[:, pair] >= PAIR_SHARE) & (draw[:, pair] < 2 * PAIR_SHARE)
        added[:, 2 * pair] = first
        added[:, 2 * pair + 1] = np.where(novel, first, second)
    planted, kept = _with(matrix, words, added)
    column = {int(old): new for new, old in enumerate(kept)}
    pairs = [(column[int(a)], column[int(b)]) for a, b in words.reshape(-1, 2)]
    return PlantedPairs(planted, novel, pairs)


def pair_columns(matrix: Matrix, min_documents: int) -> tuple[Matrix, NDArray[np.intp]]:
    """Return a matrix with a column for each pair of words that occurs in enough documents.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR matrix of bool
        The words of each document.
    min_documents : int
        The least number of documents that must contain both words.

    Returns
    -------
    columns : (n_documents, n_pairs) CSR matrix of bool
        Which documents contain both words of a pair.
    pairs : (n_pairs, 2) array of int
        The two words of each pair.

    Examples
    --------
    >>> columns, pairs = pair_columns(sparse.csr_array([[1, 1, 0], [1, 1, 1]], dtype=bool), 2)
    >>> columns.toarray().tolist(), pairs.tolist()
    ([[True], [True]], [[0, 1]])
    """
    has = sparse.csc_array(matrix, dtype=bool)
    frequent = np.flatnonzero(np.diff(has.indptr) >= min_documents)
    has = has[:, frequent]
    counts = has.astype(np.int32)
    together = sparse.triu(counts.T @ counts, k=1).tocoo()
    enough = together.data >= min_documents
    first, second = together.row[enough], together.col[enough]
    parts = [
        has[:, first[start : start + _CHUNK]].multiply(has[:, second[start : start + _CHUNK]])
        for start in range(0, len(first), _CHUNK)
    ]
    empty = sparse.csc_array((has.shape[0], 0), dtype=bool)
    columns = sparse.csr_array(sparse.hstack([empty, *parts]))
    return columns, np.stack((frequent[first], frequent[second]), axis=1)


def _candidates(matrix: Matrix, novel: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the words that both sides contain, in 10 to 60 documents."""
    counts = np.array([matrix[rows].sum(axis=0) for rows in (~novel, novel)]).reshape(2, -1)
    total = counts.sum(axis=0)
    return np.flatnonzero((counts > 0).all(axis=0) & (total >= _LEAST) & (total <= _MOST))


def _with(
    matrix: Matrix, words: NDArray[np.intp], added: NDArray[np.bool_]
) -> tuple[Matrix, NDArray[np.intp]]:
    """Add words to documents; return the matrix, and which of the old columns it keeps."""
    documents, which = np.nonzero(added)
    more = sparse.csr_array(
        (np.ones(len(documents), np.int64), (documents, words[which])), matrix.shape
    )
    planted = sparse.csr_array((matrix.astype(np.int64) + more) > 0)
    kept = np.flatnonzero(np.asarray(planted.sum(axis=0)).ravel() >= 2)
    return planted[:, kept], kept
