"""The rules of a machine with any number of classes and named features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from newfound.machine.clauses import Clauses
from newfound.rules.rule import Rule
from newfound.table import AsTable, Table

__all__ = ["Rules", "rules_of"]

_SHOWN = 20


class Rules(AsTable, Sequence[Rule]):
    """A sequence of rules that is also a table, and prints one rule a line.

    The table has a row for each rule: ``rule``, ``class``, ``polarity``, ``plain``, ``negated``,
    ``matches``, ``support``, ``precision``, ``count`` and ``votes``.

    Parameters
    ----------
    rules : sequence of Rule
        The rules.
    votes : sequence of int, optional
        What a match of each rule adds to the votes: the weights of its clauses, added up. By
        default the number of its clauses.

    Examples
    --------
    >>> Rules([Rule("billing", 1, ("pay",), ("flight",), n_matches=10, support=9)])
    <1 rule>
    pay AND NOT flight → billing  (9 of 10)
    """

    def __init__(self, rules: Sequence[Rule], votes: Sequence[int] | None = None) -> None:
        self._rules = tuple(rules)
        self.votes = tuple(rule.count for rule in self._rules) if votes is None else tuple(votes)

    def __len__(self) -> int:
        return len(self._rules)

    @overload
    def __getitem__(self, key: int) -> Rule: ...
    @overload
    def __getitem__(self, key: slice) -> Rules: ...
    def __getitem__(self, key: int | slice) -> Rule | Rules:
        """Return one rule, or some of them."""
        if isinstance(key, slice):
            return Rules(self._rules[key], self.votes[key])
        return self._rules[key]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def __repr__(self) -> str:
        head = f"<{len(self):,} rule{'s' if len(self) != 1 else ''}>"
        weighted = any(votes != rule.count for rule, votes in zip(self, self.votes, strict=True))
        shown = [
            f"{rule}  ({rule.support:,} of {rule.n_matches:,}"
            f"{f'; votes: {votes:,}' if weighted else ''})"
            for rule, votes in zip(self._rules[:_SHOWN], self.votes, strict=False)
        ]
        hidden = len(self) - _SHOWN
        return "\n".join([head, *shown, *([f"... {hidden:,} more"] if hidden > 0 else [])])

    def to_table(self) -> Table:
        """Return a table with a row for each rule."""
        return Table.from_records(
            {
                "rule": str(rule),
                "class": rule.class_name,
                "polarity": rule.polarity,
                "plain": list(rule.plain),
                "negated": list(rule.negated),
                "matches": rule.n_matches,
                "support": rule.support,
                "precision": rule.precision if rule.n_matches else None,
                "count": rule.count,
                "votes": votes,
            }
            for rule, votes in zip(self, self.votes, strict=True)
        )


def rules_of(clauses: Clauses, classes: ArrayLike, names: Sequence[str] | None) -> Rules:
    """Return the rules of a machine, each once, those with the highest support first.

    Parameters
    ----------
    clauses : Clauses
        The clauses of the machine.
    classes : array
        Its classes.
    names : sequence of str or None
        The name of each feature; by default ``x0``, ``x1``, ...

    Returns
    -------
    Rules
    """
    if names is None:
        names = [f"x{j}" for j in range(clauses.n_features)]
    elif len(names) != clauses.n_features:
        raise ValueError(
            f"There are {len(names):,} feature names for {clauses.n_features:,} features; pass one "
            "for each."
        )
    labels = np.asarray(classes).tolist()
    rows, groups = clauses.distinct(clauses.class_index * 2 + (clauses.polarity > 0))
    totals = np.zeros((2, len(rows)), np.int64)
    full = groups >= 0
    np.add.at(totals[0], groups[full], 1)
    np.add.at(totals[1], groups[full], clauses.weights[full])
    order = np.lexsort((clauses.matches[rows], -clauses.agrees[rows]))
    counts, votes = totals[:, order].tolist()
    rules = [
        Rule(
            labels[clauses.class_index[row]],
            int(clauses.polarity[row]),
            *clauses.words(row, names),
            int(clauses.matches[row]),
            int(clauses.agrees[row]),
            count,
        )
        for row, count in zip(rows[order].tolist(), counts, strict=True)
    ]
    return Rules(rules, votes)
