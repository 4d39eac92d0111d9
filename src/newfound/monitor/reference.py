"""The reference: the known documents and earlier windows, which new windows are compared with."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from newfound.monitor.records import Window
from newfound.monitor.search import Reference, RisenWord
from newfound.monitor.store import Store
from newfound.monitor.tallies import Tally, Totals, Vocabulary

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
        self._number_words(known.words, known.novel_words)

    def __iter__(self) -> Iterator[Window]:
        return iter(self._windows)

    def _number_words(self, words: Mapping[str, int], novel_words: Mapping[str, int]) -> None:
        """Give the words of the reference numbers; others get theirs when they come."""
        self.vocabulary = Vocabulary()
        self._words = Totals(self.vocabulary, words)
        self._novel_words = Totals(self.vocabulary, novel_words)
        self._tallies: dict[int, tuple[Tally, Tally]] = {}  # of windows that are not in it yet
        self._numbered = len(self.vocabulary)

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
        words, novel_words = self.tallies(window)
        del self._tallies[window.number]
        self._words.add(words)
        self._novel_words.add(novel_words)
        self._windows.append(replace(window, words=Counter(), novel_words=Counter()))
        if len(self._windows) > self._most:
            gone = self._windows.popleft().number
            for of_all, of_novel in self._store.words_of(gone, gone):
                self._words.subtract(self.vocabulary.tally(of_all))
                self._novel_words.subtract(self.vocabulary.tally(of_novel))

    def forget_words(self) -> None:
        """Forget the words that no document of the reference has any more, if they are many."""
        if len(self.vocabulary) > 2 * self._numbered + _MANY_WORDS:
            self._number_words(self._words.items(), self._novel_words.items())

    @property
    def size(self) -> int:
        """The number of its documents."""
        return self.known.size + self._n_windowed()

    def frequency(self, word: str) -> int:
        """Return the number of its documents that have a word."""
        return self._words[word]

    def counts(self) -> tuple[Reference, Reference]:
        """Return the words of all its documents, and of those called novel."""
        return (
            Reference(self._words.counts(), self.size),
            Reference(self._novel_words.counts(), self.known.held_back + self._n_windowed()),
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
