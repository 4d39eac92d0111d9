"""The known documents that are most similar to a text, among those of one class."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.ranges import concatenated_ranges

__all__ = ["Neighbours"]

_NEAREST = 5
_MAX_SIMILARITIES = 5_000_000  # in memory at a time
_MAX_TABLE = 20_000_000  # weights that are also kept as a table, 4 bytes each


class Neighbours:
    """Known documents by class and term.

    Classes of about the same size share an index, so that the similarities of many texts, each with
    the documents of its class, are one product of matrices.

    Parameters
    ----------
    documents : CSR matrix of float32
        The weights of the terms of known documents, of length 1.
    codes : ndarray of int
        The index of the class of each.
    n_classes : int
        The number of classes.

    Examples
    --------
    >>> documents = sparse.csr_matrix(np.eye(3, dtype=np.float32))
    >>> near = Neighbours(documents, np.array([0, 0, 1]), 2)
    >>> text = np.array([0, 0]), np.array([1, 2]), np.array([0.6, 0.8], np.float32)
    >>> near.similarities(*text, np.array([0])).round(3).tolist()
    [0.3]
    """

    def __init__(self, documents: Any, codes: NDArray[np.int64], n_classes: int) -> None:
        self.sizes = np.bincount(codes, minlength=n_classes)
        magnitudes = np.frexp(self.sizes)[1]  # 1 for a size of 1, 2 for 2 or 3, 3 for 4 to 7 ...
        found, self._index_of = np.unique(magnitudes, return_inverse=True)
        self._indexes = [
            _Index(documents, codes, self.sizes, magnitudes == size, _MAX_TABLE // len(found))
            for size in found.tolist()
        ]

    def similarities(
        self,
        rows: NDArray[np.int64],
        columns: NDArray[Any],
        values: NDArray[np.float32],
        classes: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return the mean similarity of texts to the five nearest documents of a class.

        Parameters
        ----------
        rows, columns, values : ndarray
            The terms of the texts: their rows, ascending, their columns and their weights.
        classes : ndarray of int
            The class of each text.
        """
        if len(classes) == 1:
            index = self._indexes[self._index_of[classes[0]]]
            near = index.similarities(rows, columns, values, classes)
            return _top_sum(near) / min(max(int(self.sizes[classes[0]]), 1), _NEAREST)
        found = np.zeros(len(classes))
        which = self._index_of[classes]
        for number in np.unique(which).tolist():
            index, texts = self._indexes[number], np.flatnonzero(which == number)
            step = max(1, _MAX_SIMILARITIES // max(index.width, 1))
            for start in range(0, len(texts), step):
                some = texts[start : start + step]
                if len(some) == len(classes):
                    near = index.similarities(rows, columns, values, classes)
                else:
                    begin = np.searchsorted(rows, some)
                    sizes = np.searchsorted(rows, some, side="right") - begin
                    entries = concatenated_ranges(begin, sizes)
                    place = np.repeat(np.arange(len(some)), sizes)
                    near = index.similarities(
                        place, columns[entries], values[entries], classes[some]
                    )
                found[some] = _top_sum(near) / np.clip(self.sizes[classes[some]], 1, _NEAREST)
        return found

    def shares(
        self, columns: NDArray[np.int64], values: NDArray[np.float64], number: int
    ) -> NDArray[np.float64]:
        """Return what each term of one text adds to its mean similarity.

        Parameters
        ----------
        columns, values : ndarray
            The terms of the text, and their weights.
        number : int
            The class.
        """
        size = int(self.sizes[number])
        n_top = min(_NEAREST, size)
        if not n_top:
            return np.zeros(len(columns))
        sums = self._indexes[self._index_of[number]].top_sums(columns, values, number, size)
        shares: NDArray[np.float64] = values * sums / n_top
        return shares


class _Index:
    """The documents of some classes.

    Parameters
    ----------
    documents : CSR matrix of float32
        Known documents.
    codes : ndarray of int
        The class of each.
    sizes : ndarray of int
        The number of documents of each class.
    chosen : ndarray of bool
        The classes of this index.
    max_table : int
        The most weights to keep as a table.

    Attributes
    ----------
    width : int
        The number of documents of the largest class.
    """

    def __init__(
        self,
        documents: Any,
        codes: NDArray[np.int64],
        sizes: NDArray[np.int64],
        chosen: NDArray[np.bool_],
        max_table: int,
    ) -> None:
        self._n_classes, self._max_table = len(sizes), max_table
        self.width = int(sizes[chosen].max(initial=0))
        rows = np.flatnonzero(chosen[codes])
        rows = rows[np.argsort(codes[rows], kind="stable")]
        by_term, owners = documents[rows].tocsc(), codes[rows]
        starts = np.cumsum(np.where(chosen, sizes, 0)) - sizes
        terms = np.repeat(np.arange(documents.shape[1]), np.diff(by_term.indptr))
        # Ascending, as the documents of a term are in the order of their classes.
        keys = terms * self._n_classes + owners[by_term.indices]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        self._keys = keys[first]
        bounds = np.append(first, len(keys))
        places = by_term.indices - starts[owners[by_term.indices]]
        shape = (len(first), self.width)
        self._known = sparse.csr_matrix((by_term.data, places, bounds), shape=shape)

    def _found(
        self, columns: NDArray[Any], classes: NDArray[np.int64] | int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which terms documents of a class have, and the numbers of these combinations."""
        wanted = columns.astype(np.int64) * self._n_classes + classes
        numbers = np.searchsorted(self._keys, wanted)
        numbers[numbers == len(self._keys)] = 0
        here = np.flatnonzero(self._keys[numbers] == wanted) if len(self._keys) else numbers[:0]
        return here, numbers[here]

    def similarities(
        self,
        rows: NDArray[np.int64],
        columns: NDArray[Any],
        values: NDArray[np.float32],
        classes: NDArray[np.int64],
    ) -> NDArray[np.float32]:
        """Return the similarity of each text to each document of its class; 0 beyond the last."""
        n = len(classes)
        here, numbers = self._found(columns, classes[rows])
        if n == 1 and self._table is not None:  # a sparse product takes long to begin
            by_term = values[here][:, None] * self._table[numbers]
            total: NDArray[np.float32] = by_term.sum(axis=0, keepdims=True)
            return total
        ends = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(rows[here], minlength=n), out=ends[1:])
        texts = sparse.csr_matrix((values[here], numbers, ends), shape=(n, len(self._keys)))
        found: NDArray[np.float32]
        found = (texts @ self._known).toarray() if self._table is None else texts @ self._table
        return found

    @cached_property
    def _table(self) -> NDArray[np.float32] | None:
        """The weights as a dense array, unless it is large."""
        return self._known.toarray() if np.prod(self._known.shape) <= self._max_table else None

    def top_sums(
        self, columns: NDArray[np.int64], values: NDArray[np.float64], number: int, size: int
    ) -> NDArray[np.float64]:
        """Return the sum of the weights of each term in the nearest documents of a class."""
        here, numbers = self._found(columns, number)
        scaled, sums = values[here].astype(np.float32), np.zeros(len(columns))
        if self._table is not None:
            weights = self._table[numbers, :size]
            top = _top((scaled[:, None] * weights).sum(axis=0, dtype=np.float64))
            sums[here] = weights[:, top].sum(axis=1)
            return sums
        known = self._known
        starts = known.indptr[numbers]
        sizes = known.indptr[numbers + 1] - starts
        entries = concatenated_ranges(starts, sizes)
        owners, places, data = np.repeat(here, sizes), known.indices[entries], known.data[entries]
        is_top = np.zeros(size, dtype=bool)
        is_top[_top(np.bincount(places, np.repeat(scaled, sizes) * data, size))] = True
        kept = is_top[places]
        by_term = np.zeros(len(columns), np.float32)
        np.add.at(by_term, owners[kept], data[kept])
        return by_term.astype(np.float64)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table behind."""
        return {name: value for name, value in self.__dict__.items() if name != "_table"}


def _top(similar: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of the largest few entries, ascending."""
    size = min(_NEAREST, len(similar))
    top: NDArray[np.int64] = np.argpartition(-similar, size - 1)[:size]
    top.sort()
    return top


def _top_sum(similar: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the sum of the largest few entries of each row."""
    width = similar.shape[1]
    if width > _NEAREST:
        similar = np.partition(similar, width - _NEAREST, axis=1)[:, width - _NEAREST :]
    total: NDArray[np.float64] = similar.sum(axis=1, dtype=np.float64)
    return total
