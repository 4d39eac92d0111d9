"""Groups of known documents without labels, so that explanations have rules without labels, too.

The groups do not change the novelty of a text. They are found by k-means on weighted words; the
number of groups is the one with most evidence, see `newfound.stories.clusters.choose_groups`. Their
rules are learned as those of classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.rules.classifier import RuleClassifier, learn_rules
from newfound.rules.weighted import WeightedRules
from newfound.stories.clusters import choose_groups, group_bags, name_groups

__all__ = ["KnownGroups", "find_known_groups"]

_MAX_DOCUMENTS = 3000  # to find groups in, and to learn their rules from
_MAX_GROUPS = 30
_MIN_DOCUMENTS = 4


@dataclass(frozen=True, eq=False)
class KnownGroups:
    """Groups that were found among known documents.

    Attributes
    ----------
    names : tuple of str
        Their most characteristic words.
    rules : WeightedRules
        Their rules.
    """

    names: tuple[str, ...]
    rules: WeightedRules

    def with_terms(self, n_terms: int) -> KnownGroups:
        """Return the same groups for texts with more terms."""
        columns = np.arange(self.rules.n_features)
        return KnownGroups(self.names, self.rules.widened(columns, n_terms))


def find_known_groups(
    matrix: Any,
    terms: Sequence[str],
    usable: NDArray[np.bool_],
    rarity: NDArray[np.float64],
    *,
    classifier: RuleClassifier,
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
    classifier : RuleClassifier
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
    names = name_groups(words, codes, [terms[j] for j in columns.tolist()])
    rules = learn_rules(classifier, matrix, codes, len(names), usable)
    return None if rules is None else KnownGroups(tuple(names), rules)
