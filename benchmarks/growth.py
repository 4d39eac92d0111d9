"""How the time of an epoch grows with documents, vocabulary and clauses (ours, one thread)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from contenders import CONTENDERS, OURS, Runner
from corpora import zipf

FACTORS = {"documents": (3, 10), "vocabulary": (2, 4), "clauses": (3, 10)}


@dataclass(frozen=True)
class Base:
    """Where growth starts: enough documents that four times the words are still in use."""

    documents: int = 2_144
    words: int = 10_000
    clauses: int = 1_000
    epochs: int = 6


QUICK = Base(documents=200, words=1_000, clauses=50, epochs=3)


def measure(runner: Runner, base: Base) -> list[dict[str, Any]]:
    """Time the base before and after everything else, and each axis at each factor."""

    def epochs(documents: int = 1, vocabulary: int = 1, clauses: int = 1) -> list[float]:
        name = f"growth-{documents}-{vocabulary}"
        path = runner.folder / f"{name}.npz"
        if not path.exists():
            zipf(base.documents * documents, base.words * vocabulary).save(path)
        job = {"task": "fit", "clauses": base.clauses * clauses, "threads": 1}
        result = runner.run(CONTENDERS[OURS], name, **job, epochs=base.epochs)
        return list(result.get("epoch_seconds", []))

    series = {("base", 1): [epochs()]}
    for axis, factors in FACTORS.items():
        for factor in factors:
            series[axis, factor] = [epochs(**{axis: factor})]
    series["base", 1].append(epochs())
    lengths = [len(one) for runs in series.values() for one in runs]
    common = min(lengths)
    if common == 0:
        return []
    seconds = {key: fmean(fmean(run[:common]) for run in runs) for key, runs in series.items()}
    start = seconds["base", 1]
    points = []
    for axis, factors in FACTORS.items():
        for factor in (1, *factors):
            time = seconds[axis, factor] if factor > 1 else start
            points.append(
                {
                    "axis": axis,
                    "factor": factor,
                    "seconds_an_epoch": time,
                    "ratio": time / start,
                    "epochs": common,
                }
            )
    return points
