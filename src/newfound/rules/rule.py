"""A rule: an AND of words and negated words that votes for or against a class."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from newfound.sides import SIDES

__all__ = ["Clause", "Rule"]


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
