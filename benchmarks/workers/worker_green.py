"""green-tsetlin: clauses count in all, both classes share them (each clause has two weights)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import green_tsetlin as gt
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from common import N_CLASSES, Clauses, Job, Rows, Trial, main

NEVER = 2.0  # an accuracy that stops no training
AT_ONCE = -1.0


class GreenTrial(Trial):
    """Dense (its exact law) or sparse; n_jobs threads, early exit and best state off."""

    packages = ("green-tsetlin", "numpy")

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.predictor: Any = None

    def prepare(self, rows: Rows) -> Any:
        """Return dense bytes, or CSR for the sparse variant."""
        if self.job.variant == "sparse":
            ones = np.ones(len(rows.indices), dtype=np.uint8)
            return csr_matrix((ones, rows.indices, rows.indptr), shape=(len(rows), rows.n_words))
        return rows.dense(np.uint8)

    def prepare_questions(self, rows: Rows) -> Any:
        """Return dense bytes, which the predictors of both variants need."""
        return rows.dense(np.uint8)

    def _make(self, n_words: int, T: int) -> Any:
        sparse = self.job.variant == "sparse"
        kind = gt.SparseTsetlinMachine if sparse else gt.TsetlinMachine
        return kind(
            n_literals=n_words,
            n_clauses=N_CLASSES * self.job.clauses,
            n_classes=N_CLASSES,
            s=float(self.job.s),
            threshold=T,
        )

    def train(self, rows: Rows, data: Any, go_on: Callable[[float], bool]) -> list[float]:
        """Run its trainer; the callback stops it by lowering the accuracy it waits for."""
        if self.machine is None:
            self.machine = self._make(rows.n_words, self.job.T)
        clock = [time.perf_counter()]

        def after_epoch(*_: Any) -> None:
            now = time.perf_counter()
            if not go_on(now - clock[0]):
                trainer.early_exit_acc = AT_ONCE
            clock[0] = now

        trainer = gt.Trainer(
            self.machine,
            n_jobs=self.job.threads,
            n_epochs=self.job.epochs,
            seed=self.job.seed,
            early_exit_acc=NEVER,
            load_best_state=False,
            fn_epoch_callback=after_epoch,
            progress_bar=False,
        )
        labels = rows.labels.astype(np.uint32)
        trainer.set_train_data(data, labels)
        trainer.set_eval_data(data[:1], labels[:1])  # required; one document costs nothing
        trainer.train()
        self.predictor = None
        return [float(seconds) for seconds in trainer.results["train_time_of_epochs"]]

    def predict(self, data: Any) -> NDArray[Any]:
        """Ask its compiled predictor, one document a call: it takes no batch."""
        if self.predictor is None:
            self.predictor = self.machine.get_predictor()
        return np.array([self.predictor.predict(row) for row in data])

    def load(self, clauses: Clauses, rows: Rows, data: Any, T: int) -> None:
        """Fill a state: included literals at the border, a weight for the own class alone."""
        self.machine = self._make(rows.n_words, T)
        self.predictor = None
        state = gt.DenseState(rows.n_words, len(clauses.classes), N_CLASSES)
        state.c[:] = -1
        state.c[np.repeat(np.arange(len(state.c)), np.diff(clauses.indptr)), clauses.literals] = 0
        state.w[np.arange(len(state.w)), clauses.classes] = clauses.polarities
        self.machine.load_state(state)


if __name__ == "__main__":
    main(GreenTrial)
