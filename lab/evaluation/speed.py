"""The time and the memory of whole descriptions, each in a process of its own.

    python -m lab.evaluation.speed CORPUS N_JOBS [FOLDER]

describes a corpus and prints what it measured as JSON; `describe_in_a_process` runs that.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.datasets import load_abcnews, load_bbcsport
from lab.evaluation.suites import SuiteSetting
from lab.tables import table_of
from newfound.description.describe import describe
from newfound.processes import python_command
from newfound.table import Table
from newfound.text.sample import load_sample
from newfound.timing import recorded

__all__ = ["STEPS", "SUITES", "Setting", "describe_in_a_process", "measure"]

STEPS = ("reading", "tokenising", "machines", "copies", "evidence", "phrases", "themes")
_KIB_PER_UNIT = 1 / 1024 if sys.platform == "darwin" else 1.0  # of ru_maxrss


@dataclass(frozen=True)
class Setting(SuiteSetting):
    """The setting of the speed suites.

    Attributes
    ----------
    runs : int
        How often each corpus is described; the fastest run is shown, with the wall time of the
        slowest beside it.
    """

    n_jobs: int = -1
    runs: int = 1


def _abcnews(data: Path | None) -> tuple[list[str], list[str]]:
    corpus = load_abcnews(data)  # in the order of their dates
    half = len(corpus.texts) // 2
    return list(corpus.texts[:half]), list(corpus.texts[half:])


def _bbcsport(data: Path | None) -> tuple[list[str], list[str]]:
    corpus = load_bbcsport(data).only("cricket", "football", "rugby")
    pairs = list(zip(corpus.texts, corpus.labels or (), strict=True))
    known = [text for text, label in pairs if label != "rugby"]
    return known, [text for text, label in pairs if label == "rugby"]


def _sample(data: Path | None) -> tuple[list[str], list[str]]:
    known, novel = load_sample()
    return list(known), list(novel)


_SIDES: Mapping[str, Callable[[Path | None], tuple[list[str], list[str]]]] = MappingProxyType(
    {"abcnews": _abcnews, "bbcsport": _bbcsport, "sample": _sample}
)


def measure(corpus: str, n_jobs: int = -1, data: Path | None = None) -> dict[str, float]:
    """Describe a corpus with the default parameters, themes included.

    Parameters
    ----------
    corpus : {"abcnews", "bbcsport", "sample"}
        What to describe.
    n_jobs : int, default=-1
        The number of threads; -1 is all cores.
    data : path, optional
        The folder with the data sets.

    Returns
    -------
    dict of str to float
        Seconds by step ("other" is the rest) and of the whole, and the number of documents.
    """
    began = time.perf_counter()
    known, novel = _SIDES[corpus](data)
    start = time.perf_counter()
    with recorded() as steps, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some headlines have no words
        described = describe(known, novel, n_jobs=n_jobs, random_state=0)
        fitted = time.perf_counter()
    n_themes = len(described.themes_)
    ended = time.perf_counter()
    return {
        "reading": start - began,
        **steps,
        "themes": ended - fitted,
        "other": fitted - start - sum(steps.values()),
        "description": ended - start,
        "documents": len(known) + len(novel),
        "themes found": n_themes,
    }


def describe_in_a_process(
    corpus: str, n_jobs: int = -1, data: Path | None = None
) -> dict[str, float]:
    """Return what `measure` finds in a fresh process, with its time and its peak memory.

    Returns
    -------
    dict of str to float
        As `measure`, and: "wall" and "processor", in seconds, from the start of the process to its
        end; "start", the seconds of Python and of its imports; "memory", the peak resident set in
        GB.
    """
    command = python_command(__name__, corpus, str(n_jobs), *([str(data)] if data else []))
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, env=os.environ)
    wall = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"The description of {corpus} ended with status {done.returncode}.")
    found: dict[str, float] = json.loads(done.stdout)
    return {**found, "wall": wall, "start": wall - found["reading"] - found["description"]}


def abcnews(setting: Setting) -> Table:
    """Describe 74,399 headlines of ABC News: the second half by date is novel, the first known.

    Each run is a fresh process. "whole process" includes the start of Python and all imports
    ("start"); "description" is all but the start and the reading of the file. Seconds of steps are
    seconds of the clock.
    """
    return _measured("abcnews", setting)


def bbcsport(setting: Setting) -> Table:
    """Describe 536 articles of BBC Sport: rugby is novel, cricket and football are known.

    Measured as abcnews.
    """
    return _measured("bbcsport", setting)


SUITES: Mapping[str, Callable[[Setting], Table]] = MappingProxyType(
    {"abcnews": abcnews, "bbcsport": bbcsport}
)


def _measured(corpus: str, setting: Setting) -> Table:
    runs = []
    for number in range(setting.runs):
        setting.say(f"{corpus}, run {number + 1} of {setting.runs}")
        runs.append(describe_in_a_process(corpus, setting.n_jobs, setting.data))
    best = min(runs, key=lambda run: run["wall"])
    rows: list[dict[str, Any]] = [
        {"measure": "documents", "value": float(best["documents"])},
        {"measure": "whole process, wall seconds", "value": best["wall"]},
        {"measure": "description, wall seconds", "value": best["description"]},
        {"measure": "whole process, processor seconds", "value": best["processor"]},
        {"measure": "peak memory, GB", "value": best["memory"]},
        *(
            {"measure": f"{name}, seconds", "value": best.get(name, 0.0)}
            for name in ("start", *STEPS, "other")
        ),
        {"measure": "whole process, slowest run", "value": max(run["wall"] for run in runs)},
    ]
    return table_of(rows)


def _main(corpus: str, n_jobs: str, data: str | None = None) -> None:
    found = measure(corpus, int(n_jobs), Path(data) if data else None)
    used = resource.getrusage(resource.RUSAGE_SELF)
    found["processor"] = used.ru_utime + used.ru_stime
    found["memory"] = used.ru_maxrss * _KIB_PER_UNIT * 1024 / 1e9
    print(json.dumps(found))


if __name__ == "__main__":
    _main(*sys.argv[1:])
