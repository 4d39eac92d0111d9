"""Growth of the time of an epoch with documents, vocabulary and clauses (ours, one thread)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from contenders import CONTENDERS, OURS, Runner
from corpora import zipf

FACTORS = {"documents": (3, 10), "vocabulary": (2, 4), "clauses": (3, 10)}


@dataclass(frozen=True)
class Base:
    """The smallest size; it has enough documents that four times the words are still used."""

    documents: int = 2_144
    words: int = 10_000
    clauses: int = 1_000
    epochs: int = 6


QUICK = Base(documents=200, words=1_000, clauses=50, epochs=3)


def measure(runner: Runner, base: Base) -> list[dict[str, Any]]:
    """Time each axis at each factor, with the base before and after.

    The time of an epoch changes as a machine learns, so runs with different numbers of documents
    are compared over the same number of visits: a tenth of the documents gets ten times the epochs.
    Vocabulary and clauses are compared over the same number of epochs.
    """
    most = max(FACTORS["documents"])

    def seconds(n_epochs: int, documents: int = 1, vocabulary: int = 1, clauses: int = 1) -> float:
        name = f"growth-{documents}-{vocabulary}"
        path = runner.folder / f"{name}.npz"
        if not path.exists():
            zipf(base.documents * documents, base.words * vocabulary).save(path)
        job = {"task": "fit", "clauses": base.clauses * clauses, "threads": 1}
        result = runner.run(CONTENDERS[OURS], name, **job, epochs=n_epochs)
        return fmean(result["epoch_seconds"])

    points = []
    for axis, factors in FACTORS.items():

        def n_epochs(factor: int, axis: str = axis) -> int:
            return base.epochs * most // factor if axis == "documents" else base.epochs

        before = seconds(n_epochs(1))
        times = {factor: seconds(n_epochs(factor), **{axis: factor}) for factor in factors}
        start = fmean((before, seconds(n_epochs(1))))
        for factor, time in ({1: start} | times).items():
            points.append(
                {
                    "axis": axis,
                    "factor": factor,
                    "seconds_an_epoch": time,
                    "ratio": time / start,
                    "epochs": n_epochs(factor),
                }
            )
    return points
