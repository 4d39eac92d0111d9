"""Records of a machine: the counts of an epoch, its clauses as arrays, its trained state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newfound.machine.rule_set import RuleSet

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
