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
    focus : int
        The other class of an example is drawn in proportion to this power of its update
        probability; 0 draws all alike.
    weighted : bool
        Whether clauses have weights: one more at each Ia, one less, but not below 1, at each II.
    negations : bool
        Whether there are negated literals; without them their automata stay at 0.

    Attributes
    ----------
    states : ndarray of uint8, shape (n_classes, n_clauses, 2, n_features)
        ``[..., 0, :]`` are the automata of plain literals, ``[..., 1, :]`` of negated ones.
    weights : ndarray of int, shape (n_classes, n_clauses)
        With how many votes each clause votes.
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
        focus: int = 0,
        weighted: bool = False,
        negations: bool = True,
    ) -> None:
        self.n_classes = n_classes
        self.T = T
        self.s = s
        self.boost_true_positive = boost_true_positive
        self.max_literals = max_literals
        self.focus = focus
        self.weighted = weighted
        self.rises = np.array([[True], [negations]])  # which automata may go up
        self.rng = np.random.default_rng(seed)
        self.states = np.full((n_classes, n_clauses, 2, n_features), INCLUDED - 1, dtype=np.uint8)
        self.states[:, :, ~self.rises[:, 0]] = 0
        self.weights = np.ones((n_classes, n_clauses), dtype=np.int64)
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

    def class_sum(self, cls: int, matches: Bools) -> int:
        """Return the votes of matching clauses for the class minus those against it."""
        votes = np.where(self.votes_for, self.weights[cls], -self.weights[cls])
        return int(votes[matches].sum())

    def feedback_probability(self, cls: int, matches: Bools, positive: bool) -> float:
        """Return the probability of feedback to a clause of the class, given which ones match."""
        v = min(max(self.class_sum(cls, matches), -self.T), self.T)
        return (self.T - v if positive else self.T + v) / (2 * self.T)

    def votes(self, X: Bools) -> NDArray[np.int32]:
        """Return the class sums of each document, not clipped, shape (n_documents, n_classes)."""
        sums = [
            [self.class_sum(c, self.evaluate(c, x, training=False)) for c in range(self.n_classes)]
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
        up = true & (draw < rise) & (rows < TOP) & self.rises
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
        self.states[cls][clause] = rows + (~literals(x) & (rows < INCLUDED) & self.rises)

    # -- learning --------------------------------------------------------------------------

    def learn(self, cls: int, x: Bools, positive: bool) -> NDArray[np.int64]:
        """Show one example to one class; return the number of events of each kind."""
        matches = self.evaluate(cls, x, training=True)
        probability = self.feedback_probability(cls, matches, positive)
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
        if self.weighted:
            self.weights[cls] = np.maximum(self.weights[cls] + ia - ii.astype(np.int64), 1)
        return np.array([np.count_nonzero(kind) for kind in (ia, ib, ii, idle)], dtype=np.int64)

    def at_target(self, X: Bools, y: NDArray[Any]) -> bool:
        """Return whether no document can give feedback to any class any more."""
        return all(
            self.feedback_probability(c, self.evaluate(c, x, training=True), c == label) == 0.0
            for x, label in zip(X, y, strict=True)
            for c in range(self.n_classes)
        )

    def other_class(self, label: int, x: Bools) -> int:
        """Draw the class that a document of another one is a negative example of."""
        others = [c for c in range(self.n_classes) if c != label]
        if self.focus == 0:
            return int(self.rng.choice(others))
        chances = np.array(
            [self.feedback_probability(c, self.evaluate(c, x, True), False) for c in others]
        )
        chances **= self.focus
        return int(self.rng.choice(others, p=chances / chances.sum() if chances.any() else None))

    def fit(self, X: Bools, y: NDArray[Any], epochs: int) -> NDArray[np.int64]:
        """Learn; return the events of each epoch, shape (epochs used, len(EVENTS))."""
        history = np.zeros((epochs, len(EVENTS)), dtype=np.int64)
        for epoch in range(epochs):
            for d in self.rng.permutation(len(X)):
                label = int(y[d])
                other = self.other_class(label, X[d])
                history[epoch] += self.learn(label, X[d], positive=True)
                history[epoch] += self.learn(other, X[d], positive=False)
            if not history[epoch].any() and self.at_target(X, y):
                return history[: epoch + 1]
        return history


def literals(x: Bools) -> Bools:
    """Return the truth of the plain and of the negated literals, shape (2, n_features)."""
    return np.array([x, ~x])
