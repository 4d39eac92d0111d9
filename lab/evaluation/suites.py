"""What the suites for words and for documents share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lab.tables import table_of
from newfound.table import Table

__all__ = [
    "C_GRID",
    "N_CV_FOLDS",
    "Results",
    "SuiteSetting",
    "Values",
    "add_value",
    "means",
    "run_suites",
]

# How the C of linear baselines is chosen: by cross-validation on the training side only.
C_GRID = (0.1, 1.0, 10.0, 100.0)
N_CV_FOLDS = 3

Results = dict[str, tuple[Table, float]]
"""The table of each suite and the seconds that it took."""

Values = dict[str, dict[str, list[float]]]
"""What was measured, by row and column: a value for each draw."""


@dataclass(frozen=True)
class SuiteSetting:
    """What all suites share.

    Attributes
    ----------
    data : path, optional
        The folder with the data sets. By default, the loaders look where the environment says.
    n_jobs : int
        The number of threads.
    say : callable
        Called with a message about the progress.
    """

    data: Path | None = None
    n_jobs: int = 1
    say: Callable[[str], None] = lambda message: None


Setting = TypeVar("Setting", bound=SuiteSetting)


def run_suites(
    suites: Mapping[str, Callable[[Setting], Table]], setting: Setting, names: Sequence[str]
) -> Results:
    """Run suites by name, and return the table and the seconds of each."""
    found: Results = {}
    for name in names:
        setting.say(f"{name} ...")
        began = time.perf_counter()
        table = suites[name](setting)
        found[name] = (table, time.perf_counter() - began)
    return found


def add_value(values: Values, row: str, column: str, value: float) -> None:
    """Add what one draw measured."""
    values.setdefault(row, {}).setdefault(column, []).append(value)


def means(values: Values, *, spread: bool = True, row_name: str = "scorer") -> Table:
    """Return a table of means, with standard deviations of a single draw if `spread`.

    Examples
    --------
    >>> table = means({"ours": {"AUROC": [0.5, 0.7]}})
    >>> table["scorer"].tolist(), table["AUROC"].round(2).tolist()
    (['ours'], [0.6])
    >>> table["AUROC, sd"].round(2).tolist()
    [0.14]
    """
    made = []
    for name, columns in values.items():
        row: dict[str, Any] = {row_name: name}
        for column, found in columns.items():
            row[column] = float(np.mean(found))
            if spread:
                row[f"{column}, sd"] = float(np.std(found, ddof=1)) if len(found) > 1 else 0.0
        made.append(row)
    return table_of(made)
