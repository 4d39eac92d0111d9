"""How much the words of known documents count: their evidence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

import newfound
from newfound.detection.class_statistics import PRIOR, ClassStatistics

N_CLASSES = 5


def statistics(*, one_class: bool = False, informed: bool | None = True) -> ClassStatistics:
    """Return statistics of random documents; the class 3 has none, and the last term is a pair."""
    rng = np.random.RandomState(3)
    codes = np.zeros(60, np.int64) if one_class else rng.choice([0, 1, 2, 4], 60)
    bags = rng.random_sample((60, 12)) < np.linspace(0.05, 0.9, 12)
    bags[:, 4] = codes == 1
    bags[0] = True  # no term is without a document
    terms = [f"w{j}" for j in range(11)] + ["w0 w1"]
    return ClassStatistics(
        sparse.csr_matrix(bags), codes, 1 if one_class else N_CLASSES, terms, informed=informed
    )


def divergence(known: ClassStatistics, term: int) -> float:
    """Return what a term tells of the class, as it is defined."""
    total = 0.0
    for k in np.flatnonzero(known.class_sizes).tolist():
        share = known.class_sizes[k] / known.n_documents
        with_it = (known.counts[k, term] + PRIOR * share) / (known.frequencies[term] + PRIOR)
        total += with_it * math.log(with_it / share)
    return total


def test_evidence_is_rarity_times_what_a_term_tells_of_the_class() -> None:
    known = statistics()
    told = np.maximum([divergence(known, j) for j in range(12)], 0.01)
    assert known.evidence == pytest.approx(known.rarity * told)
    assert known.likeness == pytest.approx(np.sqrt(known.rarity) * told**0.75)
    assert told.argmax() == 4  # the term that one class alone has
    assert known.unseen_evidence == pytest.approx(known.unseen_rarity * told[:11].mean())
    unseen = math.sqrt(known.unseen_rarity) * told[:11].mean() ** 0.75
    assert known.unseen_likeness == pytest.approx(unseen)


@pytest.mark.parametrize("options", [{"one_class": True}, {"informed": False}, {"informed": None}])
def test_without_classes_and_in_short_documents_the_evidence_is_the_rarity(options) -> None:
    known = statistics(**options)
    assert np.array_equal(known.evidence, known.rarity)
    assert np.array_equal(known.likeness, known.rarity)
    assert known.unseen_evidence == known.unseen_likeness == known.unseen_rarity


def test_words_of_long_documents_count_by_what_they_tell_if_there_are_labels() -> None:
    texts = [" ".join(f"word{(7 * i + j) % 60}" for j in range(25)) for i in range(60)]
    labels = [f"class {i % 2}" for i in range(60)]
    for given, groups, informed in ((labels, 1, True), (None, 1, False), (None, 3, False)):
        detector = newfound.NoveltyDetector(0.2, n_groups=groups, epochs=2, random_state=1)
        assert detector.fit(texts, given).scorer_.statistics.informed is informed


def test_classes_with_the_same_words_leave_numbers_that_can_be_divided() -> None:
    words = [f"pay the bill number{i}" for i in range(8)]
    texts, labels = [" ".join(words), " ".join(words[::-1])] * 20, ["a", "a", "b", "b"] * 10
    detector = newfound.NoveltyDetector(0.2, random_state=1, epochs=2, stop_words=None)
    state = {**detector.fit(texts, labels).to_state(), "words_tell_classes": True}
    detector = newfound.NoveltyDetector.from_state(state)
    assert np.isfinite(detector.novelty([*texts[:2], "zyxw vuts", "the", ""])).all()
    for text in (texts[0], "zyxw vuts", "pay zyxw"):
        verdict = detector.explain(text)
        total = verdict.baseline + sum(word.contribution for word in verdict.words)
        assert total == pytest.approx(verdict.novelty, abs=1e-6)
