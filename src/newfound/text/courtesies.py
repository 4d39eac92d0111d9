"""Greetings, farewells and signatures: parts of a message that say nothing of what it is about.

Such a part is at the beginning or at the end of a text, between punctuation or on lines of its own,
and has no words but function words and those of greetings, thanks, wishes and farewells in the
language. A signature is what follows a line of two hyphens, or the names and numbers on lines of
their own after a farewell. A text of nothing else is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from newfound.text.tokens import CHUNK, fold, read_data, stop_words_by_language, words_in

__all__ = ["is_small_talk", "without_courtesies"]

_MOST_SEGMENTS = 10  # that are looked at, at each end
_MOST_WORDS, _MOST_CHARACTERS = 12, 200  # of a greeting or a farewell
_MOST_NAMES = 5  # words of a line of a signature
_EDGE = re.compile(r"(?<![.!?,;:…])[.!?,;:…]++(?=\s|$)|\s[-–—]++\s|\n\s*+")
# Of a card, an account, a telephone: seven digits or more.
_IDENTIFIER = re.compile(r"(?<![\w.])\+?\(?(?:\d[ ().\-/]{0,3}){6,40}\d(?!\w)")
_SEVERAL_DIGITS = re.compile(r"\d[ ().\-/]{0,2}\d[ ().\-/]{0,2}\d")
_HINT = re.compile(r"[\d.!?,;:…\n–—-]")
_LINE_BEGINS = re.compile(r"\n[ \t]*$")
_DELIMITER = re.compile(r"^--[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True)
class _Courtesies:
    """Words of courtesies: those that make one, those that may be in it, and function words."""

    telling: frozenset[str]
    others: frozenset[str]
    stop_words: frozenset[str]

    def allows(self, word: str) -> bool:
        """Return whether a courtesy may have a word."""
        return word in self.telling or word in self.others or word in self.stop_words

    def has(self, part: str) -> bool:
        """Return whether a part is a courtesy; a name may follow its first word."""
        words = part.split()
        if len(words) > _MOST_WORDS:
            return False
        chunks = CHUNK.findall(fold(part[:_MOST_CHARACTERS]))
        forms = [form for chunk in chunks for _, _, form in words_in(chunk)]
        if self.telling.isdisjoint(forms):
            return False
        if all(map(self.allows, forms)):
            return True
        return forms[0] in self.telling and _is_name(" ".join(words[1:]))


@cache
def _courtesies(language: str) -> _Courtesies | None:
    """Return the words of courtesies of a language; None if there are none."""
    for code, *words in read_data("courtesies/languages.txt"):
        if code == language:
            bar = words.index("|")
            stop_words = stop_words_by_language().get(language, frozenset())
            return _Courtesies(frozenset(words[:bar]), frozenset(words[bar + 1 :]), stop_words)
    return None


def without_courtesies(text: str, language: str) -> str:
    r"""Return a text of the same length, with spaces in place of greeting, farewell and signature.

    Examples
    --------
    >>> text = "Hello, I hope you are well. My card was stolen!\nKind regards\nAnna Lee"
    >>> without_courtesies(text, "en").strip()
    'My card was stolen'
    >>> without_courtesies("Thank you!", "en")
    'Thank you!'
    """
    if _HINT.search(text) is None:  # most short messages
        return text
    if _SEVERAL_DIGITS.search(text) is not None:
        text = _IDENTIFIER.sub(lambda found: " " * len(found[0]), text)
    if _EDGE.search(text) is None:
        return text
    courtesies = _courtesies(language)
    if courtesies is None:
        return text
    delimiter = _DELIMITER.search(text)
    stop = len(text) if delimiter is None else delimiter.start()
    segments = _segments(text, stop)
    first = _n_greetings(text, segments, courtesies)
    last = len(segments) - _n_farewells(text, segments[first:], courtesies)
    if first >= last:
        return text
    begin = 0 if not first else segments[first][0]
    end = stop if last == len(segments) else segments[last - 1][1]
    if begin == 0 and end == len(text):
        return text
    return " " * begin + text[begin:end] + " " * (len(text) - end)


def _segments(text: str, stop: int) -> list[tuple[int, int]]:
    """Return start and end of what is between punctuation or line breaks, and has words."""
    edges = [(edge.start(), edge.end()) for edge in _EDGE.finditer(text, 0, stop)]
    starts, ends = [0, *(end for _, end in edges)], [*(start for start, _ in edges), stop]
    return [
        (start, end)
        for start, end in zip(starts, ends, strict=True)
        if any(map(str.isalnum, text[start:end]))
    ]


def _n_greetings(text: str, segments: list[tuple[int, int]], courtesies: _Courtesies) -> int:
    """Return how many segments at the beginning are greetings."""
    some = segments[:_MOST_SEGMENTS]
    others = (n for n, (start, end) in enumerate(some) if not courtesies.has(text[start:end]))
    return next(others, len(some))


def _n_farewells(text: str, segments: list[tuple[int, int]], courtesies: _Courtesies) -> int:
    """Return how many segments at the end are farewells, or a signature after one."""
    found = 0
    for n, (start, end) in enumerate(reversed(segments[-_MOST_SEGMENTS:]), 1):
        part = text[start:end]
        if courtesies.has(part):
            found = n
        elif not (_is_name(part) and _LINE_BEGINS.search(text[max(start - 20, 0) : start])):
            break
    return found


def _is_name(part: str) -> bool:
    """Return whether a part has a few words, each with one capital or without letters."""
    words = part.split()
    return len(words) <= _MOST_NAMES and all(
        (word[:1].isupper() and not word[1:].isupper()) or not any(map(str.isalpha, word))
        for word in words
    )


def is_small_talk(words: Collection[str], language: str) -> bool:
    """Return whether words are those of a courtesy, and function words.

    Examples
    --------
    >>> [is_small_talk(words, "en") for words in (["ok", "thanks"], ["you"], ["thank", "refund"])]
    [True, False, False]
    """
    courtesies = _courtesies(language)
    if courtesies is None or courtesies.telling.isdisjoint(words):
        return False
    return all(map(courtesies.allows, words))
