"""Rules worth reading: each once, without its variants, in one order for every list.

Machines learn many rules that say almost the same: a word, the word without this or that other
word, the word with a second one. A list shows the best of them and counts the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped,unused-ignore]

from newfound.arithmetic import binomial_tail, log
from newfound.rules.rule import Clause
from newfound.rules.table import ClauseTable

__all__ = ["LISTED_Q", "ReadableRule", "readable_rules"]

LISTED_Q = 0.05  # the expected share of rules in a list that are no better than the base rate

_CHANCE = 0.05  # p-value of a listed rule on held-out documents, at most
_ALIKE = 0.5  # the share of plain words in common from which two rules are variants


@dataclass(frozen=True)
class ReadableRule:
    """A rule of a list, and what a reader has to know about it."""

    rule: Clause
    variants: int  # other rules of its side that say almost the same and are left out
    base_rate: float  # the share of all documents on its side: what a rule that says nothing has
    gain: float  # the share of its side's documents that it matches, minus that of the other's

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data, with its base rate and the number of its variants."""
        return {**self.rule.to_dict(), "base_rate": self.base_rate, "variants": self.variants}


def readable_rules(
    clauses: ClauseTable, most: int, *, negated_only: bool = False, max_q: float = 1.0
) -> list[ReadableRule]:
    """Return the rules that separate the sides best, those for novel before those for known.

    A rule is left out if it is no better than the base rate of its side, or a variant of a better
    one: their plain words are the same for at least a half, or those of one are among those of the
    other. Documents that were held out take no part in this choice. With `max_q` they say of each
    rule that was chosen whether it holds: one that is no better than the base rate there, beyond
    chance, is left out with its variants. `Clause.held_out_precision` of the others is then a
    little too high.

    `max_q` is the expected share of rules that are better than the base rate by chance only
    (Benjamini-Hochberg over the rules of a side, a binomial test on documents that were not held
    out). Below 1, each must also be better on documents that were held out: a binomial test, p
    0.05. Where too few match for any outcome to be so rare, it is enough to be right more often
    than the base rate, and as many wrong documents are allowed among more of them. So another right
    document never drops a rule. 1 keeps all.

    Examples
    --------
    >>> table = ClauseTable.from_clauses(
    ...     [
    ...         Clause("novel", 1, ("rugby",), ("wicket",), 0, 8),
    ...         Clause("novel", 1, ("rugby", "scrum"), (), 0, 4),
    ...         Clause("novel", 1, ("penalty",), (), 1, 3),
    ...         Clause("novel", 1, ("ball",), (), 7, 2),
    ...         Clause("known", 1, (), ("rugby",), 9, 1),
    ...     ]
    ... )
    >>> for found in readable_rules(table, 10):
    ...     print(found.rule, found.variants)
    rugby AND NOT wicket → novel 1
    penalty → novel 0
    """
    ranked = clauses.sorted()
    plain = ranked.plain.astype(np.int64)
    sizes = np.diff(plain.indptr)
    gain, total = ranked.gain, max(sum(ranked.n_documents), 1)
    better = (gain > 0) & ((sizes > 0) | negated_only)
    found = []
    for novel in (True, False):
        left = better & (ranked.is_novel == novel)
        base = ranked.n_documents[int(novel)] / total
        holds = np.ones(len(ranked), bool)
        if max_q < 1:
            left &= _q_values(ranked, ranked.is_novel == novel, base) <= max_q
            holds = _holds(ranked.held_out, base)
        listed = 0
        while listed < most and left.any():
            row = int(np.argmax(left))
            alike = left & _variants(plain, sizes, row)
            alike[row] = True
            left &= ~alike
            # One that does not hold goes with its variants: of many, one would hold by chance.
            if holds[row]:
                listed += 1
                found.append(
                    ReadableRule(ranked[row], int(alike.sum()) - 1, base, float(gain[row]))
                )
    return found


def _q_values(
    clauses: ClauseTable, tested: NDArray[np.bool_], base_rate: float
) -> NDArray[np.float64]:
    """Return the q-value of each tested clause: that it is right no more often than by chance."""
    found = np.ones(len(clauses))
    if tested.any():
        matches, agrees = (
            counts[tested] - held_out[tested]
            for counts, held_out in zip(
                (clauses.arrays.matches, clauses.arrays.agrees), clauses.held_out, strict=True
            )
        )
        found[tested] = stats.false_discovery_control(binomial_tail(agrees, matches, base_rate))
    return found


def _holds(held_out: NDArray[np.int64], base_rate: float) -> NDArray[np.bool_]:
    """Return which rules are better than the base rate on documents that were held out.

    Another right document never drops a rule, and another wrong one never saves it.
    """
    matches, agrees = held_out
    wrong = matches - agrees
    # Of so many documents, even a rule that is always right may be so by chance.
    too_few = np.ceil(log(_CHANCE) / log(base_rate)) - 1 if 0 < base_rate < 1 else 0
    counted = np.minimum(matches, too_few)
    few_wrong = counted - wrong > base_rate * counted
    significant = binomial_tail(agrees, matches, base_rate) <= _CHANCE
    holds: NDArray[np.bool_] = few_wrong | significant | (matches == 0)
    return holds


def _variants(plain: Any, sizes: NDArray[np.int64], row: int) -> NDArray[np.bool_]:
    """Return which clauses are variants of one: by their plain words."""
    own = np.zeros(plain.shape[1], np.int64)
    own[plain.indices[plain.indptr[row] : plain.indptr[row + 1]]] = 1
    common: NDArray[np.int64] = plain @ own
    within: NDArray[np.bool_] = (common > 0) & (common == np.minimum(sizes, sizes[row]))
    alike: NDArray[np.bool_] = common >= _ALIKE * np.maximum(sizes + sizes[row] - common, 1)
    return within | alike
