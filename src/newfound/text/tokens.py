"""Words of a text: what counts as a word, and which words are stop words.

A *word* is a run of Unicode letters, digits and their marks, in lower case. An apostrophe or a
hyphen inside it joins its parts (``don't``, ``o'neill``, ``fly-half``, ``covid-19``) unless digits
are on both sides (``6-4`` is ``6`` and ``4``). Every other character separates words. Runs longer
than `MAX_WORD_LENGTH` are encoded data, not words, and are left out. Scripts without spaces
(Chinese, Thai, ...) are cut into short words by `newfound.text.scripts`; an emoji is a word.
Lower-casing follows Unicode but never changes the length of a text, so that offsets point into the
raw text.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from newfound.text.scripts import EMOJI, UNSPACED, is_emoji, plain_emoji, unspaced_words

__all__ = [
    "ASCII",
    "CHUNK",
    "CHUNK_OR_BREAK",
    "MAX_WORD_LENGTH",
    "Token",
    "ascii_chunks",
    "chunks_and_breaks",
    "fold",
    "is_word",
    "normal",
    "read_data",
    "stop_words",
    "stop_words_by_language",
    "tokenize",
    "words_and_breaks",
    "words_in",
]

MAX_WORD_LENGTH = 100

_MARKS = "\u00ad\u200c\u200d" + "".join(
    c for c in map(chr, range(0x10000)) if unicodedata.category(c) in {"Mn", "Mc"}
)
_JOIN = "'’\\-‐‑"
CHUNK = re.compile(rf"[\w{_MARKS}{_JOIN}]+|{EMOJI}")
CHUNK_OR_BREAK = re.compile(rf"[\w{_MARKS}{_JOIN}]+|{EMOJI}|\n[^\S\n]*\n|[^\w\s]")
_ASCII_CHUNK_OR_BREAK = re.compile(r"[\w'\-]+|\n[^\S\n]*\n|[^\w\s]")
# The breaks of the pattern above but NUL. Of ASCII, re leaves out some spaces.
_ASCII_BREAK = re.compile(r"[^\w\s\x1c-\x1f'\-\0]|\n[ \t\r\f\v\x1c-\x1f]*\n", re.ASCII)
_WORD = re.compile(rf"[^_{_JOIN}]+(?:(?:(?<!\d)[{_JOIN}]|[{_JOIN}](?!\d))[^_{_JOIN}]+)*")
_ALPHANUMERIC = re.compile(r"[^\W_]")
ASCII = {i: chr(i).lower() if chr(i).isalnum() or chr(i) in "'-" else " " for i in range(128)}
_PLAIN = str.maketrans({"’": "'", "‐": "-", "‑": "-", "\u00ad": None})


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text with its position: ``text[start:end] == surface``.

    `term` is the name of its column in the matrix, `index` the number of the column, -1 if there is
    none.
    """

    term: str
    start: int
    end: int
    surface: str
    index: int = -1


def tokenize(text: str) -> list[Token]:
    """Split a text into its words, stop words included, with offsets into the raw text.

    The term of each token is the word in lower case, in Unicode's compatibility form and with a
    plain apostrophe and hyphen.

    Examples
    --------
    >>> [(t.term, t.start, t.end) for t in tokenize("İzmir's fly-half won 6-4")]
    [("izmir's", 0, 7), ('fly-half', 8, 16), ('won', 17, 20), ('6', 21, 22), ('4', 23, 24)]
    """
    return [
        Token(form, start, end, text[start:end])
        for chunk in CHUNK.finditer(fold(text))
        for start, end, form in words_in(chunk[0], chunk.start())
    ]


def chunks_and_breaks(text: str) -> re.Pattern[str]:
    """Return the pattern that finds the chunks and breaks of a text; of ASCII, a faster one."""
    return _ASCII_CHUNK_OR_BREAK if text.isascii() else CHUNK_OR_BREAK


