"""The laws of the monitor: false alarms are as rare as they say, where other tests raise more."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from newfound.monitor.laws import (
    fewest_discoveries,
    n_discoveries,
    rate_p_value,
)
from newfound.stories.risen import (
    MIN_DOCUMENTS,
    Reference,
    log_probabilities,
    risen_words,
    tarone,
    word_p_values,
)

N, ALPHA, WINDOWS, SIZE, NOMINAL = 199, 0.05, 40, 200, 0.01


def streams(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return streams in which nothing changes, each with its own held-back documents.

    For each, the p-values of its documents, and which of them are called novel.
    """
    found = []
    for seed in range(n):
        rng = np.random.default_rng(seed)
        held_back = np.sort(rng.random(N))
        higher = N - np.searchsorted(held_back, rng.random(WINDOWS * SIZE))
        p_values = (1 + higher) / (N + 1)
        found.append((p_values, p_values <= ALPHA + 1e-12))
    return found


def own_alarm(novel: np.ndarray) -> bool:
    past = 0
    for place, count in enumerate(novel.reshape(WINDOWS, SIZE).sum(axis=1).tolist()):
        k = int(ALPHA * (N + 1))
        if rate_p_value(count, SIZE, k + past, N + place * SIZE) <= NOMINAL / WINDOWS:
            return True
        past += count
    return False


def test_the_rate_keeps_its_promise_where_other_tests_do_not() -> None:
    drawn = streams(200)
    most = stats.binom.ppf(0.999, len(drawn), NOMINAL)  # alarms that 1 % explains
    assert sum(own_alarm(novel) for _, novel in drawn) <= most

    def with_alpha(novel: np.ndarray) -> bool:
        counts = novel.reshape(WINDOWS, SIZE).sum(axis=1)
        return bool((stats.binom.sf(counts - 1, SIZE, ALPHA) <= NOMINAL / WINDOWS).any())

    def martingale(p_values: np.ndarray, seed: int) -> bool:
        p = p_values - np.random.default_rng(seed).random(len(p_values)) / (N + 1)
        powers = np.linspace(0.05, 0.95, 19)[:, None]
        wealth = np.cumsum(np.log(powers) + (powers - 1) * np.log(p), axis=1)
        mixed = np.logaddexp.reduce(wealth, axis=0) - np.log(len(powers))
        return bool(mixed.max() >= np.log(1 / NOMINAL))

    assert sum(with_alpha(novel) for _, novel in drawn) > 2 * most
    assert sum(martingale(p, seed) for seed, (p, _) in enumerate(drawn)) > 2 * most


def test_the_law_of_the_rate_is_that_of_draws() -> None:
    """Given how many were novel before, the number in the next window has this law."""
    rng = np.random.default_rng(0)
    u = rng.beta(10, N + 1 - 10, 400_000)
    past = rng.binomial(300, u)
    counts = rng.binomial(100, u[past == 15])
    for count in (3, 6, 10, 14):
        expected = rate_p_value(count, 100, 10 + 15, N + 300)
        assert (counts >= count).mean() == pytest.approx(expected, rel=0.1)


def test_words_that_have_not_risen_are_rarely_said_to_have() -> None:
    rng = np.random.default_rng(1)
    shares = 0.3 / np.arange(1, 400)
    alarms = 0
    level = 0.05
    for _ in range(300):
        has = rng.random((1100, len(shares))) < shares
        counts, before = has[:100].sum(axis=0), has[100:].sum(axis=0)
        names = [f"w{i}" for i in range(len(shares))]
        alarms += bool(risen_words(counts, 100, Reference(before, 1000), level, names))
    assert alarms <= stats.binom.ppf(0.999, 300, level)


def test_a_word_that_has_risen_is_found() -> None:
    before = Reference(np.array([30] * 500 + [0]), 1000)
    counts = np.array([3] * 500 + [9])
    counts[7] = 20
    found = risen_words(counts, 100, before, 0.001, [*(f"w{i}" for i in range(500)), "sars"])
    assert [word.word for word in found] == ["sars", "w7"]
    assert found[0].expected == 0 and found[0].pure
    assert found[1].expected == pytest.approx(3)
    assert all(word.p_value <= 0.001 for word in found)


def test_word_p_values_are_those_of_fisher() -> None:
    table = [[7, 93], [20, 980]]
    expected = stats.fisher_exact(table, "greater").pvalue
    assert word_p_values([7], 100, [20], 1000)[0] == pytest.approx(expected)


def test_probabilities_of_single_numbers_are_those_of_the_law() -> None:
    x, f = np.array([1, 3, 7, 40]), np.array([0, 500, 20, 0])
    expected = stats.hypergeom.logpmf(x, 1100, x + f, 100)
    assert log_probabilities(x, 100, f, 1000) == pytest.approx(expected)


def test_tarone_counts_the_words_that_can_be_significant() -> None:
    numbers = np.array([0, 500, 300, 200, 90, 40, 20, 5, 0, 3])
    level, size, total = 0.01, 100, 900
    bound = tarone(numbers, size, total, level)
    least = {s: stats.hypergeom.sf(s - 1, size + total, s, size) for s in range(1, 10)}
    testable = sum(int(numbers[s]) for s in range(1, 10) if least[s] <= bound)
    assert testable <= round(level / bound) < numbers.sum()
    # With one kind of word more, there would be more of them than the level allows for.
    assert sum(int(numbers[s]) for s in range(1, 10) if least[s] <= 2 * bound) >= testable


def test_all_words_of_the_reference_are_counted_as_tests() -> None:
    reference = Reference(np.array([5, 2, 9, 0, 0]), 100)
    numbers = reference.with_words(np.array([1, 1, 0, 4, 1]))
    assert json.dumps(numbers.tolist()) == json.dumps([0, 0, 0, 1, 1, 0, 1, 0, 0, 1])
    assert numbers[:MIN_DOCUMENTS].sum() == 0


@pytest.mark.parametrize("seed", range(5))
def test_discoveries_are_those_of_benjamini_and_hochberg(seed: int) -> None:
    p_values = np.random.default_rng(seed).random(300) ** 3
    expected = int((stats.false_discovery_control(p_values) <= 0.1).sum())
    assert n_discoveries(p_values[p_values <= 0.1], 300, 0.1) == expected


def test_a_window_of_one_document_is_tested_as_such() -> None:
    assert [n_discoveries([p], 1, 0.1) for p in (0.08, 0.12)] == [1, 0]


def test_nothing_is_more_frequent_in_no_documents() -> None:
    assert rate_p_value(3, 0, 50, 1000) == rate_p_value(0, 100, 50, 1000) == 1.0


def test_one_novel_document_is_counted_also_in_a_window_of_one() -> None:
    assert rate_p_value(1, 1, 50, 1000) == pytest.approx(50 / 1001)
    assert 0.9 < rate_p_value(1, 100, 50, 1000) < 1


def test_tarone_leaves_out_every_kind_of_word_that_is_too_rare() -> None:
    """Words of one, two and three documents cannot be significant, those of six can."""
    numbers = [0, 1000, 1000, 1000, 0, 0, 10]
    assert tarone(numbers, 100, 1000, 0.001) == pytest.approx(0.001 / 10)


def test_fewer_discoveries_than_said_cannot_be_made() -> None:
    smallest = 1 / (N + 1)
    fewest = fewest_discoveries(500, 0.1, smallest)
    assert fewest == 25
    assert n_discoveries([smallest] * fewest, 500, 0.1) == fewest
    assert n_discoveries([smallest] * (fewest - 1), 500, 0.1) == 0
