"""The cards of words: context, rules, and sentences of both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.report.context import Company
from newfound.report.excerpts import Excerpts
from newfound.report.limits import Limits
from newfound.report.words import rounded
from newfound.rules import Clause, ClauseTable, ReadableRule, readable_rules
from newfound.sides import SIDES
from newfound.text.corpus import Corpus

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["Examples", "Rules", "card"]

_CANDIDATES = 2  # documents to look at for each example
_GOOD_LENGTH = range(50, 201)  # characters of an easily readable sentence


class Rules:
    """The rules of a page, each once, with the first of its words."""

    def __init__(self, literals: int) -> None:
        self.literals = literals
        self.rows: list[dict[str, Any]] = []
        self._numbers: dict[Clause, int] = {}

    def add(self, rules: Iterable[ReadableRule], *, listed: bool = False) -> list[int]:
        """Add rules, unless they are there, and return their numbers on the page.

        Those that are listed are in the table of rules; the others are on cards only.
        """
        return [self._number(rule, listed) for rule in rules]

    def _number(self, found: ReadableRule, listed: bool) -> int:
        clause = found.rule
        number = self._numbers.setdefault(clause, len(self.rows))
        if number == len(self.rows):
            plain = clause.plain[: self.literals]
            negated = clause.negated[: max(self.literals - len(plain), 2)]
            self.rows.append(
                {
                    "plain": list(plain),
                    "negated": list(negated),
                    "more": len(clause.plain + clause.negated) - len(plain + negated),
                    "side": clause.side,
                    "documents_novel": clause.matches_novel,
                    "documents_known": clause.matches_known,
                    "precision": rounded(clause.precision),
                    "held_out_precision": rounded(clause.held_out_precision),
                    "base_rate": rounded(found.base_rate),
                    "gain": rounded(found.gain),
                    "variants": found.variants,
                    "listed": listed,
                    "count": clause.count,
                }
            )
        return number


class Examples:
    """The sentences of a page, each once.

    Parameters
    ----------
    corpus : Corpus
        The texts.
    excerpts : Excerpts
        Cuts sentences out of the texts.
    scores : array of float
        The novelty of each document; novel examples are taken from the most novel documents,
        known examples from the least novel.
    limits : Limits
        The number of examples, and their length.
    """

    def __init__(
        self, corpus: Corpus, excerpts: Excerpts, scores: NDArray[np.float64], limits: Limits
    ) -> None:
        self.corpus = corpus
        self.excerpts = excerpts
        self.limits = limits
        self.rows: list[dict[str, Any]] = []
        self._scores = scores
        self._numbers: dict[tuple[int, str], int] = {}

    def of(self, word: str, *, novel: bool) -> list[int]:
        """Return the numbers of the best sentences with a word from one side."""
        rows = self.corpus.with_word(self.excerpts.vectorizer.vocabulary_[word])
        own = rows[self.corpus.novel[rows] == novel]
        own = own[np.argsort(-self._scores[own] if novel else self._scores[own], kind="stable")]
        found = sorted(self._sentences(word, own.tolist()), key=lambda pair: _roughness(pair[1]))
        return [self._number(row, excerpt) for row, excerpt in found[: self.limits.examples]]

    def _sentences(self, word: str, rows: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        seen = set()
        for row in rows[: 4 * _CANDIDATES * self.limits.examples]:
            excerpt = self.excerpts.sentence(self.corpus.texts[row], word, self.limits.excerpt)
            if excerpt is None:  # a pair that the cut of a very long sentence separated
                continue
            text = " ".join(_text(excerpt).split()).casefold()
            if text not in seen:
                seen.add(text)
                yield row, excerpt
            if len(seen) == _CANDIDATES * self.limits.examples:
                return

    def _number(self, row: int, excerpt: dict[str, Any]) -> int:
        # The same sentence has other marks on the card of a pair of words.
        number = self._numbers.setdefault((row, repr(excerpt["pieces"])), len(self.rows))
        if number == len(self.rows):
            novel = bool(self.corpus.novel[row])
            self.rows.append({**excerpt, "name": self.corpus.names[row][:80], "novel": novel})
        return number


def card(
    description: Description,
    word: str,
    company: Company,
    rules: Rules,
    examples: Examples | None,
    limits: Limits,
) -> dict[str, Any]:
    """Return what a card shows in addition to the columns of the table of words."""
    found: dict[str, Any] = {
        "company": {side: company.partners(word, side, limits.company) for side in SIDES},
        "rules": _rules_with(description.clauses, word, rules, limits.card_rules),
    }
    if examples is not None:
        found["examples"] = {side: examples.of(word, novel=side == "novel") for side in SIDES}
    return found


def _rules_with(clauses: ClauseTable, word: str, rules: Rules, most: int) -> list[int]:
    """Return the best rules of each side with the plain word, or else with its negation."""
    for negated in (False, True):
        found = clauses.containing(word, plain=not negated, negated=negated)
        numbers = rules.add(readable_rules(found, most, negated_only=negated))
        if numbers:
            return numbers
    return []


def _roughness(excerpt: dict[str, Any]) -> tuple[bool, bool]:
    """Return a sort key that puts whole sentences of a readable length first."""
    return "before" in excerpt or "after" in excerpt, len(_text(excerpt)) not in _GOOD_LENGTH


def _text(excerpt: dict[str, Any]) -> str:
    return "".join(piece if isinstance(piece, str) else piece[0] for piece in excerpt["pieces"])
