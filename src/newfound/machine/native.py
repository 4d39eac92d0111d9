"""The native machine with what belongs to it: its seed, its history and its clauses."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound import _core
from newfound.machine.clauses import Clauses
from newfound.storage.fields import Fields

if TYPE_CHECKING:
    from newfound.machine.classifier import TsetlinMachineClassifier

__all__ = [
    "HISTORY_COLUMNS",
    "EpochInfo",
    "MachineParameters",
    "NativeMachine",
    "TrainedState",
    "machine_from_state",
    "machine_state",
]

HISTORY_COLUMNS = _core.HISTORY_COLUMNS
_Csr = tuple[NDArray[np.int64], NDArray[np.int32]]


def _memory() -> int:
    """Return the memory of this computer in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 62


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


class MachineParameters(NamedTuple):
    """The parameters of a machine, fixed when it is started.

    A budget of 0 literals means none. The other class that a document is a negative example of is
    drawn in proportion to the power ``focus`` of its update probability; 0 draws all alike.
    """

    n_clauses: int
    T: int
    s: float
    boost_true_positive: bool
    max_literals: int
    focus: int = 0
    weighted: bool = False
    negations: bool = True


class NativeMachine:
    """A machine of the core, for documents as CSR arrays and classes as numbers.

    Examples
    --------
    >>> import numpy as np
    >>> parameters = MachineParameters(4, 2, 3.0, False, 0)
    >>> machine = NativeMachine(parameters, n_classes=2, n_features=2, seed=1)
    >>> documents = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)
    >>> machine.fit(documents, np.array([0, 1], dtype=np.int32), epochs=50)
    (False, None)
    >>> machine.class_sums(documents).argmax(axis=1).tolist()
    [0, 1]
    """

    def __init__(
        self, parameters: MachineParameters, n_classes: int, n_features: int, seed: int
    ) -> None:
        self.parameters, self.seed = parameters, seed
        self.n_classes, self.n_features = n_classes, n_features
        self.history = np.empty((0, len(HISTORY_COLUMNS)), np.int64)
        self.stop_reason = "epochs"
        self._clauses: Clauses | None = None
        self._fitter: int | None = None  # the thread that trains the machine
        self._documents: tuple[_Csr, NDArray[np.int32]] | None = (
            (np.zeros(1, np.int64), np.zeros(0, np.int32)),
            np.zeros(0, np.int32),
        )
        automata = 2 * n_features * n_classes * parameters.n_clauses
        too_large = MemoryError(
            f"The machine needs {automata / 2**30:.1f} GiB for {automata:,} automata; use "
            "fewer clauses or features."
        )
        # The system may promise more memory than there is, and end the process when it is used.
        if automata > _memory():
            raise too_large
        try:
            self._core = _core.Machine(n_classes, n_features, seed=seed, **parameters._asdict())
        except MemoryError:
            raise too_large from None

    def fit(
        self,
        documents: _Csr,
        codes: NDArray[np.int32],
        epochs: int,
        n_threads: int = 1,
        after_epoch: Callable[[int, NDArray[np.int64]], bool] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> tuple[bool, BaseException | None]:
        """Train for some epochs.

        `after_epoch` is called with the number of the epoch, from 0, and its counts; `cancelled` is
        asked several times a second. A true result of either ends training. Returned are whether
        that was in the middle of an epoch, and what a callback or a signal handler raised, for the
        caller to raise again.
        """
        self.refuse_in_callback()
        # Copies, because the caller may change the documents before the clauses are read.
        learned = ((documents[0].copy(), documents[1].copy()), codes.copy())

        def after(epoch: int, row: NDArray[np.int64]) -> bool:
            assert after_epoch is not None
            self._documents, self._clauses = learned, None
            return after_epoch(epoch, row)

        self._fitter = threading.get_ident()
        try:
            history, reason, cut, raised = self._core.fit(
                *learned[0],
                learned[1],
                epochs,
                n_threads,
                None if after_epoch is None else after,
                cancelled,
            )
        except MemoryError:
            raise MemoryError(
                f"Not enough memory to train {self.n_classes * self.parameters.n_clauses:,} "
                f"clauses of {self.n_features:,} features; use fewer clauses or features."
            ) from None
        finally:
            self._fitter = None
        self.history = np.concatenate((self.history, history))
        self.stop_reason = "interrupted" if isinstance(raised, KeyboardInterrupt) else reason
        self._documents, self._clauses = learned, None
        return cut, raised

    def refuse_in_callback(self) -> None:
        """Raise a RuntimeError if this thread is in the middle of a fit: in its callback."""
        if self._fitter == threading.get_ident():
            raise RuntimeError(
                "This machine is being trained: its callback may read it, but not train it. "
                "Return True from the callback to end training, or train another machine."
            )

    def class_sums(self, documents: _Csr, n_threads: int = 1) -> NDArray[np.int32]:
        """Return for each document and class the votes for it minus those against it."""
        return self._core.votes(*documents, n_threads)

    def matching(self, documents: _Csr, n_threads: int = 1) -> _Csr:
        """Return the numbers of the clauses that match each document, as rows of a CSR matrix."""
        return self._core.matching(*documents, n_threads)

    def support(
        self, documents: _Csr, codes: NDArray[np.int32], n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each clause how many documents match, and how many of those agree with it."""
        matches, own = self._core.support(*documents, codes, n_threads)
        return matches, np.where(self._polarity() > 0, own, matches - own)

    def clauses(self, n_threads: int = 1) -> Clauses:
        """Return the clauses, counted on the documents of the last fit; read once after a fit."""
        documents = self._documents  # another thread may set it to None meanwhile
        if self._clauses is None:
            assert documents is not None
            indptr, literals = self._core.clauses(n_threads)
            matches, agrees = self.support(*documents, n_threads)
            per_class = self.parameters.n_clauses
            self._clauses = Clauses(
                class_index=np.repeat(np.arange(self.n_classes, dtype=np.int32), per_class),
                polarity=self._polarity(),
                indptr=indptr,
                literals=literals,
                matches=matches,
                agrees=agrees,
                n_features=self.n_features,
                weights=self._core.weights(),
            )
            if self._fitter is None:  # in a callback they are needed again after the next epoch
                self._documents = None
        return self._clauses

    def states(self) -> NDArray[np.uint8]:
        """Return a copy of the states of the automata."""
        return self._core.states()

    def trained_state(self) -> TrainedState:
        """Return what the machine needs to continue training."""
        position, draws, epochs_drawn = self._core.counters()
        return TrainedState(
            seed=self.seed,
            states=self._core.states(),
            weights=self._core.weights(),
            position=position,
            draws=draws,
            epochs_drawn=epochs_drawn,
            history=self.history,
            stop_reason=self.stop_reason,
        )

    @classmethod
    def restore(
        cls, parameters: MachineParameters, n_classes: int, clauses: Clauses, state: TrainedState
    ) -> NativeMachine:
        """Return the machine that `trained_state` was called on."""
        machine = cls(parameters, n_classes, clauses.n_features, state.seed)
        machine._core.set_counters(state.position, state.draws, state.epochs_drawn)
        machine._core.set_states(state.states)
        machine._core.set_weights(state.weights)
        machine.history, machine.stop_reason = state.history, state.stop_reason
        machine._clauses, machine._documents = clauses, None
        return machine

    def __reduce__(self) -> tuple[Any, ...]:
        # With the clauses, so that the documents need not be kept.
        arguments = (self.parameters, self.n_classes, self.clauses(), self.trained_state())
        return NativeMachine.restore, arguments

    def _polarity(self) -> NDArray[np.int8]:
        half = self.parameters.n_clauses // 2
        return np.tile(np.repeat(np.array([1, -1], np.int8), half), self.n_classes)


def machine_state(machine: TsetlinMachineClassifier) -> dict[str, Any]:
    """Return what a machine needs to continue training; its clauses are saved apart."""
    state = machine.trained_state()
    return {
        "seed": state.seed,
        "stop_reason": state.stop_reason,
        "n_epochs": len(state.history),
        "epochs_drawn": int(state.epochs_drawn),
        "history_columns": list(HISTORY_COLUMNS),
        "states": state.states,
        "position": state.position,
        "draws": state.draws,
        "history": state.history,
    }


def machine_from_state(
    fields: Fields,
    machine: TsetlinMachineClassifier,
    classes: NDArray[Any],
    clauses: Clauses,
) -> TsetlinMachineClassifier:
    """Restore an unfitted machine from a state that `machine_state` made.

    The machine has the parameters of the one that was saved; classes and clauses are those of it.
    """
    machine.check_parameters()
    n_clauses, n_features = int(machine.n_clauses), clauses.n_features
    n = len(classes) * n_clauses
    shape = (len(classes), n_clauses, 2, n_features)
    fields.require(len(clauses) == n, "states", f"automata of {len(clauses):,} clauses")
    columns = list(HISTORY_COLUMNS)
    fields.require(
        fields.value("history_columns") == columns, "history_columns", ", ".join(columns)
    )
    n_epochs = fields.integer("n_epochs")
    state = TrainedState(
        seed=fields.integer("seed", most=2**64 - 1),
        states=fields.integers("states", np.uint8, shape, most=255),
        weights=clauses.weights,
        position=fields.integers("position", np.uint32, (n_features,), most=n_features - 1),
        draws=fields.integers("draws", np.uint64, (n,), most=2**64 - 1),
        epochs_drawn=fields.integer("epochs_drawn"),
        history=fields.integers("history", np.int64, (n_epochs, len(columns)), most=2**63 - 1),
        stop_reason=fields.text("stop_reason", most=20),
    )
    machine.random_state = state.seed  # decides which of a committee's documents it learns from
    return machine.restore(state, classes, clauses)
