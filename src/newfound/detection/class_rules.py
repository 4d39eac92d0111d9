"""Rules of known classes, over the terms of a detector; see `newfound.rules.classifier`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from newfound import _core
from newfound.machine.clauses import EpochInfo
from newfound.rules import Rule
from newfound.rules.classifier import RuleClassifier
from newfound.rules.weighted import WeightedRules

__all__ = ["ClassRules", "learn_rules", "new_classifier"]

_NEARLY = 50  # rules that lack one word, at most
_MAX_MADE = 1 << 16  # rules in words that are kept
_LONGEST = 16  # words of a rule, where no maximum is given


class ClassRules:
    """Rules of known classes.

    Parameters
    ----------
    rules : WeightedRules
        The rules, over all terms; those of a class that was not learned have no weights.
    counts : (n_rules, n_classes) sparse array of int
        How many known documents of each class each rule matches.
    """

    def __init__(self, rules: WeightedRules, counts: sp.csr_array) -> None:
        self.rules, self.counts = rules, counts
        self._totals = np.asarray(counts.sum(axis=1), np.int64).ravel()
        # Rules in words, for the terms that they were made with; most texts share rules.
        self._made: tuple[dict[tuple[int, int], Rule], Sequence[str]] = {}, ()
        self._present = np.unique(rules.weights.indices)

    def votes(self, texts: Any) -> NDArray[np.int64]:
        """Return the weights of the rules that match, added up, a column for each class.

        Parameters
        ----------
        texts : Bags or Boolean CSR matrix
            The terms of each.
        """
        return self.rules.scores(self.rules.conjunctions.matching(texts.indptr, texts.indices))

    def nearest(self, columns: NDArray[np.int32]) -> int:
        """Return the class that most rules vote for in one text, -1 where no rule matches.

        Parameters
        ----------
        columns : ndarray of int
            The terms of the text, ascending.
        """
        matches = self.rules.conjunctions.matching(np.array([0, len(columns)]), columns)
        if not len(matches.rules) or not len(self._present):
            return -1
        votes = self.rules.scores(matches)[0, self._present]
        return int(self._present[votes.argmax()])

    @cached_property
    def native(self) -> _core.Rules:
        """The rules, in the core."""
        rules = self.rules
        weights = sp.csr_array(rules.weights, copy=True)
        weights.sort_indices()
        return _core.Rules(
            rules.conjunctions.native,
            weights.indptr.astype(np.int64),
            weights.indices.astype(np.int32),
            weights.data.astype(np.int64),
            np.ascontiguousarray(rules.rarity**2, np.float64),
            np.ascontiguousarray(rules.base, np.int64),
            float(rules.base_rarity * rules.base_rarity),
            float(rules.unit),
            self._present.astype(np.int32),
        )

    @cached_property
    def without_rule(self) -> NDArray[np.bool_]:
        """Which terms are not a rule by themselves."""
        found = np.ones(self.rules.conjunctions.n_words, bool)
        found[[words[0] for words in self.rules.conjunctions.words if len(words) == 1]] = False
        return found

    def with_terms(self, n_terms: int) -> ClassRules:
        """Return the same rules for texts with more terms, which follow those that there were."""
        columns = np.arange(self.rules.conjunctions.n_words)
        return ClassRules(self.rules.with_columns(columns, n_terms), self.counts)

    def explain(
        self,
        columns: NDArray[Any],
        number: int,
        name: Any,
        terms: Sequence[str],
        others: float = 0.0,
    ) -> tuple[list[tuple[Rule, float]], list[tuple[Rule, str]]]:
        """Return the rules of a class that match one text, and those that lack one word.

        Parameters
        ----------
        columns : ndarray of int
            The terms of the text.
        number : int
            The class.
        name : object
            Its name.
        terms : sequence of str
            The name of each term.
        others : float, default=0
            The squared rarity of its words that no rule has.

        Returns
        -------
        matching : list of (Rule, float)
            The rules that match, and what each adds to the strength of the class, the heaviest
            first.
        lacking : list of (Rule, str)
            The rules for the class that would match with one more word, and the word: the 50
            heaviest.
        """
        matching, lacking, square = self.native.explain(
            np.ascontiguousarray(columns, np.int32), number, _NEARLY
        )
        made, of_terms = self._made
        if of_terms is not terms or len(made) > _MAX_MADE:
            made = {}
            self._made = made, terms

        def named(j: int, weight: int) -> Rule:
            rule = made.get((j, number))
            if rule is None:
                rule = made[j, number] = self._rule(j, weight, number, name, terms)
            return rule

        each = self.rules.unit / math.sqrt(
            square + others + self.rules.base_rarity * self.rules.base_rarity
        )
        found = [(named(j, weight), weight * each) for j, weight in matching]
        return found, [(named(j, weight), terms[word]) for j, weight, word in lacking]

    def _rule(self, j: int, weight: int, number: int, name: Any, terms: Sequence[str]) -> Rule:
        """Return rule j with its weight for a class."""
        total, agrees = int(self._totals[j]), int(self.counts[j, number])
        return Rule(
            name,
            1 if weight > 0 else -1,
            tuple([terms[i] for i in self.rules.conjunctions.words[j]]),
            n_matches=total,
            support=agrees if weight > 0 else total - agrees,
            count=abs(weight),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the rules that were made, and the core's part, behind."""
        kept = {name: value for name, value in self.__dict__.items() if name != "native"}
        return {**kept, "_made": ({}, ())}


def new_classifier(parameters: Mapping[str, Any], seed: int) -> RuleClassifier:
    """Return an unfitted classifier by rules, with the parameters of a detector."""
    names = ("n_clauses", "T", "s", "epochs", "n_jobs")
    longest = parameters["max_literals"]
    return RuleClassifier(
        **{name: parameters[name] for name in names},
        max_words=_LONGEST if longest is None else longest,
        min_matches=1,
        random_state=seed,
    )


def learn_rules(
    classifier: RuleClassifier,
    matrix: Any,
    codes: NDArray[np.int64],
    n_classes: int,
    usable: NDArray[np.bool_],
    callback: Callable[[EpochInfo], bool | None] | None = None,
) -> ClassRules | None:
    """Learn rules for classes; return None if there is only one class or no usable word.

    Parameters
    ----------
    classifier : RuleClassifier
        Not fitted.
    matrix : Boolean CSR matrix
        Bags of known documents.
    codes : ndarray of int
        The index of the class of each.
    n_classes : int
        The number of classes; some may have no document.
    usable : ndarray of bool
        The terms that rules may use.
    callback : callable, optional
        Called with an `EpochInfo` after each epoch of the machine.
    """
    columns = np.flatnonzero(usable)
    if not len(columns) or len(np.unique(codes)) < 2:
        return None
    classifier.fit(matrix[:, columns], codes, callback=callback)
    found = classifier.rules_.with_columns(columns, matrix.shape[1])
    weights, classes = sp.coo_array(found.weights), np.asarray(classifier.classes_)
    places = (weights.row, classes[weights.col])
    base = np.zeros(n_classes, np.int64)
    base[classes] = found.base
    widened = sp.csr_array((weights.data, places), (len(found), n_classes))
    rules = replace(found, weights=widened, base=base)
    n = len(codes)
    member = sp.csr_array((np.ones(n, np.int64), codes, np.arange(n + 1)), (n, n_classes))
    matches = rules.conjunctions.matches(matrix)
    return ClassRules(rules, sp.csr_array(matches.T.astype(np.int64) @ member))
