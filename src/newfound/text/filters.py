"""Words to leave out: a file of stop words, a regular expression, and kinds of terms.

Terms of these kinds are new in every comparison of periods.

* ``date``: names of months and weekdays with their abbreviations, years from 1800 to 2099
  (``2003``), decades (``1990s``), ordinals up to 31 (``3rd``) and times of day (``10am``).
* ``number``: other numbers, ordinals, and numbers with a unit (``45m``, ``3bn``, ``100km``,
  ``27-year-old``). A name made of digits (``747``) is a number too: no rule tells them apart.
  Numbers in words (*three*, *third*) are words.
* ``zone``: time zones (``gmt``, ``est``).
* ``letter``: one letter of a script with capitals. One Chinese or Japanese character is a word.

Some names are also other words: *march*, *sun*, *sat*, *pm*. Such a name is a date if the
texts say so: at least half of the places where it stands are next to a number, to another date, or
after a word such as "in", "last" or "since". Without texts it is a word.

The names are in ``newfound/data/calendar/names.txt``. For a language without names there, only
numbers and single letters are found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newfound.text.tokens import fold, read_data, stop_words, tokenize

__all__ = ["KINDS", "add_stop_words", "calendar_terms", "compile_ignore", "read_stop_words"]


def read_stop_words(path: str | os.PathLike[str]) -> frozenset[str]:
    r"""Return the words of a file with one word a line.

    The file is text in UTF-8. ``#`` begins a comment, and blank lines are skipped. Words are
    returned in lower case.

    To add them to the list of a language, use ``stop_words(language) | read_stop_words(path)``. A
    file that cannot be read or a line that is not one word is a `ValueError` with the line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "words.txt")
    ...     _ = path.write_text("Reuters  # the agency\n\n# weekdays\nmonday\n")
    ...     sorted(read_stop_words(path))
    ['monday', 'reuters']
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(
            f"The stop words in {path} cannot be read: {error.strerror or error}."
        ) from None
    words: set[str] = set()
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        try:
            text = line.decode("utf-8").partition("#")[0].strip()
        except UnicodeDecodeError:
            raise ValueError(f"{path}, line {number}: not UTF-8; save the file as UTF-8.") from None
        tokens = tokenize(text)
        if text and (len(tokens) != 1 or tokens[0].surface != text):
            what = "has several words" if len(tokens) > 1 else "is not a word"
            raise ValueError(f"{path}, line {number}: {text!r} {what}; write one word a line.")
        words.update(token.term for token in tokens)
    return frozenset(words)


def add_stop_words(words: Iterable[str], language: str | None = None) -> list[str]:
    """Return the default stop words of a language and others.

    Raises
    ------
    ValueError
        If one of the others is not one word.

    Examples
    --------
    >>> {"the", "reuters"} <= set(add_stop_words(["Reuters"]))
    True
    """
    more = set()
    for word in words:
        tokens = tokenize(word)
        if len(tokens) != 1 or tokens[0].surface != word.strip():
            raise ValueError(f"stop_words: {word[:60]!r} is not one word; pass each word alone.")
        more.add(tokens[0].term)
    return sorted(stop_words(language or "en") | more)


def compile_ignore(pattern: str) -> re.Pattern[str]:
    r"""Return the compiled form of a regular expression for words to leave out.

    A word is left out if the expression matches the whole of it, in lower case as it stands in the
    text, or the whole of its lemma. Case is ignored. To match a part of a word, begin and end with
    ``.*``. A pair of words is left out with either of its words.

    An expression with an error is a `ValueError`, and so is one that matches the empty text, as
    ``a*`` for ``a.*`` would.

    Examples
    --------
    >>> ignore = compile_ignore(r"\d+|rt|http.*")
    >>> [bool(ignore.fullmatch(word)) for word in ("2003", "rt", "https", "start", "mp3")]
    [True, True, True, False, False]
    """
    if not isinstance(pattern, str):
        raise ValueError(f"ignore={pattern!r}: expected a regular expression as a str, or None.")
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise ValueError(
            f"ignore={pattern!r} is no regular expression: {error.msg}{where}; put \\ before a "
            "character that stands for itself."
        ) from None
    if compiled.fullmatch(""):
        raise ValueError(
            f"ignore={pattern!r} matches the empty text, and perhaps every word; write what the "
            "words to leave out have in common."
        )
    return compiled


KINDS = ("date", "number", "zone", "letter")

