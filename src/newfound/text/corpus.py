"""Known and novel texts beside their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Corpus"]


@dataclass(frozen=True)
class Corpus:
    """Texts with their sides, words and held-out votes.

    A describer keeps the one it was fitted on while it is in memory; a report is made from it.

    Attributes
    ----------
    texts : sequence of str
        The raw texts.
    novel : (n_documents,) ndarray of bool
        Which of them are novel.
    matrix : (n_documents, n_words) CSR matrix
        The words of each text.
    held_out : (n_documents,) ndarray of float64
        Mean vote on each text of the machines that were not trained on it, from -1 (known) to 1
        (novel); nan if there is no such machine.
    names : sequence of str
        The name of each document; by default its place on its side, from 1.
    sources : mapping
        By side, where the documents came from and what was left out.
    notes : tuple of str
        What a reader has to know about the documents.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> matrix = csr_array([[1, 0], [1, 1], [0, 1]])
    >>> corpus = Corpus.without_votes(["a", "a b", "b"], np.array([False, True, True]), matrix)
    >>> list(corpus.names), corpus.with_word(1).tolist()
    (['no. 1', 'no. 1', 'no. 2'], [1, 2])
    """

    texts: Sequence[str]
    novel: NDArray[np.bool_]
    matrix: Any
    held_out: NDArray[np.float64]
    names: Sequence[str] = ()
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.names:
            places = np.where(self.novel, np.cumsum(self.novel), np.cumsum(~self.novel))
            object.__setattr__(self, "names", [f"no. {place}" for place in places.tolist()])

    @classmethod
    def without_votes(
        cls, texts: Sequence[str], novel: NDArray[np.bool_], matrix: Any, **more: Any
    ) -> Corpus:
        """Return a corpus of texts that no machine has voted on."""
        return cls(texts, novel, matrix, np.full(len(texts), np.nan), **more)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def has_votes(self) -> bool:
        """Whether any text has a held-out vote."""
        return not bool(np.isnan(self.held_out).all())

    @cached_property
    def columns(self) -> Any:
        """The matrix in CSC format: the documents of each word."""
        return self.matrix.tocsc()

    def with_word(self, column: int) -> NDArray[np.intp]:
        """Return the documents that have a word, given its column."""
        begin, end = self.columns.indptr[column : column + 2]
        rows: NDArray[np.intp] = self.columns.indices[begin:end]
        return np.sort(rows)
