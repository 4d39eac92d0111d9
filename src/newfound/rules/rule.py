"""Rules: ANDs of words and negated words that vote for or against a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from newfound.machine.clauses import Clauses
from newfound.sides import SIDES
from newfound.table import AsTable, Table

__all__ = [
    "Clause",
    "Rule",
    "Rules",
    "rules_of",
]

_SHOWN = 20


@dataclass(frozen=True)
class Rule:
    """A rule of one class, in words.

    Attributes
    ----------
    class_name : object
        The class that the rule belongs to.
    polarity : {1, -1}
        1 if it votes for its class, -1 if against it.
    plain, negated : tuple of str
        The words that a document must have, and those that it must not have.
    n_matches : int
        The number of training documents that it matches.
    support : int
        The number of those that are on its side: of its class if it votes for it, of another
        class if it votes against it.
    count : int
        The number of clauses with these words and this side; for a rule with a weight, as those of
        a detector, the weight without its sign.
    held_out_matches, held_out_support : int
        The same as `n_matches` and `support`, among documents that no machine was trained on; 0
        if there are none.

    Examples
    --------
    >>> rule = Rule("billing", 1, ("pay", "invoice"), ("flight",), n_matches=10, support=9)
    >>> print(rule)
    pay AND invoice AND NOT flight → billing
    >>> rule.matches({"pay", "my", "invoice"})
    True
    >>> rule.precision
    0.9
    """

    class_name: Any
    polarity: int
    plain: tuple[str, ...] = ()
    negated: tuple[str, ...] = ()
    n_matches: int = 0
    support: int = 0
    count: int = 1
    held_out_matches: int = 0
    held_out_support: int = 0

    @property
    def side(self) -> str:
        """What the rule votes for: its class, or "not" its class."""
        return f"{self.class_name}" if self.polarity > 0 else f"not {self.class_name}"

    @property
    def precision(self) -> float:
        """The share of the documents it matches that are on its side; nan if it matches none."""
        return self.support / self.n_matches if self.n_matches else float("nan")

    @property
    def held_out_precision(self) -> float:
        """The precision on documents that no machine was trained on; nan if it matches none."""
        matches = self.held_out_matches
        return self.held_out_support / matches if matches else float("nan")

    def matches(self, present: Set[str]) -> bool:
        """Return whether a document with these words matches; an empty rule matches nothing."""
        for word in self.plain:  # a loop is faster than all(...), and most rules end here
            if word not in present:
                return False
        return bool(self.plain or self.negated) and present.isdisjoint(self.negated)

    def conditions(self) -> str:
        """Return the AND of the words."""
        return " AND ".join([*self.plain, *(f"NOT {word}" for word in self.negated)]) or "(empty)"

    def shortened(self, length: int) -> str:
        """Return the AND of the first words in at most so many characters, if one word fits.

        Examples
        --------
        >>> rule = Rule("known", 1, ("over", "wicket"), ("try", "scrum", "ruck"))
        >>> rule.shortened(40)
        'over AND wicket AND NOT 3 others'
        >>> rule.shortened(20)
        'over AND 4 others'
        """
        parts = [*self.plain, *(f"NOT {word}" for word in self.negated)]
        text = self.conditions()
        for shown in range(len(parts) - 1, 0, -1):
            if len(text) <= length:
                break
            hidden = len(parts) - shown
            others = f"{hidden:,} other{'s' if hidden > 1 else ''}"
            if shown >= len(self.plain):
                others = f"NOT {others}"
            text = " AND ".join([*parts[:shown], others])
        return text

    def __str__(self) -> str:
        return f"{self.conditions()} → {self.side}"


class Clause(Rule):
    """A rule of a machine with the two classes known and novel.

    Parameters
    ----------
    class_name : {"known", "novel"}
        The class that the clause belongs to.
    polarity : {1, -1}
        1 if it votes for its class, -1 if against it.
    plain, negated : tuple of str
        The words that a document must have, and those that it must not have.
    matches_known, matches_novel : int
        The number of known and of novel training documents that it matches.
    count : int
        The number of clauses with these words and this side.
    held_out_matches, held_out_support : int
        The number of documents that it matches among those that no machine was trained on, and
        how many of these are on its side.

    Examples
    --------
    >>> clause = Clause("novel", 1, ("rugby", "scrum"), ("wicket",), 1, 9)
    >>> print(clause)
    rugby AND scrum AND NOT wicket → novel
    >>> clause.side, clause.support, clause.precision
    ('novel', 9, 0.9)
    """

    def __init__(
        self,
        class_name: str,
        polarity: int,
        plain: tuple[str, ...] = (),
        negated: tuple[str, ...] = (),
        matches_known: int = 0,
        matches_novel: int = 0,
        count: int = 1,
        held_out_matches: int = 0,
        held_out_support: int = 0,
    ) -> None:
        if class_name not in SIDES or polarity not in (1, -1):
            raise ValueError(
                f"class_name={class_name!r}, polarity={polarity!r}: expected 'known' or 'novel', "
                "and 1 or -1."
            )
        novel = (class_name == "novel") == (polarity > 0)
        super().__init__(
            class_name,
            polarity,
            plain,
            negated,
            matches_known + matches_novel,
            matches_novel if novel else matches_known,
            count,
            held_out_matches,
            held_out_support,
        )

    @property
    def side(self) -> str:
        """What the clause votes for, "known" or "novel"."""
        return SIDES[(self.class_name == "novel") == (self.polarity > 0)]

    @property
    def matches_known(self) -> int:
        """The number of known training documents that it matches."""
        return self.support if self.side == "known" else self.n_matches - self.support

    @property
    def matches_novel(self) -> int:
        """The number of novel training documents that it matches."""
        return self.n_matches - self.matches_known

    def to_dict(self) -> dict[str, Any]:
        """Return the clause as plain data; a precision that is not defined is None."""
        return {
            "rule": str(self),
            "side": self.side,
            "class": self.class_name,
            "polarity": self.polarity,
            "plain": list(self.plain),
            "negated": list(self.negated),
            "matches_known": self.matches_known,
            "matches_novel": self.matches_novel,
            "precision": self.precision if self.n_matches else None,
            "held_out_matches": self.held_out_matches,
            "held_out_precision": self.held_out_precision if self.held_out_matches else None,
            "count": self.count,
        }

    def __repr__(self) -> str:
        return (
            f"Clause({self.class_name!r}, {self.polarity}, {self.plain!r}, {self.negated!r}, "
            f"matches_known={self.matches_known}, matches_novel={self.matches_novel}, "
            f"count={self.count}, held_out_matches={self.held_out_matches}, "
            f"held_out_support={self.held_out_support})"
        )


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
    """Return the rules of a machine, each once, those with the highest support first."""
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
