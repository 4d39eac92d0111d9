"""Whether names of themes are phrases of their documents, as a reader would look for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from newfound.stories.themes import Theme
from newfound.text.tokens import fold

__all__ = ["NameCheck", "check_name", "check_names"]

HALF = 0.5
_NOT_WORD = re.compile(r"[\W_]+")


class NameCheck(NamedTuple):
    """What is true of the name of a theme.

    Attributes
    ----------
    single : bool
        It is one word.
    whole : bool
        It is one phrase that half of the documents have, word by word.
    any_phrase : bool
        Half of the documents have one of its phrases.
    in_typical : bool
        The first typical document has its first phrase.
    n_phrases : int
        How many phrases it has.
    share : float
        The share of the documents that have its first phrase.
    """

    single: bool
    whole: bool
    any_phrase: bool
    in_typical: bool
    n_phrases: int
    share: float

    @property
    def good(self) -> bool:
        """Whether it is one word, or a phrase of half of the documents."""
        return self.single or self.whole


def check_name(theme: Theme, texts: Sequence[str]) -> NameCheck:
    """Look for the phrases of the name in the documents of the theme's own side.

    Case, punctuation and line breaks do not matter; inflection does.
    """
    own = theme.known_documents if theme.gone else theme.novel_documents
    phrases = [f" {_plain(phrase)} " for phrase in theme.name.split(", ")]
    found = [[phrase in f" {_plain(texts[row])} " for phrase in phrases] for row in own.tolist()]
    first = sum(row[0] for row in found) / max(len(found), 1)
    covered = sum(map(any, found)) / max(len(found), 1)
    typical = bool(theme.typical) and phrases[0] in f" {_plain(texts[theme.typical[0]])} "
    return NameCheck(
        single=len(phrases) == 1 and len(phrases[0].split()) == 1,
        whole=len(phrases) == 1 and first >= HALF,
        any_phrase=covered >= HALF,
        in_typical=typical,
        n_phrases=len(phrases),
        share=first,
    )


def check_names(themes: Iterable[Theme], texts: Sequence[str]) -> list[NameCheck]:
    """Check the names of the themes that are not marked as chance."""
    return [check_name(theme, texts) for theme in themes if not theme.may_be_chance]


def _plain(text: str) -> str:
    return _NOT_WORD.sub(" ", fold(text)).strip()
