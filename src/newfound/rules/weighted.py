"""ANDs of words with whole numbers as weights for classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from newfound import _core
from newfound.machine.clauses import RuleSet
from newfound.rules.rule import Rule

__all__ = ["WeightedRule", "WeightedRules"]

_NEARLY = 50  # rules that lack one word, at most
_MAX_MADE = 1 << 16  # rules in words that are kept


@dataclass(frozen=True)
class WeightedRule:
    """A rule that matches a document, and what it weighs for a class.

    Attributes
    ----------
    words : tuple of str
        The words that a document must have; none for what every document gets.
    weight : int
        What the rule adds to the score of the class.

    Examples
    --------
    >>> str(WeightedRule(("credit", "card"), 12))
    'credit AND card: +12'
    """

    words: tuple[str, ...]
    weight: int

    def __str__(self) -> str:
        return f"{' AND '.join(self.words) or 'any document'}: {self.weight:+d}"


@dataclass(frozen=True, eq=False)
class WeightedRules(RuleSet):
    """ANDs of words with their weights for classes; no word is negated."""

    weights: sp.csr_array  # (n_rules, n_classes): what each rule adds to the score of each class
    counts: sp.csr_array  # the known documents of each class that each rule matches
    rarity: NDArray[np.float64]  # what a match adds to the length of a document, before the square
    unit: float  # what a weight of 1 is worth in the regression that the weights are from
    base: NDArray[np.int64]  # what every document adds: the weights of a rule without words
    base_rarity: float  # of that rule

    def votes(
        self, documents: Any
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Add up the weights of the rules that match each document.

        Returns the score of each class, the number of rules that match, and what they add to the
        squared length of the document.
        """
        indptr, indices = documents.indptr, documents.indices
        return self.weighted.votes(
            np.ascontiguousarray(indptr, np.int64), np.ascontiguousarray(indices, np.int32)
        )

    def nearest(self, columns: NDArray[np.int32]) -> int:
        """Return the class that most rules vote for in one text, -1 where no rule matches.

        Its terms are ascending.
        """
        votes, (n_matching,), _ = self.weighted.votes(np.array([0, len(columns)]), columns)
        if not n_matching or not len(self.classes):
            return -1
        return int(self.classes[votes[0, self.classes].argmax()])

    @cached_property
    def classes(self) -> NDArray[np.int32]:
        """The classes that a rule has a weight for."""
        return np.unique(self.weights.indices).astype(np.int32)

    @cached_property
    def without_rule(self) -> NDArray[np.bool_]:
        """Which words are not a rule by themselves."""
        found = np.ones(self.n_features, bool)
        found[self.literals[self.indptr[:-1][self.lengths == 1]]] = False
        return found

    @cached_property
    def weighted(self) -> _core.Rules:
        """The rules with their weights in the core."""
        weights = sp.csr_array(self.weights, copy=True)
        weights.sort_indices()
        return _core.Rules(
            self.native,
            weights.indptr.astype(np.int64),
            weights.indices.astype(np.int32),
            weights.data.astype(np.int64),
            np.ascontiguousarray(self.rarity**2, np.float64),
            np.ascontiguousarray(self.base, np.int64),
            float(self.base_rarity * self.base_rarity),
            float(self.unit),
            self.classes,
        )

    def explain(
        self,
        columns: NDArray[Any],
        number: int,
        name: Any,
        terms: Sequence[str],
        others: float = 0.0,
    ) -> tuple[list[tuple[Rule, float]], list[tuple[Rule, str]]]:
        """Return the rules of a class that match one text, and those that lack one word.

        The terms of the text are ascending; `others` is the squared rarity of its words that no
        rule has. Rules that match come with what each adds to the strength of the class, the
        heaviest first; the 50 heaviest that would match with one more word, with that word.
        """
        matching, lacking, square = self.weighted.explain(
            np.ascontiguousarray(columns, np.int32), number, _NEARLY
        )
        each = self.unit / math.sqrt(square + others + self.base_rarity * self.base_rarity)

        def named(j: int, weight: int) -> Rule:
            return self._named(j, weight, number, name, terms)

        found = [(named(j, weight), weight * each) for j, weight in matching]
        return found, [(named(j, weight), terms[word]) for j, weight, word in lacking]

    def _named(self, j: int, weight: int, number: int, name: Any, terms: Sequence[str]) -> Rule:
        """Return rule j in words with its weight for a class; most texts share rules."""
        made, of_terms = self.__dict__.get("_made", ({}, ()))
        if of_terms is not terms or len(made) > _MAX_MADE:
            made = {}
            self.__dict__["_made"] = made, terms
        rule: Rule | None = made.get((j, number))
        if rule is None:
            total, agrees = int(self._totals[j]), int(self.counts[j, number])
            rule = made[j, number] = Rule(
                name,
                1 if weight > 0 else -1,
                self.words(j, terms)[0],
                n_matches=total,
                support=agrees if weight > 0 else total - agrees,
                count=abs(weight),
            )
        return rule

    @cached_property
    def _totals(self) -> NDArray[np.int64]:
        """How many known documents each rule matches."""
        return np.asarray(self.counts.sum(axis=1), np.int64).ravel()