_UNITS = (
    r"[kmbtcfglvwpxsh]|mn|mln|bn|tn|pct?|[km]g|kgs|lbs?|oz|kms?|kmh|[km]ph|[cm]m|ft|yds?|ha|ml"
    r"|[kmgt]b|[kmg]?hz|[km]w|cc|secs?|mins?|hrs?|yrs?|yo"
)
_PERIOD = r"(?:second|minute|hour|day|week|month|year)s?"
_PATTERNS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("date", r"(?:18|19|20)\d\d|(?:1[0-9]|20)?\d0'?s"),
        ("date", r"(?:[012]?(?:1st|2nd|3rd|[04-9]th)|1[0-9]th|30th|31st)"),
        ("date", r"(?:[01]?\d|2[0-4])(?:[0-5]\d)?(?:am|pm|h|uhr)|\d?\d(?:am|pm)"),
        ("number", r"\d+"),
        ("number", r"\d+(?:st|nd|rd|th|º|ª|er|ère|ème|e)"),
        ("number", rf"\d+-?(?:{_UNITS}|{_PERIOD}(?:-olds?)?)"),
    )
)
_STAMP = re.compile(r"\d{1,4}([^\W\d]+)\d*")  # 1993apr20, 3april
_PREFIX = re.compile(r"(?:mid|early|late|pre|post)-")
_BEFORE_A_DATE = "in|since|until|till|last|next|early|late|mid|during|every"
_NEAR = 24  # characters on each side of a name that tell whether it is a date


def calendar_terms(
    terms: Iterable[str], language: str = "en", texts: Sequence[str] | None = None
) -> NDArray[np.str_]:
    """Return the kind of each term: one of `KINDS`, or an empty text for a word.

    A pair of words has a kind if both words have one.

    Terms are in lower case, as `TextVectorizer` has them; the texts decide on names that are also
    other words.

    Examples
    --------
    >>> terms = ["sars", "april", "3rd", "2003", "45m", "gmt", "o", "march", "3 april"]
    >>> calendar_terms(terms).tolist()
    ['', 'date', 'date', 'date', 'number', 'zone', 'letter', '', 'date']
    >>> calendar_terms(["march"], texts=["Rain on 3 March", "Sales since March"]).tolist()
    ['date']
    """
    clear, unclear = _names(language)
    names, terms = dict(clear), list(terms)
    # mid-march has the name march
    words = {part for term in terms for word in term.split(" ") for part in word.split("-")}
    asked = sorted(words.intersection(unclear))
    if texts is not None and asked:
        names.update((name, unclear[name]) for name in _names_of_dates(asked, clear, texts))
    return np.array([_kind(term, names) for term in terms], dtype="<U6")


def _kind(term: str, names: dict[str, str]) -> str:
    if " " in term:
        kinds = {_kind(word, names) for word in term.split(" ")}
        return "" if "" in kinds else min(kinds, key=KINDS.index)
    named = names.get(term) or names.get(_PREFIX.sub("", term, count=1))
    if named:
        return named
    if len(term) == 1 and term.isalpha() and term.lower() != term.upper():
        return "letter"
    if any(map(str.isdecimal, term[:2])):
        for kind, pattern in _PATTERNS:
            if pattern.fullmatch(term):
                return kind
        stamp = _STAMP.fullmatch(term)
        if stamp and names.get(stamp[1]) == "date":
            return "date"
    return ""


def _names_of_dates(unclear: list[str], names: dict[str, str], texts: Sequence[str]) -> list[str]:
    """Return the unclear names that mostly stand where a date does."""
    anywhere = re.compile(rf"(?<![\w'-])(?:{'|'.join(map(re.escape, unclear))})(?![\w'-])")
    dates = [re.escape(name) for name, kind in names.items() if kind == "date"]
    date = rf"(?:\d+(?:st|nd|rd|th)?|{'|'.join(dates)})"
    before = re.compile(rf"(?:\b(?:{date}|{_BEFORE_A_DATE})|\d)[\s.,/:(-]*$")
    after = re.compile(rf"[\s.,/:)-]*{date}\b")
    found, dated = dict.fromkeys(unclear, 0), dict.fromkeys(unclear, 0)
    for text in texts:
        folded = fold(text)
        for match in anywhere.finditer(folded):
            start, end = match.span()
            found[match[0]] += 1
            near = folded[max(0, start - _NEAR) : start]
            if before.search(near) or after.match(folded, end, end + _NEAR):
                dated[match[0]] += 1
    return [name for name in unclear if found[name] and 2 * dated[name] >= found[name]]


@lru_cache
def _names(language: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the kind of each clear name of a language, and the names that are also words."""
    clear: dict[str, str] = {}
    unclear: dict[str, str] = {}
    for code, kind, *names in read_data("calendar/names.txt"):
        if code == language:
            unclear.update((name[:-1], kind) for name in names if name.endswith("*"))
            clear.update((name, kind) for name in names if not name.endswith("*"))
    return clear, unclear
