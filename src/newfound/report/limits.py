"""How much a page holds of everything, so that it stays small for a corpus of any size."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

__all__ = ["MAX_BYTES", "Limits"]

MAX_BYTES = 1_500_000


@dataclass(frozen=True)
class Limits:
    """The maximum number of everything on a page.

    Attributes
    ----------
    words : int
        Words in the table and the scatter.
    cards : int
        Words with context, rules and examples.
    examples : int
        Sentences of each side on a card.
    excerpt : int
        Characters of a sentence.
    company : int
        Partners of each side on a card.
    card_rules : int
        Rules of each side on a card.
    rules, phrases : int
        Rows of these tables; cards may add rules.
    literals : int
        Words of a rule; the others are counted.
    senses : int
        Words whose senses are compared.
    matrix : int
        Words of the context matrix.
    pairs : int
        Lines of the network.
    documents : int
        Ranked documents.
    document : int
        Characters of a document.
    forms : int
        Forms of a word.
    themes : int
        Themes, also of each period.
    theme_words, theme_rules, theme_documents, joined : int
        Words, rules, typical documents and joined pairs of a theme.
    theme_document : int
        Characters of a typical document.
    bins : int
        Bins of time; neighbours are joined if there are more.
    periods, period_words : int
        Periods of a page, and the words of each.

    Examples
    --------
    >>> Limits().words, Limits().halved().words
    (1000, 500)
    """

    words: int = 1000
    cards: int = 200
    examples: int = 3
    excerpt: int = 240
    company: int = 8
    card_rules: int = 3
    rules: int = 200
    phrases: int = 150
    literals: int = 24
    senses: int = 12
    matrix: int = 18
    pairs: int = 70
    documents: int = 120
    document: int = 700
    forms: int = 8
    themes: int = 12
    theme_words: int = 20
    theme_rules: int = 8
    theme_documents: int = 3
    theme_document: int = 400
    joined: int = 8
    bins: int = 120
    periods: int = 400
    period_words: int = 20

    def halved(self) -> Self:
        """Return limits that are half as large, but at least 1."""
        half = {field.name: max(1, getattr(self, field.name) // 2) for field in fields(self)}
        return type(self)(**half)
