"""Held-back documents turn scores into p-values, thresholds and an interval of the rate."""

import math

import numpy as np
import pytest
from scipy import stats

from newfound.detection.calibration import Calibration


def test_p_values_are_ranks_among_held_back_documents_and_ties_are_cautious():
    calibration = Calibration(np.array([1.0, 2.0, 2.0, 3.0]), np.zeros(4, int), 0.25)
    p = calibration.p_values(np.array([0.0, 2.0, 3.0, 4.0]), np.zeros(4, int))
    assert p.tolist() == [1.0, 0.8, 0.4, 0.2]
    assert calibration.threshold(0) == 3.0


def test_the_threshold_is_where_the_p_value_reaches_alpha():
    rng = np.random.RandomState(0)
    for n in (19, 20, 57, 100):
        scores = rng.randn(n)
        calibration = Calibration(scores, np.zeros(n, int), 0.05)
        limit = calibration.threshold(0)
        above, at = calibration.p_values(np.array([limit + 1e-9, limit]), np.zeros(2, int))
        assert above <= 0.05 + 1e-12 < at


def test_classes_with_many_held_back_documents_have_their_own_threshold():
    scores = np.concatenate((np.linspace(0, 1, 100), np.linspace(10, 11, 100)))
    nearest = np.repeat([0, 1], 100)
    own = Calibration(scores, nearest, 0.05)
    # In the first hundredth of its class only the first one of the other class is as new.
    assert own.p_values(np.array([5.0, 5.0]), np.array([0, 1])).tolist() == [2 / 201, 200 / 201]
    assert 0.9 < own.threshold(0) < 5 < own.threshold(1) < 11
    assert own.thresholds_of(2).tolist() == [own.threshold(0), own.threshold(1)]
    assert own.thresholds_of(3).tolist() == [own.threshold(k) for k in range(3)]
    shared = Calibration(scores, nearest, 0.05, classwise=False)
    assert shared.p_values(np.array([5.0, 5.0]), np.array([0, 1])).tolist() == [101 / 201] * 2
    few = Calibration(scores[95:105], nearest[95:105], 0.2)
    assert len(few.own) == 0


def test_a_higher_alpha_never_finds_fewer():
    rng = np.random.RandomState(0)
    nearest = np.repeat(np.arange(7), [400, 260, 130, 99, 60, 30, 21])
    scores, of = rng.randn(len(nearest)) + nearest / 3, rng.randint(0, 9, 3000)
    texts = rng.randn(3000) * 2
    before = np.zeros(3000, bool)
    for alpha in (0.001, 0.004, 0.01, 0.02, 0.05, 0.0507, 0.1, 0.2, 0.5, 0.99):
        calibration = Calibration(scores, nearest, alpha)
        novel = calibration.is_novel(calibration.p_values(texts, of))
        assert (novel == (texts > calibration.thresholds(of))).all()
        assert not (before & ~novel).any()
        before = novel
    assert before.mean() > 0.5


@pytest.mark.parametrize("sizes", [(300, 90), (150, 150, 40), (120, 110, 100, 20, 20)])
def test_p_values_of_classes_are_those_of_conformal_prediction(sizes):
    rng = np.random.RandomState(1)
    alarms: dict[float, list[float]] = {alpha: [] for alpha in (0.005, 0.05, 0.2)}
    for _ in range(60):
        nearest = rng.choice(len(sizes), sum(sizes), p=np.array(sizes) / sum(sizes))
        scores = rng.randn(len(nearest)) * (1 + nearest) + nearest
        of = rng.choice(len(sizes), 2000, p=np.array(sizes) / sum(sizes))
        p = Calibration(scores, nearest, 0.05).p_values(rng.randn(2000) * (1 + of) + of, of)
        for alpha, rates in alarms.items():
            rates.append(float((p <= alpha).mean()))
    n = sum(sizes)
    for alpha, rates in alarms.items():
        spread = math.sqrt(alpha * (1 - alpha) * (1 / n + 1 / 2000) / 60)
        assert np.floor(alpha * (n + 1)) / (n + 1) - 4 * spread < np.mean(rates)
        assert np.mean(rates) < alpha + 4 * spread


def test_the_interval_of_the_rate_is_that_of_the_beta_law():
    for n, alpha in ((30, 0.05), (200, 0.05), (3000, 0.01)):
        k = int(alpha * (n + 1))
        expected = stats.beta(k, n + 1 - k).ppf([0.05, 0.95])
        calibration = Calibration(np.arange(float(n)), np.zeros(n, int), alpha)
        assert calibration.interval == pytest.approx(tuple(expected), abs=1e-9)
    assert Calibration(np.arange(99.0), np.zeros(99, int), 0.05).is_small
    assert not Calibration(np.arange(100.0), np.zeros(100, int), 0.05).is_small


def test_a_class_no_held_back_document_is_nearest_to_is_held_against_all():
    calibration = Calibration(np.arange(200.0), np.zeros(200, int), 0.05)
    assert calibration.p_values(np.array([1e9]), np.array([3]))[0] == 1 / 201
