"""Shared by all workers: read the job and the corpus, measure, print one JSON line.

It runs in the environments of the peers, so it needs only numpy.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_CLASSES = 2


@dataclass(frozen=True)
class Job:
    """One measurement. ``clauses`` counts for each class; the sum over classes is twice that."""

    task: str  # fit, held_out or same_clauses
    corpus: str
    clauses: int
    threads: int
    epochs: int
    cap_seconds: float
    min_epochs: int = 2
    variant: str = ""
    T: int = 50
    s: float = 25.0
    seed: int = 1
    model: str = ""  # where ours stores its clauses (fit), where the peers read them


@dataclass(frozen=True)
class Rows:
    """Some documents of the corpus, in CSR form, with their labels."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    labels: NDArray[np.int64]
    n_words: int

    def __len__(self) -> int:
        return len(self.labels)

    def dense(self, dtype: Any) -> NDArray[Any]:
        """Return one cell for each word, the input of the peers."""
        cells = np.zeros((len(self), self.n_words), dtype=dtype)
        cells[np.repeat(np.arange(len(self)), np.diff(self.indptr)), self.indices] = 1
        return cells


@dataclass(frozen=True)
class Corpus:
    """All documents, and the two parts of the split."""

    everything: Rows
    train: Rows
    held_out: Rows


@dataclass(frozen=True)
class Clauses:
    """A trained machine as plain lists: literal w is word w, literal n_words + w its negation."""

    indptr: NDArray[np.int64]
    literals: NDArray[np.int64]
    classes: NDArray[np.int64]
    polarities: NDArray[np.int64]  # +1 or -1
    predictions: NDArray[np.int64]  # of the held-out documents

    def save(self, path: str) -> None:
        """Write for the peers."""
        np.savez(path, **vars(self))

    @classmethod
    def read(cls, path: str) -> Clauses:
        """Read what ours wrote."""
        with np.load(path) as stored:
            return cls(**{name: stored[name] for name in stored.files})

    def of_class(self, label: int) -> list[NDArray[np.int64]]:
        """Return the literals of each clause of a class, positive clauses first."""
        own = self.classes == label
        order = [np.flatnonzero(own & (self.polarities == polarity)) for polarity in (1, -1)]
        return [self.literals[self.indptr[j] : self.indptr[j + 1]] for j in np.concatenate(order)]


