"""Sentences of the original texts, with the words of the page marked.

An excerpt is a list of pieces: a plain string, or ``[surface, number]`` for a word of the page.
Joined, they are the original text, so that a browser need not count characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from newfound.marks import cut_up
from newfound.text.sentences import LONGEST_SENTENCE, SentenceFinder
from newfound.text.tokens import Token
from newfound.text.vectorizer import TextVectorizer

__all__ = ["Excerpts", "Pieces"]

Pieces = list[str | list[Any]]

_SPACE = re.compile(r"\s")


class Excerpts:
    """Cuts sentences out of texts and marks the words of a page in them.

    Parameters
    ----------
    vectorizer : TextVectorizer
        The vectorizer of the model, which splits texts into words.
    numbers : mapping of str to int
        The number of each word on the page.
    weight : callable
        Returns the weight of a word by its number; of overlapping pairs the heavier is marked.

    Examples
    --------
    >>> vectorizer = TextVectorizer().fit(["Two matches", "A match!"])
    >>> excerpts = Excerpts(vectorizer, {"match": 0})
    >>> excerpts.sentence("It rained. Two Matches were lost. So what?", "match", 100)
    {'pieces': ['Two ', ['Matches', 0], ' were lost.']}
    """

    def __init__(
        self,
        vectorizer: TextVectorizer,
        numbers: Mapping[str, int],
        weight: Callable[[int], float] = lambda number: 0.0,
    ) -> None:
        self.vectorizer = vectorizer
        self.numbers = numbers
        self.words = {number: word for word, number in numbers.items()}
        self.weight = weight
        self.finder = SentenceFinder(vectorizer)

    def sentence(self, text: str, word: str, most: int) -> dict[str, Any] | None:
        """Return the first sentence with a word, cut to about `most` characters around it.

        Returns
        -------
        dict or None
            ``pieces``, and ``before`` and ``after`` if something was cut off; None if the text
            does not have the word.
        """
        for start, end in self.finder.sentences(text, word):
            passage = text[start:end]
            tokens = self.finder.tokens(passage)
            place = next((token for token in tokens if token.term == word), None)
            if place is not None:
                return self._cut(passage, tokens, word, place, most)
        return None

    def opening(
        self, text: str, most: int, reasons: Sequence[tuple[str, float]] = ()
    ) -> dict[str, Any]:
        """Return the beginning of a text, with its words marked.

        Words of the reasons are always marked, with their weight and the number of the reason.
        """
        end = len(text)
        if end > most:
            spaces = [space.start() for space in _SPACE.finditer(text, most // 2, most)]
            end = spaces[-1] if spaces else most
        # Tokenise beyond the cut: half a word would be another word.
        behind = _SPACE.search(text, end)
        tokens = self.finder.tokens(text[: behind.start() if behind else end + LONGEST_SENTENCE])
        excerpt: dict[str, Any] = {"pieces": self._pieces(text, tokens, None, 0, end, reasons)}
        if end < len(text.rstrip()):
            excerpt["after"] = True
        return excerpt

    def _cut(
        self, passage: str, tokens: Sequence[Token], word: str, place: Token, most: int
    ) -> dict[str, Any]:
        start = len(passage) - len(passage.lstrip())
        end = len(passage.rstrip())
        cut_before = cut_after = False
        if end - start > most:
            room = max(most - (place.end - place.start), 0)
            first = max(start, min(place.start - room // 2, end - most))
            last = min(end, max(first + most, place.end))
            cut_before, cut_after = first > start, last < end
            if cut_before:
                space = _SPACE.search(passage, first, place.start)
                first = space.end() if space else first
            if cut_after:
                spaces = [space.start() for space in _SPACE.finditer(passage, place.end, last)]
                last = spaces[-1] if spaces else last
            start, end = first, last
        excerpt: dict[str, Any] = {"pieces": self._pieces(passage, tokens, word, start, end)}
        if cut_before:
            excerpt["before"] = True
        if cut_after:
            excerpt["after"] = True
        return excerpt

    def _pieces(
        self,
        text: str,
        tokens: Sequence[Token],
        wanted: str | None,
        start: int,
        end: int,
        reasons: Sequence[tuple[str, float]] = (),
    ) -> Pieces:
        places = {word: place for place, (word, _) in enumerate(reasons)}
        marked = [token for token in tokens if token.term in self.numbers or token.term in places]
        if self.vectorizer.ngram_range != (1, 1):  # pairs overlap the words that they consist of
            marked.sort(
                key=lambda token: (
                    token.term != wanted,
                    places.get(token.term, len(places)),
                    -abs(self.weight(self.numbers.get(token.term, -1))),
                )
            )
        marks = []
        for token in marked:
            place = places.get(token.term)
            more = [] if place is None else [reasons[place][1], place]
            marks.append((token.start, token.end, [self.numbers.get(token.term, -1), *more]))
        return [
            piece if mark is None else [piece, *mark]
            for piece, mark in cut_up(text, marks, start, end)
        ]