def ascii_chunks(text: str) -> list[str]:
    """Return the chunks and breaks of an ASCII text, in lower case, each break as a full stop.

    The same as `chunks_and_breaks` finds, in half the time. A NUL must have spaces on both sides;
    it is returned as it is.

    Examples
    --------
    >>> ascii_chunks("Yes, we can")
    ['yes', '.', 'we', 'can']
    """
    return _ASCII_BREAK.sub(" . ", text.lower()).split()


def words_and_breaks(text: str) -> Iterator[tuple[int, int, str]]:
    """Iterate over start, end and normal form of the words of a text.

    Punctuation and blank lines, which separate the words of a pair, have the form "".

    Examples
    --------
    >>> list(words_and_breaks("Yes, we can"))
    [(0, 3, 'yes'), (3, 4, ''), (5, 7, 'we'), (8, 11, 'can')]
    """
    for chunk in chunks_and_breaks(text).finditer(fold(text)):
        words = words_in(chunk[0], chunk.start())
        yield from words or ((chunk.start(), chunk.end(), ""),)


def stop_words(language: str = "en") -> frozenset[str]:
    """Return the default stop words of a language.

    They are short lists of function words. Longer lists hide novelty: *system*, *bill* and *fire*
    are on some. For a language without a list there is a warning, and the result is empty.

    Examples
    --------
    >>> sorted({"the", "don't", "system", "six"} & stop_words("en"))
    ["don't", 'the']
    >>> "und" in stop_words("de")
    True
    """
    listed = stop_words_by_language().get(language)
    if listed is None:
        warnings.warn(
            f"No stop words are left out: there is no list for {language!r}; pass your own as "
            "stop_words (--stop-words FILE).",
            stacklevel=2,
        )
    return listed or frozenset()


@cache
def stop_words_by_language() -> dict[str, frozenset[str]]:
    """Return the stop words of every language that has a list, by its code."""
    found = {"en": {word for line in read_data("stop_words/en.txt") for word in line}}
    for code, *words in read_data("stop_words/languages.txt"):
        found.setdefault(code, set()).update(normal(fold(word)) for word in words)
    return {code: frozenset(words) for code, words in found.items()}


def fold(text: str) -> str:
    """Return a text in lower case, of the same length: only U+0130 would grow."""
    return text.replace("\u0130", "i").lower() if "\u0130" in text else text.lower()


def normal(word: str) -> str:
    """Return the normal spelling of a word: composed, without ligatures and wide letters."""
    if word.isascii():
        return word
    composed = unicodedata.normalize("NFKC", word).lower().translate(_PLAIN)
    if is_word(composed):
        return composed
    return unicodedata.normalize("NFC", word).translate(_PLAIN) or word


def words_in(chunk: str, offset: int = 0) -> list[tuple[int, int, str]]:
    """Return start, end and normal form of the words in a run of letters, digits and joiners."""
    if chunk.isalnum() and chunk.isascii() and len(chunk) <= MAX_WORD_LENGTH:
        return [(offset, offset + len(chunk), chunk)]
    if not UNSPACED.search(chunk):
        found = [
            (offset + word.start(), offset + word.end(), normal(word[0]))
            for word in _WORD.finditer(chunk)
            if word.end() - word.start() <= MAX_WORD_LENGTH and _ALPHANUMERIC.search(word[0])
        ]
        if not found and is_emoji(chunk):
            return [(offset, offset + len(chunk), plain_emoji(chunk))]
        return found
    return [
        (offset + word.start(), offset + word.end(), normal(word[0]))
        for start, end in unspaced_words(chunk)
        for word in _WORD.finditer(chunk, start, end)
        if word.end() - word.start() <= MAX_WORD_LENGTH and _ALPHANUMERIC.search(word[0])
    ]


def is_word(text: str) -> bool:
    """Return whether a text is a single word."""
    return bool(_WORD.fullmatch(text) and CHUNK.fullmatch(text)) or is_emoji(text)


def read_data(path: str) -> list[list[str]]:
    """Return the words of each line of a data file of the package; # begins a comment line."""
    lines = (files("newfound") / "data" / path).read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]
