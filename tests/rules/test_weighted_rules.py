"""Rules with weights: which documents they match, and what they add up to."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from newfound.detection.class_rules import ClassRules
from newfound.rules import weighted
from newfound.rules.weighted import Conjunctions, Matches, WeightedRules

N_WORDS = 30


def drawn(seed: int, most: int) -> tuple[list[tuple[int, ...]], NDArray[np.bool_]]:
    """Return ANDs of up to so many words, and documents that match some of them."""
    rng = np.random.RandomState(seed)
    sizes = rng.randint(1, most + 1, 200)
    sets = {tuple(sorted(rng.permutation(N_WORDS)[:size].tolist())) for size in sizes}
    ands = [sets.pop() for _ in range(len(sets))]
    documents = rng.uniform(size=(60, N_WORDS)) < 0.4
    documents[7] = False
    return ands, documents


def matching(ands: list[tuple[int, ...]], documents: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return documents and their rules, as the definition of an AND says."""
    return [
        (row, rule)
        for row, document in enumerate(documents)
        for rule, words in enumerate(ands)
        if all(document[word] for word in words)
    ]


@pytest.mark.parametrize("most", [1, 2, 4, 16])
def test_an_and_matches_the_documents_that_have_all_its_words(most: int) -> None:
    ands, documents = drawn(most, most)
    rows = sp.csr_array(documents)
    found = Conjunctions(ands, N_WORDS).matching(rows.indptr, rows.indices)
    assert list(zip(found.rows.tolist(), found.rules.tolist(), strict=True)) == matching(
        ands, documents
    )
    assert np.array_equal(np.diff(found.indptr), np.bincount(found.rows, minlength=60))
    assert found.indptr[8] == found.indptr[7]  # the document without words


@pytest.fixture
def rules() -> tuple[WeightedRules, Matches]:
    ands, documents = drawn(5, 3)
    rng = np.random.RandomState(6)
    weights = sp.csr_array(rng.randint(-100, 101, (len(ands), 7)) * (rng.rand(len(ands), 7) < 0.3))
    made = WeightedRules(
        Conjunctions(ands, N_WORDS), weights, rng.rand(len(ands)), 0.1, rng.randint(-9, 9, 7), 4.0
    )
    rows = sp.csr_array(documents)
    return made, made.conjunctions.matching(rows.indptr, rows.indices)


def test_scores_are_sums_of_weights(
    rules: tuple[WeightedRules, Matches], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, matches = rules
    weights = made.weights.toarray()
    expected = np.zeros((len(matches), 7), np.int64) + made.base
    for row, rule in zip(matches.rows.tolist(), matches.rules.tolist(), strict=True):
        expected[row] += weights[rule]
    assert np.array_equal(made.scores(matches), expected)
    one = slice(*matches.indptr[3:5].tolist())
    alone = Matches(
        np.zeros(one.stop - one.start, np.int64),
        matches.rules[one],
        np.array([0, one.stop - one.start]),
    )
    assert np.array_equal(made.scores(alone), expected[3:4])
    monkeypatch.setattr(weighted, "_MAX_TABLE", 0)  # many classes and rules
    sparse = pickle.loads(pickle.dumps(made))  # the table stays behind
    assert np.array_equal(sparse.scores(matches), expected)
    assert np.array_equal(sparse.scores(alone), expected[3:4])


def test_sums_that_float32_cannot_hold_are_exact(rules: tuple[WeightedRules, Matches]) -> None:
    made, matches = rules
    large = WeightedRules(
        made.conjunctions,
        made.weights * (1 << 22) + (made.weights != 0).astype(np.int64),
        made.rarity,
        made.unit,
        made.base,
        made.base_rarity,
    )
    weights = large.weights.toarray()
    expected = [weights[matches.rules[matches.rows == row]].sum(axis=0) for row in range(60)]
    assert np.array_equal(large.scores(matches), np.array(expected) + made.base)


def test_the_length_grows_with_the_rarity_of_the_rules(
    rules: tuple[WeightedRules, Matches],
) -> None:
    made, matches = rules
    others = np.arange(60.0)
    squares = [(made.rarity[matches.rules[matches.rows == row]] ** 2).sum() for row in range(60)]
    expected = np.sqrt(np.array(squares) + others + 16)
    assert made.lengths(matches, others) == pytest.approx(expected)


@pytest.mark.parametrize("most", [3, 1000])
def test_the_rules_of_a_class_that_match_or_lack_a_word(
    rules: tuple[WeightedRules, Matches], most: int
) -> None:
    made, _ = rules
    ands, documents = drawn(5, 3)
    native = ClassRules(made, sp.csr_array(made.weights.shape, dtype=np.int64)).native
    weights, n_lacking = made.weights.toarray(), 0
    for row, document in enumerate(documents[:20]):
        number = row % 7
        columns = np.flatnonzero(document).astype(np.int32)
        matching, lacking, square = native.explain(columns, number, most)
        absent = {j: [w for w in words if not document[w]] for j, words in enumerate(ands)}
        own = weights[:, number].tolist()
        found = [(j, own[j]) for j in absent if not absent[j] and own[j]]
        assert matching == sorted(found, key=lambda one: -abs(one[1]))
        nearly = [
            (j, own[j], absent[j][0])
            for j in absent
            if len(absent[j]) == 1 < len(ands[j]) and own[j] > 0
        ]
        assert lacking == sorted(nearly, key=lambda one: -one[1])[:most]
        assert square == pytest.approx(sum(made.rarity[j] ** 2 for j in absent if not absent[j]))
        n_lacking = max(n_lacking, len(nearly))
    assert n_lacking > 3


def test_a_word_or_a_class_that_is_not_there_is_refused(
    rules: tuple[WeightedRules, Matches],
) -> None:
    native = ClassRules(rules[0], sp.csr_array(rules[0].weights.shape, dtype=np.int64)).native
    for columns, number in (([N_WORDS], 0), ([-1], 0), ([0], 7), ([0], -1)):
        with pytest.raises(ValueError, match=r"out of range|no such class"):
            native.explain(np.array(columns, np.int32), number, 5)
