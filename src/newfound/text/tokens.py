"""Words of a text: what counts as a word, and which are stop words.

A *word* is a run of Unicode letters, digits and their marks, in lower case. An apostrophe or a
hyphen inside it joins its parts (``don't``, ``o'neill``, ``fly-half``, ``covid-19``) unless digits
are on both sides (``6-4`` is ``6`` and ``4``). Every other character separates words. Runs longer
than `MAX_WORD_LENGTH` are encoded data, not words, and are left out. An emoji is a word.
Lower-casing follows Unicode but never changes the length of a text, so that offsets point into the
raw text.

Of scripts without spaces, Chinese characters become overlapping pairs, as search engines index
them: 日本代表 is 日本, 本代 and 代表. A run of katakana is one word, and so is a run of hiragana.
Thai, Lao, Khmer and Burmese are cut into clusters of a consonant with its vowels and marks, and
these become overlapping pairs. No dictionary is needed, and every word keeps its place in the text.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = [
    "ASCII",
    "CHUNK",
    "CHUNK_OR_BREAK",
    "MAX_WORD_LENGTH",
    "UNSPACED",
    "UNSPACED_LETTERS",
    "Token",
    "ascii_chunks",
    "chunks_and_breaks",
    "fold",
    "has_letter",
    "is_emoji",
    "is_word",
    "normal",
    "read_data",
    "stop_words",
    "stop_words_by_language",
    "tokenize",
    "words_and_breaks",
    "words_in",
]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_SOUTH_EAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"

UNSPACED_LETTERS = f"{_HAN}{_HIRAGANA}{_KATAKANA}{_SOUTH_EAST}"  # within a character class
UNSPACED = re.compile(f"[{UNSPACED_LETTERS}]")
_RUN = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<kana>[{_HIRAGANA}]+|[{_KATAKANA}]+)|(?P<south_east>[{_SOUTH_EAST}]+)"
    rf"|[^{UNSPACED_LETTERS}]+"
)
# A vowel that is written before its consonant, the consonant, and the vowels and marks on it. A
# Khmer or Burmese sign that stacks consonants takes the next one along.
_CLUSTER = re.compile(
    r"[\u0e40-\u0e44\u0ec0-\u0ec4]?"
    r"[^\u0e30-\u0e3a\u0e40-\u0e4e\u0eb0-\u0ebc\u0ec0-\u0ece\u102b-\u103e\u17b4-\u17d3]"
    r"(?:[\u1039\u17d2].|[\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece\u102b-\u1038"
    r"\u103a-\u103e\u17b4-\u17d1\u17d3])*|."
)

# Emoji by their default appearance, and characters that the variation selector makes emoji.
_PICTURE = (
    "[\U0001f004\U0001f0cf\U0001f18e\U0001f191-\U0001f19a\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
    "\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615\u2639\u263a\u2648-\u2653\u2665\u267f\u2693\u26a1"
    "\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b"
    "\u2728\u274c\u274e\u2753-\u2755\u2757\u2764\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55]"
    "|[\u00a9\u00ae\u203c-\u3299](?=\ufe0f)"
)
_TONE = "[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
EMOJI = rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}|(?:{_PICTURE}){_TONE}*(?:\u200d(?:{_PICTURE}){_TONE}*)*)"
_EMOJI = re.compile(EMOJI)
_VARIANTS = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")


def is_emoji(text: str) -> bool:
    """Return whether a text is one emoji.

    Examples
    --------
    >>> [is_emoji(text) for text in ("👍🏽", "👩‍🚀", "🇳🇴", "a", "👍👍")]
    [True, True, True, False, False]
    """
    return _EMOJI.fullmatch(text) is not None


def plain_emoji(emoji: str) -> str:
    """Return an emoji without the tone of its skin and its variation.

    Examples
    --------
    >>> plain_emoji("👍🏽")
    '👍'
    """
    return _VARIANTS.sub("", emoji) or emoji


def unspaced_words(word: str) -> list[tuple[int, int]]:
    """Return start and end of the words in a run that has a script without spaces.

    Examples
    --------
    >>> text = "日本代表2024サッカーの試合"
    >>> [text[start:end] for start, end in unspaced_words(text)]
    ['日本', '本代', '代表', '2024', 'サッカー', 'の', '試合']
    """
    found: list[tuple[int, int]] = []
    for run in _RUN.finditer(word):
        start, end = run.span()
        if run["han"]:
            places = list(range(start, end + 1))
        elif run["south_east"]:
            places = [start + part.start() for part in _CLUSTER.finditer(run[0])] + [end]
        else:
            found.append((start, end))
            continue
        if len(places) == 2:
            found.append((start, end))
        else:
            found += zip(places, places[2:], strict=False)
    return found


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


def has_letter(word: str) -> bool:
    """Return whether a word has a letter; an emoji and a number have none.

    Examples
    --------
    >>> [has_letter(word) for word in ("4829", "covid-19", "🙏")]
    [False, True, False]
    """
    return any(map(str.isalpha, word))


def is_word(text: str) -> bool:
    """Return whether a text is a single word."""
    return bool(_WORD.fullmatch(text) and CHUNK.fullmatch(text)) or is_emoji(text)


def read_data(path: str) -> list[list[str]]:
    """Return the words of each line of a data file of the package; # begins a comment line."""
    lines = (files("newfound") / "data" / path).read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]
