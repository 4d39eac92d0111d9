"""Texts to bags of words and pairs that also count what was never seen before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.text.vectorizer import _STOP, TextVectorizer, _Cells, _checked, _Encoder

__all__ = ["BagReader", "Bags"]

_MOST_UNSEEN = 1 << 19


@dataclass(frozen=True)
class Bags:
    """What texts hold: the terms of the vocabulary, and how much else.

    Attributes
    ----------
    matrix : Boolean CSR matrix
        A row a text, a column a term of the vocabulary: words, and pairs of neighbouring words.
    unseen_words, unseen_pairs : ndarray of int
        How many different words and pairs of each text are not in the vocabulary.
    n_words, n_pairs : ndarray of int
        How many different words and pairs each text has in all.
    """

    matrix: Any
    unseen_words: NDArray[np.int64]
    unseen_pairs: NDArray[np.int64]
    n_words: NDArray[np.int64]
    n_pairs: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.n_words)

    def take(self, rows: NDArray[Any]) -> Bags:
        """Give the bags of some texts."""
        counts = (self.unseen_words, self.unseen_pairs, self.n_words, self.n_pairs)
        return Bags(self.matrix[rows], *(count[rows] for count in counts))


class BagReader:
    """Read texts with the words of a fitted vectorizer of words and pairs.

    Unlike `TextVectorizer.transform`, which drops them, it counts the words and pairs that the
    vectorizer has never seen. A pair that holds an unseen word is unseen.

    Examples
    --------
    >>> vectorizer = TextVectorizer(stop_words=None, ngram_range=(1, 2)).fit(["pay my bill"])
    >>> bags = BagReader(vectorizer).read(["pay a bill", "my bill"])
    >>> bags.matrix.sum(axis=1).A1.tolist(), bags.unseen_words.tolist(), bags.n_pairs.tolist()
    ([2, 3], [1, 0], [2, 1])
    """

    def __init__(self, vectorizer: TextVectorizer) -> None:
        self.vectorizer = vectorizer
        numbers: dict[str, int] = {}
        pairs = []
        for term, column in vectorizer.vocabulary_.items():
            parts = [numbers.setdefault(word, len(numbers)) for word in term.split(" ")]
            if len(parts) == 2:
                pairs.append((parts[0] << 32 | parts[1], column))
        pairs.sort()
        self._numbers = numbers
        columns = [vectorizer.vocabulary_.get(word, -1) for word in numbers]
        self._word_columns = np.array(columns, dtype=np.int32)
        # The last key and column stand for every pair that is not in the vocabulary.
        self._keys = np.array([*(key for key, _ in pairs), np.iinfo(np.int64).max])
        self._pair_columns = np.array([*(column for _, column in pairs), -1], dtype=np.int32)
        self._start()

    def _start(self) -> None:
        known, unseen = self._numbers, {}  # type: ignore[var-annotated]
        n, term_of = len(known), self.vectorizer._term

        def code_of(form: str) -> int:
            term = term_of(form)
            if term is None:
                return _STOP
            number = known.get(term)
            return n + unseen.setdefault(term, len(unseen)) if number is None else number

        self._encoder = _Encoder(code_of)

    def read(self, texts: Iterable[str]) -> Bags:
        """Give the bags of texts."""
        if len(self._encoder) > _MOST_UNSEEN:
            self._start()
        cells = _Cells(self._encoder.encode(_checked(texts), ordered=True), pairs=True)
        n, n_known = cells.n_texts, len(self._word_columns)
        word_rows, words = _distinct(cells.word_rows, cells.words.astype(np.int64))
        columns = np.full(len(words), -1, dtype=np.int32)
        known = words < n_known
        columns[known] = self._word_columns[words[known]]
        key_rows, keys = _distinct(cells.key_rows, cells.keys)
        places = np.searchsorted(self._keys, keys)
        pairs = np.where(self._keys[places] == keys, self._pair_columns[places], -1)
        rows, all_columns = np.concatenate((word_rows, key_rows)), np.concatenate((columns, pairs))
        seen = all_columns >= 0
        matrix = sparse.csr_matrix(
            (np.ones(int(seen.sum()), dtype=bool), (rows[seen], all_columns[seen])),
            shape=(n, len(self.vectorizer.vocabulary_)),
        )
        return Bags(
            matrix,
            np.bincount(word_rows[columns < 0], minlength=n),
            np.bincount(key_rows[pairs < 0], minlength=n),
            np.bincount(word_rows, minlength=n),
            np.bincount(key_rows, minlength=n),
        )


def _distinct(
    rows: NDArray[Any], keys: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give each pair of a row and a key once."""
    order = np.lexsort((keys, rows))
    rows, keys = rows[order], keys[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]) | (keys[1:] != keys[:-1])
    return rows[first], keys[first]
