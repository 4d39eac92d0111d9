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

class RuleSet:
    def __init__(
        self, begin: NDArray[np.int64], literals: NDArray[np.int32], n_features: int
    ) -> None: ...
    def matching(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], n_threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def count(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        among: NDArray[np.bool_],
        n_threads: int = 1,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

class Rules:
    def __init__(
        self,
        rules: RuleSet,
        weight_begin: NDArray[np.int64],
        weight_class: NDArray[np.int32],
        weight: NDArray[np.int64],
        squares: NDArray[np.float64],
        base: NDArray[np.int64],
        base_square: float,
        unit: float,
        learned: NDArray[np.int32],
    ) -> None: ...
    def votes(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
    def explain(
        self, document: NDArray[np.int32], number: int, most: int
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]], float]: ...

class TextScorer:
    def __init__(
        self,
        rarity: NDArray[np.float64],
        is_pair: NDArray[np.bool_],
        rate: NDArray[np.float64],
        counts: NDArray[np.float32],
        weights: NDArray[np.float32],
        intercepts: NDArray[np.float32],
        sizes: NDArray[np.int64],
        unseen_rarity: float,
        unseen_surprise: float,
        evidence: NDArray[np.float64],
        likeness: NDArray[np.float64],
        unseen_evidence: float,
        unseen_likeness: float,
        prior: float,
        elsewhere: float,
        near_sizes: NDArray[np.int64],
        class_begin: NDArray[np.int64],
        classes: NDArray[np.int32],
        document_begin: NDArray[np.int64],
        places: NDArray[np.int32],
        values: NDArray[np.float32],
        n_nearest: int,
        rules: Rules | None = None,
        alone: NDArray[np.float64] | None = None,
    ) -> None: ...
    def parts(
        self,
        indptr: NDArray[np.int64],
        terms: NDArray[np.int32],
        unseen_indptr: NDArray[np.int64],
        unseen: NDArray[np.int32],
        unseen_pairs: NDArray[np.int64],
        n_pairs: NDArray[np.int64],
        weights: NDArray[np.float32] | None,
        squares: NDArray[np.float64] | None,
        by_rules: bool,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.uint8]]: ...
    def shares(
        self,
        terms: NDArray[np.int32],
        unseen: NDArray[np.int32],
        unseen_pairs: int,
        weights: NDArray[np.float32] | None,
        squares: NDArray[np.float64] | None,
        nearest: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]: ...
    def smallest_removal(
        self,
        words: NDArray[np.int32],
        columns: NDArray[np.int32],
        numbers: NDArray[np.int64],
        unseen_place: NDArray[np.int32],
        weights: NDArray[np.float32] | None,
        squares: NDArray[np.float64] | None,
        pair_keys: NDArray[np.int64],
        pair_columns: NDArray[np.int32],
        centre: NDArray[np.float64],
        scale: NDArray[np.float64],
        low: float,
        high: float,
        threshold: NDArray[np.float64],
        by_rules: bool,
        tried: NDArray[np.int32],
        most: int,
        candidates: int,
    ) -> list[int] | None: ...

def exp(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def expm1(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log1p(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def logistic(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_logistic(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_gamma(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def normal_quantile(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def xlogy(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]: ...
def binomial_tail(
    k: NDArray[np.float64], n: NDArray[np.float64], p: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def hypergeometric_tail(
    k: NDArray[np.float64],
    total: NDArray[np.float64],
    good: NDArray[np.float64],
    n: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def beta_binomial_tail(k: float, n: float, a: float, b: float) -> float: ...
def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float: ...
def sparse_product(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    dense: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def principal_axes(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    n_columns: int,
    n: int,
    n_iterations: int,
    seed: int,
) -> NDArray[np.float64]: ...
def k_means(
    points: NDArray[np.float64], n_clusters: int, n_starts: int, n_iterations: int, seed: int
) -> NDArray[np.int32]: ...
def logistic_regression(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    n_columns: int,
    classes: NDArray[np.int32],
    n_classes: int,
    row_weights: NDArray[np.float64],
    C: float,
    intercept: bool,
    tolerance: float,
    n_iterations: int,
) -> NDArray[np.float64]: ...
def support_vectors(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    n_columns: int,
    classes: NDArray[np.int32],
    n_classes: int,
    C: float,
    intercept: bool,
    tolerance: float,
    n_iterations: int,
    seed: int,
) -> NDArray[np.float64]: ...
