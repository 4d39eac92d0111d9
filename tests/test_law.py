"""The native core obeys the law of the Tsetlin Machine.

Where there is no chance, core and twin agree exactly. Where there is, they agree as
distributions: every statistical test below is on independent values (one per seed, or one per
automaton where the law makes automata independent) and rejects at LEVEL, Bonferroni-corrected
over all the statistics it looks at. Seeds are fixed, so a test that passes keeps passing until
the core draws differently, and then fails wrongly once in 10,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from newfound import _core
from reference_machine import EVENTS, ReferenceMachine, literals

LEVEL = 1e-4
TWIN_SEEDS = 300
CORE_SEEDS = 1200
# The kinds of events that the core counts, and where the twin has them.
KINDS = [kind for kind in EVENTS if kind in _core.HISTORY_COLUMNS]
TWIN_COLUMNS = [EVENTS.index(kind) for kind in KINDS]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
States = NDArray[np.uint8]


def csr(X: Bools) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Row pointers and sorted column indices of a Boolean matrix."""
    indptr = np.concatenate([[0], np.cumsum(X.sum(axis=1))]).astype(np.int64)
    return indptr, np.nonzero(X)[1].astype(np.int32)


def labels(y: Any) -> NDArray[np.int32]:
    return np.asarray(y, dtype=np.int32)


def fit(
    machine: Any, X: Bools, y: Any, epochs: int, n_threads: int = 1
) -> tuple[dict[str, NDArray[np.int64]], str]:
    """Fit the core; return the columns of its history by name, and why it stopped."""
    history, reason = machine.fit(*csr(X), labels(y), epochs, n_threads, None)[:2]
    return dict(zip(_core.HISTORY_COLUMNS, history.T, strict=True)), reason


def smallest_p(p_values: Any) -> float:
    """Bonferroni: the smallest p-value, corrected for how many there are."""
    p_values = np.asarray(p_values, dtype=float)
    assert not np.isnan(p_values).any()
    return float(min(1.0, p_values.min() * p_values.size))


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    _core.set_instruction_set(request.param)
    yield request.param
    _core.set_instruction_set("auto")


# -- agreement of whole fits, as distributions -------------------------------------------------


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


TASKS = [
    Task("two classes"),
    Task("low s", s=1.5),
    Task("high s", s=25.0, T=8),
    Task("boosted", boost_true_positive=True),
    Task("budget", max_literals=3, s=10.0),
    Task("three classes", n_classes=3, n_clauses=8, T=3, s=3.9, n_documents=21),
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
]


def summarise(states: States, history: NDArray[Any], votes: NDArray[Any], task: Task) -> Any:
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
    }


def fit_twin(task: Task, seed: int) -> Any:
    X, y = task.documents()
    machine = ReferenceMachine(**task.parameters(), seed=seed)
    if task.spread:
        machine.states = task.initial()
    history = machine.fit(X, y, task.epochs)[:, TWIN_COLUMNS]
    return summarise(machine.states, history, machine.votes(X), task)


def fit_core(task: Task, seed: int) -> Any:
    X, y = task.documents()
    machine = _core.Machine(**task.parameters(), seed=seed)
    if task.spread:
        machine.set_states(task.initial())
    history, _ = fit(machine, X, y, task.epochs)
    events = np.stack([history[kind] for kind in KINDS], axis=1)
    return summarise(machine.states(), events, machine.votes(*csr(X), 1), task)


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


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
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


@pytest.mark.parametrize("remembered", [0, 64])
def test_how_many_answers_are_remembered_does_not_change_the_law(remembered: int) -> None:
    # More documents than the window holds: answers are forgotten in the middle of every epoch.
    task = Task("window", n_features=150, n_clauses=8, T=15, n_documents=90, epochs=4)
    core = [fit_core(task, seed) for seed in range(CORE_SEEDS)]
    before = _core.remembered_documents()
    _core.set_remembered_documents(remembered)
    try:
        other = [fit_core(task, seed) for seed in range(CORE_SEEDS, 2 * CORE_SEEDS)]
    finally:
        _core.set_remembered_documents(before)
    p_values = [
        test(table(core, family), table(other, family))
        for family in core[0]
        for test in (marginals_p, means_p, spreads_p)
    ]
    assert smallest_p(p_values) > LEVEL, p_values


