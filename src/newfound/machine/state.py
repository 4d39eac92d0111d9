"""The state of clauses and of machines in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.machine.classifier import HISTORY_COLUMNS, TsetlinMachineClassifier
from newfound.machine.clauses import Clauses, TrainedState
from newfound.storage.fields import MAX_DOCUMENTS, Fields

_MOST_VOTES = 2**30  # the largest weight of a clause in the core

__all__ = ["clauses_from_state", "clauses_state", "machine_from_state", "machine_state"]


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
    """Return the clauses of a state that `clauses_state` made.

    Parameters
    ----------
    fields : Fields
        The state.
    n_features, n_classes : int
        How many features and classes the clauses have to be of.
    """
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

    Parameters
    ----------
    fields : Fields
        The state.
    machine : TsetlinMachineClassifier
        A machine with the parameters of the one that was saved.
    classes : ndarray
        Its classes.
    clauses : Clauses
        Its clauses.
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
