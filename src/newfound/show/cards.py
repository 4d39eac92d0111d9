"""The words of a page one by one: their company in rules, rules, sentences, and senses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.description.context import find_senses
from newfound.description.scores import pair_strength
from newfound.rules import Clause, ClauseTable, ReadableRule, readable_rules
from newfound.show.documents import Excerpts
from newfound.show.sentences import rounded
from newfound.sides import SIDES
from newfound.table import Table
from newfound.text.corpus import Corpus

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.show.collect import Limits

__all__ = ["Company", "Examples", "Rules", "card", "senses"]

_CANDIDATES = 2  # documents to look at for each example
_GOOD_LENGTH = range(50, 201)  # characters of an easily readable sentence
_SENSES = 100  # words that are looked at
_FEWEST = 5  # documents of each side that have such a word
_PARTNERS = 3


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
    """The sentences of a page, each once."""

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


class Company:
    """Counts and scores of all pairs of some words in rules.

    The strength of a pair is that of `newfound.description.scores.pair_strength`.
    """

    def __init__(self, description: Description, words: Sequence[str]) -> None:
        self.words = list(words)
        self._numbers = {word: number for number, word in enumerate(self.words)}
        self._scores = description.context_matrix(self.words) if self.words else None
        self._strength = {side: self._strengths(side) for side in SIDES}

    def partners(self, word: str, side: str, most: int) -> list[list[Any]]:
        """Return the strongest partners of a word: word, rules with both, lift."""
        i = self._numbers[word]
        strength, scores = self._strength[side][i], self._side(side)
        order = np.argsort(-strength, kind="stable")[:most]
        return [
            [self.words[j], int(scores.F_ij[i, j]), rounded(float(scores.lift[i, j]), 3)]
            for j in order[strength[order] > 0].tolist()
        ]

    def matrix(self, words: Sequence[str]) -> dict[str, Any] | None:
        """Return counts and lifts of all pairs of these words by side; None for fewer than two."""
        if len(words) < 2:
            return None
        places = np.array([self._numbers[word] for word in words])
        square = np.ix_(places, places)
        made: dict[str, Any] = {"words": list(words)}
        for side in (*SIDES, "both"):
            scores = self._side(side)
            lifts = scores.lift[square].tolist()
            made[side] = {
                "F_i": scores.F_i[places].tolist(),
                "F_ij": scores.F_ij[square].tolist(),
                "lift": [[rounded(value, 3) for value in row] for row in lifts],
            }
        return made

    def pairs(self, words: Sequence[str], most: int) -> list[dict[str, Any]]:
        """Return the strongest pairs of these words on either side, the strongest first."""
        places = np.array(sorted(self._numbers[word] for word in words), np.intp)
        rows: list[dict[str, Any]] = []
        for side in SIDES:
            strength = np.triu(self._strength[side][np.ix_(places, places)], k=1)
            for a, b in np.argwhere(strength > 0).tolist():
                i, j, scores = places[a], places[b], self._side(side)
                rows.append(
                    {
                        "a": self.words[i],
                        "b": self.words[j],
                        "side": side,
                        "rules": int(scores.F_ij[i, j]),
                        "lift": rounded(float(scores.lift[i, j]), 3),
                        "strength": rounded(float(strength[a, b])),
                    }
                )
        rows.sort(key=lambda row: -row["strength"])
        return rows[:most]

    def _side(self, side: str) -> Any:
        assert self._scores is not None  # else there are no words
        return self._scores[side]

    def _strengths(self, side: str) -> NDArray[np.float64]:
        if self._scores is None:
            return np.zeros((0, 0))
        scores = self._scores[side]
        return np.nan_to_num(pair_strength(scores.F_ij, scores.pmi))


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


def senses(
    description: Description,
    names: Sequence[str],
    corpus: Corpus,
    excerpts: Excerpts,
    limits: Limits,
) -> list[dict[str, Any]]:
    """Return the words whose context differs most between the two sides."""
    vocabulary = description.vectorizer.vocabulary_
    columns = np.array([vocabulary[name] for name in names], np.intp)
    found = []
    for column in _candidates(corpus, columns)[: limits.senses]:
        word = names[int(np.flatnonzero(columns == column)[0])]
        context = description.context(word, n=1)
        sense = find_senses(word, int(column), corpus, excerpts.finder, context, n=_PARTNERS)
        sides = {side: _partners(sense[side], excerpts, limits) for side in SIDES}
        if all(sides.values()):
            found.append({"word": word, **sides})
    return found


def _candidates(corpus: Corpus, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rank words by how strongly their context differs between the sides.

    The context of a word on a side is the words that are in documents with it more often than by
    chance, in standard deviations. The rank of a word is that of the weaker of its two sides.
    """
    bags = sparse.csr_array(corpus.matrix, dtype=np.float64)
    sides = [bags[~corpus.novel], bags[corpus.novel]]
    frequencies = np.stack([np.asarray(side.sum(axis=0)).ravel() for side in sides])
    shares = (frequencies / [[max(side.shape[0], 1)] for side in sides])[:, columns].min(axis=0)
    shares[frequencies[:, columns].min(axis=0) < _FEWEST] = 0
    order = np.argsort(-shares, kind="stable")[:_SENSES]
    chosen: NDArray[np.intp] = columns[order[shares[order] > 0]]
    if not len(chosen):
        return chosen
    drawn = []
    for side, frequency in zip(sides, frequencies, strict=True):
        together = (side[:, chosen].T @ side).tocoo()
        chance = frequency[chosen][together.row] * frequency[together.col] / side.shape[0]
        together.data = np.maximum(together.data - chance, 0) / np.sqrt(chance + 1)
        together.data[chosen[together.row] == together.col] = 0
        drawn.append(together.tocsr())
    strength = np.stack([_best(drawn[0] - drawn[1]), _best(drawn[1] - drawn[0])]).min(axis=0)
    ranked: NDArray[np.intp] = chosen[np.argsort(-strength, kind="stable")]
    return ranked


def _best(company: Any) -> NDArray[np.float64]:
    """Return the sum of the strongest context of each word."""
    company = sparse.csr_array(company)
    return np.array(
        [
            np.sort(company.data[begin:end])[-_PARTNERS:].clip(0).sum()
            for begin, end in zip(company.indptr[:-1], company.indptr[1:], strict=True)
        ]
    )


def _partners(table: Table, excerpts: Excerpts, limits: Limits) -> list[dict[str, Any]]:
    return [
        {
            "word": row["word"],
            "documents_known": row["documents_known"],
            "documents_novel": row["documents_novel"],
            "example": excerpts.opening(row["example"], limits.excerpt) if row["example"] else None,
        }
        for row in table.take(slice(_PARTNERS))
    ]
