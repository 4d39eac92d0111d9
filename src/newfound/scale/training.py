"""The machines of a committee as tasks of an engine, one machine each.

Each machine learns from its own documents of the sample, and what it learns depends on these and
its seed alone. It is therefore the same wherever it learns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.committee import member_rows
from newfound.sides import SIDES

__all__ = ["fit_machine", "train_as_tasks"]

Map = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]


def train_as_tasks(
    run: Map,
    machines: list[TsetlinMachineClassifier],
    matrix: Any,
    novel: NDArray[np.bool_],
    epochs: int,
    *,
    most: int | None = None,
    **options: Any,
) -> list[NDArray[np.intp]]:
    """Let each machine of a committee learn as a task; as `newfound.machine.committee.train`.

    Parameters
    ----------
    run : callable
        Called with a function and a list; returns what the function returns for each item, in
        their order. Both can be pickled.
    machines : list of TsetlinMachineClassifier
        Replaced by those that have learned.
    matrix, novel, epochs, most
        As in `train`; the epochs are those of the machines.
    **options
        Those of `train` that say how threads are used; a task uses one.

    Returns
    -------
    list of array of int
        The documents of each machine.
    """
    labels = np.array(SIDES)[novel.astype(int)]
    rows = [
        member_rows(novel, int(cast("int", machine.random_state)), len(machines), most)
        for machine in machines
    ]
    for machine in machines:
        machine.n_jobs = 1
    tasks = [
        (machine, matrix[mine], labels[mine]) for machine, mine in zip(machines, rows, strict=True)
    ]
    machines[:] = run(fit_machine, tasks)
    return rows


def fit_machine(task: tuple[TsetlinMachineClassifier, Any, Any]) -> TsetlinMachineClassifier:
    """Return a machine that has learned from its documents."""
    machine, matrix, labels = task
    return machine.fit(matrix, labels)