# -- the law of single events, against exact probabilities --------------------------------------


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


DECREMENTS = [1, 2, 5, 40, 64, 65, 200, 256, 300, 350, 400, 512, 1000]


@pytest.mark.parametrize("s", [1.0, 1.1, 1.2, 1.5, 3.9, 25.0, 100.0])
@pytest.mark.parametrize("row", [False, True])
@pytest.mark.usefixtures("instruction_set")
def test_deferred_decrements_are_clamped_binomials(s: float, row: bool) -> None:
    # 100,000 values: an error of 0.01 in the probability of a state is 6 standard errors or more.
    p_values = []
    for k in DECREMENTS:
        for state in (3, 60, 200, 255):
            values = _core.decrement_sample(k, s, state, 100_000, 17, row)
            p_values.append(goodness_p(values, clamped(state, k, 1 / s)))
    assert smallest_p(p_values) > LEVEL, p_values


@pytest.mark.parametrize(("s", "k"), [(25.0, 1), (25.0, 200), (3.9, 200), (1.5, 40), (100.0, 1000)])
@pytest.mark.usefixtures("instruction_set")
def test_decrement_probability_is_not_quantised(s: float, k: int) -> None:
    # 1/25 in steps of 1/256 or 1/128 would be 1/25.6 or 1/21.3, 2 to 15 per cent off; one standard
    # error is 0.2 per cent of 1/s for k = 1 and at most 0.03 per cent for the others.
    n = 8_000_000 if k == 1 else 2_000_000
    values = _core.decrement_sample(k, s, 255, n, 3)
    hits = 255 * n - int(values.sum(dtype=np.int64))
    assert binomial_p(hits, k * n, 1 / s) > LEVEL, (hits / (k * n) * s, "of 1/s")


@pytest.mark.parametrize("s", [1.0, 1.2, 1.6, 2.0, 3.2, 3.9, 4.0, 8.0, 10.0, 25.0, 100.0, 8000.0])
def test_the_tables_of_decrements_make_up_the_binomial_law(s: float) -> None:
    """Also where probabilities are numbers of 256ths, so that bytes leave nothing over of some."""
    k = 0
    while True:
        try:
            pmf = _core.decrement_law(k, s)
        except ValueError:
            break
        expected = stats.binom.pmf(np.arange(256), k, 1 / s)
        assert np.allclose(pmf, expected, rtol=1e-9, atol=1e-18), (k, np.abs(pmf - expected).max())
        k += 1 if k < 64 else 7
    assert k > 64


@pytest.mark.parametrize(("s", "k"), [(25.0, 1), (25.0, 31), (25.0, 400), (3.9, 40)])
@pytest.mark.parametrize("row", [False, True])
def test_decrements_are_exact_far_into_the_tail(s: float, k: int, row: bool) -> None:
    # What a byte cannot decide, further ones do: here for some 100,000 of the automata, and in the
    # last resort for hundreds. Cells are merged only below 5 expected in 4 million.
    values = _core.decrement_sample(k, s, 255, 4_000_000, 29, row)
    assert goodness_p(values, clamped(255, k, 1 / s)) > LEVEL


@pytest.mark.parametrize(("s", "k"), [(3.9, 1), (3.9, 40), (25.0, 64), (25.0, 400)])
@pytest.mark.parametrize("row", [False, True])
@pytest.mark.usefixtures("instruction_set")
def test_deferred_decrements_are_independent_between_automata(s: float, k: int, row: bool) -> None:
    # A correlation of 0.005 at any lag is 5 standard errors.
    values = _core.decrement_sample(k, s, 255, 1_000_000, 5, row)
    assert independence_p(values.astype(float), 5_000) > LEVEL


