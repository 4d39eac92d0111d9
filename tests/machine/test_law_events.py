"""Single events follow the law of the Tsetlin Machine, against exact probabilities."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from law import (
    LEVEL,
    Bools,
    Floats,
    arena,
    binomial_p,
    clamped,
    contradiction,
    core,
    every_instruction_set,
    fit,
    goodness_p,
    independence_p,
    smallest_p,
)
from reference_machine import literals


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
        machine = core.Machine(2, n_features, 2 * half, half - matching, s, False, 0, seed)
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
        machine = core.Machine(2, n_features, 2 * half, T, s, boost, 0, seed)
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
    machine = core.Machine(2, 16, 2 * half, 10, s, False, 0, 0)
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


@pytest.mark.slow
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
        machine = core.Machine(2, n_features, 2 * half, T, 1.0, False, 0, seed)
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


@every_instruction_set
@pytest.mark.parametrize("recognised", [True, False])
def test_hits_of_one_event_are_independent(recognised: bool, instruction_set: str) -> None:
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
        machine = core.Machine(2, n_features, 2 * half, T, 3.9, False, 0, seed, instruction_set)
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


@pytest.mark.slow
def test_other_class_is_drawn_uniformly() -> None:
    drawn = np.zeros(4, dtype=int)
    X = np.ones((1, 5), dtype=bool)
    for seed in range(4_000):
        machine = core.Machine(4, 5, 60, 10, 3.0, False, 0, seed)
        start = machine.states()
        fit(machine, X, [2], 1)
        drawn += (machine.states() != start).any(axis=(1, 2, 3))
    assert drawn[2] == 4_000
    assert drawn.sum() == 8_000
    assert stats.chisquare(drawn[[0, 1, 3]]).pvalue > LEVEL


@pytest.mark.slow
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
            machine = core.Machine(2, n + 1, 8, 3, 1.0, True, 0, seed)
            machine.set_states(states)
            fit(machine, X, [0] * n, epochs)
            ended = machine.states()[0, 0, 0, :n]
            assert sorted(ended) == [0] * (n - 1) + [1]
            ends.append(int(ended.argmax()))
        last[ends[0], ends[1]] += 1
    assert stats.chisquare(last.ravel()).pvalue > LEVEL
