from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

HISTORY_COLUMNS: tuple[str, ...]
INSTRUCTION_SET: str

class Machine:
    def __init__(
        self,
        n_classes: int,
        n_features: int,
        n_clauses: int,
        T: int,
        s: float,
        boost_true_positive: bool = False,
        max_literals: int = 0,
        seed: int = 0,
        focus: int = 0,
        weighted: bool = False,
        negations: bool = True,
    ) -> None: ...
    def fit(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        y: NDArray[np.int32],
        epochs: int,
        n_threads: int = 1,
        callback: Callable[[int, NDArray[np.int64]], bool] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> tuple[NDArray[np.int64], str, bool, BaseException | None]: ...
    def clauses(self, n_threads: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def votes(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], n_threads: int = 1
    ) -> NDArray[np.int32]: ...
    def support(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        y: NDArray[np.int32],
        n_threads: int = 1,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def matching(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def states(self) -> NDArray[np.uint8]: ...
    def set_states(self, states: NDArray[np.uint8]) -> None: ...
    def weights(self) -> NDArray[np.uint32]: ...
    def set_weights(self, weights: NDArray[np.uint32]) -> None: ...
    def counters(self) -> tuple[NDArray[np.uint32], NDArray[np.uint64], int]: ...
    def set_counters(
        self, position: NDArray[np.uint32], draws: NDArray[np.uint64], epochs: int
    ) -> None: ...
