"""Groups of known documents without labels, so that explanations have rules without labels, too.

The groups do not change the novelty of a text. They are found by k-means on weighted words; the
number of groups is the one with most evidence, see `newfound.detection.groups.choose_groups`. A
Tsetlin Machine learns rules for them, as it does for classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.detection.groups import characteristic, choose_groups, group_bags
from newfound.detection.rulebank import RuleBank, learn_rules
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.rules import Rule

__all__ = ["KnownGroups", "find_known_groups"]

_MAX_DOCUMENTS = 3000  # to find groups in, and to learn their rules from
_MAX_GROUPS = 30
_MIN_DOCUMENTS = 4
_NAME = 3  # words


@dataclass(frozen=True, eq=False)
class KnownGroups:
    """Groups that were found among known documents.

    Attributes
    ----------
    names : tuple of str
        Their most characteristic words.
    bank : RuleBank
        Their rules.
    """

    names: tuple[str, ...]
    bank: RuleBank
    _rules: dict[int, tuple[Rule, ...]] = field(default_factory=dict, repr=False)

    def nearest(self, matrix: Any) -> NDArray[np.int64]:
        """Return the number of the group of each bag: the one that most rules vote for."""
        found: NDArray[np.int64] = self.bank.class_sums(matrix).argmax(axis=1).astype(np.int64)
        return found

    def rules(self, number: int, terms: Sequence[str]) -> tuple[Rule, ...]:
        """Return the rules of a group."""
        if number not in self._rules:
            self._rules[number] = tuple(self.bank.rules(number, self.names[number], terms))
        return self._rules[number]


def find_known_groups(
    matrix: Any,
    terms: Sequence[str],
    usable: NDArray[np.bool_],
    rarity: NDArray[np.float64],
    *,
    machine: TsetlinMachineClassifier,
    seed: int,
) -> KnownGroups | None:
    """Find groups of known documents, and learn their rules.

    Parameters
    ----------
    matrix : Boolean CSR matrix
        Bags of known documents.
    terms : sequence of str
        The name of each column.
    usable : ndarray of bool
        The columns that groups and rules may use.
    rarity : ndarray of float
        How much each column counts for the similarity of documents.
    machine : TsetlinMachineClassifier
        Not fitted.
    seed : int
        Seed of the sample and of the clustering.

    Returns
    -------
    KnownGroups or None
        None if there are too few documents or no usable words.
    """
    n = matrix.shape[0]
    if n > _MAX_DOCUMENTS:
        rows = np.random.RandomState(seed).permutation(n)[:_MAX_DOCUMENTS]
        matrix, n = matrix[np.sort(rows)], _MAX_DOCUMENTS
    columns = np.flatnonzero(usable)
    if n < _MIN_DOCUMENTS or not len(columns):
        return None
    words = matrix[:, columns]
    codes = choose_groups(words, rarity[columns], seed, _MAX_GROUPS)
    if not codes.any():  # no evidence for groups; two of them still give rules
        codes = group_bags(words, 2, seed)
    bank = learn_rules(machine, matrix, codes, usable)
    if bank is None:
        return None
    return KnownGroups(tuple(_names(words, [terms[j] for j in columns.tolist()], codes)), bank)


def _names(words: Any, terms: Sequence[str], codes: NDArray[np.int64]) -> list[str]:
    frequencies, names = np.asarray(words.sum(axis=0)).ravel(), []
    for k, size in enumerate(np.bincount(codes).tolist()):
        counts = np.asarray(words[codes == k].sum(axis=0)).ravel()
        scores = characteristic(counts, size, frequencies, len(codes))
        names.append(", ".join(terms[j] for j in np.argsort(-scores, kind="stable")[:_NAME]))
    return names
