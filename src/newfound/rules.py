"""The clauses of a machine as rules that a person can read, and the bags of words they make.

The *side* of a clause is what it speaks for: *known* for a clause that votes for Known or against
Novel, *novel* for the other two. A plain word of a clause has the *role* of the clause's side, a
negated word that of the other side. The bags B_K and B_N hold one entry for each clause and word
in the role known and in the role novel.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse  # type: ignore[import-untyped,unused-ignore]

from newfound.machine.clauses import Clauses
from newfound.sides import SIDES

__all__ = ["Clause", "ClauseTable", "bags", "roles"]


_SORT_KEYS = ("gain", "support", "precision", "count", "length")


@dataclass(frozen=True)
class Clause:
    """A rule: an AND of plain and negated words that speaks for one side.

    Attributes
    ----------
    class_name : {"known", "novel"}
        The class that the clause belongs to.
    polarity : {1, -1}
        1 if it votes for its class, -1 if against it.
    plain, negated : tuple of str
        The words that a document must have, and those that it must not have.
    matches_known, matches_novel : int
        How many known and novel training documents it matches.
    count : int
        How many clauses with these words and this side there are.
    held_out_matches, held_out_support : int
        How many documents that its machine has not learned from it matches, and how many of them
        are of its side; 0 where every document was learned from.

    Examples
    --------
    >>> clause = Clause("novel", 1, ("rugby", "scrum"), ("wicket",), 1, 9)
    >>> print(clause)
    rugby AND scrum AND NOT wicket → novel
    >>> clause.side, clause.support, clause.precision
    ('novel', 9, 0.9)
    """

    class_name: str
    polarity: int
    plain: tuple[str, ...] = ()
    negated: tuple[str, ...] = ()
    matches_known: int = 0
    matches_novel: int = 0
    count: int = 1
    held_out_matches: int = 0
    held_out_support: int = 0

    def __post_init__(self) -> None:
        if self.class_name not in SIDES or self.polarity not in (1, -1):
            raise ValueError(
                f"class_name={self.class_name!r}, polarity={self.polarity!r}: expected 'known' or "
                "'novel', and 1 or -1."
            )

    @property
    def side(self) -> str:
        """What the clause speaks for, "known" or "novel"."""
        return SIDES[(self.class_name == "novel") == (self.polarity > 0)]

    @property
    def support(self) -> int:
        """How many documents of its own side it matches."""
        return self.matches_novel if self.side == "novel" else self.matches_known

    @property
    def precision(self) -> float:
        """The share of the documents it matches that are of its side; nan if it matches none."""
        matches = self.matches_known + self.matches_novel
        return self.support / matches if matches else float("nan")

    @property
    def held_out_precision(self) -> float:
        """The precision on documents that its machine has not learned from; nan if none match."""
        matches = self.held_out_matches
        return self.held_out_support / matches if matches else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Give the clause as plain data; a precision that is not defined is None."""
        return {
            "rule": str(self),
            "side": self.side,
            "class": self.class_name,
            "polarity": self.polarity,
            "plain": list(self.plain),
            "negated": list(self.negated),
            "matches_known": self.matches_known,
            "matches_novel": self.matches_novel,
            "precision": self.precision if self.matches_known + self.matches_novel else None,
            "held_out_matches": self.held_out_matches,
            "held_out_precision": self.held_out_precision if self.held_out_matches else None,
            "count": self.count,
        }

    def __str__(self) -> str:
        words = [*self.plain, *(f"NOT {word}" for word in self.negated)]
        return f"{' AND '.join(words) or '(empty)'} → {self.side}"


