"""The reference: the known documents and earlier windows, which new windows are compared with.

Counts of words are arrays, so that windows are added up and tested without a loop over words.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.monitor.records import Window
from newfound.monitor.store import Store
from newfound.stories.risen import Reference, RisenWord

__all__ = ["Known", "ReferenceWindows"]

_MANY_WORDS = 50_000  # that no document of the reference has, before they are forgotten


@dataclass(frozen=True)
class Known:
    """What the detector knows, as a reference.

    Attributes
    ----------
    words, size : Counter, int
        The number of known documents that have each word, and of all.
    novel_words, held_back : Counter, int
        The number of held-back documents called novel that have each word, and of all held-back
        documents.
    let_through : int
        The rank of the threshold among the held-back scores.
    """

    words: Counter[str]
    size: int
    novel_words: Counter[str]
    held_back: int
    let_through: int


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


class ReferenceWindows:
    """Known documents and the closed windows before the last ones, with the words of all of them.

    Parameters
    ----------
    store : Store
        Has the words of the windows.
    known : Known
        What the detector knows.
    most : int
        The maximum number of windows.
    """

    def __init__(self, store: Store, known: Known, most: int) -> None:
        self.known = known
        self._store, self._most = store, most
        self._windows: deque[Window] = deque()
        self._number_words((known.words, known.novel_words))

    def __iter__(self) -> Iterator[Window]:
        return iter(self._windows)

    def _number_words(self, counts: Sequence[Mapping[str, int]]) -> None:
        """Give the words of the reference numbers; others get theirs when they come."""
        self.vocabulary = Vocabulary()
        tallies = [self.vocabulary.tally(words) for words in counts]
        self._counts = np.stack([self.vocabulary.added_up([tally]) for tally in tallies])
        self._tallies: dict[int, tuple[Tally, Tally]] = {}  # of windows that are not in it yet
        self._numbered = len(self.vocabulary)

    def _change(self, tallies: Iterable[Tally], sign: int) -> None:
        """Add the words of a window, or take them away: of all documents and of novel ones."""
        self._grow()
        for counts, tally in zip(self._counts, tallies, strict=True):
            changed = counts[tally.words] + sign * tally.documents
            counts[tally.words] = np.maximum(changed, 0)

    def _grow(self) -> None:
        size = self._counts.shape[1]
        if len(self.vocabulary) > size:
            room = np.zeros((2, len(self.vocabulary) - size + size // 2), np.int64)
            self._counts = np.concatenate((self._counts, room), axis=1)

    def tallies(self, window: Window) -> tuple[Tally, Tally]:
        """Return the words of a closed window, of all documents and of those called novel."""
        found = self._tallies.get(window.number)
        if found is None:
            tally = self.vocabulary.tally
            found = self._tallies[window.number] = tally(window.words), tally(window.novel_words)
        return found

    def recount(self, window: Window) -> None:
        """Count the words of a window again when they are next asked for: they have changed."""
        self._tallies.pop(window.number, None)

    def add(self, window: Window) -> None:
        """Make a window part of the reference; the oldest one leaves it if there are too many."""
        self._change(self.tallies(window), 1)
        del self._tallies[window.number]
        self._windows.append(replace(window, words=Counter(), novel_words=Counter()))
        if len(self._windows) > self._most:
            gone = self._windows.popleft().number
            for counts in self._store.words_of(gone, gone):
                self._change([self.vocabulary.tally(words) for words in counts], -1)

    def forget_words(self) -> None:
        """Forget the words that no document of the reference has any more, if they are many."""
        if len(self.vocabulary) > 2 * self._numbered + _MANY_WORDS:
            names = self.vocabulary.names
            self._number_words(
                [{names[i]: int(n[i]) for i in np.flatnonzero(n).tolist()} for n in self._counts]
            )

    @property
    def size(self) -> int:
        """The number of its documents."""
        return self.known.size + self._n_windowed()

    def frequency(self, word: str) -> int:
        """Return the number of its documents that have a word."""
        number = self.vocabulary.get(word, self._counts.shape[1])
        return int(self._counts[0, number]) if number < self._counts.shape[1] else 0

    def counts(self) -> tuple[Reference, Reference]:
        """Return the words of all its documents, and of those called novel."""
        self._grow()
        every, of_novel = self._counts[:, : len(self.vocabulary)]
        return (
            Reference(every, self.size),
            Reference(of_novel, self.known.held_back + self._n_windowed()),
        )

    def _n_windowed(self) -> int:
        return sum(window.size for window in self._windows)

    def had_as_often(self, word: RisenWord, span: Sequence[Window]) -> bool:
        """Return whether as many of its windows in a row once had a word as often as a span."""
        n = len(span)
        if len(self._windows) < n:
            return False
        first, last = self._windows[0].number, self._windows[-1].number
        sizes = [window.size for window in self._windows]
        counts = [words[word.novel][word.word] for words in self._store.words_of(first, last)]
        share = word.documents / sum(window.size for window in span)
        return any(
            sum(counts[i : i + n]) >= share * sum(sizes[i : i + n])
            for i in range(len(counts) - n + 1)
        )
