"""Known and novel texts beside their words, and the sentences that hold given words.

A sentence ends after ``.``, ``!``, ``?`` or ``…`` and any closing quotes or brackets, if white
space follows; after ``。``, ``！`` or ``？``; and at a blank line. A sentence longer than
`LONGEST_SENTENCE` characters is split at a space.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.text.tokens import Token, fold
from newfound.text.vectorizer import TextVectorizer

__all__ = ["LONGEST_SENTENCE", "Corpus", "SentenceFinder", "sentence_around", "sentence_ends"]


@dataclass(frozen=True)
class Corpus:
    """Texts with their sides, words and held-out votes.

    A describer keeps the one it was fitted on while it is in memory; a report is made from it.

    `held_out` is the mean vote on each text of the machines that were not trained on it, from -1
    (known) to 1 (novel); nan if there is no such machine. `names` are by default the place of each
    document on its side, from 1. `sources` says, by side, where the documents came from and what
    was left out, `notes` what a reader has to know about them.

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


LONGEST_SENTENCE = 2000

# Each alternative begins at one character only, so that no text takes quadratic time.
_CLOSING = "[\"'”’)\\]」』]*"
_END = re.compile(
    rf"(?<=[.!?…]){_CLOSING}\s+|(?<=[。！？])(?![。！？]){_CLOSING}\s*|\n[^\S\n]*\n\s*"
)
_SPACE = re.compile(r"\s")
_NEAR = 240  # characters on each side that `sentence_around` looks at
_MATCHES = 5  # places of a form in a document that are looked at


def sentence_ends(text: str) -> list[int]:
    """Return where each sentence of a text ends, the white space after it included.

    Examples
    --------
    >>> sentence_ends("It rained. Nobody came!")
    [11, 23]
    """
    ends = [0]
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        while end - ends[-1] > LONGEST_SENTENCE:
            space = _SPACE.search(text, ends[-1] + LONGEST_SENTENCE, end)
            if space is None or space.end() >= end:
                break
            ends.append(space.end())
        if end > ends[-1]:
            ends.append(end)
    return ends[1:] or [0]


def sentence_around(text: str, at: int) -> tuple[int, int]:
    """Return where the sentence around a position begins and ends.

    Only 240 characters on each side are looked at. A longer sentence is cut there, at a space.

    Examples
    --------
    >>> text = "It rained. The fly half kicked! Nobody saw it."
    >>> begin, end = sentence_around(text, 15)
    >>> text[begin:end].strip()
    'The fly half kicked!'
    """
    begin, end = max(0, at - _NEAR), min(len(text), at + _NEAR)
    ends = [match.end() for match in _END.finditer(text, begin, end)]
    before = [place for place in ends if place <= at]
    after = [place for place in ends if place > at]
    if before:
        begin = before[-1]
    elif begin:
        begin = text.find(" ", begin, at) + 1 or begin
    if after:
        end = after[0]
    elif end < len(text):
        space = text.rfind(" ", at, end)
        end = max(space, at + 1) if space >= 0 else end
    return begin, end


class SentenceFinder:
    """Find sentences with given words, without tokenising whole documents.

    Sentences and tokens are kept, so that a document or a sentence is analysed once.

    The vectorizer, which is fitted, defines the words.

    Examples
    --------
    >>> finder = SentenceFinder(TextVectorizer().fit(["Two matches", "A match!"]))
    >>> text = "It rained. Two Matches were lost. So what?"
    >>> [text[begin:end] for begin, end in finder.sentences(text, "match", all_sentences=False)]
    ['Two Matches were lost. ']
    """

    def __init__(self, vectorizer: TextVectorizer) -> None:
        self.vectorizer = vectorizer
        self._texts: dict[str, tuple[str, list[int]]] = {}
        self._tokens: dict[str, list[Token]] = {}

    def tokens(self, passage: str) -> list[Token]:
        """Return the tokens of a passage."""
        tokens = self._tokens.get(passage)
        if tokens is None:
            tokens = self._tokens[passage] = self.vectorizer.tokens(passage)
        return tokens

    def sentences(
        self, text: str, word: str, *, all_sentences: bool = True
    ) -> Iterator[tuple[int, int]]:
        """Iterate over sentences, those that show a form of a word first.

        A sentence that shows a form need not have the word: *scrumptious* shows *scrum*.

        With `all_sentences`, it goes on with the others, where the word may stand in another form.
        """
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = (fold(text), sentence_ends(text))
        folded, ends = known
        seen = set()
        for form in self.vectorizer.forms_.get(word, ()):
            place = folded.find(form)
            for _ in range(_MATCHES):
                if place < 0:
                    break
                number = min(bisect_right(ends, place), len(ends) - 1)
                if number not in seen:
                    seen.add(number)
                    yield (ends[number - 1] if number else 0), ends[number]
                place = folded.find(form, max(ends[number], place + 1))
        for number, end in enumerate(ends if all_sentences else ()):
            if number not in seen:
                yield (ends[number - 1] if number else 0), end

    def example(self, texts: Sequence[str], words: Sequence[str]) -> str:
        """Return the first sentence with all words, or else the first with the first word.

        It has single spaces; of a long one it is what is near the first word, and empty if there is
        none.
        """
        # Reading all sentences is slow, and needed only where a form was not there at fit.
        for all_sentences in (False, True):
            first = ""
            for text in texts:
                for begin, end in self.sentences(text, words[0], all_sentences=all_sentences):
                    for passage, terms in self._passages(text[begin:end], words[0]):
                        if terms.issuperset(words):
                            return passage
                        first = first or passage
            if first:
                return first
        return ""

    def _passages(self, sentence: str, word: str) -> Iterator[tuple[str, set[str]]]:
        """Iterate over what is near each place of a word in a sentence, with its terms."""
        tokens = self.tokens(sentence)
        for token in tokens:
            if token.term == word:
                begin, end = sentence_around(sentence, token.start)
                terms = {other.term for other in tokens if begin <= other.start < end}
                yield " ".join(sentence[begin:end].split()), terms