class ClauseTable(Sequence[Clause]):
    """Clauses as arrays, each read as a `Clause` when it is asked for.

    The words of a clause stand in the order of how many clauses of the whole table have them: those
    that matter first, those that are there by chance last.

    Parameters
    ----------
    clauses : Clauses
        Those of a machine with two classes, known first and novel second.
    vocabulary : sequence of str
        The word behind each feature.
    counts : array of int, optional
        How many clauses each entry stands for; by default one.
    n_documents : (int, int), optional
        How many known and novel documents there are; by default the most that a clause matches.
    held_out : (2, n_clauses) array of int, optional
        How many documents that its machine has not learned from each clause matches, and how many
        of them are of its side; by default none.

    Attributes
    ----------
    vocabulary : tuple of str
        The word behind each feature.
    is_novel : ndarray of bool
        Whether the side of each clause is novel.
    matches_known, matches_novel : ndarray of int64
        How many training documents of each side each clause matches.
    counts : ndarray of int64
        How many clauses each entry stands for.
    held_out : (2, n_clauses) ndarray of int64
        As given; those of clauses that are folded into one are added up.

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
        """Make a table of clauses given by hand; without a vocabulary, of their words, sorted."""
        rules = list(clauses)
        if vocabulary is None:
            vocabulary = sorted({word for rule in rules for word in (*rule.plain, *rule.negated)})
        column = {word: i for i, word in enumerate(vocabulary)}
        n = len(column)
        literals = [
            sorted({*(column[w] for w in rule.plain), *(n + column[w] for w in rule.negated)})
            for rule in rules
        ]
        indptr = np.concatenate(([0], np.cumsum([len(row) for row in literals], dtype=np.int64)))
        arrays = Clauses(
            class_index=np.array([rule.class_name == "novel" for rule in rules], np.int32),
            polarity=np.array([rule.polarity for rule in rules], np.int8),
            indptr=indptr.astype(np.int64),
            literals=np.array([literal for row in literals for literal in row], np.int32),
            matches=np.array([rule.matches_known + rule.matches_novel for rule in rules], np.int64),
            agrees=np.array([rule.support for rule in rules], np.int64),
            n_features=n,
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
        """Give one clause by its number, or a table of several."""
        if not isinstance(key, int | np.integer):
            return self._take(np.arange(len(self))[key])
        row = range(len(self))[key]
        arrays = self.arrays
        literals = arrays.literals[arrays.indptr[row] : arrays.indptr[row + 1]]
        n, name = arrays.n_features, self.vocabulary
        words = literals[np.argsort(self._ranks[literals % n], kind="stable")].tolist()
        return Clause(
            class_name=SIDES[arrays.class_index[row]],
            polarity=int(arrays.polarity[row]),
            plain=tuple(name[i] for i in words if i < n),
            negated=tuple(name[i - n] for i in words if i >= n),
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

    @property
    def side(self) -> NDArray[np.str_]:
        """What each clause speaks for, "known" or "novel"."""
        side: NDArray[np.str_] = np.array(SIDES)[self.is_novel.astype(int)]
        return side

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words in each clause."""
        return self.arrays.lengths

    @property
    def support(self) -> NDArray[np.int64]:
        """How many documents of its own side each clause matches."""
        return self.arrays.agrees

    @property
    def precision(self) -> NDArray[np.float64]:
        """The share of the matched documents that are of the clause's side; nan without any."""
        matches = self.arrays.matches
        share = np.full(len(self), np.nan)
        np.divide(self.support, matches, out=share, where=matches > 0)
        return share

    @property
    def gain(self) -> NDArray[np.float64]:
        """The share of its own side's documents a clause matches, less that of the other side's."""
        known, novel = (max(n, 1) for n in self.n_documents)
        difference = self.matches_novel / novel - self.matches_known / known
        return np.where(self.is_novel, difference, -difference)

    @property
    def plain(self) -> Any:
        """Boolean CSR matrix (clauses, words) of the plain words."""
        return self.arrays.plain

    @property
    def negated(self) -> Any:
        """Boolean CSR matrix (clauses, words) of the negated words."""
        return self.arrays.negated

    def column(self, word: str) -> int:
        """Give the number of a word; an unknown one is an error that names near ones."""
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
        """Give the clauses with this word, as a plain word, a negated one, or either.

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
        """Fold clauses with the same words and the same side into one, and add their counts.

        The one kept is the first: its class and polarity stand for all. Empty clauses, which say
        nothing, are left out.

        Returns
        -------
        ClauseTable
        """
        literals = np.ascontiguousarray(self.arrays.literals)
        raw, width = literals.tobytes(), literals.itemsize
        ends = (self.arrays.indptr * width).tolist()
        first: dict[tuple[bool, bytes], int] = {}
        group = [
            first.setdefault((novel, raw[begin:end]), len(first)) if begin < end else -1
            for novel, begin, end in zip(self.is_novel.tolist(), ends[:-1], ends[1:], strict=True)
        ]
        groups = np.array(group, np.int64)
        full = groups >= 0
        counts, held_out = np.zeros(len(first), np.int64), np.zeros((2, len(first)), np.int64)
        np.add.at(counts, groups[full], self.counts[full])
        np.add.at(held_out.T, groups[full], self.held_out.T[full])
        _, rows = np.unique(groups[full], return_index=True)
        folded = self._take(np.flatnonzero(full)[rows])
        folded.counts, folded.held_out = counts, held_out
        return folded

    def sorted(
        self, by: str = "gain", *, descending: bool | None = None, plain_first: bool = False
    ) -> ClauseTable:
        """Sort by one of these; ties by the others in this order.

        Parameters
        ----------
        by : {"gain", "support", "precision", "count", "length"}, default="gain"
            The share of its own side's documents that a clause matches, less that of the other
            side's; how many documents of its side it matches; the share of those among all it
            matches; how many clauses it stands for; how many words it has.
        descending : bool, optional
            The greatest first; by default so, but for the length.
        plain_first : bool, default=False
            Clauses with a plain word before all that have none: they say what is there, not only
            what is not.

        Returns
        -------
        ClauseTable
        """
        if by not in _SORT_KEYS:
            raise ValueError(f"by={by!r}: expected one of {', '.join(_SORT_KEYS)}.")
        precision = np.nan_to_num(self.precision, nan=-1.0)
        keys = dict(
            zip(
                _SORT_KEYS,
                (-self.gain, -self.support, -precision, -self.counts, self.lengths),
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
        """Give F_K and F_N: how often each word is in the bags."""
        return bags(self.plain, self.negated, self.is_novel, self.counts)

    def matching(self, columns: ArrayLike) -> NDArray[np.bool_]:
        """Say of each clause whether it matches a document; an empty clause matches nothing.

        Parameters
        ----------
        columns : array of int
            The numbers of the words that the document has.

        Returns
        -------
        (n_clauses,) array of bool
        """
        n = self.arrays.n_features
        untrue = np.ones(2 * n, bool)
        untrue[n:] = False
        present = np.asarray(columns, np.intp)
        untrue[present] = False
        untrue[n + present] = True
        broken = np.concatenate(([0], np.cumsum(untrue[self.arrays.literals])))
        indptr = self.arrays.indptr
        whole: NDArray[np.bool_] = broken[indptr[1:]] == broken[indptr[:-1]]
        return whole & (self.lengths > 0)

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.vocabulary)}

    @cached_property
    def _ranks(self) -> NDArray[np.intp]:
        """The place of each word by how many clauses have it."""
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
        # The words stay the same, and so do the ranks they have in the whole table.
        table.__dict__.update(_columns=self._columns, _ranks=self._ranks)
        return table


def roles(plain: Any, negated: Any, side: ArrayLike) -> tuple[Any, Any]:
    """Give the matrices of the words in the role known, and of those in the role novel.

    Parameters
    ----------
    plain, negated : (n_clauses, n_words) CSR matrix
        The plain and the negated words of each clause.
    side : (n_clauses,) array
        "known" or "novel" for each clause, or whether it is novel.

    Returns
    -------
    known, novel : (n_clauses, n_words) CSR array of int64, 0 or 1

    Examples
    --------
    >>> table = ClauseTable.from_clauses([Clause("novel", 1, ("rugby",), ("wicket",))])
    >>> known, novel = roles(table.plain, table.negated, table.side)
    >>> table.vocabulary, known.toarray().tolist(), novel.toarray().tolist()
    (('rugby', 'wicket'), [[0, 1]], [[1, 0]])
    """
    novel = _novel(side, plain.shape[0])
    return (
        _rows(plain, ~novel) + _rows(negated, novel),
        _rows(plain, novel) + _rows(negated, ~novel),
    )


def bags(
    plain: Any, negated: Any, side: ArrayLike, counts: ArrayLike | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count how often each word is in the bags B_K and B_N.

    Parameters
    ----------
    plain, negated : (n_clauses, n_words) CSR matrix
        The plain and the negated words of each clause.
    side : (n_clauses,) array
        "known" or "novel" for each clause, or whether it is novel.
    counts : (n_clauses,) array of int, optional
        How many clauses each row stands for; by default one.

    Returns
    -------
    F_K, F_N : (n_words,) array of int64

    Examples
    --------
    >>> table = ClauseTable.from_clauses(
    ...     [Clause("novel", 1, ("rugby",), ("wicket",)), Clause("known", -1, ("rugby",))]
    ... )
    >>> F_K, F_N = bags(table.plain, table.negated, table.side)
    >>> table.vocabulary, F_K.tolist(), F_N.tolist()
    (('rugby', 'wicket'), [0, 1], [2, 0])
    """
    novel = _novel(side, plain.shape[0])
    weight = np.ones(len(novel), np.int64) if counts is None else np.asarray(counts, np.int64)

    def total(matrix: Any, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        each: NDArray[np.int64] = matrix.T.astype(np.int64) @ np.where(rows, weight, 0)
        return each

    return (
        total(plain, ~novel) + total(negated, novel),
        total(plain, novel) + total(negated, ~novel),
    )


def _rows(matrix: Any, chosen: NDArray[np.bool_]) -> Any:
    """Empty all rows but the chosen ones; what is there becomes 1."""
    lengths = np.diff(matrix.indptr)
    indices = matrix.indices[np.repeat(chosen, lengths)]
    indptr = np.concatenate(([0], np.cumsum(lengths * chosen)))
    return sparse.csr_array((np.ones(len(indices), np.int64), indices, indptr), matrix.shape)


def _novel(side: ArrayLike, n: int) -> NDArray[np.bool_]:
    given = np.asarray(side)
    novel: NDArray[np.bool_] = given if given.dtype == bool else given == "novel"
    if novel.shape != (n,) or (given.dtype != bool and not np.isin(given, SIDES).all()):
        raise ValueError(f"side: expected 'known' or 'novel' for each of the {n} clauses.")
    return novel
