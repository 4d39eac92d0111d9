"""The functions that give the same bits everywhere are right, beside SciPy and whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb, inf

import numpy as np
import pytest
from scipy import special, stats

from newfound import arithmetic

RANDOM = np.random.default_rng(0)
# The function, one that is known to be right, where to compare them, and the units in the last
# place by which they may differ.
FUNCTIONS = [
    (arithmetic.exp, np.exp, RANDOM.uniform(-708, 709.7, 20_000), 3),
    (arithmetic.exp, np.exp, RANDOM.uniform(-1, 1, 20_000), 2),
    (arithmetic.log, np.log, np.exp(RANDOM.uniform(-700, 700, 20_000)), 2),
    (arithmetic.log, np.log, RANDOM.uniform(0.5, 2, 20_000), 2),
    (arithmetic.log1p, np.log1p, RANDOM.uniform(-0.99, 5, 20_000) ** 3, 3),
    (arithmetic.expm1, np.expm1, RANDOM.uniform(-3, 3, 20_000) ** 3, 4),
    (arithmetic.logistic, special.expit, RANDOM.uniform(-700, 40, 20_000), 4),
    (arithmetic.log_logistic, special.log_expit, RANDOM.uniform(-700, 40, 20_000), 4),
]


@pytest.mark.parametrize(("function", "right", "x", "units"), FUNCTIONS)
def test_elementary_functions_are_right_to_the_last_digits(function, right, x, units) -> None:
    expected = right(x)
    assert np.all(np.abs(function(x) - expected) <= units * np.spacing(np.abs(expected)))


def test_elementary_functions_at_the_ends_of_their_domains() -> None:
    assert arithmetic.exp([inf, -inf, 710.0, -746.0, 0.0]).tolist() == [inf, 0, inf, 0, 1]
    assert arithmetic.log([0.0, inf, 1.0]).tolist() == [-inf, inf, 0]
    assert np.isnan(arithmetic.log([-1.0, np.nan])).all()
    assert np.isnan(arithmetic.exp(np.nan))
    assert arithmetic.log(5e-324) == pytest.approx(np.log(5e-324), rel=1e-15)
    assert arithmetic.exp(-745.0) == 5e-324
    assert arithmetic.exp(709.0) == pytest.approx(np.exp(709.0), rel=1e-15)
    assert np.isnan(arithmetic.binomial_tail([np.nan, 3], [9, np.nan], 0.5)).all()
    assert arithmetic.xlogy(0.0, 0.0) == 0 and arithmetic.power(0.0, 2.0) == 0
    assert arithmetic.log1p(-1.0) == -inf


def test_functions_keep_the_shape_of_what_they_get() -> None:
    table = np.arange(1.0, 7.0).reshape(2, 3)
    assert arithmetic.log(table.T).shape == (3, 2)
    assert arithmetic.log(table.T)[2, 1] == arithmetic.log(6.0)
    assert isinstance(arithmetic.log(2), float)
    assert arithmetic.binomial_tail([[1], [2]], 3, [0.5, 0.1]).shape == (2, 2)


def test_log_gamma_beta_and_quantiles() -> None:
    x = np.exp(RANDOM.uniform(-5, 20, 5_000))
    right = special.gammaln(x)
    assert np.abs(arithmetic.log_gamma(x) - right) == pytest.approx(
        0, abs=1e-13 * np.maximum(np.abs(right), 1).max()
    )
    assert arithmetic.log_beta(3, 4) == pytest.approx(special.betaln(3, 4), rel=1e-13)
    p = np.concatenate((RANDOM.uniform(0, 1, 5_000), np.exp(RANDOM.uniform(-700, 0, 1_000))))
    assert arithmetic.normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-14, abs=1e-16)
    assert arithmetic.normal_quantile([0.0, 0.5, 1.0]).tolist() == [-inf, 0, inf]


def test_a_binomial_tail_is_the_sum_of_its_points() -> None:
    n, p = 12, Fraction(3, 10)
    for k in range(-1, 14):
        exact = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(max(k, 0), n + 1))
        assert arithmetic.binomial_tail(k, n, 0.3) == pytest.approx(float(exact), rel=1e-13)
    assert arithmetic.binomial_tail([0, 1, 3], 3, [0.0, 0.0, 1.0]).tolist() == [1, 0, 1]


def test_a_hypergeometric_tail_is_a_share_of_all_ways_to_draw() -> None:
    for total, good, n in ((20, 7, 9), (20, 15, 9), (5, 5, 3), (6, 0, 2)):
        for k in range(-1, n + 2):
            ways = sum(
                comb(good, i) * comb(total - good, n - i)
                for i in range(max(k, 0), min(n, good) + 1)
                if n - i <= total - good
            )
            exact = ways / comb(total, n)
            found = arithmetic.hypergeometric_tail(k, total, good, n)
            assert found == pytest.approx(exact, rel=1e-12, abs=1e-15), (k, total, good, n)


def test_tails_of_large_numbers() -> None:
    n = RANDOM.integers(1, 100_000, 2_000).astype(float)
    p = RANDOM.uniform(0, 1, 2_000)
    k = np.floor(np.clip(n * p + RANDOM.normal(0, 3, 2_000) * np.sqrt(n * p * (1 - p)), 0, n))
    assert arithmetic.binomial_tail(k, n, p) == pytest.approx(
        stats.binom.sf(k - 1, n, p), rel=1e-11
    )
    assert arithmetic.hypergeometric_tail(120, 1_000_000, 2_000, 50_000) == pytest.approx(
        stats.hypergeom.sf(119, 1_000_000, 2_000, 50_000), rel=1e-9
    )


def test_a_beta_binomial_tail_is_a_share_of_all_orders() -> None:
    for k, n, a, b in ((5, 100, 50, 951), (20, 100, 50, 951), (50, 900, 30, 400), (3, 10, 1, 1)):
        # Of all ways to place n more successes and failures among a + b - 1.
        ways = sum(comb(i + a - 1, i) * comb(n - i + b - 1, n - i) for i in range(k, n + 1))
        exact = float(Fraction(ways, comb(n + a + b - 1, n)))
        assert arithmetic.beta_binomial_tail(k, n, a, b) == pytest.approx(exact, rel=1e-11)
    assert arithmetic.beta_binomial_tail(0, 5, 1, 1) == 1
    assert arithmetic.beta_binomial_tail(6, 5, 1, 1) == 0
