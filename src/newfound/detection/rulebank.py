"""Rules of known classes: machines, the words that each uses, and the classes it votes on."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import Clauses, EpochInfo
from newfound.rules import Rule, class_sums, read_rule

__all__ = ["RuleBank", "learn_rules", "new_machine"]

_OTHERS = -1


class RuleBank:
    """Trained rules over some of the words, and the classes they vote on.

    Parameters
    ----------
    machine : TsetlinMachineClassifier or None
        Fitted; None for rules from a file that holds no automata. Their training cannot continue.
    columns : ndarray of int
        The column of each of their features among all terms, ascending.
    classes : ndarray of int
        The index of each of their classes; -1 for the one that stands for all others.
    clauses : Clauses, optional
        The rules, if there is no machine.
    """

    def __init__(
        self,
        machine: TsetlinMachineClassifier | None,
        columns: NDArray[np.int64],
        classes: NDArray[np.int64],
        *,
        clauses: Clauses | None = None,
    ) -> None:
        self.machine, self.columns, self.classes = machine, columns, classes
        self._clauses = clauses

    @property
    def clauses(self) -> Clauses:
        """The rules, as the clauses of a machine."""
        if self.machine is not None:
            return self.machine.clauses_
        assert self._clauses is not None
        return self._clauses

    def class_sums(self, matrix: Any) -> NDArray[np.int32]:
        """Return the votes for each class of these rules, for bags of all terms."""
        places = np.full(matrix.shape[1], -1, dtype=np.int32)
        places[self.columns] = np.arange(len(self.columns))
        indices = places[matrix.indices]
        kept = indices >= 0
        indptr = np.concatenate(([0], np.cumsum(kept)))[matrix.indptr].astype(np.int64)
        features = np.ascontiguousarray(indices[kept])
        if self.machine is not None:
            return self.machine.class_sums_csr(indptr, features)
        return class_sums(self.clauses, indptr, features, len(self.classes))

    def rules(self, number: int, class_name: Any, terms: Sequence[str]) -> list[Rule]:
        """Return the distinct rules of a class, given its name and the names of all terms."""
        clauses, words = self.clauses, [terms[j] for j in self.columns.tolist()]
        (place,) = np.flatnonzero(self.classes == number).tolist()
        rows = np.flatnonzero(clauses.class_index == place).tolist()
        counts = Counter(read_rule(clauses, row, words, class_name) for row in rows)
        return [replace(rule, count=count) for rule, count in counts.items()]

    def partial_fit(self, matrix: Any, codes: NDArray[np.int64], epochs: int) -> None:
        """Continue training with documents of classes of this bank."""
        if self.machine is None:
            raise ValueError("These rules have no automata, so that training cannot continue.")
        self.machine.partial_fit(matrix[:, self.columns], codes, epochs=epochs)


def new_machine(parameters: Mapping[str, Any], seed: int) -> TsetlinMachineClassifier:
    """Return an unfitted machine with the parameters of a detector."""
    names = ("n_clauses", "T", "s", "epochs", "max_literals", "n_jobs")
    return TsetlinMachineClassifier(
        **{name: parameters[name] for name in names}, boost_true_positive=True, random_state=seed
    )


def learn_rules(
    machine: TsetlinMachineClassifier,
    matrix: Any,
    codes: NDArray[np.int64],
    usable: NDArray[np.bool_],
    wanted: NDArray[np.int64] | None = None,
    callback: Callable[[EpochInfo], bool | None] | None = None,
) -> RuleBank | None:
    """Learn rules for classes; return None if there is only one class or no usable word.

    Parameters
    ----------
    machine : TsetlinMachineClassifier
        Not fitted.
    matrix : Boolean CSR matrix
        Bags of known documents.
    codes : ndarray of int
        The index of the class of each.
    usable : ndarray of bool
        The terms that rules may use.
    wanted : ndarray of int, optional
        The classes to learn rules for, against all others together; by default all.
    callback : callable, optional
        Called with an `EpochInfo` after each epoch.
    """
    columns = np.flatnonzero(usable)
    labels = codes if wanted is None else np.where(np.isin(codes, wanted), codes, _OTHERS)
    if not len(columns) or len(np.unique(labels)) < 2:
        return None
    with warnings.catch_warnings():
        # Many small classes are classes, not a regression target as scikit-learn supposes.
        warnings.filterwarnings("ignore", "The number of unique classes")
        machine.fit(matrix[:, columns], labels, callback=callback)
    return RuleBank(machine, columns, np.asarray(machine.classes_, dtype=np.int64))
