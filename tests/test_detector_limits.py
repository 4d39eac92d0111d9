"""The detector at its limits: broken-off learning, huge texts, ties, small classes, one by one."""

import copy

import numpy as np
import pytest

import newfound
from newfound import NoveltyDetector


@pytest.fixture(scope="module")
def sample():
    known, novel = newfound.load_sample()
    return list(known.texts[::4]), np.array(known.labels[::4]), list(novel.texts)


@pytest.fixture(scope="module")
def fitted(sample):
    return NoveltyDetector(random_state=1, n_clauses=6, epochs=2).fit(*sample[:2])


@pytest.fixture
def detector(fitted):
    return copy.deepcopy(fitted)


def test_learning_that_is_refused_or_broken_off_leaves_the_detector_as_it_was(
    detector, sample, monkeypatch
):
    texts, labels, novel = sample
    before, banks = detector.novelty(novel[:20]), [b.machine.states_ for b in detector.banks_]

    def unharmed():
        assert set(detector.classes_) == set(labels)
        assert np.array_equal(detector.novelty(novel[:20]), before)
        now = [bank.machine.states_ for bank in detector.banks_]
        assert all(map(np.array_equal, now, banks))
        assert len(detector.calibration_) == len(detector._held_back)

    with pytest.raises(ValueError, match="Nothing is left after cleaning"):
        detector.fit(["?!"] * 100, ["other", "more"] * 50)
    unharmed()

    def broken_off(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(NoveltyDetector, "_calibrate", broken_off)
    with pytest.raises(KeyboardInterrupt):
        detector.fit(novel[:100], ["other", "more"] * 50)
    unharmed()
    with pytest.raises(KeyboardInterrupt):
        detector.partial_fit([*texts[:30], *novel[:30]], [*labels[:30], *["travel"] * 30])
    unharmed()
