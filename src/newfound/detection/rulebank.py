"""Rules of known classes: machines, the words that each goes by, and the classes it votes on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.machine.classifier import TsetlinMachineClassifier

__all__ = ["ClassRule", "RuleBank", "learn_rules"]

_REST = -1


@dataclass(frozen=True)
class ClassRule:
    """A rule of a known class, by the columns of the words it asks for and rules out.

    `polarity` is 1 for a rule that votes for the class and -1 for one that votes against it;
    `matches` known documents match it, and `agrees` of these are on its side.
    """

    polarity: int
    plain: tuple[int, ...]
    negated: tuple[int, ...]
    matches: int
    agrees: int

    def fires(self, present: frozenset[int] | set[int]) -> bool:
        """Whether a text with these words matches; an empty rule matches nothing."""
        return bool(self.plain or self.negated) and (
            present.issuperset(self.plain) and present.isdisjoint(self.negated)
        )

    def lacks(self, present: frozenset[int] | set[int]) -> int | None:
        """Give the one word that a text lacks to match; None if it lacks none or several."""
        missing = [column for column in self.plain if column not in present]
        return missing[0] if len(missing) == 1 and present.isdisjoint(self.negated) else None


class RuleBank:
    """A machine over some of the words, and what its classes are.

    Parameters
    ----------
    machine : TsetlinMachineClassifier
        Fitted.
    columns : ndarray of int
        The column of each of its features among all terms, ascending.
    classes : ndarray of int
        The number of each of its classes; -1 for one that stands for all others.
    goes_on : bool, default=True
        Whether the machine has the automata that it learned with, and so can go on learning.
    """

    def __init__(
        self,
        machine: TsetlinMachineClassifier,
        columns: NDArray[np.int64],
        classes: NDArray[np.int64],
        *,
        goes_on: bool = True,
    ) -> None:
        self.goes_on = goes_on
        self.machine, self.columns, self.classes = machine, columns, classes
        self._rules: dict[int, list[ClassRule]] = {}
        self.told: dict[int, list[Any]] = {}  # rules as explanations tell them, by class

    def features(self, matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give the rows of a matrix of all terms as the machine wants them."""
        places = np.full(matrix.shape[1], -1, dtype=np.int32)
        places[self.columns] = np.arange(len(self.columns))
        indices = places[matrix.indices]
        kept = indices >= 0
        indptr = np.concatenate(([0], np.cumsum(kept)))[matrix.indptr].astype(np.int64)
        return indptr, np.ascontiguousarray(indices[kept])

    def class_sums(self, matrix: Any) -> NDArray[np.int32]:
        """Give the votes for each class of the machine."""
        return self.machine.class_sums_csr(*self.features(matrix))

    def rules(self, number: int) -> list[ClassRule]:
        """Give the rules of a class."""
        if number not in self._rules:
            self._rules[number] = self._read(int(np.flatnonzero(self.classes == number)[0]))
        return self._rules[number]

    def _read(self, place: int) -> list[ClassRule]:
        clauses, n = self._clauses, len(self.columns)
        found = []
        for j in np.flatnonzero(clauses.class_index == place).tolist():
            literals = clauses.literals[clauses.indptr[j] : clauses.indptr[j + 1]]
            found.append(
                ClassRule(
                    int(clauses.polarity[j]),
                    tuple(self.columns[literals[literals < n]].tolist()),
                    tuple(self.columns[literals[literals >= n] - n].tolist()),
                    int(clauses.matches[j]),
                    int(clauses.agrees[j]),
                )
            )
        return found

    @cached_property
    def _clauses(self) -> Any:
        return self.machine.clauses_

    def partial_fit(self, matrix: Any, codes: NDArray[np.int64], epochs: int) -> None:
        """Go on learning from documents of classes of this bank."""
        self.machine.partial_fit(matrix[:, self.columns], codes, epochs=epochs)
        self.__dict__.pop("_clauses", None)
        self._rules, self.told = {}, {}


def learn_rules(
    machine: TsetlinMachineClassifier,
    matrix: Any,
    codes: NDArray[np.int64],
    usable: NDArray[np.bool_],
    wanted: NDArray[np.int64] | None = None,
) -> RuleBank | None:
    """Learn rules for classes; None where there is nothing to tell apart.

    Parameters
    ----------
    machine : TsetlinMachineClassifier
        Not fitted.
    matrix : Boolean CSR matrix
        Bags of known documents.
    codes : ndarray of int
        The number of the class of each.
    usable : ndarray of bool
        The terms that rules may use.
    wanted : ndarray of int, optional
        The classes to learn rules for, against all others together; by default all.
    """
    columns = np.flatnonzero(usable)
    labels = codes if wanted is None else np.where(np.isin(codes, wanted), codes, _REST)
    if not len(columns) or len(np.unique(labels)) < 2:
        return None
    with warnings.catch_warnings():
        # Many classes of few documents are no regression, as scikit-learn supposes.
        warnings.filterwarnings("ignore", "The number of unique classes")
        machine.fit(matrix[:, columns], labels)
    return RuleBank(machine, columns, np.asarray(machine.classes_, dtype=np.int64))