@cache
def moved(start: int, s: float, k: int, up: bool) -> Floats:
    """Exact law of a state after k trials of (s - 1)/s up, or of 1/s down, clamped."""
    pmf = np.zeros(256)
    pmf[start] = 1.0
    for _ in range(k):
        hit = pmf * ((s - 1) / s if up else 1 / s)
        pmf = pmf - hit
        if up:
            pmf[1:] += hit[:-1]
            pmf[255] += hit[255]
        else:
            pmf[:-1] += hit[1:]
            pmf[0] += hit[0]
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


EVENT_COUNTS = [(0, 1), (0, 5), (0, 100), (1, 0), (5, 0), (120, 0), (60, 60)]


@pytest.mark.parametrize("s", [1.5, 3.9, 25.0, 100.0])
@pytest.mark.parametrize(("recognised", "failed"), EVENT_COUNTS)
def test_type_i_moves_each_automaton_by_the_exact_law(
    s: float, recognised: int, failed: int
) -> None:
    """Half of the voters match the ``recognised`` documents, none matches the ``failed`` ones.

    The others match all and outvote them, so every clause gets feedback from every document.
    About 5,000 automata for each starting state: an error of 1 per cent in (s - 1)/s or 1/s
    changes their mean by 5 standard errors or more in the longest cases.
    """
    half, n_features, seeds = 16, 130, 50
    rng = np.random.default_rng([recognised, failed, int(s)])
    seen = rng.random(n_features) < 0.5
    seen[0] = True
    unseen = rng.random(n_features) < 0.5
    unseen[0] = False
    X = np.repeat([seen, unseen], [recognised, failed], axis=0)
    true = literals(seen)

    # Where events go both ways, starts that reach no clamp make their order irrelevant.
    rising = [100, 127, 128, 140] if failed else [0, 100, 126, 127, 128, 200, 250, 254, 255]
    voters = rng.choice([0, 1, 3, 60, 127, 128, 129, 140, 200, 255], (half, 2, n_features))
    matching = half // 2 if recognised else 0
    shape = (matching, 2, n_features)
    voters[:matching] = np.where(
        true, rng.choice(rising, shape), rng.choice([0, 3, 60, 127], shape)
    )
    voters[:matching, 0, 0] = 195
    voters[matching:, :, 0] = 255
    states = arena(voters.astype(np.uint8), np.zeros_like(voters, dtype=np.uint8))

    results = []
    for seed in range(seeds):
        machine = _core.Machine(2, n_features, 2 * half, half - matching, s, False, 0, seed)
        machine.set_states(states)
        history, _ = fit(machine, X, [0] * len(X), 1)
        assert history["type_ia"] == matching * recognised
        assert history["type_ib"] == half * len(X) - matching * recognised
        assert history["type_ii"] == half * len(X)
        results.append(machine.states())
    ended = np.stack(results)
    assert np.array_equal(ended[:, 1], np.broadcast_to(states[1], ended[:, 1].shape))
    raised = recognised * ~literals(seen) + failed * ~literals(unseen)
    assert np.array_equal(ended[:, 0, half:], np.broadcast_to(raised, ended[:, 0, half:].shape))

    p_values = []
    matches = np.arange(half)[:, None, None] < matching
    for start in np.unique(voters):
        for rises in (False, True):
            group = (voters == start) & ((matches & true) == rises)
            if not group.any():
                continue
            pmf = moved(int(start), s, failed + (0 if rises else recognised), up=False)
            if rises and not failed:
                pmf = moved(int(start), s, recognised, up=True)
            elif rises:
                steps = np.convolve(pmf, moved(0, s, recognised, up=True))
                pmf = steps[:256]
            p_values.append(goodness_p(ended[:, 0, :half][:, group], pmf))
    assert smallest_p(p_values) > LEVEL, p_values


