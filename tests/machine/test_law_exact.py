"""Where nothing is left to chance, core and reference machine agree exactly.

The same seed gives the same model on any number of threads and with any instruction set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from law import (
    INSTRUCTION_SETS,
    Bools,
    States,
    Task,
    arena,
    core,
    csr,
    every_instruction_set,
    fit,
    labels,
)
from newfound import _core
from reference_machine import EVENTS, ReferenceMachine

# The kinds of events that the core counts, and where the twin has them.
KINDS = [kind for kind in EVENTS if kind in core.HISTORY_COLUMNS]
TWIN_COLUMNS = [EVENTS.index(kind) for kind in KINDS]


def random_states(rng: np.random.Generator, shape: tuple[int, ...]) -> States:
    """Clauses of 0 to about 10 literals, some of them with contradictions."""
    lengths = rng.choice([0, 0.5, 1, 2, 4, 10], shape[:2])[..., None, None]
    included = rng.random(shape) < lengths / (2 * shape[-1])
    states = np.where(included, rng.integers(128, 256, shape), rng.integers(0, 128, shape))
    return states.astype(np.uint8)


SIZES = [(2, 7, 12), (2, 64, 40), (3, 130, 30), (5, 257, 16)]


@every_instruction_set
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(("n_classes", "n_features", "n_clauses"), SIZES)
def test_votes_support_and_clauses_are_those_of_the_states(
    n_classes: int, n_features: int, n_clauses: int, n_threads: int, instruction_set: str
) -> None:
    rng = np.random.default_rng(n_features)
    twin = ReferenceMachine(n_classes, n_features, n_clauses, 5, 3.0)
    machine = core.Machine(n_classes, n_features, n_clauses, 5, 3.0, False, 0, 1, instruction_set)
    X = rng.random((40, n_features)) < rng.choice([0.0, 0.1, 0.5, 1.0], (40, 1))
    y = labels(rng.integers(0, n_classes, len(X)))
    for round_ in range(3):
        if round_ == 2:  # a fit in between must leave nothing stale
            fit(machine, X, y, 2, n_threads)
            twin.states = machine.states()
        else:
            twin.states = random_states(rng, twin.states.shape)
            machine.set_states(twin.states)
            twin.weights = rng.integers(1, 9, (n_classes, n_clauses))
            machine.set_weights(twin.weights.ravel().astype(np.uint32))
        assert np.array_equal(machine.states(), twin.states)
        assert np.array_equal(machine.weights(), twin.weights.ravel())
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
    found = (twin.evaluate(c, x, training=True) for c in range(2))
    return all(twin.feedback_probability(c, m, c == 0) in (0.0, 1.0) for c, m in enumerate(found))


@every_instruction_set
@pytest.mark.parametrize("max_literals", [0, 2])
@pytest.mark.parametrize("boost", [True, False])
@pytest.mark.parametrize(
    ("options", "look_at_each_step"),
    [
        ({}, True),
        ({}, False),
        ({"weighted": True}, False),
        ({"negations": False}, False),
        pytest.param({"weighted": True}, True, marks=pytest.mark.slow),
        pytest.param({"negations": False}, True, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_core_and_twin_agree_exactly_where_nothing_is_left_to_chance(
    options: dict[str, bool],
    boost: bool,
    max_literals: int,
    look_at_each_step: bool,
    instruction_set: str,
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
        if not options.get("negations", True):
            states[:, :, 1] = 0
        parameters = (2, n_features, 2 * half, T, 1.0, boost, max_literals, seed)
        twin = ReferenceMachine(*parameters, **options)
        twin.states = states.copy()
        machine = core.Machine(*parameters, instruction_set, **options)
        X = rng.random((6, n_features)) < 0.3
        fit(machine, X, [0, 1] * 3, 3)  # leaves something to be forgotten
        machine.set_states(states)
        machine.set_weights(np.ones(4 * half, np.uint32))
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
                assert np.array_equal(machine.weights(), twin.weights.ravel())
        assert np.array_equal(machine.states(), twin.states)
        assert np.array_equal(machine.weights(), twin.weights.ravel())
    assert steps > {"weighted": 30, "negations": 150}.get(next(iter(options), ""), 300)


def test_nothing_changes_once_every_document_is_at_its_target() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, 90)) < 0.2
    y = labels(np.arange(30) % 2)
    X[:, 0], X[:, 1] = y == 0, y == 1
    states = rng.integers(0, 128, (2, 8, 2, 90)).astype(np.uint8)
    for c in range(2):
        states[c, :4, 0, c] = 130  # clauses that vote for the class hold its own word,
        states[c, 4:, 0, 1 - c] = 130  # the others that of the other class
    machine = core.Machine(2, 90, 8, 4, 3.0, False, 0, 0)
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
    machine = core.Machine(3, 10, 8, 4, 3.0, False, 0, 0)
    machine.set_states(states)
    X = np.eye(4, 10, dtype=bool)
    fit(machine, X, [0] * 4, 40)
    ended = machine.states()
    assert np.array_equal(ended[:2], states[:2])
    assert not np.array_equal(ended[2], states[2])


@every_instruction_set
def test_focused_negatives_go_to_the_only_class_that_can_learn(instruction_set: str) -> None:
    # Of the four other classes, all but class 3 are at their targets for every document.
    states = np.zeros((5, 8, 2, 10), dtype=np.uint8)
    states[0, 4:, :, 0] = 255  # a contradiction: class 0 votes for itself
    states[[1, 2, 4], :4, :, 0] = 255  # the others vote against themselves
    changed = []
    for focus in (0, 4):
        machine = core.Machine(5, 10, 8, 4, 3.0, False, 0, 0, instruction_set, focus=focus)
        machine.set_states(states)
        X = np.eye(3, 10, dtype=bool)
        fit(machine, X, [0] * 3, 1)
        changed.append(int((machine.states() != states).any(axis=(1, 2, 3)).sum()))
        assert np.array_equal(machine.states()[[0, 1, 2, 4]], states[[0, 1, 2, 4]])
    assert changed[1] == 1


@pytest.mark.slow
def test_noisy_xor_is_learned() -> None:
    """40 % of the training labels are wrong; right answers are asked for all 4,096 inputs.

    The noise never lets the machine come to rest: its last epoch alone is right for 97 % +- 3 % of
    the inputs, here as in the literal law. What it has learned is in the votes of many epochs.
    """
    rng = np.random.default_rng(42)
    X = rng.random((5_000, 12)) < 0.5
    noisy = X[:, 0] ^ X[:, 1] ^ (rng.random(5_000) < 0.4)
    inputs = (np.arange(4_096)[:, None] >> np.arange(12)) % 2 == 1
    machine = core.Machine(2, 12, 20, 15, 3.9, False, 0, 42)
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
    Task(
        "focused, weighted",
        n_classes=7,
        n_features=130,
        n_clauses=32,
        T=8,
        focus=4,
        weighted=True,
        n_documents=70,
    ),
    Task("plain words only", n_classes=4, n_clauses=40, focus=1, negations=False, n_documents=60),
]


def fitted(
    task: Task, seed: int, n_threads: int, instruction_set: str = ""
) -> tuple[States, list[Any]]:
    X, y = task.documents()
    machine = core.Machine(**task.parameters(), seed=seed, instruction_set=instruction_set)
    if task.spread:
        machine.set_states(task.initial())
    history = [fit(machine, X, y, task.epochs // 2, n_threads)[0] for _ in range(2)]
    return machine.states(), [column.tolist() for part in history for column in part.values()]


@pytest.mark.parametrize("task", REPEATED, ids=lambda task: task.name)
def test_one_seed_gives_the_same_model_for_any_threads_and_instructions(task: Task) -> None:
    expected, expected_history = fitted(task, 11, 1)
    for name in INSTRUCTION_SETS:
        for n_threads in (1, 2, 8):
            states, history = fitted(task, 11, n_threads, name)
            assert np.array_equal(states, expected), (name, n_threads)
            assert history == expected_history, (name, n_threads)


@pytest.mark.parametrize("task", REPEATED, ids=lambda task: task.name)
def test_different_seeds_give_different_models(task: Task) -> None:
    models = [fitted(task, seed, 2)[0] for seed in (11, 12, 2**32 + 11)]
    assert not any(np.array_equal(models[i], models[j]) for i, j in ((0, 1), (0, 2), (1, 2)))


@pytest.mark.parametrize("kind", ["line", "row", "foreseen"])
@pytest.mark.parametrize("k", [1, 2, 5, 40, 64, 65, 200, 256, 300, 350, 400, 512, 1000])
def test_instruction_sets_settle_the_same_decrements(k: int, kind: str) -> None:
    first, *others = (
        core.decrement_sample(k, 3.9, 90, 5_003, 1, kind, name) for name in INSTRUCTION_SETS
    )
    assert all(np.array_equal(first, other) for other in others)


def test_the_shipped_module_fits_as_the_one_under_test() -> None:
    task = REPEATED[0]
    X, y = task.documents()
    shipped = _core.Machine(**task.parameters(), seed=11)
    for _ in range(2):
        shipped.fit(*csr(X), y, task.epochs // 2)
    assert np.array_equal(shipped.states(), fitted(task, 11, 1)[0])


def test_an_instruction_set_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="instruction set 'abacus' is not available here"):
        core.Machine(2, 5, 4, 2, 3.0, instruction_set="abacus")
