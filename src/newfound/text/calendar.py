"""Terms that are new in every comparison of periods: dates, numbers, time zones, single letters.

A term has one of these kinds, or none.

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

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from newfound.text.tokens import fold, read_data

__all__ = ["KINDS", "calendar_terms"]

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

    Parameters
    ----------
    terms : iterable of str
        Terms in lower case, as `TextVectorizer` has them.
    language : str, default="en"
        Language of the names, as an ISO 639 code.
    texts : sequence of str, optional
        The documents, to decide on names that are also other words; see the module.

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
