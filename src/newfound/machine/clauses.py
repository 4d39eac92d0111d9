"""Records of a machine: the counts of an epoch, its clauses as arrays, its trained state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Clauses", "EpochInfo", "TrainedState"]


@dataclass(frozen=True)
class EpochInfo:
    """The counts of one epoch, as passed to a callback.

    Attributes
    ----------
    epoch, epochs
        The number of epochs done and the number requested.
    type_ia, type_ib, type_ii
        Feedback events of each type; Type II events without effect are not counted.
    documents_at_target, documents
        How many documents had all their votes at T, and how many documents there are.
    """

    epoch: int
    epochs: int
    type_ia: int
    type_ib: int
    type_ii: int
    documents_at_target: int
    documents: int


@dataclass(frozen=True)
class TrainedState:
    """All that a trained machine needs to continue training exactly where it stopped.

    Attributes
    ----------
    seed : int
        The seed that the machine was started with.
    states : (n_classes, n_clauses, 2, n_features) ndarray of uint8
        States of the automata: plain features, then negated ones.
    position : (n_features,) ndarray of uint32
        The place of each feature in the core's order of features.
    weights : (n_classes * n_clauses,) ndarray of uint32
        With how many votes each clause votes.
    draws : (n_classes * n_clauses,) ndarray of uint64
        How many random numbers each clause has used.
    epochs_drawn : int
        How many random orders of documents were used.
    history : (n_epochs, n_columns) ndarray of int64
        The counts of each epoch, with the columns of ``history_``.
    stop_reason : str
        Why training ended.
    """

    seed: int
    states: NDArray[np.uint8]
    weights: NDArray[np.uint32]
    position: NDArray[np.uint32]
    draws: NDArray[np.uint64]
    epochs_drawn: int
    history: NDArray[np.int64]
    stop_reason: str


@dataclass(frozen=True)
class Clauses:
    """The clauses of a machine, as arrays with one entry for each clause.

    Attributes
    ----------
    class_index : ndarray of int32
        The class that the clause belongs to, as an index into ``classes_``.
    polarity : ndarray of int8
        1 for a clause that votes for its class, -1 for one that votes against it.
    indptr, literals : ndarray
        ``literals[indptr[j]:indptr[j + 1]]`` is the AND of clause j, sorted: a feature's number, or
        ``n_features`` plus that number if the feature is negated.
    matches : ndarray of int64
        How many training documents the clause matches.
    agrees : ndarray of int64
        How many of those are on the clause's side: of its class for a positive clause, of another
        class for a negative one.
    n_features : int
        The number of features of the machine.
    weights : ndarray of uint32, optional
        With how many votes the clause votes; by default one.
    """

    class_index: NDArray[np.int32]
    polarity: NDArray[np.int8]
    indptr: NDArray[np.int64]
    literals: NDArray[np.int32]
    matches: NDArray[np.int64]
    agrees: NDArray[np.int64]
    n_features: int
    weights: NDArray[np.uint32] = None  # type: ignore[assignment]  # never after __post_init__

    def __post_init__(self) -> None:
        if self.weights is None:
            object.__setattr__(self, "weights", np.ones(len(self.class_index), np.uint32))

    def __len__(self) -> int:
        return len(self.class_index)

    def take(self, rows: NDArray[np.intp]) -> Clauses:
        """Return the clauses with these numbers, in this order."""
        lengths = self.lengths[rows]
        indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        shift = np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return Clauses(
            class_index=self.class_index[rows],
            polarity=self.polarity[rows],
            indptr=indptr,
            literals=self.literals[np.arange(indptr[-1]) + shift],
            matches=self.matches[rows],
            agrees=self.agrees[rows],
            n_features=self.n_features,
            weights=self.weights[rows],
        )

    def widened(self, columns: NDArray[np.intp], n_features: int) -> Clauses:
        """Return clauses over some columns of a larger table as clauses over the whole table.

        Parameters
        ----------
        columns : (n_features,) array of int
            The number in the larger table of each feature, ascending.
        n_features : int
            The number of features of the larger table.

        Returns
        -------
        Clauses
        """
        both = np.concatenate((columns, columns + n_features)).astype(np.int32)
        return replace(self, literals=both[self.literals], n_features=n_features)

    def narrowed(self, columns: NDArray[np.intp]) -> Clauses:
        """Undo `widened`. Raise a ValueError if a clause uses a feature of another column."""
        both = np.concatenate((columns, columns + self.n_features))
        places = np.searchsorted(both, self.literals)
        if (both.take(places, mode="clip") != self.literals).any():
            raise ValueError("The clauses use features that are not among these columns.")
        return replace(self, literals=places.astype(np.int32), n_features=len(columns))

    @staticmethod
    def concatenate(parts: Sequence[Clauses]) -> Clauses:
        """Return the clauses of several machines over the same features as one table."""
        starts = np.cumsum([0, *(len(part.literals) for part in parts)])
        ends = [part.indptr[1:] + start for part, start in zip(parts, starts, strict=False)]
        return Clauses(
            class_index=np.concatenate([part.class_index for part in parts]),
            polarity=np.concatenate([part.polarity for part in parts]),
            indptr=np.concatenate([np.zeros(1, np.int64), *ends]),
            literals=np.concatenate([part.literals for part in parts]),
            matches=np.concatenate([part.matches for part in parts]),
            agrees=np.concatenate([part.agrees for part in parts]),
            n_features=parts[0].n_features,
            weights=np.concatenate([part.weights for part in parts]),
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of literals in each clause."""
        return np.diff(self.indptr)

    @property
    def plain(self) -> sp.csr_array:
        """Boolean (clauses, features) matrix of the features that a clause asks for."""
        return self._part(self.literals < self.n_features, 0)

    @property
    def negated(self) -> sp.csr_array:
        """Boolean (clauses, features) matrix of the features that a clause rules out."""
        return self._part(self.literals >= self.n_features, self.n_features)

    def _part(self, chosen: NDArray[np.bool_], offset: int) -> sp.csr_array:
        before = np.concatenate(([0], np.cumsum(chosen)))
        indices = self.literals[chosen] - offset
        return sp.csr_array(
            (np.ones(len(indices), bool), indices, before[self.indptr]),
            shape=(len(self), self.n_features),
        )
