"""A slow, literal Tsetlin Machine: the law that the native core is held to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Clauses = int | Bools | NDArray[np.intp]

INCLUDED = 128  # states of this value and above include the literal
TOP = 255
EVENTS = ("type_ia", "type_ib", "type_ii", "type_ii_idle")


class ReferenceMachine:
    """Vanilla Tsetlin Machine that draws and applies every event, one document at a time.

    Parameters
    ----------
    n_classes, n_features : int
        Size of the task.
    n_clauses : int
        Clauses of one class; the first half votes for the class, the others against it.
    T : int
        Voting target.
    s : float
        Specificity: a decrement has probability 1/s.
    boost_true_positive : bool
        Whether Type Ia raises the automata of true literals with certainty.
    max_literals : int
        Budget: a matching clause with more literals than this gets Ib for Ia; 0 is no budget.
    seed : int
        Seed of the machine's own generator.

    Attributes
    ----------
    states : ndarray of uint8, shape (n_classes, n_clauses, 2, n_features)
        ``[..., 0, :]`` are the automata of plain literals, ``[..., 1, :]`` of negated ones.
    """

    def __init__(
        self,
        n_classes: int,
        n_features: int,
        n_clauses: int,
        T: int,
        s: float,
        boost_true_positive: bool = False,
        max_literals: int = 0,
        seed: int = 0,
    ) -> None:
        self.n_classes = n_classes
        self.T = T
        self.s = s
        self.boost_true_positive = boost_true_positive
        self.max_literals = max_literals
        self.rng = np.random.default_rng(seed)
        self.states = np.full((n_classes, n_clauses, 2, n_features), INCLUDED - 1, dtype=np.uint8)
        self.votes_for = np.arange(n_clauses) < n_clauses // 2

    # -- answers ---------------------------------------------------------------------------

    def evaluate(self, cls: int, x: Bools, training: bool) -> Bools:
        """Return which clauses of a class match a document; empty ones only in training."""
        included = self.states[cls] >= INCLUDED
        violated = included & ~literals(x)
        matches: Bools = ~violated.reshape(len(violated), -1).any(axis=1)
        if not training:
            matches &= included.any(axis=(1, 2))
        return matches

    def class_sum(self, matches: Bools) -> int:
        """Return the matching clauses that vote for the class minus those that vote against it."""
        against = np.count_nonzero(matches & ~self.votes_for)
        return int(np.count_nonzero(matches & self.votes_for) - against)

    def feedback_probability(self, matches: Bools, positive: bool) -> float:
        """Return the probability of feedback to a clause of the class, given which ones match."""
        v = min(max(self.class_sum(matches), -self.T), self.T)
        return (self.T - v if positive else self.T + v) / (2 * self.T)

    def votes(self, X: Bools) -> NDArray[np.int32]:
        """Return the class sums of each document, not clipped, shape (n_documents, n_classes)."""
        sums = [
            [self.class_sum(self.evaluate(c, x, training=False)) for c in range(self.n_classes)]
            for x in X
        ]
        return np.array(sums, dtype=np.int32).reshape(len(X), self.n_classes)

    def predict(self, X: Bools) -> NDArray[np.intp]:
        """Return the class with the largest sum."""
        winners: NDArray[np.intp] = self.votes(X).argmax(axis=1)
        return winners

    # -- feedback to one clause, or to several at once ------------------------------------

    def type_ia(self, cls: int, clause: Clauses, x: Bools) -> None:
        """Recognise: true literals up with (s - 1)/s, or 1 if boosted; false ones down with 1/s."""
        rows = self.states[cls][clause]
        draw = self.rng.random(rows.shape)
        true = literals(x)
        rise = 1.0 if self.boost_true_positive else (self.s - 1.0) / self.s
        up = true & (draw < rise) & (rows < TOP)
        down = ~true & (draw < 1.0 / self.s) & (rows > 0)
        self.states[cls][clause] = rows + up - down

    def type_ib(self, cls: int, clause: Clauses) -> None:
        """Forget: every automaton down with 1/s."""
        rows = self.states[cls][clause]
        down = (self.rng.random(rows.shape) < 1.0 / self.s) & (rows > 0)
        self.states[cls][clause] = rows - down

    def type_ii(self, cls: int, clause: Clauses, x: Bools) -> None:
        """Reject: in a matching clause, excluded automata of false literals up by one."""
        rows = self.states[cls][clause]
        self.states[cls][clause] = rows + (~literals(x) & (rows < INCLUDED))

    # -- learning --------------------------------------------------------------------------

    def learn(self, cls: int, x: Bools, positive: bool) -> NDArray[np.int64]:
        """Show one example to one class; return the number of events of each kind."""
        matches = self.evaluate(cls, x, training=True)
        probability = self.feedback_probability(matches, positive)
        chosen = self.rng.random(len(matches)) < probability
        should_vote = self.votes_for == positive
        type_i, type_ii = chosen & should_vote, chosen & ~should_vote

        ia = type_i & matches
        if self.max_literals > 0:
            lengths = np.count_nonzero(self.states[cls] >= INCLUDED, axis=(1, 2))
            ia &= lengths <= self.max_literals
        ib = type_i & ~ia
        ii, idle = type_ii & matches, type_ii & ~matches

        if ia.any():
            self.type_ia(cls, ia, x)
        if ib.any():
            self.type_ib(cls, ib)
        if ii.any():
            self.type_ii(cls, ii, x)
        return np.array([np.count_nonzero(kind) for kind in (ia, ib, ii, idle)], dtype=np.int64)

    def at_target(self, X: Bools, y: NDArray[Any]) -> bool:
        """Return whether no document can give feedback to any class any more."""
        return all(
            self.feedback_probability(self.evaluate(c, x, training=True), c == label) == 0.0
            for x, label in zip(X, y, strict=True)
            for c in range(self.n_classes)
        )

    def fit(self, X: Bools, y: NDArray[Any], epochs: int) -> NDArray[np.int64]:
        """Learn; return the events of each epoch, shape (epochs used, len(EVENTS))."""
        history = np.zeros((epochs, len(EVENTS)), dtype=np.int64)
        for epoch in range(epochs):
            for d in self.rng.permutation(len(X)):
                label = int(y[d])
                other = int(self.rng.integers(self.n_classes - 1))
                other += other >= label
                history[epoch] += self.learn(label, X[d], positive=True)
                history[epoch] += self.learn(other, X[d], positive=False)
            if not history[epoch].any() and self.at_target(X, y):
                return history[: epoch + 1]
        return history


def literals(x: Bools) -> Bools:
    """Return the truth of the plain and of the negated literals, shape (2, n_features)."""
    return np.array([x, ~x])
