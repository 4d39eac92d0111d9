"""Rules as arrays, which documents they match, and the clauses of a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from newfound import _core
from newfound.storage.fields import MAX_DOCUMENTS, Fields

__all__ = ["Clauses", "RuleSet", "clauses_from_state", "clauses_state", "rows_with"]


@dataclass(frozen=True, eq=False)
class RuleSet:
    """ANDs of features and negated features, as arrays.

    Attributes
    ----------
    indptr, literals : ndarray
        ``literals[indptr[j]:indptr[j + 1]]`` is the AND of rule j, sorted: a feature's number, or
        ``n_features`` plus that number if the feature is negated.
    n_features : int
        The number of features of the documents.

    Examples
    --------
    >>> rules = RuleSet.of([(0,), (0, 5)], 3)
    >>> documents = sp.csr_array([[1, 1, 0], [1, 0, 1]])
    >>> rules.matching(documents).toarray().astype(int).tolist()
    [[1, 1], [1, 0]]
    """

    indptr: NDArray[np.int64]
    literals: NDArray[np.int32]
    n_features: int

    _columns: ClassVar[tuple[str, ...]] = ()  # attributes with one entry for each rule

    @classmethod
    def of(cls, rules: Sequence[Sequence[int]] | NDArray[Any], n_features: int) -> RuleSet:
        """Return rules that are given by their literals."""
        ends = np.cumsum([0, *map(len, rules)], dtype=np.int64)
        return RuleSet(ends, np.fromiter(chain.from_iterable(rules), np.int32), n_features)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what was computed from the attributes, the core's part among it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def native(self) -> _core.RuleSet:
        """The rules in the core."""
        return _core.RuleSet(
            np.ascontiguousarray(self.indptr, np.int64),
            np.ascontiguousarray(self.literals, np.int32),
            self.n_features,
        )

    def matching(self, documents: Any) -> sp.csr_array:
        """Return which rules match which documents; an empty rule matches nothing.

        `documents` are bags, or rows of a CSR matrix with ascending features.
        """
        indptr, rules = self.native.matching(*_csr(documents))
        return sp.csr_array(
            (np.ones(len(rules), bool), rules, indptr), (len(indptr) - 1, len(self))
        )

    def support(self, documents: Any, novel: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many known and how many novel documents each rule matches.

        One row for the known documents, one for the novel ones.
        """
        matches, of_novel = self.native.count(*_csr(documents), novel)
        return np.stack((matches - of_novel, of_novel))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return the rules with these numbers, in this order."""
        lengths = self.lengths[rows]
        indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        shift = np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return replace(
            self,
            indptr=indptr,
            literals=self.literals[np.arange(indptr[-1]) + shift],
            **{name: getattr(self, name)[rows] for name in self._columns},
        )

    def widened(self, columns: NDArray[np.intp], n_features: int) -> Self:
        """Return rules over some columns of a larger table as rules over the whole table.

        `columns` has the number in the larger table of each feature, ascending.
        """
        both = np.concatenate((columns, columns + n_features)).astype(np.int32)
        return replace(self, literals=both[self.literals], n_features=n_features)

    def narrowed(self, columns: NDArray[np.intp]) -> Self:
        """Undo `widened`. Raise a ValueError if a rule uses a feature of another column."""
        both = np.concatenate((columns, columns + self.n_features))
        places = np.searchsorted(both, self.literals)
        if (both.take(places, mode="clip") != self.literals).any():
            raise ValueError("The clauses use features that are not among these columns.")
        return replace(self, literals=places.astype(np.int32), n_features=len(columns))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return several sets of rules over the same features as one."""
        starts = np.cumsum([0, *(len(part.literals) for part in parts)])
        ends = [part.indptr[1:] + start for part, start in zip(parts, starts, strict=False)]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("literals", *cls._columns)
        }
        return replace(parts[0], indptr=np.concatenate([np.zeros(1, np.int64), *ends]), **columns)

    def distinct(self, keys: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first of the rules with the same literals and key; empty rules are left out.

        Returned are the numbers of these rules, ascending, and for each rule the place among them
        of the one that it equals; -1 for an empty rule.
        """
        literals = np.ascontiguousarray(self.literals)
        raw, ends = literals.tobytes(), (self.indptr * literals.itemsize).tolist()
        first: dict[tuple[Any, bytes], int] = {}
        groups = np.array(
            [
                first.setdefault((key, raw[begin:end]), len(first)) if begin < end else -1
                for key, begin, end in zip(keys.tolist(), ends[:-1], ends[1:], strict=True)
            ],
            np.intp,
        )
        full = np.flatnonzero(groups >= 0)
        return full[np.unique(groups[full], return_index=True)[1]], groups

    def words(
        self, row: int, vocabulary: Sequence[str], ranks: NDArray[np.intp] | None = None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the plain and the negated words of one rule.

        They are sorted by `ranks`, a rank for each word; by default by the number of the feature.
        """
        n, literals = self.n_features, self.literals[self.indptr[row] : self.indptr[row + 1]]
        if ranks is not None:
            literals = literals[np.argsort(ranks[literals % n], kind="stable")]
        features = literals.tolist()
        return (
            tuple([vocabulary[i] for i in features if i < n]),
            tuple([vocabulary[i - n] for i in features if i >= n]),
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of literals of each rule."""
        return np.diff(self.indptr)

    @property
    def plain(self) -> sp.csr_array:
        """Boolean (rules, features) matrix of the features that a rule asks for."""
        return self.features(self.literals < self.n_features)

    @property
    def negated(self) -> sp.csr_array:
        """Boolean (rules, features) matrix of the features that a rule rules out."""
        return self.features(self.literals >= self.n_features)

    def features(self, chosen: NDArray[np.bool_]) -> sp.csr_array:
        """Return the Boolean (rules, features) matrix of some literals."""
        before = np.concatenate(([0], np.cumsum(chosen)))
        indices = self.literals[chosen] % max(self.n_features, 1)
        return sp.csr_array(
            (np.ones(len(indices), bool), indices, before[self.indptr]),
            shape=(len(self), self.n_features),
        )


def rows_with(columns: Any, words: Sequence[int]) -> NDArray[np.intp]:
    """Return the documents that have all of some words: of one rule, faster than all documents.

    `columns` is a CSC matrix.
    """
    own = (columns.indices[columns.indptr[word] : columns.indptr[word + 1]] for word in words)
    rows = np.sort(next(own))
    for more in own:
        rows = np.intersect1d(rows, more, assume_unique=True)
    return rows.astype(np.intp)


def _csr(documents: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    if sp.issparse(documents) and not documents.has_sorted_indices:
        documents = documents.sorted_indices()
    return (
        np.ascontiguousarray(documents.indptr, np.int64),
        np.ascontiguousarray(documents.indices, np.int32),
    )


@dataclass(frozen=True, eq=False)
class Clauses(RuleSet):
    """The clauses of a machine, as arrays with one entry for each clause.

    Attributes
    ----------
    indptr, literals : ndarray
        ``literals[indptr[j]:indptr[j + 1]]`` is the AND of clause j, sorted: a feature's number, or
        ``n_features`` plus that number if the feature is negated.
    n_features : int
        The number of features of the machine.
    class_index : ndarray of int32
        The class that the clause belongs to, as an index into ``classes_``.
    polarity : ndarray of int8
        1 for a clause that votes for its class, -1 for one that votes against it.
    matches : ndarray of int64
        How many training documents the clause matches.
    agrees : ndarray of int64
        How many of those are on the clause's side: of its class for a positive clause, of another
        class for a negative one.
    weights : ndarray of uint32, optional
        With how many votes the clause votes; by default one.
    """

    class_index: NDArray[np.int32]
    polarity: NDArray[np.int8]
    matches: NDArray[np.int64]
    agrees: NDArray[np.int64]
    weights: NDArray[np.uint32] = None  # type: ignore[assignment]  # never after __post_init__

    _columns = ("class_index", "polarity", "matches", "agrees", "weights")

    def __post_init__(self) -> None:
        if self.weights is None:
            object.__setattr__(self, "weights", np.ones(len(self), np.uint32))


_MOST_VOTES = 2**30  # the largest weight of a clause in the core


def clauses_state(clauses: Clauses) -> dict[str, Any]:
    """Return the state of clauses; see `Clauses` for the fields."""
    weighted = {"weights": clauses.weights} if (clauses.weights != 1).any() else {}
    return {
        **weighted,
        "n_features": clauses.n_features,
        "class_index": clauses.class_index,
        "polarity": clauses.polarity,
        "lengths": clauses.lengths,
        "literals": clauses.literals,
        "matches": clauses.matches,
        "agrees": clauses.agrees,
    }


def clauses_from_state(fields: Fields, n_features: int, n_classes: int = 2) -> Clauses:
    """Return the clauses of a state that `clauses_state` made."""
    fields.integer("n_features", least=n_features, most=n_features)
    n, size = fields.length("class_index"), fields.length("literals")
    lengths = fields.integers("lengths", np.int64, (n,), most=min(size, 2 * n_features))
    # No length exceeds `size`, so that below 2**63 neither their sum nor a partial sum can wrap.
    complete = n * max(size, 1) < 2**63 and int(lengths.sum()) == size
    fields.require(complete, "lengths", f"lengths that add up to the {size:,} literals")
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    literals = fields.integers("literals", np.int32, (size,), most=2 * n_features - 1)
    ascending = np.ones(size, bool)
    ascending[1:] = literals[1:] > literals[:-1]
    ascending[indptr[:-1][lengths > 0]] = True
    fields.require(bool(ascending.all()), "literals", "ascending literals within each clause")
    polarity = fields.integers("polarity", np.int8, (n,), least=-1, most=1)
    fields.require(bool((polarity != 0).all()), "polarity", "1 or -1 for each clause")
    matches = fields.integers("matches", np.int64, (n,), most=MAX_DOCUMENTS)
    agrees = fields.integers("agrees", np.int64, (n,), most=MAX_DOCUMENTS)
    fields.require(bool((agrees <= matches).all()), "agrees", "counts up to those of matches")
    return Clauses(
        class_index=fields.integers("class_index", np.int32, (n,), most=n_classes - 1),
        polarity=polarity,
        indptr=indptr,
        literals=literals,
        matches=matches,
        agrees=agrees,
        n_features=n_features,
        weights=fields.integers("weights", np.uint32, (n,), least=1, most=_MOST_VOTES)
        if "weights" in fields
        else None,  # type: ignore[arg-type]
    )
