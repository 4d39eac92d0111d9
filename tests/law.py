"""What the tests of the law share: the core with its test switches, tasks, and statistical tests.

Every statistical test is on independent values (one for each seed, or one for each automaton where
the law makes automata independent) and rejects at LEVEL, Bonferroni-corrected over all statistics
it looks at. Seeds are fixed: a test that passes keeps passing until the core draws differently, and
then fails by chance once in 10,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

try:
    from newfound import _core_test as core
except ImportError as error:
    raise ImportError(
        "The tests of the core need the extension module newfound._core_test; install it with "
        "'make test' or 'pip install -Ccmake.define.NEWFOUND_TEST_MODULE=ON .'"
    ) from error

LEVEL = 1e-4
INSTRUCTION_SETS = core.instruction_sets()
every_instruction_set = pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
States = NDArray[np.uint8]


def csr(X: Bools) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the row pointers and sorted column indices of a Boolean matrix."""
    indptr = np.concatenate([[0], np.cumsum(X.sum(axis=1))]).astype(np.int64)
    return indptr, np.nonzero(X)[1].astype(np.int32)


def labels(y: Any) -> NDArray[np.int32]:
    return np.asarray(y, dtype=np.int32)


def fit(
    machine: Any, X: Bools, y: Any, epochs: int, n_threads: int = 1
) -> tuple[dict[str, NDArray[np.int64]], str]:
    """Fit the core; return the columns of its history by name, and why it stopped."""
    history, reason = machine.fit(*csr(X), labels(y), epochs, n_threads, None)[:2]
    return dict(zip(core.HISTORY_COLUMNS, history.T, strict=True)), reason


def smallest_p(p_values: Any) -> float:
    """Return the smallest p-value, corrected for how many there are (Bonferroni)."""
    p_values = np.asarray(p_values, dtype=float)
    assert not np.isnan(p_values).any()
    return float(min(1.0, p_values.min() * p_values.size))


@dataclass(frozen=True)
class Task:
    """A small fit; ``spread`` starts from scattered states, near both clamps, not the border."""

    name: str
    n_classes: int = 2
    n_features: int = 20
    n_clauses: int = 10
    T: int = 5
    s: float = 3.0
    boost_true_positive: bool = False
    max_literals: int = 0
    focus: int = 0
    weighted: bool = False
    negations: bool = True
    n_documents: int = 20
    epochs: int = 12
    spread: bool = False

    def parameters(self) -> dict[str, Any]:
        return {
            "n_classes": self.n_classes,
            "n_features": self.n_features,
            "n_clauses": self.n_clauses,
            "T": self.T,
            "s": self.s,
            "boost_true_positive": self.boost_true_positive,
            "max_literals": self.max_literals,
            "focus": self.focus,
            "weighted": self.weighted,
            "negations": self.negations,
        }

    def documents(self) -> tuple[Bools, NDArray[np.int32]]:
        """Each class favours its own words; word 0 is in every document, word 1 in none."""
        rng = np.random.default_rng(7)
        y = np.arange(self.n_documents) % self.n_classes
        own = np.arange(self.n_features) % self.n_classes == y[:, None]
        X = rng.random(own.shape) < np.where(own, 0.45, 0.15)
        X[:, 0], X[:, 1] = True, False
        return X, labels(y)

    def initial(self) -> States:
        """Few included literals, most of them soon lost; those of words 0 and 1 near the top."""
        rng = np.random.default_rng(8)
        shape = (self.n_classes, self.n_clauses, 2, self.n_features)
        low, high = rng.integers(0, 60, shape), rng.integers(100, 150, shape)
        states = np.where(rng.random(shape) < 0.2, high, low)
        states[..., 0, 0] = states[..., 1, 1] = 254
        return states.astype(np.uint8)


def goodness_p(values: NDArray[Any], pmf: Floats) -> float:
    """Pearson's chi-square; neighbouring cells are merged until 5 values are expected in each."""
    observed = np.bincount(values.ravel(), minlength=len(pmf))
    if len(observed) > len(pmf) or observed[pmf == 0].any():
        return 0.0
    expected = pmf * values.size
    cell, mass = np.zeros(len(pmf), dtype=np.intp), 0.0
    for i in range(1, len(pmf)):
        mass += expected[i - 1]
        enough = mass >= 5 and expected[i:].sum() >= 5
        cell[i] = cell[i - 1] + enough
        mass = 0.0 if enough else mass
    if cell[-1] == 0:
        return 1.0
    seen, due = np.bincount(cell, observed), np.bincount(cell, expected)
    return float(stats.chi2.sf(((seen - due) ** 2 / due).sum(), cell[-1]))


def independence_p(values: NDArray[Any], longest_lag: int) -> float:
    """Autocorrelation of the flattened values at every lag; each is normal if independent."""
    x = values.ravel() - values.mean()
    if not x.any():
        return 1.0
    spectrum = np.fft.rfft(x, 2 * x.size)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2)[: longest_lag + 1]
    pairs = x.size - np.arange(1, longest_lag + 1)
    z = covariance[1:] / covariance[0] * x.size / np.sqrt(pairs)
    return smallest_p(2 * stats.norm.sf(np.abs(z)))


def binomial_p(hits: int, n: int, p: float) -> float:
    """Two-sided test of a count; exact where chance has no part."""
    if p in (0.0, 1.0):
        return float(hits == n * p)
    return float(2 * stats.norm.sf(abs(hits - n * p) / np.sqrt(n * p * (1 - p))))


def clamped(start: int, k: int, p: float) -> Floats:
    """Exact law of a state after k trials of probability p to go down, clamped at 0."""
    pmf: Floats = stats.binom.pmf(np.arange(start + 1), k, p)[::-1]
    pmf[0] = stats.binom.sf(start - 1, k, p)
    return pmf


def contradiction(n_features: int) -> States:
    """A clause that matches nothing."""
    row = np.zeros((2, n_features), dtype=np.uint8)
    row[:, 0] = 255
    return row


def arena(voters: States, others: States, positive: bool = True) -> States:
    """States of two classes: class 0 learns, class 1 is at its target and stays as it is.

    ``voters`` are the rows of class 0 that get Type I, ``others`` those that get Type II, when the
    document is a positive or negative example of class 0.
    """
    half = len(voters)
    quiet = np.zeros_like(voters)
    mute = np.tile(contradiction(voters.shape[-1]), (half, 1, 1))
    if positive:
        return np.stack([np.concatenate([voters, others]), np.concatenate([mute, quiet])])
    return np.stack([np.concatenate([others, voters]), np.concatenate([quiet, mute])])
