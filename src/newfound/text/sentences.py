"""Sentences of a text, and the sentences that hold given words.

A sentence ends after ``.``, ``!``, ``?`` or ``…`` and any closing quotes or brackets, if white
space follows; after ``。``, ``！`` or ``？``; and at a blank line. A sentence longer than
`LONGEST_SENTENCE` characters is split at a space.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from newfound.text.tokens import Token, fold
from newfound.text.vectorizer import TextVectorizer

__all__ = ["LONGEST_SENTENCE", "SentenceFinder", "sentence_around", "sentence_ends"]

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

    Parameters
    ----------
    vectorizer : TextVectorizer
        Fitted; it defines the words.

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

        Parameters
        ----------
        text : str
            A document.
        word : str
            A term of the vectorizer.
        all_sentences : bool, default=True
            Go on with the other sentences, where the word may stand in another form.

        Yields
        ------
        (int, int)
            Where a sentence begins and ends.
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

        Parameters
        ----------
        texts : sequence of str
            Where to look, in this order.
        words : sequence of str
            Terms of the vectorizer.

        Returns
        -------
        str
            A sentence, in a long one what is near the first word, with single spaces; empty if
            there is none.
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