def include_bits(clauses: list[NDArray[np.int64]], n_literals: int) -> NDArray[np.uint32]:
    """Pack clauses as words of 32 bits, one bit a literal, one row a clause."""
    bits = np.zeros((len(clauses), (n_literals - 1) // 32 + 1), dtype=np.uint32)
    for row, literals in zip(bits, clauses, strict=True):
        np.bitwise_or.at(row, literals // 32, np.uint32(1) << (literals % 32).astype(np.uint32))
    return bits


class Trial(ABC):
    """A machine that is measured, with the data in the form that suits it best."""

    packages: tuple[str, ...] = ("numpy",)
    setup_seconds: float | None = None  # where the clock around ``train`` would count it twice

    def __init__(self, job: Job) -> None:
        self.job = job
        self.machine: Any = None

    @abstractmethod
    def prepare(self, rows: Rows) -> Any:
        """Turn documents into the input of this machine (not timed)."""

    def prepare_questions(self, rows: Rows) -> Any:
        """Turn documents into the input of ``predict``, where that is another (not timed)."""
        return self.prepare(rows)

    @abstractmethod
    def train(self, rows: Rows, data: Any, go_on: Callable[[float], bool]) -> list[float]:
        """Make the machine, train it while ``go_on(seconds of the epoch)``; seconds an epoch."""

    @abstractmethod
    def predict(self, data: Any) -> NDArray[Any]:
        """Predict labels."""

    def load(self, clauses: Clauses, rows: Rows, data: Any, T: int) -> None:
        """Make a machine with the clauses of another one."""
        raise NotImplementedError

    def learnt(self, predictions: NDArray[Any]) -> Clauses:
        """Return the clauses, for the peers to load."""
        raise NotImplementedError

    def extra(self) -> dict[str, Any]:
        """More to report after training."""
        return {}


class DenseTrial(Trial):
    """A machine whose input is dense, 32 bits for each word."""

    def prepare(self, rows: Rows) -> Any:
        """Return dense cells of 32 bits."""
        return rows.dense(np.uint32)


def _read_corpus(path: str) -> Corpus:
    with np.load(path) as stored:
        indptr, indices, labels = stored["indptr"], stored["indices"], stored["labels"]
        n_words, parts = int(stored["n_words"]), (stored["train"], stored["held_out"])

    def take(rows: NDArray[np.int64]) -> Rows:
        pieces = [indices[indptr[i] : indptr[i + 1]] for i in rows]
        ends = np.concatenate(([0], np.cumsum([len(piece) for piece in pieces])))
        return Rows(ends.astype(np.int64), np.concatenate(pieces), labels[rows], n_words)

    return Corpus(Rows(indptr, indices, labels, n_words), take(parts[0]), take(parts[1]))


def _status(field: str) -> int:
    """Bytes of VmRSS or VmHWM of this process (Linux); elsewhere the peak, or 0."""
    path = Path("/proc/self/status")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    if field == "VmHWM":
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return 0


def _reset_peak() -> None:
    """Let the kernel count the peak from here on; where it refuses, the peak stays too high."""
    path = Path("/proc/self/clear_refs")
    if path.exists() and os.access(path, os.W_OK):
        path.write_text("5")


def _time_prediction(trial: Trial, data: Any, n: int) -> dict[str, float]:
    """Seconds a document: the first call, and the best of up to five after it."""
    seconds: list[float] = []
    spent = 0.0
    while len(seconds) < 6 and (len(seconds) < 3 or spent < 6.0):
        begin = time.perf_counter()
        trial.predict(data)
        seconds.append(time.perf_counter() - begin)
        spent += seconds[-1]
    return {"first": seconds[0] / n, "best": min(seconds[1:]) / n}


def _train(trial: Trial, rows: Rows, data: Any) -> dict[str, Any]:
    job = trial.job
    done: list[float] = []
    spent = [0.0]

    def go_on(seconds: float) -> bool:
        done.append(seconds)
        spent[0] += seconds
        enough = spent[0] >= job.cap_seconds and len(done) >= job.min_epochs
        return len(done) < job.epochs and not enough

    _reset_peak()
    before = _status("VmRSS")
    begin = time.perf_counter()
    epochs = trial.train(rows, data, go_on)
    seconds = time.perf_counter() - begin
    if trial.setup_seconds is not None:
        seconds = trial.setup_seconds + sum(epochs)
    peak = _status("VmHWM")
    return {
        "epoch_seconds": [round(x, 6) for x in epochs],
        "fit_seconds": seconds,
        "memory_before": before,
        "memory_peak": peak,
        "memory_machine": peak - before,
        **trial.extra(),
    }


def _measure(trial: Trial, corpus: Corpus) -> dict[str, Any]:
    job = trial.job
    held_out = trial.prepare_questions(corpus.held_out)
    truth = corpus.held_out.labels
    if job.task == "held_out":
        result = _train(trial, corpus.train, trial.prepare(corpus.train))
        predicted = np.asarray(trial.predict(held_out))
        return {**result, "accuracy": float(np.mean(predicted == truth))}
    data = trial.prepare(corpus.everything)
    if job.task == "fit":
        result = _train(trial, corpus.everything, data)
        result["predict_seconds"] = _time_prediction(trial, held_out, len(truth))
        if job.model:
            trial.learnt(np.asarray(trial.predict(held_out))).save(job.model)
        return result
    clauses = Clauses.read(job.model)
    trial.load(clauses, corpus.everything, data, job.T)
    predicted = np.asarray(trial.predict(held_out))
    timing = _time_prediction(trial, held_out, len(truth))
    # With T = 1 a vote on the right side leaves nothing to learn: a quiet epoch.
    trial.load(clauses, corpus.everything, data, 1)
    quiet = _train(trial, corpus.everything, data)["epoch_seconds"]
    agreement = float(np.mean(predicted == clauses.predictions))
    return {"predict_seconds": timing, "agreement": agreement, "quiet_epoch_seconds": quiet}


def main(make: Callable[[Job], Trial]) -> None:
    """Run the job given as the first argument and print its result as one JSON line."""
    job = Job(**json.loads(sys.argv[1]))
    trial = make(job)
    result = _measure(trial, _read_corpus(job.corpus))
    versions = {name: metadata.version(name) for name in trial.packages}
    versions["python"] = ".".join(map(str, sys.version_info[:3]))
    print(json.dumps({**result, "versions": versions}), flush=True)