def anchored(
    rng: np.random.Generator, X: Bools, half: int, visits: int
) -> tuple[Any, Any, Any, Any]:
    """Voters and others of which each matches the same documents from first to last.

    One or two anchor literals settle that, and no start lets an automaton reach a clamp within
    the visits: so the order of the documents does not matter. Literals that are true wherever
    their clause matches may be included and excluded on the way. Also returned: which documents
    the voters match, and how often each voter's automata are raised.
    """
    n_documents, n_features = X.shape
    true = np.array([literals(x) for x in X])
    anchors = np.zeros((2, half, 2, n_features), dtype=bool)
    for rows, some in zip(anchors, (half, half // 4), strict=True):
        for row in rows[:some]:
            row[rng.integers(2), rng.integers(6)] = True
            row[rng.integers(2), rng.integers(6)] = True
    matches = ~(anchors[:, :, None] & ~true).any(axis=(3, 4))

    raised = visits // n_documents * np.einsum("cd,dln->cln", matches[0].astype(int), true)
    safe = (true | ~matches[0][:, :, None, None]).all(axis=1)
    room = np.minimum(
        np.maximum(rng.integers(100, 160, raised.shape), visits - raised), 255 - raised
    )
    voters = np.where(safe, room, rng.integers(0, 128 - visits, raised.shape) + visits - raised)
    voters[anchors[0]] = 255 - raised[anchors[0]]
    others = rng.integers(0, 128 - visits, raised.shape)
    others[anchors[1]] = rng.integers(128, 256, anchors[1].sum())
    return voters.astype(np.uint8), others.astype(np.uint8), matches, raised


@pytest.mark.parametrize("n_features", [70, 600])
@pytest.mark.parametrize("boost", [False, True])
@pytest.mark.parametrize(("s", "n_threads"), [(1.0, 1), (1.0, 3), (3.9, 1), (25.0, 3)])
def test_a_long_fit_leaves_each_automaton_with_the_sum_of_its_events(
    s: float, n_threads: int, boost: bool, n_features: int
) -> None:
    """Where s is 1 the sum is exact; else it is the law of all steps up less that of all down."""
    half, n_documents, epochs = 16, 14, 8
    visits = n_documents * epochs
    p_values, included = [], 0
    for seed in range(10):
        rng = np.random.default_rng([seed, n_features])
        X = rng.random((n_documents, n_features)) < rng.choice([0.05, 0.5, 0.95], n_features)
        X[:, :6] = rng.random((n_documents, 6)) < 0.5
        voters, others, matches, raised = anchored(rng, X, half, visits)
        T = int((matches[1].sum(axis=0) - matches[0].sum(axis=0)).min())
        assert T > 0, "the others must outvote the voters, so that all get feedback"
        machine = _core.Machine(2, n_features, 2 * half, T, s, boost, 0, seed)
        machine.set_states(arena(voters, others))
        history, _ = fit(machine, X, [0] * n_documents, epochs, n_threads)
        n_matches = matches.sum(axis=(1, 2))
        assert history["type_ia"].tolist() == [n_matches[0]] * epochs
        assert history["type_ib"].tolist() == [half * n_documents - n_matches[0]] * epochs
        assert history["type_ii"].tolist() == [n_matches[1]] * epochs

        ended = machine.states()[0].astype(int)
        false = np.array([~literals(x) for x in X])
        rejected = epochs * np.einsum("cd,dln->cln", matches[1].astype(int), false)
        assert np.array_equal(ended[half:], others + rejected * (others < 128))
        moves = ended[:half] - voters + visits  # from 0, if all go down, to 2 * visits
        for ups in np.unique(raised):
            rises = (
                np.eye(ups + 1)[ups] if boost else stats.binom.pmf(range(ups + 1), ups, 1 - 1 / s)
            )
            falls = stats.binom.pmf(range(visits - ups + 1), visits - ups, 1 / s)[::-1]
            pmf = np.convolve(rises, falls)
            p_values.append(goodness_p(moves[raised == ups] - ups, pmf))
        included = max(included, int((voters >= 128).sum(axis=(1, 2)).max()))
    assert smallest_p(p_values) > LEVEL, p_values
    assert included > n_features / 2


def test_more_decrements_than_two_bytes_count_are_all_settled() -> None:
    # No clause ever matches: each gets Type I from half of the documents, with probability 1/2.
    s, half, visits = 1000.0, 50, 300_000
    X = np.random.default_rng(0).random((1_000, 16)) < 0.5
    starts = np.array([255] + 3 * [30, 127, 128, 200, 255], dtype=np.uint8)
    states = np.tile(starts, (2, 2 * half, 2, 1))
    machine = _core.Machine(2, 16, 2 * half, 10, s, False, 0, 0)
    machine.set_states(states)
    history, _ = fit(machine, X, np.arange(len(X)) % 2, visits // len(X))
    assert history["type_ib"].sum() > 65_536 * 4 * half
    ended = machine.states()
    assert (ended[..., 0] >= 128).all()
    p_values = [
        goodness_p(ended[states == start], clamped(start, visits // 2, 1 / (2 * s)))
        for start in (30, 127, 128, 200, 255)
    ]
    assert smallest_p(p_values) > LEVEL, p_values


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("lead", [-12, -7, -1, 0, 3, 8, 9, 14])
def test_each_clause_gets_feedback_with_the_probability_of_its_class_sum(
    lead: int, positive: bool
) -> None:
    """With s = 1 and states at the clamps, only the choice of clauses is left to chance.

    A failing voter goes down by one for each feedback, a matching other goes up: their states
    count the feedbacks, and nothing changes which clauses match. 32,000 clauses of 100 documents:
    an error of 0.002 in the probability is 7 standard errors.
    """
    half, n_features, T, n_documents, seeds = 40, 70, 10, 100, 800
    matching = 20 + lead // 2, 20 + lead // 2 - lead  # voters, others: the difference is the lead
    probability = (T - min(max(lead, -T), T)) / (2 * T)
    mute = contradiction(n_features)
    voters, others = (np.tile(mute, (half, 1, 1)) for _ in range(2))
    voters[: matching[0]] = others[: matching[1]] = 0
    failing_voters, matching_others = half - matching[0], matching[1]
    states = arena(voters, others, positive)
    X = np.random.default_rng(2).random((n_documents, n_features)) < 0.3
    X[:, 1] = False
    y = [0 if positive else 1] * n_documents

    counts, recognitions = [], 0
    for seed in range(seeds):
        machine = _core.Machine(2, n_features, 2 * half, T, 1.0, False, 0, seed)
        machine.set_states(states)
        history, _ = fit(machine, X, y, 1)
        ended = machine.states()[0]
        first, second = ended[:half].astype(int), ended[half:].astype(int)
        voted, rejected = (first, second) if positive else (second, first)
        down = 255 - voted[matching[0] :, 0, 0]
        up = rejected[: matching[1], 0, 1]
        assert (history["type_ib"], history["type_ii"]) == (down.sum(), up.sum())
        recognitions += int(history["type_ia"].sum())
        counts.append(np.concatenate([down, up]))
    table = np.array(counts)
    assert table.shape[1] == failing_voters + matching_others
    pmf = stats.binom.pmf(np.arange(n_documents + 1), n_documents, probability)
    p_values = [
        goodness_p(table, pmf),
        independence_p(table.astype(float), 2_000),
        binomial_p(int(table.sum()), n_documents * table.size, probability),
        binomial_p(recognitions, seeds * n_documents * matching[0], probability),
    ]
    assert smallest_p(p_values) > LEVEL, p_values


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("recognised", [True, False])
def test_hits_of_one_event_are_independent(recognised: bool) -> None:
    # All lags up to eight seeds: words, plain and negated, neighbouring clauses, next seeds.
    half, n_features, seeds = 8, 200, 300
    voters = np.full((half, 2, n_features), 100, dtype=np.uint8)
    voters[4:, :, 0] = 200
    if not recognised:
        voters[:4, :, 0] = 200
    states = arena(voters, np.zeros_like(voters))
    T = half - 4 if recognised else half
    X = np.arange(n_features)[None] < n_features // 2
    hits = []
    for seed in range(seeds):
        machine = _core.Machine(2, n_features, 2 * half, T, 3.9, False, 0, seed)
        machine.set_states(states)
        fit(machine, X, [0], 1)
        hits.append((machine.states()[0, :half] != voters)[:4])
    # Type Ia hits true literals with 1 - 1/s: counting misses there makes all hits alike.
    flips = np.array(hits) ^ (literals(X[0]) & recognised)
    p_values = [
        independence_p(flips.astype(float), 8 * flips[0].size),
        binomial_p(int(flips.sum()), flips.size, 1 / 3.9),
    ]
    assert smallest_p(p_values) > LEVEL, p_values


def test_other_class_is_drawn_uniformly() -> None:
    drawn = np.zeros(4, dtype=int)
    X = np.ones((1, 5), dtype=bool)
    for seed in range(4_000):
        machine = _core.Machine(4, 5, 60, 10, 3.0, False, 0, seed)
        start = machine.states()
        fit(machine, X, [2], 1)
        drawn += (machine.states() != start).any(axis=(1, 2, 3))
    assert drawn[2] == 4_000
    assert drawn.sum() == 8_000
    assert stats.chisquare(drawn[[0, 1, 3]]).pvalue > LEVEL


def test_each_epoch_visits_the_documents_in_a_fresh_random_order() -> None:
    """Boosted Type Ia with s = 1 at the lower clamp: only the last document's word ends above 0."""
    n, seeds = 5, 4_000
    X = np.eye(n, n + 1, dtype=bool)  # the last word, in no document, makes the contradiction
    voters = np.zeros((4, 2, n + 1), dtype=np.uint8)
    voters[1:, :, n] = 255
    states = arena(voters, np.zeros_like(voters))
    states[1, :4, :, n] = 255
    last = np.zeros((n, n), dtype=int)
    for seed in range(seeds):
        ends = []
        for epochs in (1, 2):  # the same seed: the first epoch is the same in both
            machine = _core.Machine(2, n + 1, 8, 3, 1.0, True, 0, seed)
            machine.set_states(states)
            fit(machine, X, [0] * n, epochs)
            ended = machine.states()[0, 0, 0, :n]
            assert sorted(ended) == [0] * (n - 1) + [1]
            ends.append(int(ended.argmax()))
        last[ends[0], ends[1]] += 1
    assert stats.chisquare(last.ravel()).pvalue > LEVEL


# -- agreement without chance --------------------------------------------------------------------


def random_states(rng: np.random.Generator, shape: tuple[int, ...]) -> States:
    """Clauses of 0 to about 10 literals, some of them with contradictions."""
    lengths = rng.choice([0, 0.5, 1, 2, 4, 10], shape[:2])[..., None, None]
    included = rng.random(shape) < lengths / (2 * shape[-1])
    states = np.where(included, rng.integers(128, 256, shape), rng.integers(0, 128, shape))
    return states.astype(np.uint8)


SIZES = [(2, 7, 12), (2, 64, 40), (3, 130, 30), (5, 257, 16)]


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(("n_classes", "n_features", "n_clauses"), SIZES)
def test_votes_support_and_clauses_are_those_of_the_states(
    n_classes: int, n_features: int, n_clauses: int, n_threads: int
) -> None:
    rng = np.random.default_rng(n_features)
    twin = ReferenceMachine(n_classes, n_features, n_clauses, 5, 3.0)
    machine = _core.Machine(n_classes, n_features, n_clauses, 5, 3.0, False, 0, 1)
    X = rng.random((40, n_features)) < rng.choice([0.0, 0.1, 0.5, 1.0], (40, 1))
    y = labels(rng.integers(0, n_classes, len(X)))
    for round_ in range(3):
        if round_ == 2:  # a fit in between must leave nothing stale
            fit(machine, X, y, 2, n_threads)
            twin.states = machine.states()
        else:
            twin.states = random_states(rng, twin.states.shape)
            machine.set_states(twin.states)
        assert np.array_equal(machine.states(), twin.states)
        assert np.array_equal(machine.votes(*csr(X), n_threads), twin.votes(X))

        matches = np.array(
            [[twin.evaluate(c, x, training=False) for c in range(n_classes)] for x in X]
        )
        matched, of_class = machine.support(*csr(X), y, n_threads)
        own = y[:, None] == np.arange(n_classes)
        assert np.array_equal(matched, matches.sum(axis=0).ravel())
        assert np.array_equal(of_class, (matches & own[..., None]).sum(axis=0).ravel())

        indptr, listed = machine.clauses()
        included = (twin.states >= 128).reshape(n_classes * n_clauses, 2 * n_features)
        assert np.array_equal(indptr, np.concatenate([[0], included.sum(axis=1).cumsum()]))
        for row, start, end in zip(included, indptr, indptr[1:], strict=False):
            assert np.array_equal(np.sort(listed[start:end]), np.flatnonzero(row))


def certain(twin: ReferenceMachine, x: Bools) -> bool:
    """Whether a document of class 0 leaves nothing to chance, given that s is 1."""
    sums = (twin.evaluate(c, x, training=True) for c in range(2))
    return all(twin.feedback_probability(m, c == 0) in (0.0, 1.0) for c, m in enumerate(sums))


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("look_at_each_step", [True, False])
@pytest.mark.parametrize("max_literals", [0, 2])
@pytest.mark.parametrize("boost", [True, False])
def test_core_and_twin_agree_exactly_where_nothing_is_left_to_chance(
    boost: bool, max_literals: int, look_at_each_step: bool
) -> None:
    """With s = 1 a decrement is certain; Type Ia raises nothing or, boosted, surely.

    Clauses that should vote are outvoted, so that every clause gets feedback, while they lose
    literals, become empty, match and grow again; the path ends where feedback would be random.
    """
    n_features, half, T = 70, 10, 2
    steps = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        shape = (half, 2, n_features)
        voters = random_states(rng, (half, 1, 2, n_features))[:, 0]
        voters[voters >= 128] = rng.integers(128, 190, np.count_nonzero(voters >= 128))
        voters[half // 2 :, :, 0] = 255
        others = rng.integers(0, 30, shape).astype(np.uint8)
        others[: half // 3][rng.random(shape)[: half // 3] < 0.05] = 120
        states = arena(voters, others)
        states[1] = arena(others, voters)[0][::-1]
        parameters = (2, n_features, 2 * half, T, 1.0, boost, max_literals, seed)
        twin = ReferenceMachine(*parameters)
        twin.states = states.copy()
        machine = _core.Machine(*parameters)
        X = rng.random((6, n_features)) < 0.3
        fit(machine, X, [0, 1] * 3, 3)  # leaves something to be forgotten
        machine.set_states(states)
        for _ in range(150):
            x = X[rng.integers(len(X))]
            if not certain(twin, x):
                break
            expected = twin.fit(x[None], labels([0]), 1)[0, TWIN_COLUMNS]
            history, _ = fit(machine, x[None], [0], 1)
            assert [history[kind].sum() for kind in KINDS] == expected.tolist()
            steps += 1
            if look_at_each_step:
                assert np.array_equal(machine.states(), twin.states)
        assert np.array_equal(machine.states(), twin.states)
    assert steps > 300


def test_nothing_changes_once_every_document_is_at_its_target() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, 90)) < 0.2
    y = labels(np.arange(30) % 2)
    X[:, 0], X[:, 1] = y == 0, y == 1
    states = rng.integers(0, 128, (2, 8, 2, 90)).astype(np.uint8)
    for c in range(2):
        states[c, :4, 0, c] = 130  # clauses that vote for the class hold its own word,
        states[c, 4:, 0, 1 - c] = 130  # the others that of the other class
    machine = _core.Machine(2, 90, 8, 4, 3.0, False, 0, 0)
    machine.set_states(states)
    history, reason = fit(machine, X, y, 50)
    assert reason == "converged"
    assert len(history["type_ia"]) < 50
    assert not any(history[kind].any() for kind in KINDS)
    assert history["documents_at_target"][-1] == len(X)
    assert np.array_equal(machine.states(), states)


def test_training_goes_on_while_a_class_that_was_not_drawn_is_short_of_its_target() -> None:
    states = np.zeros((3, 8, 2, 10), dtype=np.uint8)
    states[0, 4:, :, 0] = states[1, :4, :, 0] = 255  # classes 0 and 1 are at their targets
    machine = _core.Machine(3, 10, 8, 4, 3.0, False, 0, 0)
    machine.set_states(states)
    X = np.eye(4, 10, dtype=bool)
    fit(machine, X, [0] * 4, 40)
    ended = machine.states()
    assert np.array_equal(ended[:2], states[:2])
    assert not np.array_equal(ended[2], states[2])


# -- learning, and the same model everywhere -----------------------------------------------------


def test_noisy_xor_is_learned() -> None:
    """40 % of the training labels are wrong; right answers are asked for all 4,096 inputs.

    The noise never lets the machine come to rest: its last epoch alone is right for 97 % +- 3 % of
    the inputs, here as in the literal law. What it has learned is in the votes of many epochs.
    """
    rng = np.random.default_rng(42)
    X = rng.random((5_000, 12)) < 0.5
    noisy = X[:, 0] ^ X[:, 1] ^ (rng.random(5_000) < 0.4)
    inputs = (np.arange(4_096)[:, None] >> np.arange(12)) % 2 == 1
    machine = _core.Machine(2, 12, 20, 15, 3.9, False, 0, 42)
    fit(machine, X, noisy, 100)
    votes = np.zeros((4_096, 2), dtype=int)
    for _ in range(100):
        fit(machine, X, noisy, 1)
        votes += machine.votes(*csr(inputs), 1)
    assert (votes.argmax(axis=1) == inputs[:, 0] ^ inputs[:, 1]).mean() >= 0.99


def test_twin_learns_xor() -> None:
    X = np.random.default_rng(0).random((300, 6)) < 0.5
    y = X[:, 0] ^ X[:, 1]
    twin = ReferenceMachine(2, 6, 20, 15, 3.9, seed=1)
    twin.fit(X, y, 15)
    assert (twin.predict(X) == y).mean() >= 0.99


REPEATED = [
    Task("300 words", n_features=300, n_clauses=100, T=20, n_documents=60, epochs=6),
    Task("three classes", n_classes=3, n_features=77, n_clauses=60, T=6, s=1.5, n_documents=60),
    Task(
        "all together",
        n_classes=3,
        n_features=201,
        n_clauses=64,
        T=8,
        s=10.0,
        boost_true_positive=True,
        max_literals=5,
        spread=True,
        n_documents=45,
    ),
]


def fitted(task: Task, seed: int, n_threads: int) -> tuple[States, list[Any]]:
    X, y = task.documents()
    machine = _core.Machine(**task.parameters(), seed=seed)
    if task.spread:
        machine.set_states(task.initial())
    history = [fit(machine, X, y, task.epochs // 2, n_threads)[0] for _ in range(2)]
    return machine.states(), [column.tolist() for part in history for column in part.values()]


@pytest.mark.parametrize("task", REPEATED, ids=lambda task: task.name)
def test_one_seed_gives_the_same_model_for_any_threads_and_instructions(task: Task) -> None:
    expected, expected_history = fitted(task, 11, 1)
    try:
        for name in _core.instruction_sets():
            _core.set_instruction_set(name)
            assert _core.instruction_set() == name
            for n_threads in (1, 2, 8):
                states, history = fitted(task, 11, n_threads)
                assert np.array_equal(states, expected), (name, n_threads)
                assert history == expected_history, (name, n_threads)
    finally:
        _core.set_instruction_set("auto")


@pytest.mark.parametrize("task", REPEATED, ids=lambda task: task.name)
def test_different_seeds_give_different_models(task: Task) -> None:
    models = [fitted(task, seed, 2)[0] for seed in (11, 12, 2**32 + 11)]
    assert not any(np.array_equal(models[i], models[j]) for i, j in ((0, 1), (0, 2), (1, 2)))


def test_instruction_sets_settle_the_same_decrements() -> None:
    samples = []
    try:
        for name in _core.instruction_sets():
            _core.set_instruction_set(name)
            samples.append(
                [
                    _core.decrement_sample(k, 3.9, 90, 5_003, 1, row)
                    for k in DECREMENTS
                    for row in (False, True)
                ]
            )
    finally:
        _core.set_instruction_set("auto")
    for sample in samples[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(samples[0], sample, strict=True))
