"""Copies of known documents: each group is learned from or held back, and counts once."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

from newfound import NoveltyDetector
from newfound.detection.split import DistinctTexts, draw_held_back, draw_more_held_back
from newfound.text.copies import copy_groups, text_keys

ALPHAS = (0.01, 0.05, 0.1)


def small(seed: int = 0) -> NoveltyDetector:
    return NoveltyDetector(0.01, n_clauses=4, epochs=1, random_state=seed)


def without_digits(sample: tuple[list[str], np.ndarray, list[str]]) -> tuple[list[str], np.ndarray]:
    """Return texts of which none is of the template of another, and their labels."""
    rows = [i for i, text in enumerate(sample[0]) if not any(map(str.isdigit, text))]
    return [sample[0][i] for i in rows], sample[1][rows]


def repeated(how: str, texts: list[str], rng: np.random.RandomState) -> tuple[list[str], list[int]]:
    """Return repeated texts in random order, and which text each is a copy of."""
    rows = list(range(len(texts))) * {"twice": 2, "three times": 3, "five times": 5}.get(how, 1)
    if how == "30 %":
        rows += rows[: len(texts) * 3 // 10] * 2
    found = [texts[i] for i in rows]
    if how == "templates":
        rows = rows * 3
        found = [f"{texts[i]} {rng.randint(1000, 9999)}" for i in rows]
    order = rng.permutation(len(rows)).tolist()
    return [found[i] for i in order], [rows[i] for i in order]


@pytest.mark.parametrize(
    "how",
    [
        "twice",
        pytest.param("three times", marks=pytest.mark.slow),
        pytest.param("five times", marks=pytest.mark.slow),
        "30 %",
        "templates",
    ],
)
def test_repeated_known_texts_leave_the_false_alarm_rate_as_it_is(sample, how):
    texts, labels, _ = sample
    alarms = np.zeros(len(ALPHAS))
    n_splits, n_learned, n_test = 5, 700, 500
    for seed in range(n_splits):
        rng = np.random.RandomState(seed)
        order = rng.permutation(len(texts))
        train, test = order[:n_learned], order[n_learned : n_learned + n_test]
        known, rows = repeated(how, [texts[i] for i in train], rng)
        detector = small(seed).fit(known, labels[train][rows])
        new = [texts[i] for i in test]
        if how == "templates":
            new = [f"{text} {rng.randint(1000, 9999)}" for text in new]
        p = detector.p_values(new)
        alarms += [(p <= alpha).sum() for alpha in ALPHAS]
        counts = detector.n_documents_
        assert 130 <= counts["held_back"] <= 140
        assert sum(counts.values()) == len(known)
    n = counts["held_back"]
    for alpha, rate in zip(ALPHAS, alarms / n_splits / n_test, strict=True):
        spread = math.sqrt(alpha * (1 - alpha) * (1 / n + 1 / n_test) / n_splits)
        assert alpha - 1 / n - 3 * spread < rate < alpha + 3 * spread, alpha


def test_a_table_joined_one_to_many_gives_the_same_detector(sample):
    texts, labels, novel = sample[0][::3], sample[1][::3], sample[2]
    once = small().fit(texts, labels)
    twice = small().fit(np.repeat(texts, 2).tolist(), np.repeat(labels, 2))
    assert (once.novelty(novel) == twice.novelty(novel)).all()
    assert (once.p_values(novel) == twice.p_values(novel)).all()
    assert once.n_documents_["copies"] == 0
    assert twice.n_documents_["copies"] == len(texts)


LONG = (
    "Dear customer, your parcel was handed to our courier yesterday evening and should arrive at "
    "the address below within three working days, unless weather delays flights"
)


def test_copies_are_texts_of_the_same_words_templates_and_long_texts_that_nearly_agree():
    texts = [
        "Refund order 17!", "refund ORDER 2093", "refund order", "thanks", "Thanks.", "thank you",
        LONG, LONG.replace("courier", "driver"), "a wholly other text about tariffs",
        "我的订单12号", "我的账户34号",
    ]  # fmt: skip
    groups = copy_groups(texts)
    assert groups.tolist() == [0, 0, 0, 3, 3, 5, 6, 6, 8, 9, 10]
    for seed in range(5):
        order = np.random.RandomState(seed).permutation(len(texts))
        found = copy_groups([texts[i] for i in order])
        same = groups[order][:, None] == groups[order]
        assert ((found[:, None] == found) == same).all()
    assert copy_groups([]).tolist() == []
    assert len(set(text_keys(texts).tolist())) == len(texts) - 1


def test_copies_are_on_one_side_and_count_once():
    rng = np.random.RandomState(0)
    groups = rng.randint(0, 60, 200)
    groups = np.unique(groups, return_index=True)[1][np.unique(groups, return_inverse=True)[1]]
    codes = rng.randint(0, 3, 200)
    for seed in range(20):
        left, drawn = draw_held_back(codes, 15, seed, groups)
        assert len(drawn) == len(set(groups[drawn])) == 15
        assert not set(groups[drawn]) & set(groups[left])
        assert set(groups[drawn]) | set(groups[left]) == set(groups)
        more = draw_more_held_back(codes, 0.3, n_known_classes=2, seed=(seed,), groups=groups)
        assert not set(groups[more]) & set(groups[~more])
        assert not more[np.flatnonzero(codes == 2)[0]]


def test_what_most_messages_are_is_learned_from():
    texts = ["thanks"] * 400 + [f"pay the {a}{b} bill" for a in "abcdefgh" for b in "abcdefgh"]
    known = DistinctTexts.of(texts, None, "en")
    codes = np.zeros(len(known.texts), np.int64)
    for seed in range(20):
        left, drawn = draw_held_back(codes, 40, seed, known.groups, known.times)
        assert 0 in left and 0 not in drawn


def test_one_text_of_two_classes_is_on_one_side():
    texts = [f"pay {a}{b} {c}" for a in "abcdef" for b in "abcde" for c in "abcdefghij"]
    detector = small().fit([*texts, *texts], ["a"] * 300 + ["b"] * 300)
    assert detector.n_documents_ == {"learned": 402, "held_back": 99, "copies": 99}


def test_held_back_texts_that_are_learned_from_are_left_out(sample):
    texts, labels, _ = sample
    later = [*texts[:150], *texts[500:620], *texts[600:620], "REFUND 17", "refund 9"]
    detector = small().fit(texts[:400], labels[:400], held_back=later)
    assert detector.held_back_texts_ == [*texts[500:620], "REFUND 17"]
    assert detector.n_documents_ == {"learned": 400, "held_back": 121, "copies": 171}


def test_growth_keeps_copies_on_their_side(sample):
    texts, labels = without_digits(sample)
    detector = NoveltyDetector(n_clauses=4, epochs=1, random_state=0)
    detector.fit(texts[:600], labels[:600])
    before = copy.deepcopy(detector)
    held_back = set(detector.held_back_texts_)
    more = [*(f"{text} 7" for text in texts[:600]), *texts[800:1000]]
    detector.partial_fit(more, [*labels[:600], *labels[800:1000]])
    new = set(detector.held_back_texts_) - held_back
    assert held_back < set(detector.held_back_texts_)
    assert new <= set(texts[800:1000]) and 20 <= len(new) <= 65
    learned = {text for text in texts[:600] if text not in held_back}
    counts = detector.n_documents_
    assert counts["learned"] == 2 * len(learned) + 200 - len(new)
    assert sum(counts.values()) == 1400
    # A copy of a held-back text of a new class is learned from, and the held-back one left out.
    text = before.held_back_texts_[0]
    before.partial_fit([text, "zyxw vuts"], ["new", "new"])
    assert "new" in before.classes_ and text not in before.held_back_texts_


def test_too_few_different_texts_are_said_to_be_too_few():
    texts = [f"pay bill {i}" for i in range(80)]
    with pytest.warns(UserWarning, match="of 80 known documents 1 are different"):
        detector = NoveltyDetector(0.1, n_clauses=4, random_state=0).fit(texts)
    assert detector.n_documents_ == {"learned": 64, "held_back": 16, "copies": 0}
    detector.partial_fit([f"pay bill {i}" for i in range(20)])
    assert sum(detector.n_documents_.values()) == 100


def test_few_held_back_documents_are_told():
    texts = [f"pay {a} {b}" for a in "abcdefghij" for b in "abcdefghijklmno"]
    with pytest.warns(UserWarning, match=r"between 0\.2% and 9\.5% .* 30 documents are held back"):
        NoveltyDetector(0.05, n_clauses=4, random_state=0).fit(texts)
