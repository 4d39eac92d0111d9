"""Replace numbers, e-mail addresses and URLs in texts, before anything is kept or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import TypeVar

from newfound.text.tokens import UNSPACED_LETTERS

__all__ = ["redact", "redact_all"]

# What stands in a text instead. None of it is a word, so that nothing is learned from it.
NUMBER, ADDRESS, URL = "[#]", "[@]", "[//]"

# A letter, digit or underscore of a script that has spaces: in other scripts a whole sentence would
# be one word.
_WORD = rf"[^\W{UNSPACED_LETTERS}]"
_PRINTED = rf"[^\s{UNSPACED_LETTERS}<>\"]"
_CLOSING = ".,;:!?)]}'’”»"  # at the end of a sentence, not of what is replaced
_DOMAINS = "com|org|net|edu|gov|mil|info|biz|io|ai|app|dev|eu|uk|de|fr|ch|nl|se|dk|fi"

# Quantifiers are possessive, and a match begins where a run of its characters begins, so that the
# time is proportional to the length of any text.
_SCHEME = re.compile(rf"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]++://{_PRINTED}++")
_WWW = re.compile(rf"(?<!{_WORD})(?<![.-])www\.{_PRINTED}++", re.IGNORECASE)
_DOMAIN = re.compile(
    rf"(?<!{_WORD})(?<![.@-])(?:{_WORD}(?:{_WORD}|-)*+\.)+(?:{_DOMAINS})(?!{_WORD}|-)"
    rf"(?:[/:?#]{_PRINTED}*+)?",
    re.IGNORECASE,
)
# Whatever follows an @ without a space goes with it; else the rest could be an address again.
_ADDRESS = re.compile(rf"(?<!{_WORD})(?<![.+%'-])(?:{_WORD}|[.+%'-])++@(?:{_WORD}|[.+%'@-])*+")
_WITH_DIGIT = re.compile(rf"(?<!{_WORD})[^\W\d{UNSPACED_LETTERS}]*+\d{_WORD}*+")
_NUMBERS = re.compile(rf"{re.escape(NUMBER)}(?:[ \u00a0.,:/()+-]{{1,2}}{re.escape(NUMBER)})++")
# What a text must have for the slower patterns to find anything.
_HINTS = (
    (re.compile("://"), _SCHEME),
    (re.compile("[Ww]\\."), _WWW),
    (re.compile(rf"\.(?:{_DOMAINS})", re.IGNORECASE), _DOMAIN),
)

Value = TypeVar("Value")


def redact(text: str) -> str:
    """Return a text with numbers, e-mail addresses and URLs replaced by [#], [@] and [//].

    A number is every word with a digit in it, such as 4711, 2024-05-01, 5th and AB12345; numbers
    that only spaces and punctuation separate are one, such as a telephone number. Numbers that are
    written as words stay, and so do names.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The text; it has none of them any more, so that redacting it again changes nothing.

    Examples
    --------
    >>> redact("Call +47 22 12 34 56 or write to ann@example.org, see https://example.org/a?b=1.")
    'Call +[#] or write to [@], see [//].'
    """
    for hint, pattern in _HINTS:
        if hint.search(text):
            text = pattern.sub(partial(_replace, URL), text)
    if "@" in text:
        text = _ADDRESS.sub(partial(_replace, ADDRESS), text)
    return _NUMBERS.sub(NUMBER, _WITH_DIGIT.sub(NUMBER, text))


def redact_all(values: Iterable[Value]) -> list[Value]:
    """Return texts redacted; what is not a text, such as a missing value, stays as it is.

    Examples
    --------
    >>> redact_all(["room 12", None])
    ['room [#]', None]
    """
    return [redact(value) if isinstance(value, str) else value for value in values]  # type: ignore[misc]


def _replace(by: str, found: re.Match[str]) -> str:
    """Keep the punctuation of a sentence that ends with what is replaced."""
    return by + found[0][len(found[0].rstrip(_CLOSING)) :]
