"""The parts of a score, computed in the core, against their definitions."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import newfound
from newfound import _core
from newfound.detection.class_statistics import ELSEWHERE, NEAREST, PRIOR
from newfound.detection.scoring import Scorer

ODD = ["", "?!", "zyxw", "pay. pay, my\n\nbill - zyxw vuts", "l'été naïve 6-4", "my my my card"]


@pytest.fixture(
    scope="module",
    params=[
        "labels",
        "no labels",
        "rare classes",
        "words tell classes",
    ],
)
def scorer(request: pytest.FixtureRequest) -> Scorer:
    known, _ = newfound.load_sample()
    if request.param == "no labels":
        return newfound.NoveltyDetector(random_state=1).fit(known.texts[::8]).scorer_
    labels = list(known.labels[::8])
    if request.param == "rare classes":
        labels[:4] = "one", "one", "two", "two"
    detector = newfound.NoveltyDetector(random_state=1, epochs=3)
    detector.fit(known.texts[::8], labels)
    if request.param == "words tell classes":
        state = {**detector.to_state(), "words_tell_classes": True}
        return newfound.NoveltyDetector.from_state(state).scorer_
    return detector.scorer_


@pytest.fixture(scope="module")
def texts() -> list[str]:
    known, novel = newfound.load_sample()
    return [*known.texts[1:200:5], *novel.texts[:200:5], *ODD]


def decisions(scorer: Scorer, columns: list[int], unseen: list[str]) -> NDArray[np.float64]:
    """Return the decision values of the linear classifier."""
    known, rows = scorer.statistics, scorer.statistics.unseen(unseen)
    total = sum((known.rarity[j] * known.weights[:, j].astype(float) for j in columns), np.zeros(1))
    square = float(sum(known.rarity[columns] ** 2))
    if rows is not None:
        total = total + known.unseen_rarity * rows.weights.astype(float).sum(axis=0)
        square += known.unseen_rarity**2 * rows.squares.sum()
    found: NDArray[np.float64] = total / math.sqrt(square or 1.0) + known.weights[:, -1]
    return found


def reference(scorer: Scorer, text: str, nearest: int) -> list[float]:
    """Return the five parts of a text, compared with a class, as they are defined."""
    bag, known = scorer.read([text]), scorer.statistics
    columns = bag.indices.tolist()
    unseen = [bag.unseen_terms[place] for place in bag.unseen_places]
    words = [j for j in columns if not known.is_pair[j]]
    pairs = [j for j in columns if known.is_pair[j]]
    counts, size = known.counts[nearest].astype(float), int(known.class_sizes[nearest])

    values = decisions(scorer, columns, unseen)
    margin = values.max()
    surprises = [
        (
            known.evidence[j],
            math.log(known.rate[j] * (size + PRIOR) / (counts[j] + PRIOR * known.rate[j])),
        )
        for j in words
    ] + [(known.unseen_evidence, known.unseen_surprise)] * len(unseen)
    total = sum(evidence for evidence, _ in surprises)
    surprise = sum(evidence * by for evidence, by in surprises) / (total or 1.0)

    likeness = known.likeness[columns]
    norm = math.sqrt((likeness**2).sum() + len(unseen) * known.unseen_likeness**2 or 1.0)
    compared = known.matrix if known.informed else known.matrix[known.codes == nearest]
    own = compared.toarray() * known.likeness
    lengths = np.sqrt((own**2).sum(axis=1))
    similar = own[:, columns] @ likeness / np.where(lengths > 0, lengths, 1.0) / norm
    density = known.density if known.informed else known.density[known.codes == nearest]
    similar = similar / np.sqrt(density + 0.1)
    near = np.sort(similar)[::-1][:NEAREST]

    new = int(bag.unseen_pairs[0]) + ELSEWHERE * sum(counts[j] == 0 for j in pairs)
    strength = 0.0
    if scorer.rules is not None:
        rules, has = scorer.rules, set(columns)
        ands = np.split(rules.literals, rules.indptr[1:-1])
        matching = [i for i, words in enumerate(ands) if has.issuperset(words.tolist())]
        votes = rules.base[nearest] + rules.weights.toarray()[matching, nearest].sum()
        alone = [j for j in words if scorer.rules.without_rule[j]]
        length = (rules.rarity[matching] ** 2).sum() + rules.base_rarity**2
        length += (known.rarity[alone] ** 2).sum() + len(unseen) * known.unseen_rarity**2
        strength = votes * rules.unit / math.sqrt(length)
    return [
        -margin,
        surprise,
        -float(near.mean()) if len(near) else 0.0,
        new / max(int(bag.n_pairs[0]), 1),
        -strength,
    ]


@pytest.mark.parametrize("by_rules", [True, False])
def test_parts_are_as_they_are_defined(scorer: Scorer, texts: list[str], by_rules: bool) -> None:
    bare = copy.copy(scorer.naming(by_rules=by_rules))
    bare.scales = type(scorer.scales).none()
    found = bare.score_texts(texts)
    named = 0
    for i, text in enumerate(texts):
        nearest = int(found.nearest[i])
        assert found.parts[i] == pytest.approx(reference(scorer, text, nearest), abs=1e-5), text
        bag = scorer.read([text])
        votes = scorer.votes(bag)[0]
        if found.by_rules[i]:
            assert by_rules and nearest == votes.argmax()
            named += 1
        else:
            unseen = [bag.unseen_terms[place] for place in bag.unseen_places]
            values = decisions(scorer, bag.indices.tolist(), unseen)
            assert values[nearest] == pytest.approx(values.max(), abs=1e-5)
    assert (named > len(texts) / 2) == (by_rules and scorer.rules is not None)


def test_a_text_scores_the_same_alone_and_among_others_to_the_last_digit(
    scorer: Scorer, texts: list[str]
) -> None:
    together = scorer.score_texts(texts)
    for i, text in enumerate(texts):
        assert np.array_equal(scorer.score_texts([text]).parts[0], together.parts[i])
    copied = pickle.loads(pickle.dumps(scorer)).score_texts(texts)
    assert np.array_equal(copied.parts, together.parts)


def test_shares_of_terms_add_up_to_the_parts(scorer: Scorer, texts: list[str]) -> None:
    for text in texts:
        bag = scorer.read([text])
        unseen = [bag.unseen_terms[place] for place in bag.unseen_places]
        nearest = int(scorer.score(bag).nearest[0])
        bare = copy.copy(scorer)
        bare.scales = type(scorer.scales).none()
        by_term, by_word, by_pair = bare.contributions(
            bag.indices.astype(np.int64), unseen, int(bag.unseen_pairs[0]), nearest
        )
        total = by_term.sum() + by_word.sum() + by_pair * int(bag.unseen_pairs[0])
        expected = sum(reference(scorer, text, nearest)[:4])
        linear = int(decisions(scorer, bag.indices.tolist(), unseen).argmax())
        intercept = float(scorer.statistics.weights[linear, -1])
        assert total - intercept == pytest.approx(expected, abs=1e-5)


def arrays(**changed: Any) -> dict[str, Any]:
    """Return two classes with a document each, of two terms."""
    made = {
        "rarity": np.ones(2),
        "is_pair": np.zeros(2, bool),
        "rate": np.full(2, 0.5),
        "counts": np.eye(2, dtype=np.float32),
        "weights": np.eye(2, dtype=np.float32),
        "intercepts": np.zeros(2, np.float32),
        "sizes": np.ones(2, np.int64),
        "unseen_rarity": 2.0,
        "unseen_surprise": 1.0,
        "evidence": np.ones(2),
        "likeness": np.ones(2),
        "unseen_evidence": 2.0,
        "unseen_likeness": 2.0,
        "prior": 0.5,
        "elsewhere": 0.5,
        "near_sizes": np.ones(2, np.int64),
        "class_begin": np.array([0, 1, 2]),
        "classes": np.array([0, 1], np.int32),
        "document_begin": np.array([0, 1, 2]),
        "places": np.zeros(2, np.int32),
        "values": np.ones(2, np.float32),
        "n_nearest": 5,
    }
    return {**made, **changed}


def parts(scorer: _core.TextScorer, column: int, **changed: Any) -> Any:
    given: dict[str, Any] = {
        "indptr": np.array([0, 1]),
        "terms": np.array([column], np.int32),
        "unseen_indptr": np.zeros(2, np.int64),
        "unseen": np.zeros(0, np.int32),
        "unseen_pairs": np.zeros(1, np.int64),
        "n_pairs": np.zeros(1, np.int64),
        "weights": None,
        "squares": None,
        "by_rules": True,
    }
    return scorer.parts(**{**given, **changed})


def test_the_core_tells_two_classes_apart() -> None:
    scorer = _core.TextScorer(**arrays())
    found, nearest, by_rules = parts(scorer, 1)
    assert (nearest.tolist(), by_rules.tolist()) == ([1], [0])
    assert found[0] == pytest.approx([-1, math.log(0.5 * 1.5 / 1.25), -1, 0, 0])


def test_a_text_is_compared_with_the_documents_of_all_classes_if_they_are_one_class() -> None:
    changed = {
        "near_sizes": np.full(1, 2),
        "classes": np.zeros(2, np.int32),
        "places": np.array([0, 1], np.int32),
        "weights": np.array([[0, 1], [0, 1]], np.float32),
    }
    scorer = _core.TextScorer(**arrays(**changed))
    found, nearest, _ = parts(scorer, 0)
    assert nearest.tolist() == [1]  # whose document does not have the term
    assert found[0, 2] == pytest.approx(-0.5)  # the mean over two documents


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rate": np.ones(3)}, "do not fit"),
        ({"evidence": np.ones(3)}, "do not fit"),
        ({"likeness": np.ones(1)}, "do not fit"),
        ({"weights": np.ones((2, 3), np.float32)}, "do not fit"),
        ({"sizes": np.zeros(0, np.int64)}, "do not fit"),
        ({"near_sizes": np.ones(3, np.int64)}, "do not fit"),
        ({"near_sizes": np.zeros(0, np.int64)}, "do not fit"),
        ({"near_sizes": np.full(1, 2)}, "out of range"),
        ({"classes": np.array([0, 2], np.int32)}, "out of range"),
        ({"places": np.array([0, 1], np.int32)}, "not of its class"),
        ({"places": np.array([0, -1], np.int32)}, "not of its class"),
        ({"class_begin": np.array([0, 2, 1])}, "bounds"),
        ({"document_begin": np.array([0, 1, 3])}, "bounds"),
    ],
)
def test_the_core_refuses_arrays_that_do_not_fit(changed: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.TextScorer(**arrays(**changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"terms": np.array([2], np.int32)},
        {"terms": np.array([-1], np.int32)},
        {"indptr": np.array([0, 2])},
        {"n_pairs": np.zeros(2, np.int64)},
        {"unseen_indptr": np.zeros(3, np.int64)},
        {"weights": np.zeros((1, 3), np.float32), "squares": np.zeros(1)},
        {"weights": np.zeros((1, 2), np.float32)},
        {
            "unseen_indptr": np.array([0, 1]),
            "unseen": np.array([1], np.int32),
            "weights": np.zeros((1, 2), np.float32),
            "squares": np.zeros(1),
        },
    ],
)
def test_the_core_refuses_texts_that_do_not_fit(changed: Any) -> None:
    with pytest.raises(ValueError):
        parts(_core.TextScorer(**arrays()), 1, **changed)
