"""The linear classifier of known classes, over words, pairs of words and character n-grams.

Each word is a unit vector over its character n-grams, weighted by inverse document frequency. A
linear classifier over words, pairs of words and n-grams therefore gives each word one row of
weights, one weight for each class. The rows of known words are computed once, when the classifier
is trained. The row of a word never seen is computed from the weights of its n-grams.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.arithmetic import expm1, log, log1p
from newfound.linear import support_vectors

__all__ = ["MAX_NGRAMS", "Subwords", "WordRows", "ngrams_of", "train_linear"]

_SHORTEST, _LONGEST = 2, 5  # characters of an n-gram
_MAX_CACHED = 1 << 22  # weights of words never seen that are kept, 4 bytes each
_C = 3.0
_FAR = 1000.0
_MIXED = 0.5  # pairs that are drawn for each document; those of one class are left out
MAX_NGRAMS = 30_000  # the most frequent ones; memory grows with their number times the classes


def ngrams_of(word: str) -> list[str]:
    """Return the distinct character n-grams of a word; spaces mark where it begins and ends.

    Examples
    --------
    >>> ngrams_of("my")
    [' m', 'my', 'y ', ' my', 'my ', ' my ']
    """
    marked = f" {word} "
    size = len(marked)
    found: list[str] = []
    for n in range(_SHORTEST, min(_LONGEST, size) + 1):
        found += [marked[i : i + n] for i in range(size - n + 1)]
    return list(dict.fromkeys(found))


class WordRows(NamedTuple):
    """Words in a linear classifier.

    The squares are those of the lengths of the vectors: 1 if all n-grams of a word are known.
    """

    weights: NDArray[np.float32]
    squares: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Subwords:
    """The n-grams of known words, and their weights in a linear classifier.

    `ngrams` has the number of each n-gram, `rarity` the logarithm of its inverse document
    frequency, plus 1, and `unseen_rarity` the same for one that is not there. There are no columns
    of weights before the classifier is trained.
    """

    ngrams: dict[str, int]
    rarity: NDArray[np.float64]
    unseen_rarity: float
    weights: NDArray[np.float32]

    @classmethod
    def learn(
        cls, words: Sequence[str], frequencies: NDArray[np.float64], n_documents: int
    ) -> Subwords:
        """Return the n-grams of known words, without weights.

        N-grams of a single document are left out, and so are all but the `MAX_NGRAMS` most
        frequent ones. The number of documents with an n-gram is estimated from the numbers of
        documents with its words, as if words were independent.

        Examples
        --------
        >>> found = Subwords.learn(["pay", "paid"], np.array([2.0, 1.0]), 3)
        >>> [ngram for ngram in found.ngrams if len(ngram) == 3]
        [' pa', 'ay ', 'pay']
        """
        found = [ngrams_of(word) for word in words]
        names, numbers = np.unique(
            np.array(list(chain.from_iterable(found)), dtype=object).astype(str)
            if found
            else np.zeros(0, "<U1"),
            return_inverse=True,
        )
        rows = np.repeat(np.arange(len(found)), [len(some) for some in found])
        bound = np.bincount(numbers, frequencies[rows], len(names))
        without = log1p(-np.minimum(frequencies / n_documents, 1 - 1e-9))
        estimate = -expm1(np.bincount(numbers, without[rows], len(names))) * n_documents
        kept = np.flatnonzero(bound >= 2)
        if len(kept) > MAX_NGRAMS:
            order = np.lexsort((kept, -estimate[kept]))
            kept = np.sort(kept[order[:MAX_NGRAMS]])
        rarity = log((n_documents + 1) / (estimate[kept] + 1)) + 1
        ngrams = {name: i for i, name in enumerate(names[kept].tolist())}
        unseen = log(n_documents + 1) + 1
        return cls(ngrams, rarity, unseen, np.zeros((len(kept), 0), np.float32))

    def vectors(self, words: Iterable[str]) -> Any:
        """Return the words as a CSR matrix of unit vectors over n-grams.

        N-grams that are not in `ngrams` count in the norm, so that a word with few known n-grams
        has a short vector.
        """
        each = [self._vector(word) for word in words]
        indptr = np.cumsum([0, *(len(columns) for columns, _ in each)])
        columns = np.fromiter(chain.from_iterable(c for c, _ in each), np.int32, indptr[-1])
        values = [value for _, value in each]
        data = np.concatenate(values) if values else np.zeros(0)
        shape = (len(each), len(self.ngrams))
        return sparse.csr_matrix((data.astype(np.float32), columns, indptr), shape=shape)

    def rows(self, words: Iterable[str]) -> WordRows:
        """Return the weight of each word for each class, and the length of its vector."""
        cache, n_classes = self._cache, self.weights.shape[1]
        if len(cache) * n_classes > _MAX_CACHED:
            cache.clear()
        found = []
        for word in words:
            row = cache.get(word)
            if row is None:
                columns, values = self._vector(word)
                weights = (values[:, None] * self.weights[columns]).sum(axis=0)
                row = cache[word] = weights.astype(np.float32), float((values * values).sum())
            found.append(row)
        weights = np.array([row for row, _ in found], np.float32).reshape(len(found), n_classes)
        return WordRows(weights, np.array([square for _, square in found]))

    def _vector(self, word: str) -> tuple[list[int], NDArray[np.float64]]:
        found = ngrams_of(word)
        get = self.ngrams.get
        columns = [column for ngram in found if (column := get(ngram)) is not None]
        values = self.rarity[columns]
        of_unseen = (len(found) - len(columns)) * self.unseen_rarity * self.unseen_rarity
        square = float((values * values).sum()) + of_unseen
        return columns, values / np.sqrt(square) if square > 0 else values

    @property
    def _cache(self) -> dict[str, tuple[NDArray[np.float32], float]]:
        """Rows of words that were asked for."""
        cache: dict[str, tuple[NDArray[np.float32], float]] = self.__dict__.setdefault("_rows", {})
        return cache

    def __getstate__(self) -> dict[str, Any]:
        """Leave the cache behind."""
        return {name: value for name, value in self.__dict__.items() if name != "_rows"}


def train_linear(
    documents: Any,
    codes: NDArray[np.int64],
    n_classes: int,
    *,
    words: Sequence[str],
    columns: NDArray[np.int64],
    frequencies: NDArray[np.float64],
    mixed: bool,
    seed: int,
) -> tuple[NDArray[np.float32], Subwords | None]:
    """Train a linear classifier, one class against the others (a support vector machine).

    `words` are the single words among the terms, with their `columns` and `frequencies`. With
    `mixed`, mixtures of documents of two classes are learned as documents of no class: a text that
    has some words of a class among others is then further from it.

    The weights have a row for each class, with the intercept in the last column. Those of a word
    include the weights of its n-grams. Where there is one class they are zeros, and there are no
    subwords.
    """
    n_terms = documents.shape[1]
    weights = np.zeros((n_classes, n_terms + 1), np.float32)
    present = np.unique(codes)
    weights[np.setdiff1d(np.arange(n_classes), present), -1] = -_FAR  # never the nearest class
    if len(present) < 2:
        return weights, None
    subwords = Subwords.learn(words, frequencies, documents.shape[0])
    vectors = subwords.vectors(words)
    features = sparse.hstack((documents, documents[:, columns] @ vectors)).tocsr()
    if mixed:
        # In double precision, as the classifier needs it, or it would make one more copy.
        both = (features, _mixtures(features, codes, seed))
        features = sparse.vstack(both, format="csr", dtype=np.float64)
        del both
        codes = np.append(codes, np.full(features.shape[0] - len(codes), n_classes))
    found, intercepts = _coefficients(features, codes, seed)
    found, intercepts = found[: len(present)], intercepts[: len(present)]
    weights[present, :n_terms], weights[present, -1] = found[:, :n_terms], intercepts
    by_ngram = np.zeros((len(subwords.ngrams), n_classes), np.float32)
    by_ngram[:, present] = found[:, n_terms:].T
    del found  # the largest array; the next line needs room
    weights[:, columns] += (vectors @ by_ngram).T
    return weights, replace(subwords, weights=by_ngram)


def _mixtures(features: Any, codes: NDArray[np.int64], seed: int) -> Any:
    """Return sums of two documents of different classes, as long as documents are on average.

    Examples
    --------
    >>> features = sparse.csr_matrix(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]))
    >>> _mixtures(features, np.array([0, 0, 1, 1]), seed=0).toarray().round(2).tolist()
    [[0.71, 0.71]]
    """
    n = len(codes)
    first, second = np.random.RandomState(seed).randint(n, size=(2, math.ceil(_MIXED * n)))
    different = codes[first] != codes[second]
    sums = features[first[different]] + features[second[different]]
    lengths, of_sums = (
        np.sqrt(np.asarray(some.multiply(some).sum(axis=1), np.float64)).ravel()
        for some in (features, sums)
    )
    factors = lengths.mean() / np.where(of_sums > 0, of_sums, 1.0)
    return sparse.diags(factors.astype(sums.dtype)) @ sums


def _coefficients(
    features: Any, codes: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the coefficients and the intercept of each class that occurs."""
    present, places = np.unique(codes, return_inverse=True)
    learned = support_vectors(features, places, C=_C, seed=seed)
    found, intercepts = learned.coefficients, learned.intercepts
    if len(present) > 2:
        return found, intercepts
    return np.concatenate((-found, found)), np.concatenate((-intercepts, intercepts))
