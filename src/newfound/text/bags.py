"""Bags of words and pairs that also count what is not in the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.text.encoding import STOP, Encoder, Occurrences, TermIndex
from newfound.text.tokenized import encode
from newfound.text.validation import check_texts
from newfound.text.vectorizer import TextVectorizer

__all__ = ["BagReader", "Bags"]

_MAX_CACHED = 1 << 19  # chunks of text that a reader remembers


@dataclass(frozen=True)
class Bags:
    """The terms of the vocabulary that texts have, and how many other words and pairs.

    Attributes
    ----------
    matrix : Boolean CSR matrix
        One row for each text, one column for each term: words, and pairs of neighbouring words.
    unseen_words, unseen_pairs : ndarray of int
        Number of different words and pairs of each text that are not in the vocabulary.
    n_words, n_pairs : ndarray of int
        Number of different words and pairs of each text.
    """

    matrix: Any
    unseen_words: NDArray[np.int64]
    unseen_pairs: NDArray[np.int64]
    n_words: NDArray[np.int64]
    n_pairs: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.n_words)

    def take(self, rows: NDArray[Any]) -> Bags:
        """Return the bags of some texts."""
        counts = (self.unseen_words, self.unseen_pairs, self.n_words, self.n_pairs)
        return Bags(self.matrix[rows], *(count[rows] for count in counts))


class BagReader:
    """Read texts with the vocabulary of a fitted vectorizer of words and pairs.

    `TextVectorizer.transform` drops words and pairs that are not in the vocabulary; a `BagReader`
    counts them. A pair with an unseen word is unseen.

    Examples
    --------
    >>> vectorizer = TextVectorizer(stop_words=None, ngram_range=(1, 2)).fit(["pay my bill"])
    >>> bags = BagReader(vectorizer).read(["pay a bill", "my bill"])
    >>> bags.matrix.sum(axis=1).A1.tolist(), bags.unseen_words.tolist(), bags.n_pairs.tolist()
    ([2, 3], [1, 0], [2, 1])
    """

    def __init__(self, vectorizer: TextVectorizer) -> None:
        self.vectorizer = vectorizer
        self._index = TermIndex(vectorizer.vocabulary_)
        self._encoder = self._new_encoder()

    def _new_encoder(self) -> Encoder:
        """Return an encoder that gives unseen words the numbers after those of the vocabulary."""
        known = self._index.numbers
        unseen: dict[str, int] = {}

        def code_of(form: str) -> int:
            term = self.vectorizer.term(form)
            if term is None:
                return STOP
            number = known.get(term)
            if number is None:
                number = len(known) + unseen.setdefault(term, len(unseen))
            return number

        return Encoder(code_of)

    def read(self, texts: Iterable[str]) -> Bags:
        """Return the bags of texts."""
        if len(self._encoder) > _MAX_CACHED:
            self._encoder = self._new_encoder()
        found = Occurrences(encode(self._encoder, check_texts(texts), ordered=True), pairs=True)
        n = found.n_texts
        word_rows, words = _distinct(found.word_rows, found.words.astype(np.int64))
        key_rows, keys = _distinct(found.key_rows, found.keys)
        columns, pairs = self._index.word_columns(words), self._index.pair_columns(keys)
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
    """Return each combination of a row and a key once."""
    order = np.lexsort((keys, rows))
    rows, keys = rows[order], keys[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]) | (keys[1:] != keys[:-1])
    return rows[first], keys[first]
