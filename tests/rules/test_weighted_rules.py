"""Rules with weights: which documents they match, and what they add up to."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from newfound.machine.clauses import RuleSet
from newfound.rules.weighted import WeightedRules

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
    found = RuleSet.of(ands, N_WORDS).matching(sp.csr_array(documents))
    assert list(zip(*(places.tolist() for places in found.nonzero()), strict=True)) == matching(
        ands, documents
    )
    assert found.has_canonical_format and found.shape == (60, len(ands))
    assert found.indptr[8] == found.indptr[7]  # the document without words


@pytest.fixture
def rules() -> WeightedRules:
    ands, _ = drawn(5, 3)
    rng = np.random.RandomState(6)
    weights = sp.csr_array(rng.randint(-100, 101, (len(ands), 7)) * (rng.rand(len(ands), 7) < 0.3))
    made = RuleSet.of(ands, N_WORDS)
    return WeightedRules(
        made.indptr,
        made.literals,
        N_WORDS,
        weights=weights,
        counts=sp.csr_array(weights.shape, dtype=np.int64),
        rarity=rng.rand(len(ands)),
        unit=0.1,
        base=rng.randint(-9, 9, 7),
        base_rarity=4.0,
    )


@pytest.mark.parametrize("large", [False, True])
def test_votes_are_sums_of_weights(rules: WeightedRules, large: bool) -> None:
    if large:  # sums that float32 cannot hold
        weights = rules.weights * (1 << 22) + (rules.weights != 0).astype(np.int64)
        rules = replace(rules, weights=weights)
    ands, documents = drawn(5, 3)
    weights, expected = rules.weights.toarray(), np.tile(rules.base, (60, 1))
    n_matching, squares = np.zeros(60, int), np.zeros(60)
    for row, rule in matching(ands, documents):
        expected[row] += weights[rule]
        n_matching[row] += 1
        squares[row] += rules.rarity[rule] ** 2
    found = rules.votes(sp.csr_array(documents))
    for values, own in zip(found, (expected, n_matching, squares), strict=True):
        assert np.array_equal(values, own)
    copied = pickle.loads(pickle.dumps(rules))  # without the core's part
    alone = [copied.votes(sp.csr_array(documents[[row]])) for row in range(60)]
    for values, parts in zip(found, zip(*alone, strict=True), strict=True):
        assert np.array_equal(values, np.concatenate(parts))


@pytest.mark.parametrize("most", [3, 1000])
def test_the_rules_of_a_class_that_match_or_lack_a_word(rules: WeightedRules, most: int) -> None:
    ands, documents = drawn(5, 3)
    weights, n_lacking = rules.weights.toarray(), 0
    for row, document in enumerate(documents[:20]):
        number = row % 7
        columns = np.flatnonzero(document).astype(np.int32)
        matching, lacking, square = rules.weighted.explain(columns, number, most)
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
        assert square == pytest.approx(sum(rules.rarity[j] ** 2 for j in absent if not absent[j]))
        n_lacking = max(n_lacking, len(nearly))
    assert n_lacking > 3


def test_a_word_or_a_class_that_is_not_there_is_refused(
    rules: WeightedRules,
) -> None:
    for columns, number in (([N_WORDS], 0), ([-1], 0), ([0], 7), ([0], -1), ([1, 0], 0)):
        with pytest.raises(ValueError, match=r"out of range|no such class|must ascend"):
            rules.weighted.explain(np.array(columns, np.int32), number, 5)
