"""newfound: clauses count for each class; stops by itself when nothing is left to learn."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from common import Clauses, Rows, Trial, main
from newfound import TsetlinMachineClassifier


class NewfoundTrial(Trial):
    """The whole fit, always: epochs are timed from one callback to the next."""

    packages = ("newfound", "numpy", "scipy", "scikit-learn")

    def prepare(self, rows: Rows) -> Any:
        """Return a CSR matrix."""
        ones = np.ones(len(rows.indices), dtype=np.uint8)
        return csr_matrix((ones, rows.indices, rows.indptr), shape=(len(rows), rows.n_words))

    def train(self, rows: Rows, data: Any, go_on: Callable[[float], bool]) -> list[float]:
        """Fit once."""
        epochs: list[float] = []
        self.machine = TsetlinMachineClassifier(
            n_clauses=self.job.clauses,
            T=self.job.T,
            s=self.job.s,
            epochs=self.job.epochs,
            n_jobs=self.job.threads,
            random_state=self.job.seed,
        )
        clock = [time.perf_counter()]

        def after_epoch(info: Any) -> bool:
            now = time.perf_counter()
            epochs.append(now - clock[0])
            clock[0] = now
            go_on(epochs[-1])
            return False

        self.machine.fit(data, rows.labels, callback=after_epoch)
        return epochs

    def predict(self, data: Any) -> NDArray[Any]:
        """Predict the batch in one call."""
        return np.asarray(self.machine.predict(data))

    def learnt(self, predictions: NDArray[Any]) -> Clauses:
        """Copy ``clauses_``."""
        own = self.machine.clauses_
        return Clauses(
            indptr=own.indptr.astype(np.int64),
            literals=own.literals.astype(np.int64),
            classes=own.class_index.astype(np.int64),
            polarities=own.polarity.astype(np.int64),
            predictions=predictions,
        )

    def extra(self) -> dict[str, Any]:
        """Return why training ended."""
        return {"n_epochs": self.machine.n_epochs_, "stop_reason": self.machine.stop_reason_}


if __name__ == "__main__":
    main(NewfoundTrial)
