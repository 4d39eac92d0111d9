"""Whether names of themes are phrases of their documents, as a reader would look for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lab.datasets import LabelledDocuments
from newfound.description.describe import describe
from newfound.stories.themes import Theme
from newfound.text.tokens import fold

__all__ = ["NameCheck", "NameChecks", "check_name", "months"]

HALF = 0.5
N_BEFORE = 20_000  # documents before a month, at most
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


class NameChecks:
    """The checks of the names in several descriptions, by data and by kind of theme."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._checks: dict[tuple[str, str], list[NameCheck]] = {}

    def describe(
        self, data: str, draw: str, known: Sequence[str], novel: Sequence[str], **parameters: Any
    ) -> None:
        """Describe texts, and check the names of the themes that are not marked as chance."""
        found = describe(known, novel, random_state=0, **parameters).description_.all_themes
        texts = [*known, *novel]
        parts = [part for theme in found.themes for part in theme.parts]
        for kind, themes in (("themes", found.themes), ("parts", parts), ("gone", found.gone)):
            sure = [check_name(theme, texts) for theme in themes if not theme.may_be_chance]
            self._checks.setdefault((data, kind), []).extend(sure)
        shown = (f"{theme.name}{'?' if theme.may_be_chance else ''}" for theme in found.themes)
        self._say(f"names: {data}, {draw}: {'; '.join(shown)}")

    def rows(self) -> list[dict[str, Any]]:
        """Return which shares of the names are as they should be."""
        return [
            {"data": data, "kind": kind, "names": len(some), **_shares(some)}
            for (data, kind), some in self._checks.items()
            if some
        ]


def months(corpus: LabelledDocuments) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """Yield each month but the first, the documents before it, and its own, in order of date."""
    dates = np.array([f"{date:%Y-%m}" for date in corpus.dates or ()])
    for month in np.unique(dates)[1:].tolist():
        rows = np.flatnonzero(dates == month)
        known = corpus.texts[max(0, rows[0] - N_BEFORE) : rows[0]]
        yield month, known, corpus.texts[rows[0] : rows[-1] + 1]


def _shares(checks: Sequence[NameCheck]) -> dict[str, float]:
    def share(values: Iterable[float]) -> float:
        return float(np.mean(list(values)))

    return {
        "one word or in half": share(check.good for check in checks),
        "of one word": share(check.single for check in checks),
        "of several phrases": share(check.n_phrases > 1 for check in checks),
        "a phrase in half": share(check.any_phrase for check in checks),
        "in typical": share(check.in_typical for check in checks),
        "share": share(check.share for check in checks),
    }


def _plain(text: str) -> str:
    return _NOT_WORD.sub(" ", fold(text)).strip()
