"""tmu: vanilla counts clauses for each class, coalesced in all. One thread, whatever is asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tmu.models.classification.coalesced_classifier import TMCoalescedClassifier
from tmu.models.classification.vanilla_classifier import TMClassifier

from common import N_CLASSES, Clauses, DenseTrial, Rows, include_bits, main


class TmuTrial(DenseTrial):
    """A call of ``fit`` is an epoch; the encoded documents stay cached between calls."""

    packages = ("tmu", "numpy")

    def _make(self, T: int) -> Any:
        coalesced = self.job.variant == "coalesced"
        kind = TMCoalescedClassifier if coalesced else TMClassifier
        return kind(
            number_of_clauses=N_CLASSES * self.job.clauses if coalesced else self.job.clauses,
            T=T,
            s=self.job.s,
            boost_true_positive_feedback=0,
            seed=self.job.seed,  # 0 hangs
        )

    def train(self, rows: Rows, data: Any, go_on: Callable[[float], bool]) -> list[float]:
        """Call ``fit`` for each epoch."""
        if self.machine is None:
            self.machine = self._make(self.job.T)
        labels = rows.labels.astype(np.uint32)
        epochs = []
        while True:
            begin = time.perf_counter()
            self.machine.fit(data, labels)
            epochs.append(time.perf_counter() - begin)
            if not go_on(epochs[-1]):
                return epochs

    def predict(self, data: Any) -> NDArray[Any]:
        """Predict the batch in one call."""
        return np.asarray(self.machine.predict(data))

    def load(self, clauses: Clauses, rows: Rows, data: Any, T: int) -> None:
        """Fill the clause banks, and the weights where classes share clauses."""
        self.machine = self._make(T)
        self.machine.init(data, rows.labels.astype(np.uint32))
        learnt = [clauses.of_class(label) for label in range(N_CLASSES)]
        if self.job.variant == "coalesced":
            self._include(self.machine.clause_bank, learnt[0] + learnt[1])
            half = np.repeat([1, -1], self.job.clauses // 2)
            for label in range(N_CLASSES):
                weights = self.machine.weight_banks[label].get_weights()
                weights[:] = 0
                weights[label * self.job.clauses :][: self.job.clauses] = half
        else:
            for label in range(N_CLASSES):
                self._include(self.machine.clause_banks[label], learnt[label])

    @staticmethod
    def _include(bank: Any, clauses: list[NDArray[np.int64]]) -> None:
        """Set the highest of each automaton's state bits, which is its action."""
        shape = (bank.number_of_clauses, bank.number_of_ta_chunks, bank.number_of_state_bits_ta)
        bank.clause_bank.reshape(shape)[:, :, -1] = include_bits(clauses, bank.number_of_literals)


if __name__ == "__main__":
    main(TmuTrial)
