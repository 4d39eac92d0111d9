"""The reference: what the detector knows and earlier windows, which new windows are compared with.

Counts of words are arrays, so that windows are added up and tested without a loop over words.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.arithmetic import log
from newfound.detection.detector import NoveltyDetector
from newfound.monitor.records import Document, Window
from newfound.monitor.store import Store
from newfound.stories.risen import Bag, Reference, RisenWord
from newfound.text.tokens import CHUNK, Token, fold, stop_words_by_language, words_in

__all__ = ["Known", "ReferenceWindows", "ScoringReader", "fingerprint", "from_bytes", "to_bytes"]

_RARE = 500  # documents to one with a rare word
_MANY_WORDS = 50_000  # that no document of the reference has, before they are forgotten


@dataclass(frozen=True)
class Known:
    """What the detector knows, as a reference: numbers of documents that have each word.

    `novel_words` are those of held-back documents called novel; `let_through` is the rank of the
    threshold among the held-back scores.
    """

    words: Counter[str]
    size: int
    novel_words: Counter[str]
    held_back: int
    let_through: int


class WordTally(NamedTuple):
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

    def tally(self, counts: Mapping[str, int]) -> WordTally:
        """Return counts of words by their numbers."""
        return WordTally(
            np.fromiter(map(self.__getitem__, counts), np.int64, len(counts)),
            np.fromiter(counts.values(), np.int64, len(counts)),
        )

    def added_up(self, tallies: Iterable[WordTally]) -> NDArray[np.int64]:
        """Return the number of documents of each word of the vocabulary, of several tallies.

        Examples
        --------
        >>> words = Vocabulary()
        >>> words.added_up([words.tally({"sars": 2, "war": 1}), words.tally({"war": 5})]).tolist()
        [2, 6]
        """
        counts = np.zeros(len(self.names), np.int64)
        for tally in tallies:
            counts[tally.words] += tally.documents
        return counts


class ReferenceWindows:
    """Known documents and the closed windows before the last ones, with the words of all of them.

    There are at most `most` windows; the store has their words.
    """

    def __init__(self, store: Store, known: Known, most: int) -> None:
        self.known = known
        self._store, self._most = store, most
        self._windows: deque[Window] = deque()
        self._rarity: dict[str, float] = {}
        self._number_words((known.words, known.novel_words))

    def __iter__(self) -> Iterator[Window]:
        return iter(self._windows)

    def _number_words(self, counts: Sequence[Mapping[str, int]]) -> None:
        """Give the words of the reference numbers; others get theirs when they come."""
        self.vocabulary = Vocabulary()
        tallies = [self.vocabulary.tally(words) for words in counts]
        self._counts = np.stack([self.vocabulary.added_up([tally]) for tally in tallies])
        self._tallies: dict[
            int, tuple[WordTally, WordTally]
        ] = {}  # of windows that are not in it yet
        self._numbered = len(self.vocabulary)

    def _change(self, tallies: Iterable[WordTally], sign: int) -> None:
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

    def tallies(self, window: Window) -> tuple[WordTally, WordTally]:
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
        self._rarity.clear()
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

    def rarity(self, word: str) -> float:
        """Return how rare a word is: the logarithm of how many documents there are to one."""
        found = self._rarity.get(word)
        if found is None:
            found = log((self.size + 2) / (self.frequency(word) + 1))
            self._rarity[word] = found
        return found

    def is_rare(self, word: str) -> bool:
        """Return whether one of its documents has a word, or one in 500."""
        return self.frequency(word) <= max(1, self.size // _RARE)

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

    def never_as_often(self, words: Sequence[RisenWord], span: Sequence[Window]) -> list[RisenWord]:
        """Return the words that no windows in a row, as many as a span, once had as often."""
        n = len(span)
        if not words or len(self._windows) < n:
            return list(words)
        first, last = self._windows[0].number, self._windows[-1].number
        counts = np.array(
            [
                [every[word.novel].get(word.word, 0) for word in words]
                for every in self._store.words_of(first, last)
            ]
        )
        sizes = np.array([window.size for window in self._windows])
        in_rows = np.lib.stride_tricks.sliding_window_view
        most = in_rows(counts, n, axis=0).sum(axis=-1)
        of_all = in_rows(sizes, n).sum(axis=-1)
        size = sum(window.size for window in span)
        return [
            word
            for word, had in zip(words, most.T, strict=True)
            if not bool((had * size >= word.documents * of_all).any())
        ]


_MAX_CACHED = 200_000  # runs of letters whose terms are remembered


class ScoringReader:
    """Reads texts with a detector: p-values, and words without function words and numbers."""

    def __init__(self, detector: NoveltyDetector) -> None:
        self.detector = detector
        self._stop = stop_words_by_language().get(detector.language, frozenset())
        self._terms: dict[str, tuple[str, ...]] = {}

    def bag(self, text: str) -> Bag:
        """Return the words of a text that a topic can have.

        A word stands for all of its forms. Function words, numbers and single letters are left out.
        """
        known, found = self._terms, set[str]()
        for chunk in CHUNK.findall(fold(text)):
            terms = known.get(chunk)
            if terms is None:
                if len(known) > _MAX_CACHED:
                    known.clear()
                forms = (form for _, _, form in words_in(chunk))
                terms = known[chunk] = tuple(filter(None, map(self._term, forms)))
            found.update(terms)
        return frozenset(found)

    def tokens(self, text: str) -> list[Token]:
        """Return the words of a text with their places, function words among them."""
        return [token for token in self.detector.vectorizer_.tokens(text) if " " not in token.term]

    def _term(self, form: str) -> str | None:
        term = self.detector.vectorizer_.term(form)
        return term if term is not None and self._is_telling(term) else None

    def _is_telling(self, term: str) -> bool:
        # By the term, never by its forms: known documents are counted by terms.
        return not (term in self._stop or term.isdigit() or (len(term) < 2 and term.isascii()))

    def read(
        self, texts: Sequence[str], times: Sequence[float | None], ids: Sequence[str]
    ) -> list[Document]:
        """Score texts, each once; the documents have no number and no window yet."""
        if not texts:
            return []
        detector = self.detector
        texts = detector.redacted(texts)  # the state keeps some of them
        judged = detector.score_texts(texts).judged(detector.calibration_)
        return [
            Document(id, text, time, p, is_novel, self.bag(text))
            for id, text, time, p, is_novel in zip(
                ids, texts, times, judged.p_values.tolist(), judged.novel.tolist(), strict=True
            )
        ]

    def known(self) -> Known:
        """Return what the detector knows, as a reference."""
        detector, vectorizer = self.detector, self.detector.vectorizer_
        words = Counter(
            {
                word: n
                for word, n in zip(
                    vectorizer.vocabulary_, vectorizer.document_frequencies_.tolist(), strict=True
                )
                if " " not in word and self._is_telling(word)
            }
        )
        novel_words: Counter[str] = Counter()
        calibration = detector.calibration_
        own = calibration.is_novel(calibration.p_values(calibration.scores, calibration.nearest))
        for text, is_novel in zip(detector.held_back_texts_, own.tolist(), strict=True):
            bag = self.bag(text)
            words.update(bag)
            if is_novel:
                novel_words.update(bag)
        n = len(detector.held_back_texts_)
        return Known(
            words, vectorizer.n_documents_ + n, novel_words, n, int(calibration.alpha * (n + 1))
        )

    def smallest_p_value(self) -> float:
        """Return the smallest p-value that the held-back documents allow for every class."""
        n = len(self.detector.classes_)
        p = self.detector.calibration_.p_values(np.full(n, np.inf), np.arange(n))
        return float(p.max())


def to_bytes(detector: NoveltyDetector) -> bytes:
    """Return the model file of a detector."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "detector.nf")
        detector.save(path)
        return path.read_bytes()


def from_bytes(content: bytes, like: NoveltyDetector | None = None) -> NoveltyDetector:
    """Return the detector of a model file, with the threads and the encoder of another one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "detector.nf")
        path.write_bytes(content)
        detector = NoveltyDetector.load(path)
    if like is not None:
        detector.n_jobs = like.n_jobs
        if like.encoder is not None:
            detector.use_encoder(like.encoder)
    return detector


def fingerprint(detector: NoveltyDetector) -> str:
    """Return what tells a detector from others."""
    found = hashlib.blake2b(digest_size=16)
    found.update(repr(detector.classes_.tolist()).encode())
    found.update(np.asarray(detector.calibration_.scores, np.float64).tobytes())
    for text in detector.held_back_texts_:
        found.update(text.encode("utf-8", "replace") + b"\0")
    return found.hexdigest()
