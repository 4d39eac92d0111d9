"""Counts of words as arrays, so that windows are added up and tested without a loop over words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tally", "Totals", "Vocabulary"]


class Tally(NamedTuple):
    """The numbers of distinct words, and how many documents have each."""

    words: NDArray[np.int64]
    documents: NDArray[np.int64]


class Vocabulary(dict[str, int]):
    """The number of every word that was asked for, from 0.

    Examples
    --------
    >>> words = Vocabulary()
    >>> words["sars"], words["war"], words["sars"], words.names
    (0, 1, 0, ['sars', 'war'])
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.names)
        self.names.append(word)
        return number

    def tally(self, counts: Mapping[str, int]) -> Tally:
        """Return counts of words by their numbers."""
        return Tally(
            np.fromiter(map(self.__getitem__, counts), np.int64, len(counts)),
            np.fromiter(counts.values(), np.int64, len(counts)),
        )

    def added_up(self, tallies: Iterable[Tally]) -> NDArray[np.int64]:
        """Return the number of documents of each word of the vocabulary, of several tallies.

        Examples
        --------
        >>> words = Vocabulary()
        >>> some = [words.tally({"sars": 2, "war": 1}), words.tally({"war": 5})]
        >>> words.added_up(some).tolist()
        [2, 6]
        """
        found = np.zeros(len(self.names), np.int64)
        for tally in tallies:
            found[tally.words] += tally.documents
        return found


class Totals:
    """The number of documents of each word, of many windows together.

    Parameters
    ----------
    vocabulary : Vocabulary
        Numbers the words.
    counts : mapping of str to int
        What there is at the beginning.

    Examples
    --------
    >>> words = Vocabulary()
    >>> totals = Totals(words, {"war": 3})
    >>> totals.add(words.tally({"sars": 2, "war": 1}))
    >>> totals["sars"], totals["war"], totals["rain"]
    (2, 4, 0)
    """

    def __init__(self, vocabulary: Vocabulary, counts: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._counts = vocabulary.added_up([vocabulary.tally(counts)])

    def __getitem__(self, word: str) -> int:
        number = self._vocabulary.get(word, len(self._counts))
        return int(self._counts[number]) if number < len(self._counts) else 0

    def counts(self) -> NDArray[np.int64]:
        """Return the number of documents of each word of the vocabulary."""
        self._grow()
        return self._counts[: len(self._vocabulary.names)]

    def add(self, tally: Tally) -> None:
        """Add the words of a window."""
        self._grow()
        self._counts[tally.words] += tally.documents

    def subtract(self, tally: Tally) -> None:
        """Take the words of a window away."""
        self._grow()
        self._counts[tally.words] = np.maximum(self._counts[tally.words] - tally.documents, 0)

    def items(self) -> dict[str, int]:
        """Return the words that any document has."""
        names = self._vocabulary.names
        return {names[i]: int(self._counts[i]) for i in np.flatnonzero(self._counts).tolist()}

    def _grow(self) -> None:
        missing = len(self._vocabulary.names) - len(self._counts)
        if missing > 0:
            room = np.zeros(missing + len(self._counts) // 2, np.int64)
            self._counts = np.concatenate((self._counts, room))
