"""Greetings, farewells and signatures: parts of a message that say nothing of what it is about.

Such a part is at the beginning or at the end of a text, between punctuation or on lines of its own,
and has no words but function words and those of greetings, thanks, wishes and farewells in the
language. A signature is what follows a line of two hyphens, or the names and numbers on lines of
their own after a farewell. A text of nothing else is left as it is.
"""

from __future__ import annotations

import re
from functools import cache

from newfound.text.tokens import CHUNK, fold, read_data, stop_words_by_language, words_in

__all__ = ["is_no_news", "without_courtesies"]

_MOST_SEGMENTS = 10  # that are looked at, at each end
_MOST_WORDS = 12  # of a greeting or a farewell
_MOST_NAMES = 5  # words of a line of a signature
_EDGE = re.compile(r"[.!?,;:…]+(?=\s|$)|\s[-–—]+\s|\s*\n\s*")
_DELIMITER = re.compile(r"^--[ \t\r]*$", re.MULTILINE)


@cache
def _words(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of courtesies of a language, and its stop words."""
    listed = {code: frozenset(words) for code, *words in read_data("courtesies/languages.txt")}
    return listed.get(language, frozenset()), stop_words_by_language().get(language, frozenset())


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
    if _EDGE.search(text) is None:
        return text
    courtesies, stops = _words(language)
    if not courtesies:
        return text
    delimiter = _DELIMITER.search(text)
    stop = len(text) if delimiter is None else delimiter.start()
    segments = _segments(text, stop)
    first = _n_greetings(text, segments, courtesies, stops)
    last = len(segments) - _n_farewells(text, segments[first:], courtesies, stops)
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


def _n_greetings(
    text: str,
    segments: list[tuple[int, int]],
    courtesies: frozenset[str],
    stops: frozenset[str],
) -> int:
    """Return how many segments at the beginning are greetings."""
    for n, (start, end) in enumerate(segments[:_MOST_SEGMENTS]):
        if not _is_courtesy(text[start:end], courtesies, stops):
            return n
    return min(len(segments), _MOST_SEGMENTS)


def _n_farewells(
    text: str,
    segments: list[tuple[int, int]],
    courtesies: frozenset[str],
    stops: frozenset[str],
) -> int:
    """Return how many segments at the end are farewells, or a signature after one."""
    found = 0
    for n, (start, end) in enumerate(reversed(segments[-_MOST_SEGMENTS:]), 1):
        part = text[start:end]
        if _is_courtesy(part, courtesies, stops):
            found = n
        elif not (_is_name(part) and "\n" in text[:start].rstrip(" \t")[-1:]):
            break
    return found


def _forms(part: str) -> list[str]:
    chunks = CHUNK.findall(fold(part[: 20 * _MOST_WORDS]))
    return [form for chunk in chunks for _, _, form in words_in(chunk)]


def _is_courtesy(part: str, courtesies: frozenset[str], stops: frozenset[str]) -> bool:
    """Return whether a part has words of courtesies, and no others but function words.

    A name may follow a first word that is one of them.
    """
    words = part.split()
    if len(words) > _MOST_WORDS:
        return False
    forms = _forms(part)
    if not any(form in courtesies for form in forms):
        return False
    if all(form in courtesies or form in stops for form in forms):
        return True
    return forms[0] in courtesies and _is_name(" ".join(words[1:]))


def _is_name(part: str) -> bool:
    """Return whether a part has a few words, each with one capital or without letters."""
    words = part.split()
    return len(words) <= _MOST_NAMES and all(
        word[:1].isupper() and not word[1:].isupper() or not any(map(str.isalpha, word))
        for word in words
    )


def is_no_news(form: str, language: str) -> bool:
    """Return whether a word says nothing by being new: an emoji, a number, a word of courtesies.

    Examples
    --------
    >>> [is_no_news(form, "en") for form in ("4829", "covid-19", "🙏", "regards", "passcode")]
    [True, False, True, True, False]
    """
    return not any(map(str.isalpha, form)) or form in _words(language)[0]
