"""What the suites for words and for documents share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from newfound.table import Table

__all__ = ["C_GRID", "N_CV_FOLDS", "Results", "SuiteSetting", "run_suites"]

# How the C of linear baselines is chosen: by cross-validation on the training side only.
C_GRID = (0.1, 1.0, 10.0, 100.0)
N_CV_FOLDS = 3

Results = dict[str, tuple[Table, float]]
"""The table of each suite and the seconds that it took."""


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
