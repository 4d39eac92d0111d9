"""Clauses as arrays, each read as a rule when it is asked for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.machine.clauses import Clauses, RuleSet
from newfound.rules.rule import Clause
from newfound.sides import SIDES
from newfound.table import AsTable, Table

__all__ = ["ClauseTable"]

_SORT_KEYS = ("gain", "support", "precision", "count", "length")


class ClauseTable(AsTable, Sequence[Clause]):
    """Clauses as arrays, each read as a `Clause` when it is asked for.

    The words of a clause are sorted by how many clauses of the whole table have them, the most
    frequent first.

    Parameters
    ----------
    clauses : Clauses
        The clauses of a machine with two classes, known first and novel second.
    vocabulary : sequence of str
        The word of each feature.
    counts : array of int, optional
        The number of clauses that each entry stands for; by default 1.
    n_documents : (int, int), optional
        The number of known and of novel documents; by default the most that a clause matches.
    held_out : (2, n_clauses) array of int, optional
        The number of documents that each clause matches among those that no machine was trained
        on, and how many of these are on its side; by default 0.

    Attributes
    ----------
    vocabulary : tuple of str
        The word of each feature.
    is_novel : ndarray of bool
        Whether each clause votes for novel.
    matches_known, matches_novel : ndarray of int64
        The number of training documents of each side that each clause matches.
    counts : ndarray of int64
        The number of clauses that each entry stands for.
    held_out : (2, n_clauses) ndarray of int64
        As given.

    Examples
    --------
    >>> table = ClauseTable.from_clauses(
    ...     [
    ...         Clause("novel", 1, ("rugby",), ("wicket",), 0, 4),
    ...         Clause("known", -1, ("rugby",), ("wicket",), 0, 4),
    ...         Clause("known", 1, ("wicket",), (), 7, 1),
    ...     ]
    ... )
    >>> for clause in table.fold().sorted():
    ...     print(clause, clause.count, clause.support, clause.precision)
    rugby AND NOT wicket → novel 2 4 1.0
    wicket → known 1 7 0.875
    >>> [str(clause) for clause in table.containing("wicket", negated=False)]
    ['wicket → known']
    """

    def __init__(
        self,
        clauses: Clauses,
        vocabulary: Sequence[str],
        *,
        counts: ArrayLike | None = None,
        n_documents: tuple[int, int] | None = None,
        held_out: ArrayLike | None = None,
    ) -> None:
        self.vocabulary = tuple(vocabulary)
        if len(self.vocabulary) != clauses.n_features:
            raise ValueError(
                f"The vocabulary has {len(self.vocabulary)} words, the clauses "
                f"{clauses.n_features} features; pass one word for each feature."
            )
        if len(clauses) and not 0 <= clauses.class_index.min() <= clauses.class_index.max() <= 1:
            raise ValueError("The clauses are not of two classes; expected known and novel.")
        self.arrays = clauses
        self.is_novel = (clauses.class_index == 1) == (clauses.polarity > 0)
        others = clauses.matches - clauses.agrees
        self.matches_known = np.where(self.is_novel, others, clauses.agrees)
        self.matches_novel = np.where(self.is_novel, clauses.agrees, others)
        self.counts = np.ones(len(clauses), np.int64) if counts is None else np.asarray(counts)
        nothing = np.zeros((2, len(clauses)), np.int64)
        self.held_out = nothing if held_out is None else np.asarray(held_out, np.int64)
        self.n_documents = n_documents or (
            int(self.matches_known.max(initial=0)),
            int(self.matches_novel.max(initial=0)),
        )

    @classmethod
    def from_clauses(
        cls, clauses: Iterable[Clause], vocabulary: Sequence[str] | None = None
    ) -> Self:
        """Return a table of these clauses; by default the vocabulary is their words, sorted."""
        rules = list(clauses)
        if vocabulary is None:
            vocabulary = sorted({word for rule in rules for word in (*rule.plain, *rule.negated)})
        column = {word: i for i, word in enumerate(vocabulary)}
        n = len(column)
        ands = RuleSet.of(
            [
                sorted({*(column[w] for w in rule.plain), *(n + column[w] for w in rule.negated)})
                for rule in rules
            ],
            n,
        )
        arrays = Clauses(
            ands.indptr,
            ands.literals,
            n,
            class_index=np.array([rule.class_name == "novel" for rule in rules], np.int32),
            polarity=np.array([rule.polarity for rule in rules], np.int8),
            matches=np.array([rule.n_matches for rule in rules], np.int64),
            agrees=np.array([rule.support for rule in rules], np.int64),
        )
        held_out = [[rule.held_out_matches, rule.held_out_support] for rule in rules]
        return cls(
            arrays,
            vocabulary,
            counts=np.array([rule.count for rule in rules], np.int64),
            held_out=np.array(held_out, np.int64).reshape(-1, 2).T,
        )

    def __len__(self) -> int:
        return len(self.arrays)

    @overload
    def __getitem__(self, key: int) -> Clause: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> ClauseTable: ...
    def __getitem__(self, key: int | slice | Sequence[int] | NDArray[Any]) -> Clause | ClauseTable:
        """Return one clause by its number, or a table of several."""
        if not isinstance(key, int | np.integer):
            return self._take(np.arange(len(self))[key])
        row = range(len(self))[key]
        plain, negated = self.arrays.words(row, self.vocabulary, self._ranks)
        return Clause(
            SIDES[self.arrays.class_index[row]],
            int(self.arrays.polarity[row]),
            plain,
            negated,
            matches_known=int(self.matches_known[row]),
            matches_novel=int(self.matches_novel[row]),
            count=int(self.counts[row]),
            held_out_matches=int(self.held_out[0, row]),
            held_out_support=int(self.held_out[1, row]),
        )

    def __iter__(self) -> Iterator[Clause]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        shown = [str(clause) for clause in self[:5]]
        more = [f"... {len(self) - 5:,} more"] if len(self) > 5 else []
        return "\n".join([f"<{len(self):,} clauses>", *shown, *more])

    def to_table(self) -> Table:
        """Return a table with a row for each clause; see `Clause.to_dict` for the columns."""
        names = Clause("known", 1).to_dict()
        return Table.from_records((clause.to_dict() for clause in self), names)

    @property
    def side(self) -> NDArray[np.str_]:
        """What each clause votes for, "known" or "novel"."""
        side: NDArray[np.str_] = np.array(SIDES)[self.is_novel.astype(int)]
        return side

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words in each clause."""
        return self.arrays.lengths

    @property
    def support(self) -> NDArray[np.int64]:
        """The number of documents of its own side that each clause matches."""
        return self.arrays.agrees

    @property
    def precision(self) -> NDArray[np.float64]:
        """The share of the matched documents that are on the clause's side; nan for no match."""
        matches = self.arrays.matches
        share = np.full(len(self), np.nan)
        np.divide(self.support, matches, out=share, where=matches > 0)
        return share

    @property
    def gain(self) -> NDArray[np.float64]:
        """The share of its own side's documents that it matches, minus that of the other side's.

        Documents that were held out do not count, so that the clauses with the greatest gain are
        chosen on other documents than those that their `held_out` counts.
        """
        known, novel = (max(n, 1) for n in self.n_documents)
        own = self.arrays.agrees - self.held_out[1]
        others = self.arrays.matches - self.held_out[0] - own
        size = np.where(self.is_novel, novel, known), np.where(self.is_novel, known, novel)
        gain: NDArray[np.float64] = own / size[0] - others / size[1]
        return gain

    @property
    def plain(self) -> Any:
        """Boolean CSR matrix (clauses, words) of the plain words."""
        return self.arrays.plain

    @property
    def negated(self) -> Any:
        """Boolean CSR matrix (clauses, words) of the negated words."""
        return self.arrays.negated

    def column(self, word: str) -> int:
        """Return the number of a word; the error for an unknown word suggests similar ones."""
        try:
            return self._columns[word]
        except KeyError:
            near = difflib.get_close_matches(word, self.vocabulary, n=3)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
            raise ValueError(
                f"The word {word!r} is not in the vocabulary of {len(self.vocabulary):,} "
                f"words{hint}"
            ) from None

    def containing(self, word: str, *, plain: bool = True, negated: bool = True) -> ClauseTable:
        """Return the clauses with this word, as a plain word, a negated one, or either.

        Parameters
        ----------
        word : str
            A word of the vocabulary.
        plain, negated : bool, default=True
            Whether to look among plain and among negated words.

        Returns
        -------
        ClauseTable
        """
        column, literals = self.column(word), self.arrays.literals
        found = np.zeros(len(literals), bool)
        if plain:
            found |= literals == column
        if negated:
            found |= literals == column + len(self.vocabulary)
        places = np.flatnonzero(found)
        rows = np.searchsorted(self.arrays.indptr, places, side="right") - 1
        return self._take(np.unique(rows))

    def fold(self) -> ClauseTable:
        """Merge clauses with the same words and the same side, and add their counts.

        The first of them is kept, with its class and polarity. Empty clauses are left out.

        Returns
        -------
        ClauseTable
        """
        rows, groups = self.arrays.distinct(self.is_novel)
        folded = self._take(rows)
        folded.counts = np.zeros(len(rows), np.int64)
        np.add.at(folded.counts, groups[groups >= 0], self.counts[groups >= 0])
        return folded

    def sorted(
        self, by: str = "gain", *, descending: bool | None = None, plain_first: bool = False
    ) -> ClauseTable:
        """Return the clauses sorted by one key; ties are sorted by the other keys, in this order.

        Documents that were held out do not count, so that the first clauses are chosen on other
        documents than those that `held_out` counts.

        Parameters
        ----------
        by : {"gain", "support", "precision", "count", "length"}, default="gain"
            The share of its own side's documents that a clause matches, minus that of the other
            side's; the number of documents of its side that it matches; the share of these among
            all that it matches; the number of clauses that it stands for; the number of words.
        descending : bool, optional
            The greatest first; by default True, except for "length".
        plain_first : bool, default=False
            Put clauses with a plain word before those with negated words only.

        Returns
        -------
        ClauseTable
        """
        if by not in _SORT_KEYS:
            raise ValueError(f"by={by!r}: expected one of {', '.join(_SORT_KEYS)}.")
        own, matches = self.arrays.agrees - self.held_out[1], self.arrays.matches - self.held_out[0]
        precision = np.where(matches > 0, own / np.maximum(matches, 1), -1.0)
        keys = dict(
            zip(
                _SORT_KEYS,
                (-self.gain, -own, -precision, -self.counts, self.lengths),
                strict=True,
            )
        )
        first = keys.pop(by)
        if descending is not None and descending != (by != "length"):
            first = -first
        order = np.lexsort((*reversed(list(keys.values())), first))
        if plain_first:
            has_none = np.diff(self.plain.indptr) == 0
            order = order[np.argsort(has_none[order], kind="stable")]
        return self._take(order)

    def bags(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return F_K and F_N: how often each word is in the bags B_K and B_N."""
        n, counts = len(self.vocabulary), np.repeat(self.counts, self.lengths)
        places = self.arrays.literals % max(n, 1) + n * self._in_role_novel
        total = np.bincount(places, counts, 2 * n).astype(np.int64)
        return total[:n], total[n:]

    def roles(self) -> tuple[Any, Any]:
        """Return which words are in the role known in each clause, and which in the role novel.

        Returns
        -------
        known, novel : (n_clauses, n_words) CSR array of int64, 0 or 1

        Examples
        --------
        >>> table = ClauseTable.from_clauses([Clause("novel", 1, ("rugby",), ("wicket",))])
        >>> known, novel = table.roles()
        >>> table.vocabulary, known.toarray().tolist(), novel.toarray().tolist()
        (('rugby', 'wicket'), [[0, 1]], [[1, 0]])
        """
        novel = self._in_role_novel
        return tuple(self.arrays.features(chosen).astype(np.int64) for chosen in (~novel, novel))

    @property
    def _in_role_novel(self) -> NDArray[np.bool_]:
        """Which literals have the role novel: plain words for novel, negated ones for known."""
        plain = self.arrays.literals < len(self.vocabulary)
        found: NDArray[np.bool_] = plain == np.repeat(self.is_novel, self.lengths)
        return found

    def matching(self, columns: ArrayLike) -> NDArray[np.bool_]:
        """Return which clauses match a document; an empty clause matches nothing.

        Parameters
        ----------
        columns : array of int
            The numbers of the words that the document has.

        Returns
        -------
        (n_clauses,) array of bool
        """
        document = np.unique(np.asarray(columns, np.int32))
        matched = np.zeros(len(self), bool)
        matched[self.arrays.native.matching(np.array([0, len(document)]), document)[1]] = True
        return matched

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.vocabulary)}

    @cached_property
    def _ranks(self) -> NDArray[np.intp]:
        """The rank of each word by how many clauses have it."""
        F_K, F_N = self.bags()
        return np.argsort(np.argsort(-(F_K + F_N), kind="stable"))

    def _take(self, rows: NDArray[np.intp]) -> ClauseTable:
        table = ClauseTable(
            self.arrays.take(rows),
            self.vocabulary,
            counts=self.counts[rows],
            n_documents=self.n_documents,
            held_out=self.held_out[:, rows],
        )
        # Ranks are those in the whole table, so that a rule reads the same in every part of it.
        table.__dict__.update(_columns=self._columns, _ranks=self._ranks)
        return table
