"""What is judged of scores, and what a detector holds after learning: values that do not change."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from detector_files import small_detector
from newfound.detection.calibration import Calibration
from newfound.detection.detector import NoveltyDetector
from newfound.detection.scoring import Scores
from newfound.text.bags import BagReader
from newfound.text.vectorizer import TextVectorizer

TEXTS = ["what is my balance", "who won the rugby world cup", "?!"]


@pytest.fixture(scope="module")
def detector() -> NoveltyDetector:
    return small_detector()


def test_a_judgement_is_what_all_methods_say(detector: NoveltyDetector) -> None:
    judged = detector.score_texts(TEXTS).judged(detector.calibration_)
    assert judged.p_values.tolist() == detector.p_values(TEXTS).tolist()
    assert judged.labels().tolist() == detector.predict(TEXTS).tolist()
    found = detector.detect(TEXTS, describe=False, group=False)
    for name, values in (("novel", judged.novel), ("nearest", judged.classes)):
        assert found[name].tolist() == values.tolist()
    for i, text in enumerate(TEXTS):
        verdict = detector.explain(text)
        assert verdict.verdict == judged.verdict(i)
        assert verdict.p_value == judged.p_values[i]
    assert judged.verdict(2) == "unclear" and judged.classes[2] is None


@pytest.mark.parametrize(
    ("classes", "nearest"), [(["known"], [None] * 3), (["a", "b"], ["a", None, None])]
)
def test_texts_without_words_and_without_labels_have_no_class(
    classes: list[str], nearest: list[str | None]
) -> None:
    vectorizer = TextVectorizer(ngram_range=(1, 2)).fit(["a rugby match"])
    bags = BagReader(vectorizer, None).read(["rugby", "a match", "?!"])
    of = np.array([0, 1, 0]) % len(classes)
    parts = np.array([[9.0], [1.0], [9.0]])
    scores = Scores(bags, parts, of, np.ones(3, bool), np.array(classes), np.arange(3) == 1)
    judged = scores.judged(Calibration(np.arange(19.0) / 3, np.zeros(19, np.int64), 0.05))
    assert judged.classes.tolist() == nearest
    assert judged.novel.tolist() == [True, False, False]
    assert judged.labels().tolist() == ["novel", "known" if len(classes) == 1 else None, None]
    assert scores.status.tolist() == ["ok", "short", "no words"]
    assert [judged.verdict(i) for i in range(3)] == ["novel", "known", "unclear"]
    assert judged.p_values[2] == 1


def test_learning_more_makes_another_value(detector: NoveltyDetector) -> None:
    grown = copy.copy(detector)  # shares what was learned
    before = detector.p_values(TEXTS).tolist(), detector.classes_.tolist()
    grown.partial_fit(["who won the rugby world cup"] * 4, ["rugby"] * 4)
    assert grown.classes_.tolist() == [*before[1], "rugby"]
    assert (detector.p_values(TEXTS).tolist(), detector.classes_.tolist()) == before
    forgetful = copy.copy(detector).forget_texts()
    assert detector.held_back_texts_ and not forgetful.held_back_texts_
    assert forgetful.n_documents_ == detector.n_documents_
    with pytest.raises(FrozenInstanceError):
        detector.knowledge_.seed = 1  # type: ignore[misc]


def test_another_alpha_is_that_of_one_detector_only(detector: NoveltyDetector) -> None:
    stricter = copy.copy(detector)
    stricter.alpha = 0.3
    assert stricter.calibration_ is stricter.calibration_
    assert (stricter.calibration_.alpha, detector.calibration_.alpha) == (0.3, detector.alpha)
    assert stricter.explain(TEXTS[1]).alpha == 0.3
    stricter.partial_fit(["who won the rugby world cup"] * 4, ["rugby"] * 4)
    assert len(stricter.calibration_) == stricter.n_documents_["held_back"]
    stricter.alpha = detector.alpha
    assert stricter.calibration_.alpha == detector.alpha
    assert replace(detector.knowledge_).scorer is detector.scorer_
