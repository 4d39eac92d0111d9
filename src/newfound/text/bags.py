"""Bags of words and pairs that also count what is not in the vocabulary."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.text.encoding import (
    STOP,
    Encoder,
    Occurrences,
    TermIndex,
    encode,
    pair_keys,
    words_of_pairs,
)
from newfound.text.spelling import Spelling
from newfound.text.tokens import has_letter
from newfound.text.validation import check_texts
from newfound.text.vectorizer import TextVectorizer

__all__ = ["BagReader", "Bags"]

_MAX_CACHED = 1 << 19  # chunks of text that a reader remembers
_MAX_KEY = 1 << 63


@dataclass(frozen=True)
class Bags:
    """The terms of the vocabulary that texts have, and how many other words and pairs.

    `indptr` and `indices` are the terms of each text, ascending, as in a CSR matrix: words, and
    pairs of neighbouring words. `n_words`, `n_pairs`, `unseen_words` and `unseen_pairs` count the
    different ones of each text. `unseen_terms` are in alphabetical order; `unseen_rows` and
    `unseen_places`, ascending, say which text has which of them. `vectors` has those that an
    encoder gave the texts, if there is one.
    """

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    n_terms: int
    unseen_words: NDArray[np.int64]
    unseen_pairs: NDArray[np.int64]
    n_words: NDArray[np.int64]
    n_pairs: NDArray[np.int64]
    unseen_terms: tuple[str, ...]
    unseen_rows: NDArray[np.int64]
    unseen_places: NDArray[np.int64]
    vectors: NDArray[np.int16] | None = None

    @classmethod
    def of_one(cls, words: Mapping[str, int], pairs: Mapping[str, int], n_terms: int) -> Bags:
        """Return the bag of one text.

        Words and pairs have their columns, -1 if they are not in the vocabulary.

        Examples
        --------
        >>> bag = Bags.of_one({"pay": 3, "zyxw": -1}, {"pay zyxw": -1}, 5)
        >>> bag.indices.tolist(), bag.unseen_terms, bag.n_pairs.tolist()
        ([3], ('zyxw',), [1])
        """
        columns = sorted(j for j in (*words.values(), *pairs.values()) if j >= 0)
        unseen = sorted(word for word, column in words.items() if column < 0)
        unseen_pairs = len(words) + len(pairs) - len(columns) - len(unseen)
        return cls(
            np.array([0, len(columns)], np.int32),
            np.array(columns, np.int32),
            n_terms,
            np.array([len(unseen)]),
            np.array([unseen_pairs]),
            np.array([len(words)]),
            np.array([len(pairs)]),
            tuple(unseen),
            np.zeros(len(unseen), np.int64),
            np.arange(len(unseen)),
        )

    def __len__(self) -> int:
        return len(self.n_words)

    @cached_property
    def matrix(self) -> Any:
        """The Boolean CSR matrix: one row for each text, one column for each term."""
        data, shape = np.ones(len(self.indices), dtype=bool), (len(self), self.n_terms)
        matrix = sparse.csr_matrix((data, self.indices, self.indptr), shape=shape)
        matrix.has_canonical_format = True
        return matrix

    def part(self, start: int, stop: int) -> Bags:
        """Return the bags of consecutive texts."""
        first, last = np.searchsorted(self.unseen_rows, (start, stop))
        begin, end = self.indptr[start], self.indptr[stop]
        return Bags(
            self.indptr[start : stop + 1] - begin,
            self.indices[begin:end],
            self.n_terms,
            self.unseen_words[start:stop],
            self.unseen_pairs[start:stop],
            self.n_words[start:stop],
            self.n_pairs[start:stop],
            self.unseen_terms,
            self.unseen_rows[first:last] - start,
            self.unseen_places[first:last],
            None if self.vectors is None else self.vectors[start:stop],
        )


class BagReader:
    """Read texts with the vocabulary of a fitted vectorizer of words and pairs.

    `TextVectorizer.transform` drops words and pairs that are not in the vocabulary; a `BagReader`
    counts them. A pair with an unseen word is unseen.

    With a `spelling`, typing errors are corrected. Words that are not in the vocabulary and have no
    letter, emoji and numbers, are left out as stop words are, unless they are `all_words`.

    Examples
    --------
    >>> vectorizer = TextVectorizer(stop_words=None, ngram_range=(1, 2)).fit(["pay my bill"])
    >>> bags = BagReader(vectorizer).read(["pay a bill", "my bill"])
    >>> bags.matrix.sum(axis=1).A1.tolist(), bags.unseen_words.tolist(), bags.n_pairs.tolist()
    ([2, 3], [1, 0], [2, 1])
    """

    def __init__(
        self,
        vectorizer: TextVectorizer,
        spelling: Spelling | None = None,
        *,
        all_words: bool = False,
    ) -> None:
        self.vectorizer, self.spelling, self.all_words = vectorizer, spelling, all_words
        self.index = TermIndex(vectorizer.vocabulary_)
        self._encoder = self._new_encoder()

    def _new_encoder(self) -> tuple[Encoder, dict[int, str]]:
        """Return an encoder and the names of unseen words.

        Unseen words have the numbers after those of the vocabulary.
        """
        known, vocabulary = self.index.numbers, self.vectorizer.vocabulary_
        spelling = self.spelling
        unseen: dict[str, int] = {}
        # A word that only pairs of the vocabulary have is no term itself.
        names = {number: word for word, number in known.items() if word not in vocabulary}
        free = itertools.count(len(known))

        def code_of(form: str) -> int:
            term = self.vectorizer.term(form if spelling is None else spelling.corrected(form))
            if term is None:
                return STOP
            number = known.get(term, unseen.get(term))
            if number is None and not (self.all_words or has_letter(term)):
                return STOP
            if number is None:
                number = next(free)
                names[number] = term  # before another thread can meet the number
                number = unseen.setdefault(term, number)
            return number

        return Encoder(code_of), names

    def read(self, texts: Iterable[str]) -> Bags:
        """Return the bags of texts."""
        if len(self._encoder[0]) > _MAX_CACHED:
            self._encoder = self._new_encoder()
        encoder, names = self._encoder
        found = Occurrences(encode(encoder, check_texts(texts), ordered=True), pairs=True)
        n = found.n_texts
        size = int(found.words.max(initial=0)) + 1
        word_rows, words = _distinct(found.word_rows, found.words, size)
        key_rows, keys = _distinct_pairs(found.key_rows, found.keys, size)
        columns, pairs = self.index.word_columns(words), self.index.pair_columns(keys)
        new = columns < 0
        unseen, unseen_rows, unseen_places = _named(names, words[new], word_rows[new])
        n_terms = len(self.vectorizer.vocabulary_)
        return Bags(
            *_csr((word_rows, key_rows), (columns, pairs), (n, n_terms)),
            n_terms,
            np.bincount(word_rows[new], minlength=n),
            np.bincount(key_rows[pairs < 0], minlength=n),
            np.bincount(word_rows, minlength=n),
            np.bincount(key_rows, minlength=n),
            unseen,
            unseen_rows,
            unseen_places,
        )


def _named(
    names: Mapping[int, str], words: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    """Return the names of unseen words, sorted, and which row has which of them.

    Their numbers depend on the texts that were read before. Sums over the words of a text are in
    the order of their names, so that they are the same bits whatever was read before.
    """
    numbers, places = np.unique(words, return_inverse=True)
    found = [names[number] for number in numbers.tolist()]
    order = sorted(range(len(found)), key=found.__getitem__)
    ranks = np.empty(len(found), np.int64)
    ranks[order] = np.arange(len(found))
    keys = rows * max(len(found), 1) + ranks[places]
    keys.sort()
    sorted_rows, sorted_places = np.divmod(keys, max(len(found), 1))
    return tuple(found[i] for i in order), sorted_rows, sorted_places


def _csr(
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    columns: tuple[NDArray[np.int32], NDArray[np.int32]],
    shape: tuple[int, int],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return distinct entries as in a CSR matrix, with ascending columns; -1 is dropped."""
    all_columns = np.concatenate(columns)
    seen = all_columns >= 0
    # One key for each entry: sorting keys is faster than sorting by two columns.
    keys = np.concatenate(rows)[seen] * shape[1] + all_columns[seen]
    keys.sort()
    found_rows, indices = np.divmod(keys, shape[1])
    indptr = np.zeros(shape[0] + 1, np.int32)
    np.cumsum(np.bincount(found_rows, minlength=shape[0]), out=indptr[1:])
    return indptr, indices.astype(np.int32)


def _distinct(
    rows: NDArray[Any], numbers: NDArray[Any], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each combination of a row and a number below `size` once, ascending."""
    keys = rows.astype(np.int64)
    keys *= size
    keys += numbers
    keys.sort()  # and no np.unique, which takes three times as long here
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    found_rows, found = np.divmod(keys[first], size)
    return found_rows, found


def _distinct_pairs(
    rows: NDArray[Any], keys: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each combination of a row and a pair of words, with numbers below `size`, once."""
    if (int(rows[-1]) + 1 if len(rows) else 1) * size * size < _MAX_KEY:
        left, right = words_of_pairs(keys)
        left *= size
        left += right
        del right  # of a long text, as large as all else
        found_rows, found = _distinct(rows, left, size * size)
        return found_rows, pair_keys(*np.divmod(found, size))
    order = np.lexsort((keys, rows))
    rows, keys = rows[order], keys[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]) | (keys[1:] != keys[:-1])
    return rows[first], keys[first]
