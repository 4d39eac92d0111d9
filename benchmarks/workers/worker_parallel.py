"""pyTsetlinMachineParallel: clauses count for each class; threads share the documents."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyTsetlinMachineParallel.tm import MultiClassTsetlinMachine

from common import N_CLASSES, Clauses, DenseTrial, Rows, include_bits, main


class ParallelTrial(DenseTrial):
    """Threads come from OMP_NUM_THREADS, which the caller sets. It has no indexed path."""

    packages = ("pyTsetlinMachineParallel", "numpy")

    def _make(self, T: int) -> Any:
        return MultiClassTsetlinMachine(
            self.job.clauses, T, self.job.s, boost_true_positive_feedback=0
        )

    def train(self, rows: Rows, data: Any, go_on: Callable[[float], bool]) -> list[float]:
        """Call ``fit`` for one epoch at a time, going on from the last."""
        labels = rows.labels.astype(np.uint32)

        def call(epochs: int) -> float:
            begin = time.perf_counter()
            self.machine.fit(data, labels, epochs=epochs, incremental=True)
            return time.perf_counter() - begin

        if self.machine is None:
            self.machine = self._make(self.job.T)
            self.setup_seconds = call(0)
        # Each call encodes the documents and allocates anew; a user's one call of 100 epochs
        # does so once. A call of no epochs shows what to leave out.
        overhead = call(0)
        epochs = []
        while True:
            epochs.append(max(0.0, call(1) - overhead))
            if not go_on(epochs[-1]):
                return epochs

    def predict(self, data: Any) -> NDArray[Any]:
        """Predict the batch in one call."""
        return np.asarray(self.machine.predict(data))

    def load(self, clauses: Clauses, rows: Rows, data: Any, T: int) -> None:
        """Set each automaton's highest state bit; even clauses vote for, odd ones against."""
        self.machine = self._make(T)
        self.machine.fit(data, rows.labels.astype(np.uint32), epochs=0)
        bits = self.machine.number_of_state_bits
        states = []
        for label in range(N_CLASSES):
            learnt = clauses.of_class(label)
            half = len(learnt) // 2
            order = [
                literals
                for pair in zip(learnt[:half], learnt[half:], strict=True)
                for literals in pair
            ]
            included = include_bits(order, self.machine.number_of_features)
            state = np.full((*included.shape, bits), ~np.uint32(0), dtype=np.uint32)
            state[:, :, -1] = included
            states.append((np.ones(len(order), dtype=np.uint32), state.ravel()))
        self.machine.set_state(states)


if __name__ == "__main__":
    main(ParallelTrial)
