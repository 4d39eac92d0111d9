"""Deferred decrements follow the binomial law, exactly and independently."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from law import (
    LEVEL,
    binomial_p,
    clamped,
    core,
    every_instruction_set,
    goodness_p,
    independence_p,
    smallest_p,
)

DECREMENTS = [1, 2, 5, 40, 64, 65, 200, 256, 300, 350, 400, 512, 1000]


@pytest.mark.parametrize(
    "s", [1.0, 1.2, 3.9, 25.0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1.1, 1.5, 100))]
)
@pytest.mark.parametrize("kind", ["line", "row", "foreseen"])
@every_instruction_set
def test_deferred_decrements_are_clamped_binomials(
    s: float, kind: str, instruction_set: str
) -> None:
    # 100,000 values: an error of 0.01 in the probability of a state is 6 standard errors or more.
    p_values = []
    for k in DECREMENTS:
        for state in (3, 60, 200, 255):
            values = core.decrement_sample(k, s, state, 100_000, 17, kind, instruction_set)
            p_values.append(goodness_p(values, clamped(state, k, 1 / s)))
    assert smallest_p(p_values) > LEVEL, p_values


@pytest.mark.parametrize(("s", "k"), [(25.0, 1), (25.0, 200), (3.9, 200), (1.5, 40), (100.0, 1000)])
@every_instruction_set
def test_decrement_probability_is_not_quantised(s: float, k: int, instruction_set: str) -> None:
    # 1/25 in steps of 1/256 or 1/128 would be 1/25.6 or 1/21.3, 2 to 15 per cent off; one standard
    # error is 0.2 per cent of 1/s for k = 1 and at most 0.03 per cent for the others.
    n = 8_000_000 if k == 1 else 2_000_000
    values = core.decrement_sample(k, s, 255, n, 3, "line", instruction_set)
    hits = 255 * n - int(values.sum(dtype=np.int64))
    assert binomial_p(hits, k * n, 1 / s) > LEVEL, (hits / (k * n) * s, "of 1/s")


@pytest.mark.parametrize("s", [1.0, 1.2, 1.6, 2.0, 3.2, 3.9, 4.0, 8.0, 10.0, 25.0, 100.0, 8000.0])
def test_the_tables_of_decrements_make_up_the_binomial_law(s: float) -> None:
    """Also where probabilities are numbers of 256ths, so that bytes leave nothing over of some."""
    k = 0
    while True:
        try:
            pmf = core.decrement_law(k, s)
        except ValueError:
            break
        expected = stats.binom.pmf(np.arange(256), k, 1 / s)
        assert np.allclose(pmf, expected, rtol=1e-9, atol=1e-18), (k, np.abs(pmf - expected).max())
        k += 1 if k < 64 else 7
    assert k > 64


@pytest.mark.parametrize(("s", "k"), [(25.0, 1), (25.0, 31), (25.0, 400), (3.9, 40)])
@pytest.mark.parametrize("kind", ["line", "row", "foreseen"])
def test_decrements_are_exact_far_into_the_tail(s: float, k: int, kind: str) -> None:
    # What a byte cannot decide, further ones do: here for some 100,000 of the automata, and in the
    # last resort for hundreds. Cells are merged only below 5 expected in 4 million.
    values = core.decrement_sample(k, s, 255, 4_000_000, 29, kind)
    assert goodness_p(values, clamped(255, k, 1 / s)) > LEVEL


@pytest.mark.parametrize(("s", "k"), [(3.9, 1), (3.9, 40), (25.0, 64), (25.0, 400)])
@pytest.mark.parametrize("kind", ["line", "row", "foreseen"])
@every_instruction_set
def test_deferred_decrements_are_independent_between_automata(
    s: float, k: int, kind: str, instruction_set: str
) -> None:
    # A correlation of 0.005 at any lag is 5 standard errors.
    values = core.decrement_sample(k, s, 255, 1_000_000, 5, kind, instruction_set)
    assert independence_p(values.astype(float), 5_000) > LEVEL
