"""Whole fits of the core and of the reference machine have the same distribution."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from law import LEVEL, Floats, States, Task, core, csr, fit, smallest_p
from reference_machine import EVENTS, ReferenceMachine

TWIN_SEEDS = 300
CORE_SEEDS = 1200
# The kinds of events that the core counts, and where the twin has them.
KINDS = [kind for kind in EVENTS if kind in core.HISTORY_COLUMNS]
TWIN_COLUMNS = [EVENTS.index(kind) for kind in KINDS]


OFTEN = ("all options",)  # the others: make law
TASKS = [
    Task("two classes"),
    Task("low s", s=1.5),
    Task("high s", s=25.0, T=8),
    Task("boosted", boost_true_positive=True),
    Task("budget", max_literals=3, s=10.0),
    Task("three classes", n_classes=3, n_clauses=8, T=3, s=3.9, n_documents=21),
    Task("focused", n_classes=5, n_clauses=8, T=4, focus=4, n_documents=25),
    Task("a little focused", n_classes=4, n_clauses=6, T=3, s=2.0, focus=1, n_documents=24),
    Task("weighted", weighted=True, T=12),
    Task("plain words only", negations=False, s=4.0, T=6),
    Task("many words", n_features=150, n_clauses=8, T=15, n_documents=14, epochs=10),
    Task("wide", n_features=400, n_clauses=4, T=4, s=5.0, n_documents=12, epochs=9),
    Task("clamps", s=1.5, boost_true_positive=True, spread=True, epochs=20, n_documents=16),
    Task(
        "all together",
        n_classes=3,
        n_features=70,
        n_clauses=6,
        T=2,
        s=2.0,
        boost_true_positive=True,
        max_literals=6,
        spread=True,
        n_documents=15,
        epochs=16,
    ),
    Task(
        "all options",
        n_classes=4,
        n_features=70,
        n_clauses=6,
        T=4,
        boost_true_positive=True,
        max_literals=6,
        focus=2,
        weighted=True,
        negations=False,
        n_documents=20,
    ),
]


def summarise(
    states: States, weights: NDArray[Any], history: NDArray[Any], votes: NDArray[Any], task: Task
) -> Any:
    """Families of statistics of one fit: one row of numbers for each family."""
    half = task.n_clauses // 2
    included = states >= 128
    length = included.sum(axis=(2, 3))
    events = np.zeros((task.epochs, len(KINDS)))  # an early stop leaves only quiet epochs
    events[: len(history)] = history
    accuracy = (votes.argmax(axis=1) == task.documents()[1]).mean()
    by_side = [slice(None, half), slice(half, None)]
    return {
        "mean states": np.stack([states[:, side].mean(axis=1) for side in by_side]),
        "states of one clause": states[0, [0, -1]],
        "spread of states": states.std(axis=(2, 3)),
        "clause lengths": np.concatenate(
            [length[:, side].mean(axis=1) for side in by_side]
            + [length[0], included[:, :, 0].sum(axis=2).mean(axis=1), [(length == 0).mean()]]
        ),
        "events": np.concatenate([events.ravel(), events.sum(axis=0)]),
        "answers": np.append(votes.ravel(), accuracy),
        "weights": np.append(weights[0], weights.mean(axis=1)),
    }


def fit_twin(task: Task, seed: int) -> Any:
    X, y = task.documents()
    machine = ReferenceMachine(**task.parameters(), seed=seed)
    if task.spread:
        machine.states = task.initial()
    history = machine.fit(X, y, task.epochs)[:, TWIN_COLUMNS]
    return summarise(machine.states, machine.weights, history, machine.votes(X), task)


def fit_core(task: Task, seed: int, **execution: Any) -> Any:
    X, y = task.documents()
    machine = core.Machine(**task.parameters(), seed=seed, **execution)
    if task.spread:
        machine.set_states(task.initial())
    history, _ = fit(machine, X, y, task.epochs)
    events = np.stack([history[kind] for kind in KINDS], axis=1)
    weights = machine.weights().reshape(task.n_classes, task.n_clauses)
    return summarise(machine.states(), weights, events, machine.votes(*csr(X), 1), task)


def table(fits: list[Any], family: str) -> Floats:
    """One row per seed."""
    return np.array([np.ravel(fit[family]) for fit in fits], dtype=float)


def marginals_p(a: Floats, b: Floats) -> float:
    """Kolmogorov-Smirnov on each column; ties make it cautious."""
    varied = np.ptp(np.vstack([a, b]), axis=0) > 0
    if not varied.any():
        return 1.0
    return smallest_p(
        [stats.ks_2samp(u, v, method="asymp").pvalue for u, v in zip(a.T, b.T, strict=True)]
    )


def means_p(a: Floats, b: Floats) -> float:
    """Hotelling's T² on 25 principal components: sees small shifts of many columns."""
    pooled = np.vstack([a, b])
    pooled = pooled[:, np.ptp(pooled, axis=0) > 0]
    if pooled.shape[1] == 0:
        return 1.0
    pooled = (pooled - pooled.mean(axis=0)) / pooled.std(axis=0)
    bundle = -(-pooled.shape[1] // 200)  # sums of neighbours, as long vectors are slow to rotate
    pooled = np.add.reduceat(pooled, np.arange(0, pooled.shape[1], bundle), axis=1)
    scale, axes = np.linalg.eigh(pooled.T @ pooled)
    scores = pooled @ axes[:, -25:][:, scale[-25:] > 1e-9 * scale[-1]]
    first, second = scores[: len(a)], scores[len(a) :]
    d = scores.shape[1]
    shift = first.mean(axis=0) - second.mean(axis=0)
    freedom = len(pooled) - 2
    scatter = (len(a) - 1) * np.cov(first.T) + (len(b) - 1) * np.cov(second.T)
    distance = shift @ np.linalg.solve(np.atleast_2d(scatter) / freedom, shift)
    f = distance * len(a) * len(b) / len(pooled) * (freedom - d + 1) / (freedom * d)
    return float(stats.f.sf(f, d, freedom - d + 1))


def spreads_p(a: Floats, b: Floats) -> float:
    """The same for squared deviations from the common mean: sees dependence between draws."""
    centre = np.vstack([a, b]).mean(axis=0)
    return means_p((a - centre) ** 2, (b - centre) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=() if task.name in OFTEN else pytest.mark.law, id=task.name)
        for task in TASKS
    ],
)
def test_fits_of_core_and_twin_have_the_same_distribution(task: Task) -> None:
    with ProcessPoolExecutor() as pool:
        twin = list(pool.map(partial(fit_twin, task), range(TWIN_SEEDS), chunksize=25))
    core = [fit_core(task, seed) for seed in range(CORE_SEEDS)]
    p_values = {
        (family, test.__name__): test(table(twin, family), table(core, family))
        for family in twin[0]
        for test in (marginals_p, means_p, spreads_p)
    }
    worst = min(p_values, key=lambda key: p_values[key])
    assert smallest_p(list(p_values.values())) > LEVEL, (worst, p_values[worst], p_values)


@pytest.mark.slow
@pytest.mark.law
@pytest.mark.parametrize(
    "how", [{"foreseen_blocks": 0}, {"foreseen_blocks": 1}, {"quiet_share": 2.0}], ids=str
)
def test_foreseen_lines_and_remembered_answers_do_not_change_the_law(
    how: dict[str, float],
) -> None:
    task = Task("three blocks", n_features=150, n_clauses=8, T=15, n_documents=90, epochs=4)
    usual = [fit_core(task, seed, quiet_share=0.0) for seed in range(CORE_SEEDS)]
    other = [
        fit_core(task, seed, **{"quiet_share": 0.0, **how})
        for seed in range(CORE_SEEDS, 2 * CORE_SEEDS)
    ]
    p_values = [
        test(table(usual, family), table(other, family))
        for family in usual[0]
        for test in (marginals_p, means_p, spreads_p)
    ]
    assert smallest_p(p_values) > LEVEL, p_values
